//go:build !idgen_system

package idgen_test

// What Go says of the second [[range]] of a file, if that has a key "until".
const unknownKey = "'until' is not a key of [[range]] 2"
