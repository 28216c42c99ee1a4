// Package kit is what the package idgentest needs of the package idgen, which sets it. Generators are *idgen.Generator.
package kit

// Begin makes an idgen.Option, which comes after all others: idgen_test_begin. clock makes the generator's idgen.Clock,
// given the Unix ms where it stands if nobody says another time.
var Begin func(start, sequence int64, clock func(firstUnixMs int64) any) any

// Unset is the start that nobody has told.
const Unset = -1 << 63

// These tell a generator what to do: idgen_test_fail_next, idgen_test_fail_after and idgen_test_recover.
var (
	FailNext  func(generator any, calls int64, status int32) error
	FailAfter func(generator any, ids int64, status int32) error
	Recover   func(generator any) error
)
