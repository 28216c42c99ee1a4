//go:build cgo && !idgen_system

// The room core/src/layout.
#include "../core/src/layout/gene.cpp"
#include "../core/src/layout/layout.cpp"
#include "../core/src/layout/presets.cpp"
