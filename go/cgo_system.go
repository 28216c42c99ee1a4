//go:build cgo && idgen_system

package idgen

// An installed libidgen, found by pkg-config.

// #cgo pkg-config: idgen
import "C"
