//go:build cgo && !idgen_system

// The C border.
#include "../capi/src/checkpoint.cpp"
#include "../capi/src/cipher.cpp"
#include "../capi/src/config.cpp"
#include "../capi/src/generator.cpp"
#include "../capi/src/host.cpp"
#include "../capi/src/layout.cpp"
#include "../capi/src/next.cpp"
#include "../capi/src/owner.cpp"
#include "../capi/src/pattern.cpp"
#include "../capi/src/route.cpp"
#include "../capi/src/router.cpp"
#include "../capi/src/segment.cpp"
#include "../capi/src/standard.cpp"
#include "../capi/src/status.cpp"
#include "../capi/src/text.cpp"
#include "../capi/src/worker.cpp"
