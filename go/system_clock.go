//go:build cgo

package idgen

import (
	"math"
	"sync/atomic"
	"time"
)

// anchoredClock is the wall clock at the price of the monotonic one. Reading a clock is most of what a snowflake costs,
// and time.Now reads both. An anchor says where both stood at one moment. For anchorLasts the monotonic one is then
// enough; and from one millisecond of the wall clock to the next it need only be compared.
//
// It is never ahead of a wall clock that nobody sets back, because time.Now reads that first, so the anchor's monotonic
// time is the later of the two; and because nanoseconds are added up, and only the sum is rounded.
//
// A wall clock that was set is seen with the next anchor, at most a millisecond after anchorLasts. A suspended machine
// is a clock that was set too, since CLOCK_MONOTONIC stops meanwhile: ids made in the first 11 ms after it wakes may
// have the time at which it fell asleep. Neither can make an id that is issued twice: what keeps ids apart is not the
// clock but the counter, which only moves up, and its limit.
type anchoredClock struct {
	_     [64]byte // every draw reads what follows: on cache lines that hardly anything writes to
	start time.Time
	// Written only by the goroutine that has set renewing. If begun is the same before and after ms was read, both are
	// of one millisecond.
	begun    atomic.Int64 // when the present millisecond began, ns since start
	ms       atomic.Int64 // which one it is, since 1970
	renewing atomic.Bool
	anchor   anchor // of who has set renewing
	_        [64]byte
}

type anchor struct {
	taken int64 // ns since start
	ahead int64 // ns by which the wall clock was ahead of that
}

const (
	anchorLasts = int64(10 * time.Millisecond)
	// A thread that lost its processor between the two readings of time.Now would leave an anchor that is behind.
	anchorTakes = int64(time.Millisecond)
	nsPerMs     = int64(time.Millisecond)
	never       = math.MinInt64
)

var systemClock = newAnchoredClock()

func newAnchoredClock() *anchoredClock {
	c := &anchoredClock{start: time.Now(), anchor: anchor{taken: never}}
	c.begun.Store(never)
	return c
}

func (c *anchoredClock) unixMs() int64 {
	since := c.now()
	if ms, ok := c.at(since); ok {
		return ms
	}
	return c.renew(since)
}

// now is in ns since start.
func (c *anchoredClock) now() int64 { return int64(time.Since(c.start)) }

// at is the millisecond of since, if that is the one known.
func (c *anchoredClock) at(since int64) (unixMs int64, ok bool) {
	begun := c.begun.Load()
	unixMs = c.ms.Load()
	// Unsigned, so that a millisecond later than since is not used: it may be of a bubble of testing/synctest, where
	// the time is another.
	return unixMs, uint64(since-begun) < uint64(nsPerMs) && c.begun.Load() == begun
}

// renew finds the millisecond of since, when the caller began: for this draw and, unless another goroutine is about to,
// for the following ones.
func (c *anchoredClock) renew(since int64) int64 {
	// It is read first, because an exchange would take begun and ms from all others even if it failed.
	if c.renewing.Load() || !c.renewing.CompareAndSwap(false, true) {
		return time.Now().UnixMilli()
	}
	defer c.renewing.Store(false)
	if uint64(since-c.anchor.taken) >= uint64(anchorLasts) {
		now := time.Now()
		taken := int64(now.Sub(c.start))
		if taken-since > anchorTakes {
			return now.UnixMilli()
		}
		c.anchor = anchor{taken, now.UnixNano() - taken}
		since = taken
	}
	wall := since + c.anchor.ahead
	ms := wall / nsPerMs
	c.begun.Store(never)
	c.ms.Store(ms)
	c.begun.Store(since - wall%nsPerMs)
	return ms
}
