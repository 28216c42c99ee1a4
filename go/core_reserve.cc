//go:build cgo && !idgen_system

// All of core/src/reserve.
#include "../core/src/reserve/range_chain.cpp"
#include "../core/src/reserve/refill.cpp"
#include "../core/src/reserve/sizing.cpp"
#include "../core/src/reserve/supply.cpp"
