//go:build cgo && !idgen_system

// All of core/src/standard_ids.
#include "../core/src/standard_ids/make.cpp"
#include "../core/src/standard_ids/random.cpp"
#include "../core/src/standard_ids/text.cpp"
