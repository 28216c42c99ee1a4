//go:build idgen_vendor_keep

// Package workers is no Go code: this file makes `go mod vendor` keep the folder, which the package in go/ compiles from.
package workers
