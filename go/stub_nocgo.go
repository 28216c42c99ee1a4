//go:build !cgo

package idgen

// Without cgo there is no core to call. A build that fails now, with the reason as its text, is better than a program
// that fails in production. See "Without cgo" in docs/go.md.
var _ = idgen_needs_cgo__install_a_C_compiler_with_Cplusplus_and_set_CGO_ENABLED_to_1
