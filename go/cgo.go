//go:build cgo

package idgen

// The flags for both ways of building. cgo_source.go (the default: compiled from the module's own sources) and
// cgo_system.go (-tags idgen_system: an installed library) decide where the core comes from.

// #cgo CFLAGS: -I${SRCDIR}/../bindings/go
import "C"
