package idgentest

import (
	"fmt"
	"sync"
	"time"
)

// FirstMoment is where a clock stands that nobody has told another time, unless the layout begins later.
var FirstMoment = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// ManualClock is a clock that stands still until it is told to move: an [idgen.Clock] for [idgen.WithClock], and for
// [Setup]. Any number of goroutines and generators may share it. A generator that has to wait for this clock moves it
// by the time that it would have waited, so no wait takes real time.
type ManualClock struct {
	mutex sync.Mutex
	now   time.Time
}

// NewManualClock makes a clock that stands at a time.
func NewManualClock(at time.Time) *ManualClock { return &ManualClock{now: at} }

// Now is where it stands.
func (c *ManualClock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

// Set sets it, forward or back.
func (c *ManualClock) Set(at time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = at
}

// Advance moves it forward. Panics if by is negative: see SetBack.
func (c *ManualClock) Advance(by time.Duration) {
	refuseNegative("Advance", by, "SetBack")
	c.move(by)
}

// SetBack moves it back. Panics if by is negative: see Advance.
func (c *ManualClock) SetBack(by time.Duration) {
	refuseNegative("SetBack", by, "Advance")
	c.move(-by)
}

// Sleep is called by generators, in place of waiting: it moves the clock forward.
func (c *ManualClock) Sleep(d time.Duration) { c.move(d) }

func (c *ManualClock) move(by time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.now = c.now.Add(by)
}

func refuseNegative(what string, by time.Duration, other string) {
	if by < 0 {
		panic(fmt.Sprintf("idgentest: %s: %s is negative; use %s", what, by, other))
	}
}
