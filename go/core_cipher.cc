//go:build cgo && !idgen_system

// The room core/src/cipher.
#include "../core/src/cipher/cipher.cpp"
