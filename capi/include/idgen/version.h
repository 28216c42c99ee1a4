/* The version is decided here. A test compares CMake, pyproject.toml, pom.xml and version.go with it. */
#ifndef IDGEN_VERSION_H
#define IDGEN_VERSION_H

#define IDGEN_VERSION_MAJOR 0
#define IDGEN_VERSION_MINOR 1
#define IDGEN_VERSION_PATCH 0
#define IDGEN_VERSION_STRING "0.1.0"

/* 0x00MMmmpp */
#define IDGEN_VERSION ((IDGEN_VERSION_MAJOR << 16) | (IDGEN_VERSION_MINOR << 8) | IDGEN_VERSION_PATCH)

/* Changes only when a program built against an older header could break. It is the number in libidgen.so.N. */
#define IDGEN_ABI_VERSION 1

#endif
