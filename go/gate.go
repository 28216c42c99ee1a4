//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"runtime"
	"time"
)

// gate bounds how many threads of the system are in calls that wait in the core by themselves: those for ids with an
// owner, each of which waits for numbers of its owner's counter. (The others wait by waiters.) A thread for each would
// end the program at ten thousand goroutines. Those beyond wait here, in their order and no longer than wait_max.
type gate struct {
	places chan struct{}
}

const placesInCore = 64

func newGate() gate { return gate{make(chan struct{}, placesInCore)} }

// waitInCore runs a call that may wait in the core, until ctx ends.
func (g *Generator) waitInCore(ctx context.Context, call func(flag *C.int32_t) C.idgen_go_failure) error {
	if ctx.Err() != nil {
		return cancelled(ctx, ErrCancelled.Error())
	}
	defer runtime.KeepAlive(g)
	if g.pointer() == 0 {
		return withFlag(ctx, call) // says that this is no generator
	}
	gate := g.lifetime.gate
	select {
	case gate.places <- struct{}{}:
		defer gate.leave()
		return withFlag(ctx, call)
	default:
	}
	if C.idgen_go_is_callback() != 0 {
		return withFlag(ctx, call) // on a thread of the library's, which those in the core may be waiting for
	}
	since := time.Now()
	tooLong := time.NewTimer(time.Duration(C.idgen_go_wait_max_ns(g.pointer())))
	defer tooLong.Stop()
	select {
	case gate.places <- struct{}{}:
		defer gate.leave()
	case <-tooLong.C:
	case <-ctx.Done():
		return cancelled(ctx, ErrCancelled.Error())
	}
	return withFlag(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		// The core says what was waited for, if it is over.
		failure := C.idgen_go_wait_for_room(g.pointer(), C.uint64_t(time.Since(since)), flag)
		if failure.status != C.IDGEN_OK {
			return failure
		}
		return call(flag)
	})
}

func (e gate) leave() { <-e.places }
