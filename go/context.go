//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"runtime"
)

// NextContext is Next with a context: when ctx ends, a wait ends within about 20 ms. The error matches ErrCancelled,
// ctx.Err() and the context's cause. Without a wait it costs what Next costs.
func (g *Generator) NextContext(ctx context.Context) (int64, error) {
	if ctx.Err() != nil {
		return 0, cancelled(ctx, ErrCancelled.Error())
	}
	id, ok := g.draw()
	runtime.KeepAlive(g)
	if !ok {
		return g.nextDrawn(ctx, id)
	}
	return int64(id), nil
}

// FillContext is Fill with a way out, like NextContext. The ids written before ctx ended are real.
func (g *Generator) FillContext(ctx context.Context, ids []int64) (int, error) {
	if ctx.Err() != nil {
		return 0, cancelled(ctx, ErrCancelled.Error())
	}
	for written := 0; ; written++ {
		result := C.idgen_go_try_fill(g.pointer(), idsToC(ids[written:]), C.size_t(len(ids)-written))
		runtime.KeepAlive(g)
		written += int(result.value)
		if result.failure.status != C.IDGEN_E_WOULD_BLOCK {
			return written, failed(result.failure)
		}
		id, err := g.lifetime.waiters.next(ctx, g)
		if err != nil {
			return written, err
		}
		ids[written] = id
	}
}

// BlockContext is Block with a way out, like NextContext.
func (g *Generator) BlockContext(ctx context.Context, want int64) (Block, error) {
	if ctx.Err() != nil {
		return Block{}, cancelled(ctx, ErrCancelled.Error())
	}
	block, failure := g.tryBlock(want)
	if failure.status != C.IDGEN_E_WOULD_BLOCK {
		return block, failed(failure)
	}
	id, err := g.lifetime.waiters.next(ctx, g)
	if err != nil {
		return Block{}, err
	}
	one := Block{First: id, Count: 1, Stride: 1}
	if want == 1 {
		return one, nil
	}
	more, failure := g.tryBlock(want - 1)
	if failed(failure) != nil {
		return one, nil // the next call says what is wrong
	}
	if more.First != id+more.Stride {
		return more, nil // somebody has drawn in between: the one id is lost
	}
	return Block{First: id, Count: more.Count + 1, Stride: more.Stride}, nil
}

func (g *Generator) tryBlock(want int64) (Block, C.idgen_go_failure) {
	result := C.idgen_go_try_next_block(g.pointer(), C.uint64_t(max(want, 0)))
	runtime.KeepAlive(g)
	return Block{int64(result.first), int64(result.count), int64(result.stride)}, result.failure
}

// withFlag runs call with a flag that is set when ctx ends, or with nil if ctx never ends.
func withFlag(ctx context.Context, call func(flag *C.int32_t) C.idgen_go_failure) error {
	if ctx.Done() == nil {
		return failed(call(nil))
	}
	flag := C.idgen_go_flag_new()
	if flag == nil {
		return failedStatus(C.IDGEN_E_NO_MEMORY)
	}
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		C.idgen_go_flag_set(flag)
		close(set)
	})
	failure := call(flag)
	if !stop() {
		<-set // the function has begun: it owns the flag until it is done
	}
	C.idgen_go_flag_free(flag)
	if failure.status == C.IDGEN_OK {
		return nil
	}
	err := newError(failure)
	if err.Status == ErrCancelled {
		err.causes = causes(ctx)
	}
	return err
}

func cancelled(ctx context.Context, message string) error {
	return &Error{Status: ErrCancelled, Message: message, causes: causes(ctx)}
}

func causes(ctx context.Context) []error { return []error{ctx.Err(), context.Cause(ctx)} }
