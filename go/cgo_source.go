//go:build cgo && !idgen_system

package idgen

// The core, compiled by the core_*.cc files of this folder. SQLite comes from the C object of go-sqlite3: the core
// itself declares the sqlite3_* functions it uses, as weak symbols (core/src/store/sqlite_api.h). So linking this
// package alone does not need them, and the final link of the program binds them.
//
// The C++ library is linked as the compiler does by default: linking it statically needs a package that not every
// distribution installs with its compiler. docs/go.md says how to do it.
//
// -g1, after the -g that go build gives: debuggers name the core's functions and lines, but not its variables. With
// those the core took a third longer to compile, and every program that imports this package compiles it once.

// #cgo CFLAGS: -I${SRCDIR}/../capi/include
// #cgo CXXFLAGS: -std=gnu++20 -O2 -g1 -fvisibility=hidden -fvisibility-inlines-hidden
// #cgo CXXFLAGS: -I${SRCDIR}/../core/include -I${SRCDIR}/../core/src -I${SRCDIR}/../capi/include
// #cgo CXXFLAGS: -DIDGEN_WITH_SQLITE=1 -DIDGEN_SQLITE_DECLARE=1
// #cgo LDFLAGS: -pthread -ldl
import "C"

import _ "github.com/mattn/go-sqlite3" // the sqlite3_* symbols
