package idgen

import (
	"testing"
	"unsafe"
)

// words are those of a generator as idgen.h lays them out, in the test's own memory.
type words struct {
	next         uint64
	skipped      uint64
	_            [6]uint64
	limit, first uint64
	_            [6]uint64
	slack, fixed uint64
}

// wantDrawn draws once from the words, and compares what that makes of them.
func wantDrawn(t *testing.T, draw func(*view) (uint64, bool), v view, before words, id uint64, ok bool, next uint64) {
	t.Helper()
	after := before
	at := unsafe.Pointer(&after)
	v.words = &at
	drawn, isDrawn := draw(&v)
	if isDrawn != ok || ok && drawn != id {
		t.Errorf("%+v gave %d, %v; want %d, %v", before, drawn, isDrawn, id, ok)
	}
	if isDrawn {
		before.skipped += next - 1 - before.next
	}
	if before.next = next; after != before {
		t.Errorf("it left %+v, want %+v", after, before)
	}
}

func TestANumberIsAnIdInTheOpenRangeOnly(t *testing.T) {
	draw := (*view).drawNumber
	wantDrawn(t, draw, view{}, words{next: 3, first: 3, limit: 5}, 3, true, 4)
	wantDrawn(t, draw, view{}, words{next: 4, first: 3, limit: 5}, 4, true, 5)
	wantDrawn(t, draw, view{}, words{next: 5, first: 3, limit: 5}, 0, false, 6)
	wantDrawn(t, draw, view{}, words{next: 2, first: 3, limit: 5}, 0, false, 3)
	wantDrawn(t, draw, view{}, words{next: 3 << 62, first: 3, limit: 0}, 0, false, 3<<62+1) // closed
}

func TestASnowflakeIsDrawnInItsTickAndInTheReservedTimeOnly(t *testing.T) {
	v := view{sequenceBits: 4, sequenceShift: 2, timeShift: 10, epochUnixMs: 1000, tickMs: 1, maxTick: 100}
	carrying, slow := v, v
	carrying.carryMask = 3
	slow.tickMs = 10
	const tick5, tick6 = 5 << 4, 6 << 4
	at := func(unixMs int64) func(*view) (uint64, bool) {
		return func(v *view) (uint64, bool) { return v.drawAt(unixMs) }
	}
	far := words{limit: 1 << 40, fixed: 3}
	of := func(next uint64) words { w := far; w.next = next; return w }

	wantDrawn(t, at(1005), v, of(0), 5<<10|3, true, tick5+1)                     // the first of its tick
	wantDrawn(t, at(1005), v, of(tick5+1), 5<<10|1<<2|3, true, tick5+2)          // the next
	wantDrawn(t, at(1005), v, of(tick6), 0, false, tick6)                        // none is left
	wantDrawn(t, at(1005), carrying, of(7), 5<<10|3<<2|3, true, tick5+4)         // it goes on with the low bits
	wantDrawn(t, at(1059), slow, of(0), 5<<10|3, true, tick5+1)                  // ticks of 10 ms
	wantDrawn(t, at(1100), v, of(0), 100<<10|3, true, 100<<4+1)                  // the layout's last tick
	wantDrawn(t, at(1101), v, of(0), 0, false, 0)                                // after it
	wantDrawn(t, at(999), v, of(0), 0, false, 0)                                 // before the epoch
	wantDrawn(t, at(1005), v, words{next: tick5, limit: tick5}, 0, false, tick5) // reserved until then
	wantDrawn(t, at(1005), v, words{next: 3 << 62}, 0, false, 3<<62)             // closed

	ahead := words{next: tick6, limit: 1 << 40, slack: 1, fixed: 3}
	wantDrawn(t, at(1005), v, ahead, 6<<10|3, true, tick6+1)
	ahead.next = 7 << 4
	wantDrawn(t, at(1005), v, ahead, 0, false, 7<<4)

	// Three ticks that were slept through are not stepped over.
	behind := words{next: tick5 + 3, limit: 1 << 40, slack: ^uint64(0) - 2, fixed: 3}
	wantDrawn(t, at(1007), v, behind, 0, false, tick5+3)
	wantDrawn(t, at(1004), v, behind, 0, false, tick5+3)
	wantDrawn(t, at(1005), v, behind, 5<<10|3<<2|3, true, tick5+4) // there are none behind it
}
