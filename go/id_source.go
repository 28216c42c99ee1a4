//go:build cgo

package idgen

import "context"

// IDSource is what ids are drawn from: a [*Generator], a [*LazyGenerator], or a generator of the package idgentest. A
// type for parameters and fields, so that a program can be given any of these. It has what most programs use; ids with
// an owner are drawn from a *Generator. All methods do what those of [Generator] do.
type IDSource interface {
	// Next makes one id. May block, up to wait_max.
	Next() (int64, error)
	// NextContext is Next with a context, which ends a wait.
	NextContext(ctx context.Context) (int64, error)
	// NextText makes one id as text. May block like Next.
	NextText() (string, error)
	// NextTextContext is NextText with a context, which ends a wait.
	NextTextContext(ctx context.Context) (string, error)
	// Fill fills ids, and returns how many it wrote: all, or fewer and an error. May block like Next.
	Fill(ids []int64) (int, error)
	// FillContext is Fill with a context, which ends a wait.
	FillContext(ctx context.Context, ids []int64) (int, error)
	// Close gives unused ids back. May be called more than once.
	Close(ctx context.Context) error
}

var (
	_ IDSource = (*Generator)(nil)
	_ IDSource = (*LazyGenerator)(nil)
)
