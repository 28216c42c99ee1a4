//go:build cgo && !idgen_system

// All of core/src/generator.
#include "../core/src/generator/generator.cpp"
#include "../core/src/generator/handle.cpp"
#include "../core/src/generator/live_generators.cpp"
#include "../core/src/generator/metrics.cpp"
#include "../core/src/generator/registry.cpp"
#include "../core/src/generator/segment.cpp"
#include "../core/src/generator/snowflake.cpp"
#include "../core/src/generator/thread_stripe.cpp"
#include "../core/src/generator/window_source.cpp"
#include "../core/src/generator/worker.cpp"
#include "../core/src/generator/worker_sources.cpp"
