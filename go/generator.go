//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"iter"
	"runtime"
	"unsafe"
)

// Generator makes ids. Made by [Open] or [New]; safe for use by any number of goroutines.
type Generator struct {
	// An integer, because cgo would check a pointer argument on every call, and make it escape.
	handle   C.uintptr_t
	lifetime *lifetime // so that a copy of this struct also keeps the handle alive
	pattern  *TextPattern
	view     view
}

// Open makes a generator from the table [name] of a TOML file. Options override the file. A relative store path starts
// from the file's folder. May block, up to wait_max; ctx ends the wait, and is not kept.
//
// Errors: ErrConfigFile for a file that is missing, unreadable, malformed, or has no such table; and those of New.
func Open(ctx context.Context, path, name string, options ...Option) (*Generator, error) {
	return create(ctx, append([]Option{file{path, name}}, options...))
}

// New makes a generator from options alone: New(ctx, Options{"kind": "segment", …}) or New(ctx, WithKind("segment"),
// …). It checks the whole configuration, opens the store and takes the first reservation. May block, up to wait_max;
// ctx ends the wait, and is not kept.
//
// Errors: ErrUnknownKey, ErrValue, ErrLayout, ErrLifetime, ErrUnsupported, ErrWorkerBusy, ErrCancelled, those of the
// clock and of the store.
func New(ctx context.Context, options ...Option) (*Generator, error) {
	return create(ctx, options)
}

func create(ctx context.Context, options []Option) (*Generator, error) {
	if ctx.Err() != nil {
		return nil, cancelled(ctx, ErrCancelled.Error())
	}
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	defer c.destroy()
	defer c.store.asksFor(ctx)()
	var created C.idgen_go_handle
	err = withFlag(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		created = C.idgen_go_create(c.handle, flag)
		return created.failure
	})
	if err != nil && c.store != nil && ctx.Err() != nil {
		// A store that listens to ctx may fail before the core notices that it ended.
		return nil, cancelled(ctx, ErrCancelled.Error())
	}
	if err != nil {
		return nil, err
	}
	// Close stops a generator but keeps its memory: another goroutine may still be in a call. None is once the
	// collector finds it unreachable. The goroutine is needed because a generator that was never closed now gives its
	// reservation back to the store.
	life := newLifetime(created.handle, func(handle C.uintptr_t) { go C.idgen_go_destroy(handle) })
	life.log, life.store, life.gate = c.log, c.store, newGate()
	pattern, err := c.textPattern()
	if err != nil {
		return nil, err
	}
	return &Generator{created.handle, life, pattern, viewOf(created.handle)}, nil
}

func (g *Generator) pointer() C.uintptr_t {
	if g == nil {
		return 0 // the core answers ErrHandle
	}
	return g.handle
}

// Next makes one id. May block, up to wait_max: for the next tick when the sequence of this one is used up, for a clock
// that was set back, for the store when the reservation is used up. Does not allocate.
//
// Costs one atomic addition (segment), or one reading of a clock and one compare-and-swap (snowflake): it calls into C
// only where it may have to wait. There is a call for every id of a serial, of a segment with order = relaxed or
// segment.stride, and of a snowflake with sequence_start = random or WithClock.
//
// Errors: ErrClosed, ErrExhausted, ErrOverloaded, those of the clock and of the store; ErrUnsupported if ids have an
// owner, see NextFor.
func (g *Generator) Next() (int64, error) {
	var id uint64
	ok := false
	if g != nil { // as draw does, but for a call less
		switch g.view.protocol {
		case C.IDGEN_VIEW_COUNTER:
			id, ok = g.view.drawNumber()
		case C.IDGEN_VIEW_CLOCK:
			id, ok = g.view.drawNow(systemClock)
		}
	}
	runtime.KeepAlive(g)
	if !ok {
		return g.nextDrawn(context.Background(), id)
	}
	return int64(id), nil
}

// TryNext makes one id at once or not at all. After ErrWouldBlock call Next, which may wait, and which finds out if
// something is wrong. Never blocks.
//
// Errors: ErrWouldBlock, and those of Next that are not retryable.
func (g *Generator) TryNext() (int64, error) {
	id, ok := g.draw()
	if ok {
		runtime.KeepAlive(g)
		return int64(id), nil
	}
	result := g.tryNextDrawn(id)
	if result.failure.status != C.IDGEN_OK && result.failure.status != C.IDGEN_E_WOULD_BLOCK {
		result = C.idgen_go_next_slowly(g.pointer()) // fails at once and says why
	}
	runtime.KeepAlive(g)
	if result.failure.status != C.IDGEN_OK {
		return 0, newError(result.failure)
	}
	return int64(result.value), nil
}

// noIDs stands in for an empty slice, which has no address.
var noIDs C.uint64_t

func idsToC(ids []int64) *C.uint64_t {
	if len(ids) == 0 {
		return &noIDs
	}
	return (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(ids)))
}

// Fill fills ids, strictly increasing with order = strict, and returns how many it wrote: all, or fewer and an error.
// The ids it wrote are real even then, and nobody else will ever get them. Much faster per id than Next. May block like
// Next.
func (g *Generator) Fill(ids []int64) (int, error) {
	return g.FillContext(context.Background(), ids)
}

// All is an endless sequence of ids, each drawn when the loop needs it, so none is lost when the loop stops. An error
// is yielded once and ends the sequence.
//
//	for id, err := range orders.All() {
//		…
//	}
func (g *Generator) All() iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		for {
			id, err := g.Next()
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// String says which generator this is: its kind, its name, its tag or worker, and whether it is closed; never a
// password.
func (g *Generator) String() string {
	result := C.idgen_go_summary(g.pointer())
	runtime.KeepAlive(g)
	text, err := longText(result)
	if err != nil {
		return "no generator"
	}
	return "Generator " + text
}

// Describe says what this configuration protects against and what not, in words, one item per line.
func (g *Generator) Describe() (string, error) {
	result := C.idgen_go_describe(g.pointer())
	runtime.KeepAlive(g)
	return longText(result)
}

// Close stops the generator: waiting and later calls return ErrClosed. The unused rest goes back to the store, for
// which Close may block until ctx ends. What the store does not take back is never issued by anyone: that is a line in
// the log, not an error. May be called more than once.
//
// Errors: ErrCancelled if ctx ended first. The generator is closed all the same, and the rest is still given back in
// the background, except to a store of the program's own, whose context is ctx. If ctx is what stops the program, give
// Close another one:
//
//	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
func (g *Generator) Close(ctx context.Context) error {
	if g != nil && g.lifetime != nil {
		defer g.lifetime.store.asksFor(ctx)()
	}
	err := withFlag(ctx, func(flag *C.int32_t) C.idgen_go_failure { return C.idgen_go_close(g.pointer(), flag) })
	g.forgetHost()
	runtime.KeepAlive(g)
	return err
}
