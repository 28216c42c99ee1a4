//go:build cgo && !idgen_system

// The room core/src/workers.
#include "../core/src/workers/node.cpp"
#include "../core/src/workers/worker_choice.cpp"
