//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"runtime"
)

// NextContext is Next with a context: when ctx ends, a wait ends within about 20 ms. The error matches ErrCancelled,
// ctx.Err() and the context's cause. Without a wait it costs one cgo call, like Next.
func (g *Generator) NextContext(ctx context.Context) (int64, error) {
	if ctx.Err() != nil {
		return 0, cancelled(ctx, ErrCancelled.Error())
	}
	// Nearly always there is an id at once. Only a wait, or a failure's message, needs the flag and its callback.
	result := C.idgen_go_try_next(g.pointer())
	if result.failure.status != C.IDGEN_OK {
		err := withFlag(ctx, func(flag *C.int32_t) C.idgen_go_failure {
			result = C.idgen_go_next_until(g.pointer(), flag)
			return result.failure
		})
		runtime.KeepAlive(g)
		return int64(result.value), err
	}
	runtime.KeepAlive(g)
	return int64(result.value), nil
}

// FillContext is Fill with a way out, like NextContext. The ids written before ctx ended are real.
func (g *Generator) FillContext(ctx context.Context, ids []int64) (int, error) {
	if ctx.Err() != nil {
		return 0, cancelled(ctx, ErrCancelled.Error())
	}
	if len(ids) == 0 {
		return g.Fill(ids)
	}
	written := 0
	err := withFlag(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		result := C.idgen_go_fill_until(g.pointer(), idsToC(ids), C.size_t(len(ids)), flag)
		written = int(result.value)
		return result.failure
	})
	runtime.KeepAlive(g)
	return written, err
}

// BlockContext is Block with a way out, like NextContext.
func (g *Generator) BlockContext(ctx context.Context, want int64) (Block, error) {
	if ctx.Err() != nil {
		return Block{}, cancelled(ctx, ErrCancelled.Error())
	}
	var result C.idgen_go_block
	err := withFlag(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		result = C.idgen_go_next_block(g.pointer(), C.uint64_t(max(want, 0)), flag)
		return result.failure
	})
	runtime.KeepAlive(g)
	if err != nil {
		return Block{}, err
	}
	return Block{First: int64(result.first), Count: int64(result.count), Stride: int64(result.stride)}, nil
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
