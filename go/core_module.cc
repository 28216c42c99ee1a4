//go:build cgo && !idgen_system

// All of core/src/module.
#include "../core/src/module/module_loader.cpp"
