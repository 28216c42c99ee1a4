//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"runtime"
	"unsafe"
)

// NextWideFor makes one id for an owner, of 8 or of 16 bytes: 16 if the layout has 127 bits (business128), or with the
// property on_full = widen once 8 bytes are used up. May block like Next.
//
// Errors: those of NextFor.
func (g *Generator) NextWideFor(owner Owner) (WideID, error) {
	return g.NextWideForContext(context.Background(), owner)
}

// NextWideForContext is NextWideFor with a way out, like NextContext.
func (g *Generator) NextWideForContext(ctx context.Context, owner Owner) (WideID, error) {
	data, size, number := owner.toC()
	var result C.idgen_go_wide
	err := g.waitInCore(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		result = C.idgen_go_next_wide_for(g.pointer(), data, size, number, flag)
		return result.failure
	})
	if err != nil {
		return WideID{}, err
	}
	return wideFromC(result.id), nil
}

// FillWideFor is FillFor for ids of either length.
func (g *Generator) FillWideFor(owner Owner, ids []WideID) (int, error) {
	return g.FillWideForContext(context.Background(), owner, ids)
}

// FillWideForContext is FillWideFor with a way out, like NextContext. The ids written before ctx ended are real.
func (g *Generator) FillWideForContext(ctx context.Context, owner Owner, ids []WideID) (int, error) {
	data, size, number := owner.toC()
	return g.fill(ctx, func(flag *C.int32_t) C.idgen_go_number {
		return C.idgen_go_fill_wide_for(g.pointer(), data, size, number, wideIDsToC(ids), C.size_t(len(ids)), flag)
	})
}

// FillWideForEach is FillForEach for ids of either length.
func (g *Generator) FillWideForEach(owners Owners, ids []WideID) (int, error) {
	return g.FillWideForEachContext(context.Background(), owners, ids)
}

// FillWideForEachContext is FillWideForEach with a way out, like NextContext. The ids written before ctx ended are
// real.
func (g *Generator) FillWideForEachContext(ctx context.Context, owners Owners, ids []WideID) (int, error) {
	if err := owners.check(len(ids)); err != nil {
		return 0, err
	}
	if owners.ints != nil {
		return g.fill(ctx, func(flag *C.int32_t) C.idgen_go_number {
			first := (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(owners.ints)))
			return C.idgen_go_fill_wide_for_ints(g.pointer(), first, wideIDsToC(ids), C.size_t(len(ids)), flag)
		})
	}
	return g.fillPacked(ctx, owners, func(p *packedOwners, from int, flag *C.int32_t) C.idgen_go_number {
		into := wideIDsToC(ids[from:])
		return C.idgen_go_fill_wide_for_each(g.pointer(), p.address(), &p.ends[0], into, C.size_t(p.count), flag)
	})
}

func wideIDsToC(ids []WideID) *C.idgen_wide_id_t {
	if len(ids) == 0 {
		return nil
	}
	return (*C.idgen_wide_id_t)(unsafe.Pointer(unsafe.SliceData(ids)))
}

// DecodeWide splits an id of either length: one of 8 bytes by the generator's layout, one of 16 by the layout that ids
// are widened to. Works on a closed generator too. Errors: ErrValue for a length that the generator does not make, or
// bits outside the layout.
func (g *Generator) DecodeWide(id WideID) (Parts, error) {
	result := C.idgen_go_decode_wide(g.pointer(), id.toC())
	runtime.KeepAlive(g)
	if err := failed(result.failure); err != nil {
		return Parts{}, err
	}
	return partsFromC(result.parts), nil
}
