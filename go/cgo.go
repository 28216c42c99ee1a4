//go:build cgo

package idgen

// The flags that both ways of building need. Where the core comes from is decided in cgo_source.go (the default:
// compiled from the module's own sources) and cgo_system.go (-tags idgen_system: an installed library).

// #cgo CFLAGS: -I${SRCDIR}/../bindings/go
import "C"
