//go:build cgo && !idgen_system

// The room core/src/module.
#include "../core/src/module/module_loader.cpp"
