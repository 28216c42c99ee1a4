//go:build cgo && !idgen_system

// All of core/src/cipher.
#include "../core/src/cipher/cipher.cpp"
