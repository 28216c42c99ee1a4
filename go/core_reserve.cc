//go:build cgo && !idgen_system

// The room core/src/reserve of the core.
#include "../core/src/reserve/supply.cpp"
