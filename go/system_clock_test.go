package idgen

import (
	"sync"
	"testing"
	"time"
)

func wantNow(t *testing.T, c *anchoredClock) {
	t.Helper()
	before := time.Now().UnixMilli()
	// 10 ms and 1 ms: if somebody sets the clock just now.
	if shown, after := c.unixMs(), time.Now().UnixMilli(); shown < before-11 || shown > after+1 {
		t.Errorf("it shows %d between %d and %d", shown, before, after)
	}
}

func TestTheAnchoredClockShowsTheTimeOfTheSystem(t *testing.T) {
	c := newAnchoredClock()
	var running sync.WaitGroup
	for range 4 {
		running.Add(1)
		go func() {
			defer running.Done()
			for start := time.Now(); time.Since(start) < 50*time.Millisecond && !t.Failed(); { // some anchors
				wantNow(t, c)
			}
		}()
	}
	running.Wait()
}

func TestAClockThatWasSetIsSeenWithTheNextAnchor(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		c := newAnchoredClock()
		wantNow(t, c)
		c.anchor.ahead += int64(by)
		c.anchor.taken -= anchorLasts // as old as an anchor may get,
		c.begun.Add(-nsPerMs)         // and a past millisecond
		wantNow(t, c)
	}
}

func TestAMillisecondThatIsJustBeingWrittenIsNotUsed(t *testing.T) {
	c := newAnchoredClock()
	wantNow(t, c)
	c.renewing.Store(true)
	c.begun.Store(never)
	c.ms.Add(3_600_000)
	c.anchor.ahead += int64(time.Hour)
	wantNow(t, c)
	if c.begun.Load() != never {
		t.Error("two goroutines wrote one at the same time")
	}
}

func TestAnAnchorOfAnotherTimeIsNotUsed(t *testing.T) {
	c := newAnchoredClock()
	for _, by := range []int64{int64(time.Hour), -int64(time.Hour)} { // as of a bubble of testing/synctest
		wantNow(t, c)
		c.anchor.taken += by
		c.anchor.ahead += int64(time.Minute)
		c.begun.Add(by)
		c.ms.Add(60_000)
		wantNow(t, c)
	}
}

func TestAnAnchorThatTookTooLongIsNotKept(t *testing.T) {
	c := newAnchoredClock()
	c.renew(c.now() - 2*anchorTakes)
	if c.anchor.taken != never || c.begun.Load() != never {
		t.Error("kept")
	}
	wantNow(t, c)
}

func TestTheClockShowsEachMillisecondUntilItsEnd(t *testing.T) {
	c := newAnchoredClock()
	c.anchor.taken = 0
	c.anchor.ahead = 7*nsPerMs + 300_000
	for _, at := range []struct{ since, ms int64 }{{0, 7}, {699_999, 7}, {700_000, 8}, {1_699_999, 8}, {1_700_000, 9}} {
		ms, ok := c.at(at.since)
		if !ok {
			ms = c.renew(at.since)
		}
		if ms != at.ms {
			t.Errorf("%d ns after the anchor it shows %d, want %d", at.since, ms, at.ms)
		}
	}
	if _, ok := c.at(699_999); ok {
		t.Error("a millisecond that has not begun is shown")
	}
}
