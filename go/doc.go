// Package idgen makes unique, ordered 64-bit ids inside your process: snowflake ids (time, worker, sequence) and
// segments (consecutive numbers). Every id is drawn from a durable reservation that the store has committed to this
// generator alone. That, and not a clock, is why no id is issued twice.
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
// SQL drivers, JSON encoders and columns take int64. All layouts fit it except those marked unsigned
// ([LayoutInfo].Unsigned). With an unsigned layout, uint64(id) is the number.
//
// # Ids with an owner
//
// With the kind business, and with the layout order, each id has an owner, whose gene it carries: see
// [Generator.NextFor]. Ids of 16 bytes are a [WideID].
//
// # UUIDs, ULIDs, ObjectIds
//
// These need no generator, no store and no configuration: see [Standard] and [NewUUID7].
//
//	id, err := idgen.NewUUID7() // [16]byte
//	text, err := idgen.FormatStandard(idgen.StandardUUID7, id[:])
//	standard, bytes, err := idgen.ParseStandard(text)
//	parts, err := idgen.DecodeStandard(standard, bytes)
//
// # Threads, blocking, errors
//
// Any number of goroutines may call all methods of a [Generator] at the same time, also while another one closes it.
// A method that may block says so; the property wait_max limits every wait. Every error is an [*Error]; compare it with
// errors.Is:
//
//	if errors.Is(err, idgen.ErrClockBack) { … }
//
// # Building
//
// The package compiles the C++ core itself: `go build` needs only cgo and a C++20 compiler. With -tags idgen_system it
// uses an installed libidgen instead.
package idgen
