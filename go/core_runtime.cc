//go:build cgo && !idgen_system

// All of core/src/runtime.
#include "../core/src/runtime/fork_page.cpp"
#include "../core/src/runtime/process_image.cpp"
#include "../core/src/runtime/system_lane.cpp"
#include "../core/src/runtime/system_runtime.cpp"
#include "../core/src/runtime/vm_generation.cpp"
