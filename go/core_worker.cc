//go:build cgo && !idgen_system

// The room core/src/worker.
#include "../core/src/worker/node.cpp"
#include "../core/src/worker/worker_choice.cpp"
