//go:build cgo

package idgen_test

import (
	"context"
	"errors"
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
	hookedStore
	opened chan struct{}
}

func newGate() *gate {
	s := &gate{opened: make(chan struct{})}
	var grants atomic.Int64
	s.take = func(context.Context) error {
		if grants.Add(1) > 1 {
			<-s.opened
		}
		return nil
	}
	return s
}

// starved has given out all that it has, of ids without an owner or with one.
func starved(t *testing.T, store *gate, kind, waitMax string) *idgen.Generator {
	t.Helper()
	g := need(onStore(t, store, idgen.WithKind(kind), idgen.Options{"wait_max": waitMax}))(t)
	useUp(t, g, kind == "business")
	return g
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

// waiting starts that many goroutines, and returns once all have begun. done waits for them.
func waiting(count int, draw func() (int64, error)) (done func() []outcome) {
	outcomes := make([]outcome, count)
	var begun, over sync.WaitGroup
	for i := range count {
		begun.Add(1)
		over.Add(1)
		go func() {
			defer over.Done()
			begun.Done()
			outcomes[i].id, outcomes[i].err = draw()
		}()
	}
	begun.Wait()
	return func() []outcome { over.Wait(); return outcomes }
}

// wantIDs wants that all have an id of their own.
func wantIDs(t *testing.T, outcomes []outcome) {
	t.Helper()
	var ids []int64
	for _, found := range outcomes {
		if found.err != nil {
			t.Fatal(found.err)
		}
		ids = append(ids, found.id)
	}
	wantNoneTwice(t, ids)
}

// wantFewThreads lets twice as many goroutines wait as the runtime allows threads, and then get an id each. All but a
// few wait in this function.
func wantFewThreads(t *testing.T, store *gate, mostThreads, inCore int, where string, draw func() (int64, error)) {
	t.Helper()
	const many = 20_000
	before := threads(t)
	done := waiting(many, draw)
	untilWaiting(t, many-inCore, where)
	if now := threads(t); now > before+mostThreads {
		t.Errorf("%d threads before, %d while %d goroutines wait", before, now, many)
	}
	close(store.opened)
	wantIDs(t, done())
}

func TestManyGoroutinesWaitAndHoldNoThreadEach(t *testing.T) {
	store := newGate()
	wantFewThreads(t, store, 20, 1, "(*waiters).next(", starved(t, store, "segment", "1h").Next)
}

func TestManyGoroutinesWaitForIdsOfOwnersAndHoldFewThreads(t *testing.T) {
	store := newGate()
	g := starved(t, store, "business", "1h")
	next := func() (int64, error) { return g.NextFor(idgen.OwnerString("shop")) }
	wantFewThreads(t, store, 100, 64, "(*Generator).waitInCore(", next)
}

func TestEachThatWaitsIsToldAfterWaitMaxOfItsOwn(t *testing.T) {
	const many = 2000 // one after the other they would outlast all deadlines
	for _, kind := range []string{"segment", "business"} {
		store := newGate()
		g := starved(t, store, kind, "300ms")
		next := g.Next
		if kind == "business" {
			next = func() (int64, error) {
				var one [1]int64
				_, err := g.FillForEach(idgen.OwnersInt([]int64{7}), one[:])
				return one[0], err
			}
		}
		for _, found := range waiting(many, next)() {
			wantSays(t, found.err, idgen.ErrStoreUnavailable, "wait_max")
		}
		close(store.opened)
	}
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
	useUp(t, g, true)
	var told atomic.Int64
	done := waiting(200, func() (int64, error) {
		defer told.Add(1)
		return g.NextFor(idgen.OwnerInt(7))
	})
	until(t, func() bool { return told.Load() == 200-64 })
	close(clock.released)
	for _, found := range done() {
		wantStatus(t, found.err, idgen.ErrOverloaded)
	}
}

func TestCloseEndsAllWaits(t *testing.T) {
	store := newGate()
	g := starved(t, store, "segment", "1h")
	done := waiting(1000, g.Next)
	closed := later(func() error { return g.Close(context.Background()) })
	for _, found := range done() {
		wantStatus(t, found.err, idgen.ErrClosed)
	}
	close(store.opened)
	<-closed
}

func TestCloseEndsTheWaitOfAllThatWaitForAnOwnersId(t *testing.T) {
	store := newGate()
	g := starved(t, store, "business", "1h")
	done := waiting(1000, func() (int64, error) { return g.NextFor(idgen.OwnerInt(1)) })
	untilWaiting(t, 1000-64, "(*Generator).waitInCore(")
	close(store.opened)
	g.Close(t.Context())
	for _, found := range done() {
		if found.err != nil {
			wantStatus(t, found.err, idgen.ErrClosed)
		}
	}
}

func TestAContextEndsTheWaitsOfItsCallersAndOthersGoOnOrComeAfterThem(t *testing.T) {
	for _, kind := range []string{"segment", "business"} {
		for _, others := range []int{0, 200} {
			store := newGate()
			g := starved(t, store, kind, "1h")
			next := g.NextContext
			if kind == "business" {
				next = func(ctx context.Context) (int64, error) { return g.NextForContext(ctx, idgen.OwnerInt(7)) }
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			gone := waiting(2000, func() (int64, error) { return next(ctx) })
			stay := waiting(others, func() (int64, error) { return next(context.Background()) })
			cancel(errNoLongerWanted)
			for _, found := range gone() {
				wantStatus(t, found.err, idgen.ErrCancelled, errNoLongerWanted)
			}
			come := waiting(50, func() (int64, error) { return next(context.Background()) })
			close(store.opened)
			wantIDs(t, append(come(), stay()...))
		}
	}
}

func TestFillAndBlockAndTextWaitAlike(t *testing.T) {
	store := newGate()
	g := starved(t, store, "segment", "1h")
	filled := waiting(100, func() (int64, error) {
		ids := make([]int64, 25)
		count, err := g.Fill(ids)
		if err == nil && (count != 25 || !slices.IsSorted(ids) || len(slices.Compact(ids)) != 25) {
			err = errors.New("not 25 that rise")
		}
		return ids[0], err
	})
	blocks := waiting(100, func() (int64, error) {
		block, err := g.Block(7)
		if err == nil && (block.Count < 1 || block.Count > 7) {
			err = errors.New("not 1 to 7")
		}
		return block.First, err
	})
	texts := waiting(100, func() (int64, error) { return nextText(g) })
	close(store.opened)
	wantIDs(t, slices.Concat(filled(), blocks(), texts()))
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

// At the cap of a layout nearly every draw of many goroutines waits.
func TestAtTheCapNobodyIsForgotten(t *testing.T) {
	g := newSnowflake(t, idgen.WithLayout("time:53ms worker:4 sequence:6"), idgen.WithWaitMax(time.Hour))
	wantRising(t, drawn(t, g, 50, 100, ways[:1]), 100)
}
