//go:build cgo

package idgen

import (
	"math"
	"sync/atomic"
	"time"
)

// anchoredClock is the wall clock at the price of the monotonic one. Reading a clock is most of what a snowflake costs,
// and time.Now reads both. An anchor says where both stood at one moment. For anchorLasts the monotonic one is then
// enough.
//
// It is never ahead of a wall clock that nobody sets back, because time.Now reads that first, so the anchor's monotonic
// time is the later of the two; and because nanoseconds are added up, and only the sum is rounded.
//
// A wall clock that was set is seen with the next anchor. A suspended machine is a clock that was set too, since
// CLOCK_MONOTONIC stops meanwhile: ids made in the first anchorLasts after it wakes may have the time at which it fell
// asleep. Neither can make an id that is issued twice: not the clock keeps ids apart, but the counter, which only moves
// up, and its limit.
type anchoredClock struct {
	_     [64]byte // every draw reads what follows: on cache lines that nothing else writes to
	start time.Time
	// Written only by the goroutine that has set renewing. If taken is the same before and after ahead was read, both
	// are of one anchor.
	taken    atomic.Int64 // ns since start
	ahead    atomic.Int64 // ns by which the wall clock was ahead of that
	renewing atomic.Bool
	_        [64]byte
}

const (
	anchorLasts = int64(10 * time.Millisecond)
	// A thread that lost its processor between the two readings of time.Now would leave an anchor that is behind.
	anchorTakes = int64(time.Millisecond)
	noAnchor    = math.MinInt64
)

var systemClock = newAnchoredClock()

func newAnchoredClock() *anchoredClock {
	c := &anchoredClock{start: time.Now()}
	c.taken.Store(noAnchor)
	return c
}

func (c *anchoredClock) unixMs() int64 {
	since := int64(time.Since(c.start))
	taken := c.taken.Load()
	ahead := c.ahead.Load()
	// Unsigned, so that an anchor later than since is not used: it may be of a bubble of testing/synctest, where the
	// time is another.
	if uint64(since-taken) >= uint64(anchorLasts) || c.taken.Load() != taken {
		return c.renew(since)
	}
	return (since + ahead) / int64(time.Millisecond)
}

// renew reads the wall clock, for this draw and, unless another goroutine is about to, for the following ones. since is
// when the caller began.
func (c *anchoredClock) renew(since int64) int64 {
	now := time.Now()
	taken := int64(now.Sub(c.start))
	if taken-since <= anchorTakes && c.renewing.CompareAndSwap(false, true) {
		c.taken.Store(noAnchor)
		c.ahead.Store(now.UnixNano() - taken)
		c.taken.Store(taken)
		c.renewing.Store(false)
	}
	return now.UnixMilli()
}
