//go:build cgo

package idgen_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// gate is a store that answers once, and again when it is opened.
type gate struct {
	highest, grants atomic.Int64
	opened          chan struct{}
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

func (s *gate) SegmentTake(_ context.Context, _, _ string, count int64) (int64, error) {
	if s.grants.Add(1) > 1 {
		<-s.opened
	}
	return s.highest.Add(count) - count + 1, nil
}

func (s *gate) SegmentReturn(context.Context, string, string, int64, int64) error { return nil }

// starved has given out all that it has.
func starved(t *testing.T, store *gate, options idgen.Options) *idgen.Generator {
	t.Helper()
	g := onGate(t, store, "segment", options)
	for range 10 {
		mustNext(t, g)
	}
	return g
}

// starvedOfOwned is the same, of ids with an owner.
func starvedOfOwned(t *testing.T, store *gate, options idgen.Options) *idgen.Generator {
	t.Helper()
	g := onGate(t, store, "business", options)
	var err error
	for owner := int64(0); err == nil; owner++ { // counters take numbers ahead
		_, err = g.TryNextFor(idgen.OwnerInt(owner % 100))
	}
	wantStatus(t, err, idgen.ErrWouldBlock)
	return g
}

func onGate(t *testing.T, store *gate, kind string, options idgen.Options) *idgen.Generator {
	t.Helper()
	all := idgen.Options{"kind": kind, "tag": "t", "segment.step": "10", "segment.runway": "0", "wait_max": "1h"}
	maps.Copy(all, options)
	return mustNew(t, all, idgen.WithHostStore(store))
}

func threads(t *testing.T) int {
	t.Helper()
	status := need(os.ReadFile("/proc/self/status"))(t)
	_, after, _ := strings.Cut(string(status), "Threads:")
	line, _, _ := strings.Cut(after, "\n")
	return need(strconv.Atoi(strings.TrimSpace(line)))(t)
}

type outcome struct {
	id  int64
	err error
}

// waiting starts that many goroutines, and returns once all have begun.
func waiting(count int, draw func() (int64, error)) (outcomes []outcome, done *sync.WaitGroup) {
	outcomes, done = make([]outcome, count), &sync.WaitGroup{}
	var begun sync.WaitGroup
	for i := range count {
		begun.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			begun.Done()
			outcomes[i].id, outcomes[i].err = draw()
		}()
	}
	begun.Wait()
	return outcomes, done
}

// wantFewThreads lets twice as many goroutines wait as the runtime allows threads, and then get an id each. All but a
// few wait in this function.
func wantFewThreads(t *testing.T, store *gate, mostThreads, inCore int, where string, draw func() (int64, error)) {
	t.Helper()
	const many = 20_000
	before := threads(t)
	outcomes, done := waiting(many, draw)
	untilWaiting(t, many-inCore, where)
	if now := threads(t); now > before+mostThreads {
		t.Errorf("%d threads before, %d while %d goroutines wait", before, now, many)
	}
	close(store.opened)
	done.Wait()
	ids := make([]int64, many)
	for i, found := range outcomes {
		if found.err != nil {
			t.Fatal(found.err)
		}
		ids[i] = found.id
	}
	wantNoneTwice(t, ids)
}

func TestManyGoroutinesWaitAndHoldNoThreadEach(t *testing.T) {
	store := newGate()
	wantFewThreads(t, store, 20, 1, "(*waiters).next(", starved(t, store, nil).Next)
}

func TestManyGoroutinesWaitForIdsOfOwnersAndHoldFewThreads(t *testing.T) {
	store := newGate()
	g := starvedOfOwned(t, store, nil)
	next := func() (int64, error) { return g.NextFor(idgen.OwnerString("shop")) }
	wantFewThreads(t, store, 100, 64, "(*Generator).waitInCore(", next)
}

