//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"runtime"
	"unsafe"
)

// NextFor makes one id for an owner. If the layout has a gene (kind business, or layout order), each id has an owner,
// and the gene comes from it: ids of one owner live in one shard. NextFor and the other calls that take an owner are
// then the ones to use; Next, Fill, Block, All and TryNext return ErrUnsupported. Where the layout has none, it is the
// other way round. Ids of one gene rise. May block like Next. Does not allocate.
//
// Errors: those of Next; ErrValue for an owner that is empty, or no integer where the property gene is mod;
// ErrUnsupported without a gene, or if ids have 16 bytes; ErrExhausted also when 8 bytes are used up: with the property
// on_full = widen, NextWideFor goes on.
func (g *Generator) NextFor(owner Owner) (int64, error) {
	return g.NextForContext(context.Background(), owner)
}

// NextForContext is NextFor with a context, as NextContext.
func (g *Generator) NextForContext(ctx context.Context, owner Owner) (int64, error) {
	if ctx.Err() != nil {
		return 0, cancelled(ctx, ErrCancelled.Error())
	}
	data, size, number := owner.toC()
	result := C.idgen_go_try_next_for(g.pointer(), data, size, number)
	runtime.KeepAlive(g)
	if result.failure.status == C.IDGEN_OK {
		return int64(result.value), nil
	}
	return g.nextForSlowly(ctx, owner) // a wait, or a failure's message
}

func (g *Generator) nextForSlowly(ctx context.Context, owner Owner) (int64, error) {
	data, size, number := owner.toC()
	var id int64
	err := g.waitInCore(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		result := C.idgen_go_next_for_until(g.pointer(), data, size, number, flag)
		id = int64(result.value)
		return result.failure
	})
	return id, err
}

// TryNextFor makes one id for an owner at once or not at all, as TryNext.
//
// Errors: ErrWouldBlock, and those of NextFor that are not retryable.
func (g *Generator) TryNextFor(owner Owner) (int64, error) {
	data, size, number := owner.toC()
	result := C.idgen_go_try_next_for(g.pointer(), data, size, number)
	if result.failure.status != C.IDGEN_OK && result.failure.status != C.IDGEN_E_WOULD_BLOCK {
		result = C.idgen_go_next_for_slowly(g.pointer(), data, size, number) // fails at once and says why
	}
	runtime.KeepAlive(g)
	if result.failure.status != C.IDGEN_OK {
		return 0, newError(result.failure)
	}
	return int64(result.value), nil
}

// FillFor fills ids for one owner, strictly increasing, and returns how many it wrote: all, or fewer and an error. The
// ids it wrote are real even then. May block like Next. Errors: those of NextFor.
func (g *Generator) FillFor(owner Owner, ids []int64) (int, error) {
	return g.FillForContext(context.Background(), owner, ids)
}

// FillForContext is FillFor with a way out, like NextContext. The ids written before ctx ended are real.
func (g *Generator) FillForContext(ctx context.Context, owner Owner, ids []int64) (int, error) {
	data, size, number := owner.toC()
	return g.fill(ctx, func(flag *C.int32_t) C.idgen_go_number {
		return C.idgen_go_fill_for(g.pointer(), data, size, number, idsToC(ids), C.size_t(len(ids)), flag)
	})
}

// FillForEach writes one id for each owner, ids[i] for the owner i, and returns how many it wrote. The ids it wrote are
// real even with an error; an owner that is refused ends it there. May block like Next.
//
// Errors: those of NextFor; ErrArgument if there are not as many owners as ids.
func (g *Generator) FillForEach(owners Owners, ids []int64) (int, error) {
	return g.FillForEachContext(context.Background(), owners, ids)
}

// FillForEachContext is FillForEach with a way out, like NextContext. The ids written before ctx ended are real.
func (g *Generator) FillForEachContext(ctx context.Context, owners Owners, ids []int64) (int, error) {
	if err := owners.check(len(ids)); err != nil {
		return 0, err
	}
	if owners.ints != nil {
		return g.fill(ctx, func(flag *C.int32_t) C.idgen_go_number {
			first := (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(owners.ints)))
			return C.idgen_go_fill_for_ints(g.pointer(), first, idsToC(ids), C.size_t(len(ids)), flag)
		})
	}
	return g.fillPacked(ctx, owners, func(p *packedOwners, from int, flag *C.int32_t) C.idgen_go_number {
		into := idsToC(ids[from:])
		return C.idgen_go_fill_for_each(g.pointer(), p.address(), &p.ends[0], into, C.size_t(p.count), flag)
	})
}

// fill runs one call that says how many ids it wrote.
func (g *Generator) fill(ctx context.Context, call func(flag *C.int32_t) C.idgen_go_number) (int, error) {
	written := 0
	err := g.waitInCore(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		result := call(flag)
		written = int(result.value)
		return result.failure
	})
	return written, err
}

// fillPacked runs a call for one packed part of owners after the other. from is the first owner of the part.
func (g *Generator) fillPacked(ctx context.Context, owners Owners,
	call func(p *packedOwners, from int, flag *C.int32_t) C.idgen_go_number) (int, error) {
	p := packedPool.Get().(*packedOwners)
	defer p.free()
	written := 0
	err := g.waitInCore(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		for {
			p.pack(owners, written)
			result := call(p, written, flag)
			written += int(result.value)
			if result.failure.status != C.IDGEN_OK || written == owners.Len() {
				return result.failure
			}
		}
	})
	return written, err
}
