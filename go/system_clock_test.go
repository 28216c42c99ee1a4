package idgen

import (
	"sync"
	"testing"
	"time"
)

func TestTheAnchoredClockShowsTheTimeOfTheSystem(t *testing.T) {
	c := newAnchoredClock()
	var running sync.WaitGroup
	for range 4 {
		running.Add(1)
		go func() {
			defer running.Done()
			for start := time.Now(); time.Since(start) < 50*time.Millisecond; { // some anchors
				before := time.Now().UnixMilli()
				shown := c.unixMs()
				after := time.Now().UnixMilli()
				// 10 ms and 1 ms: if somebody sets the clock just now.
				if shown < before-11 || shown > after+1 {
					t.Errorf("it shows %d between %d and %d", shown, before, after)
					return
				}
			}
		}()
	}
	running.Wait()
}

// stale makes c's anchor as old as an anchor may get.
func stale(c *anchoredClock) { c.taken.Add(-anchorLasts) }

func wantNow(t *testing.T, c *anchoredClock) {
	t.Helper()
	before := time.Now().UnixMilli()
	if shown, after := c.unixMs(), time.Now().UnixMilli(); shown < before-11 || shown > after+1 {
		t.Errorf("it shows %d between %d and %d", shown, before, after)
	}
}

func TestAClockThatWasSetIsSeenWithTheNextAnchor(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		c := newAnchoredClock()
		wantNow(t, c)
		c.ahead.Add(int64(by))
		stale(c)
		wantNow(t, c)
	}
}

func TestAnAnchorThatIsJustBeingTakenIsNotUsed(t *testing.T) {
	c := newAnchoredClock()
	wantNow(t, c)
	c.renewing.Store(true)
	c.taken.Store(noAnchor)
	c.ahead.Add(int64(time.Hour))
	wantNow(t, c)
	if c.taken.Load() != noAnchor {
		t.Error("two goroutines took an anchor at the same time")
	}
}

func TestAnAnchorOfAnotherTimeIsNotUsed(t *testing.T) {
	c := newAnchoredClock()
	for _, by := range []int64{int64(time.Hour), -int64(time.Hour)} { // as of a bubble of testing/synctest
		wantNow(t, c)
		c.taken.Add(by)
		c.ahead.Add(int64(time.Minute))
		wantNow(t, c)
	}
}

func TestAnAnchorThatTookTooLongIsNotKept(t *testing.T) {
	c := newAnchoredClock()
	c.renew(int64(time.Since(c.start)) - 2*anchorTakes)
	if c.taken.Load() != noAnchor {
		t.Error("kept")
	}
	wantNow(t, c)
}

func BenchmarkAnchoredClock(b *testing.B) {
	for b.Loop() {
		systemClock.unixMs()
	}
}
