// Package idgen makes unique, ordered 64-bit ids inside the process that needs them: snowflake ids (time, worker,
// sequence) and segments (consecutive numbers). Every id is drawn from a durable reservation that a store has committed
// to this generator alone; that, and not a clock, is why no id is issued twice.
//
//	orders, err := idgen.Open(ctx, "idgen.toml", "orders")
//	if err != nil {
//		return err
//	}
//	defer orders.Close(ctx)
//	id, err := orders.Next()
//
// # Ids are int64
//
// That is what SQL drivers, JSON encoders and columns take, and what all layouts fit but those marked unsigned
// (Info.Unsigned). With an unsigned layout the bits are the same and uint64(id) is the number.
//
// # Threads, blocking, errors
//
// All methods of a [Generator] may be called by any number of goroutines at the same time, also while another one
// closes it. What may block says so; every wait is bounded by the property wait_max. Every error is an [*Error];
// compare with errors.Is:
//
//	if errors.Is(err, idgen.ErrClockBack) { … }
//
// # Building
//
// The package compiles the C++ core itself: `go build` needs cgo and a C++20 compiler, nothing else. With -tags
// idgen_system it uses an installed libidgen instead.
package idgen