func TestEachThatWaitsForAnOwnersIdIsToldAfterWaitMaxOfItsOwn(t *testing.T) {
	const many = 2000 // one after the other they would outlast all deadlines
	store := newGate()
	g := starvedOfOwned(t, store, idgen.Options{"wait_max": "300ms"})
	outcomes, done := waiting(many, func() (int64, error) {
		var one [1]int64
		_, err := g.FillForEach(idgen.OwnersInt([]int64{7}), one[:])
		return one[0], err
	})
	done.Wait()
	for _, found := range outcomes {
		wantStatus(t, found.err, idgen.ErrStoreUnavailable)
		if !strings.Contains(found.err.Error(), "wait_max") {
			t.Fatal(found.err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	outcomes, done = waiting(many, func() (int64, error) { return g.NextForContext(ctx, idgen.OwnerInt(7)) })
	cancel()
	done.Wait()
	for _, found := range outcomes {
		if !errors.Is(found.err, context.Canceled) && !errors.Is(found.err, idgen.ErrStoreUnavailable) {
			t.Fatal(found.err)
		}
	}
	close(store.opened)
}

// heldClock stands still, and does not come back from a wait either, until it is released.
type heldClock struct {
	*stuckClock
	released chan struct{}
}

func (c *heldClock) Sleep(time.Duration) { <-c.released }

func TestWhoWaitsForAPlaceIsToldAfterWaitMaxThoughNoneBecomesFree(t *testing.T) {
	clock := &heldClock{newStuckClock(), make(chan struct{})}
	g := newOrder(t, idgen.WithClock(clock), idgen.WithWaitMax(100*time.Millisecond))
	var err error
	for err == nil {
		_, err = g.TryNextFor(idgen.OwnerInt(7))
	}
	var told atomic.Int64
	outcomes, done := waiting(200, func() (int64, error) {
		defer told.Add(1)
		return g.NextFor(idgen.OwnerInt(7))
	})
	until(t, func() bool { return told.Load() == 200-64 })
	close(clock.released)
	done.Wait()
	for _, found := range outcomes {
		wantStatus(t, found.err, idgen.ErrOverloaded)
	}
}

func TestCloseEndsTheWaitOfAllThatWaitForAnOwnersId(t *testing.T) {
	store := newGate()
	g := starvedOfOwned(t, store, nil)
	outcomes, done := waiting(1000, func() (int64, error) { return g.NextFor(idgen.OwnerInt(1)) })
	untilWaiting(t, 1000-64, "(*Generator).waitInCore(")
	close(store.opened)
	g.Close(t.Context())
	done.Wait()
	for _, found := range outcomes {
		if found.err != nil {
			wantStatus(t, found.err, idgen.ErrClosed)
		}
	}
}

func TestEachThatWaitsIsToldAfterWaitMaxOfItsOwn(t *testing.T) {
	store := newGate()
	g := starved(t, store, idgen.Options{"wait_max": "300ms"})
	defer close(store.opened)
	outcomes, done := waiting(500, g.Next)
	done.Wait()
	for _, found := range outcomes {
		if !errors.Is(found.err, idgen.ErrStoreUnavailable) || !strings.Contains(found.err.Error(), "wait_max") {
			t.Fatal(found.err)
		}
	}
}

func TestAContextEndsOneWaitAndTheOthersGoOn(t *testing.T) {
	store := newGate()
	g := starved(t, store, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	ended, endedDone := waiting(200, func() (int64, error) { return g.NextContext(ctx) })
	others, othersDone := waiting(200, g.Next)
	cancel(why)
	endedDone.Wait()
	for _, found := range ended {
		if !errors.Is(found.err, idgen.ErrCancelled) || !errors.Is(found.err, why) {
			t.Fatal(found.err)
		}
	}
	close(store.opened)
	othersDone.Wait()
	for _, found := range others {
		if found.err != nil {
			t.Fatal(found.err)
		}
	}
}

func TestThoseWhoComeAfterAllHaveGoneGetIDs(t *testing.T) {
	store := newGate()
	g := starved(t, store, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, gone := waiting(50, func() (int64, error) { return g.NextContext(ctx) })
	cancel()
	gone.Wait()
	outcomes, done := waiting(50, g.Next)
	close(store.opened)
	done.Wait()
	for _, found := range outcomes {
		if found.err != nil {
			t.Fatal(found.err)
		}
	}
}

func TestCloseEndsAllWaits(t *testing.T) {
	store := newGate()
	g := starved(t, store, nil)
	outcomes, done := waiting(1000, g.Next)
	closed := make(chan error)
	go func() { closed <- g.Close(context.Background()) }()
	done.Wait()
	for _, found := range outcomes {
		if !errors.Is(found.err, idgen.ErrClosed) {
			t.Fatal(found.err)
		}
	}
	close(store.opened)
	<-closed
}

func TestFillAndBlockAndTextWaitAlike(t *testing.T) {
	store := newGate()
	g := starved(t, store, nil)
	fills, filled := waiting(100, func() (int64, error) {
		ids := make([]int64, 25)
		count, err := g.Fill(ids)
		if err == nil && (count != 25 || !slices.IsSorted(ids) || len(slices.Compact(ids)) != 25) {
			err = errors.New("not 25 that rise")
		}
		return ids[0], err
	})
	blocks, drawn := waiting(100, func() (int64, error) {
		block, err := g.Block(7)
		if err == nil && (block.Count < 1 || block.Count > 7) {
			err = errors.New("not 1 to 7")
		}
		return block.First, err
	})
	texts, written := waiting(100, func() (int64, error) {
		text, err := g.NextText()
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(text, 10, 64)
	})
	close(store.opened)
	filled.Wait()
	drawn.Wait()
	written.Wait()
	seen := map[int64]bool{}
	for _, found := range slices.Concat(fills, blocks, texts) {
		if found.err != nil || found.id <= 10 {
			t.Fatal(found)
		}
		if seen[found.id] {
			t.Fatalf("DUPLICATE: %d was issued twice", found.id)
		}
		seen[found.id] = true
	}
}

func TestBlocksAreWholeAcrossTheMarksOfASegment(t *testing.T) {
	g := newSegment(t, idgen.Options{"segment.step": "1000", "segment.runway": "0"})
	next := int64(1)
	for range 200 {
		block := need(g.Block(100))(t)
		if block.First != next || block.Count < 1 || block.Count > 100 {
			t.Fatalf("%+v, not from %d", block, next)
		}
		next += block.Count
	}
	if next < 100*190 {
		t.Errorf("200 blocks of 100 had %d ids", next-1)
	}
}

func TestThoseWhoHaveGoneLeaveNothingBehind(t *testing.T) {
	store := newGate()
	g := starved(t, store, nil)
	_, first := waiting(1, g.Next)
	ctx, cancel := context.WithCancel(t.Context())
	_, gone := waiting(20_000, func() (int64, error) { return g.NextContext(ctx) })
	cancel()
	gone.Wait()
	close(store.opened)
	first.Wait()
	mustNext(t, g)
}

// At the cap of a layout nearly every draw of many goroutines waits.
func TestAtTheCapNobodyIsForgotten(t *testing.T) {
	g := need(idgen.New(t.Context(), idgen.Options{
		"layout": "time:53ms worker:4 sequence:6", "worker": "1", "store": "memory:cap", "wait_max": "1h"}))(t)
	defer g.Close(context.Background())
	const goroutines, each = 50, 100
	ids := make([]int64, goroutines*each)
	inGoroutines(goroutines, func(n int) {
		for i := range each {
			id, err := g.NextContext(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if i > 0 && id <= ids[n*each+i-1] {
				t.Errorf("DUPLICATE or out of order: %d after %d", id, ids[n*each+i-1])
			}
			ids[n*each+i] = id
		}
	})
	wantNoneTwice(t, ids)
}
