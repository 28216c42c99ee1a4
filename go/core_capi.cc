//go:build cgo && !idgen_system

// The C border.
#include "../capi/src/checkpoint.cpp"
#include "../capi/src/config.cpp"
#include "../capi/src/generator.cpp"
#include "../capi/src/host.cpp"
#include "../capi/src/layout.cpp"
#include "../capi/src/segment.cpp"
#include "../capi/src/status.cpp"
#include "../capi/src/text.cpp"
#include "../capi/src/worker.cpp"
