//go:build cgo && !idgen_system

// What lies above the rooms of the core.
#include "../core/src/status.cpp"
