//go:build cgo && !idgen_system

// All of core/src/layout.
#include "../core/src/layout/gene.cpp"
#include "../core/src/layout/layout.cpp"
#include "../core/src/layout/presets.cpp"
