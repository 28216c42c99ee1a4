//go:build cgo && !idgen_system

// All of core/src/config.
#include "../core/src/config/config.cpp"
#include "../core/src/config/environment.cpp"
#include "../core/src/config/properties.cpp"
#include "../core/src/config/tables.cpp"
#include "../core/src/config/toml_absent.cpp"
