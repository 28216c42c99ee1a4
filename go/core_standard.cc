//go:build cgo && !idgen_system

// The room core/src/standard.
#include "../core/src/standard/make.cpp"
#include "../core/src/standard/random.cpp"
#include "../core/src/standard/text.cpp"
