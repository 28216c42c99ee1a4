//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// view is what idgen_view says, in Go's types. Without a protocol: there is none. Copies draw from the same words.
type view struct {
	protocol      uint32
	sequenceBits  uint32
	sequenceShift uint32
	timeShift     uint32
	words         *unsafe.Pointer // of the generator, in C's memory
	epochUnixMs   int64
	tickMs        uint64
	maxTick       uint64
	carryMask     uint64
}

func viewOf(handle C.uintptr_t) view {
	v := C.idgen_go_view(handle)
	return view{
		protocol:      uint32(v.protocol),
		sequenceBits:  uint32(v.sequence_bits),
		sequenceShift: uint32(v.sequence_shift),
		timeShift:     uint32(v.time_shift),
		words:         (*unsafe.Pointer)(unsafe.Pointer(v.words)),
		epochUnixMs:   int64(v.epoch_unix_ms),
		tickMs:        uint64(v.tick_ms),
		maxTick:       uint64(v.max_tick),
		carryMask:     uint64(v.carry_mask),
	}
}

// draw makes one id without a call, as idgen/view.h says: by the core's own steps, so C may draw
// at the same time. False: the core must make the id. nextDrawn and tryNextDrawn go on there with the number that this
// returned, which nobody else draws.
//
// The words live until the generator is destroyed: the caller keeps g alive until this has returned.
func (g *Generator) draw() (uint64, bool) {
	if g == nil {
		return 0, false
	}
	switch g.view.protocol {
	case C.IDGEN_VIEW_COUNTER:
		return g.view.drawNumber()
	case C.IDGEN_VIEW_CLOCK:
		return g.view.drawNow(systemClock)
	}
	return 0, false
}

// current is read again for each draw, because the core moves the words: a closed generator has others.
func (v *view) current() *C.idgen_words_t {
	return (*C.idgen_words_t)(atomic.LoadPointer(v.words))
}

// drawNumber adds first and compares afterwards: a number below a limit that was read before the addition may be
// somebody else's (counter.hpp).
func (v *view) drawNumber() (uint64, bool) {
	words := v.current()
	n := atomic.AddUint64((*uint64)(&words.next), 1) - 1
	return n, n < atomic.LoadUint64((*uint64)(&words.limit)) && n >= atomic.LoadUint64((*uint64)(&words.first))
}

// drawNow is drawAt by a clock, for a call less.
func (v *view) drawNow(c *anchoredClock) (uint64, bool) {
	since := c.now()
	unixMs, ok := c.at(since)
	if !ok {
		unixMs = c.renew(since)
	}
	words := v.current()
	if n, ok := v.stepInTick(words, unixMs); ok {
		return v.id(words, n), true
	}
	return v.drawBySteps(words, unixMs)
}

func (v *view) drawAt(unixMs int64) (uint64, bool) {
	words := v.current()
	if n, ok := v.stepInTick(words, unixMs); ok {
		return v.id(words, n), true
	}
	return v.drawBySteps(words, unixMs)
}

// stepInTick draws a number if the counter stands in this tick already, which is what most draws find. It depends on
// the clock only by a comparison that the processor foresees.
func (v *view) stepInTick(words *C.idgen_words_t, unixMs int64) (uint64, bool) {
	n := atomic.LoadUint64((*uint64)(&words.next))
	return n, n>>(v.sequenceBits&63) == uint64(unixMs-v.epochUnixMs) && v.tickMs == 1 &&
		n < atomic.LoadUint64((*uint64)(&words.limit)) &&
		atomic.CompareAndSwapUint64((*uint64)(&words.next), n, n+1)
}

func (v *view) drawBySteps(words *C.idgen_words_t, unixMs int64) (uint64, bool) {
	if unixMs < v.epochUnixMs {
		return 0, false
	}
	tick := uint64(unixMs - v.epochUnixMs)
	if v.tickMs != 1 {
		tick /= v.tickMs
	}
	if tick > v.maxTick {
		return 0, false
	}
	bits := v.sequenceBits & 63 // it is below 64; the mask spares the compiler's check of that, here and below
	floor := tick << bits
	ceiling := floor + (atomic.LoadUint64((*uint64)(&words.slack))+1)<<bits
	for {
		seen := atomic.LoadUint64((*uint64)(&words.next))
		n := seen
		if n < floor {
			n = floor + seen&v.carryMask
		}
		// Read after seen: if the counter is still there below, no range has been opened in between.
		if n >= min(atomic.LoadUint64((*uint64)(&words.limit)), ceiling) {
			return 0, false
		}
		skipped := (*uint64)(&words.skipped)
		if n != seen {
			atomic.AddUint64(skipped, n-seen)
		}
		if atomic.CompareAndSwapUint64((*uint64)(&words.next), seen, n+1) {
			return v.id(words, n), true
		}
		if n != seen {
			atomic.AddUint64(skipped, seen-n)
		}
	}
}

// id is the one of a number that was drawn from these words: others may be of another worker.
func (v *view) id(words *C.idgen_words_t, n uint64) uint64 {
	bits := v.sequenceBits & 63
	sequence := n & (1<<bits - 1)
	return n>>bits<<(v.timeShift&63) | sequence<<(v.sequenceShift&63) | atomic.LoadUint64((*uint64)(&words.fixed))
}

// nextDrawn is Next once draw has failed. In the one call the number becomes an id or is given up: it is never passed
// on again.
func (g *Generator) nextDrawn(ctx context.Context, drawn uint64) (int64, error) {
	result := g.tryNextDrawn(drawn)
	if result.failure.status == C.IDGEN_E_WOULD_BLOCK {
		return g.lifetime.waiters.next(ctx, g)
	}
	if result.failure.status != C.IDGEN_OK {
		result = C.idgen_go_next_slowly(g.pointer()) // fails at once and says why
	}
	runtime.KeepAlive(g)
	if result.failure.status != C.IDGEN_OK {
		return 0, newError(result.failure)
	}
	return int64(result.value), nil
}

// tryNextDrawn does not wait. Its failures have no message: see idgen_go_try_next.
func (g *Generator) tryNextDrawn(drawn uint64) C.idgen_go_number {
	if g != nil && g.view.protocol == C.IDGEN_VIEW_COUNTER {
		return C.idgen_go_try_next_drawn(g.handle, C.uint64_t(drawn))
	}
	return C.idgen_go_try_next(g.pointer())
}
