//go:build cgo && !idgen_system

// All of core/src/workers.
#include "../core/src/workers/node.cpp"
#include "../core/src/workers/worker_choice.cpp"
