//go:build cgo

// Package floor has a cgo call of the same shape as Next that does nothing: the benchmarks compare with it. It is not
// in the test files because Go allows no cgo there.
package floor

// #include <stdint.h>
// typedef struct { uint64_t value; void *error; int32_t status; } floor_result;
// static floor_result floor_call(uintptr_t handle) { floor_result r = {handle, 0, 0}; return r; }
import "C"

// Call crosses into C and back.
func Call(handle uintptr) uint64 {
	return uint64(C.floor_call(C.uintptr_t(handle)).value)
}
