package idgen_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// toldStore fails as it is told, and holds whoever asks until it may answer.
type toldStore struct {
	hookedStore
	asked     chan struct{} // has something once the store was asked
	mayAnswer chan struct{} // closed: at once
	fails     func() error
}

func newToldStore(failures ...error) *toldStore {
	s := &toldStore{asked: make(chan struct{}, 1), mayAnswer: make(chan struct{})}
	close(s.mayAnswer)
	s.fails = func() (failure error) {
		if len(failures) > 0 {
			failure, failures = failures[0], failures[1:]
		}
		return failure
	}
	s.take = func(ctx context.Context) error {
		select {
		case s.asked <- struct{}{}:
		default:
		}
		select {
		case <-s.mayAnswer:
			s.mutex.Lock()
			defer s.mutex.Unlock()
			return s.fails()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s
}

func newHeldStore() *toldStore {
	s := newToldStore()
	s.mayAnswer = make(chan struct{})
	return s
}

func newDownStore() *toldStore {
	s := newToldStore()
	s.fails = func() error { return idgen.ErrStoreUnavailable }
	return s
}

// lazyOn makes a handle whose every attempt to open fails at once if the store does.
func lazyOn(t *testing.T, store idgen.Store, options ...idgen.Option) *idgen.LazyGenerator {
	t.Helper()
	l := idgen.NewLazy(append([]idgen.Option{
		idgen.Options{"kind": "segment", "tag": t.Name(), "wait_max": "0ms", "segment.step": "10",
			"segment.runway": "0"},
		idgen.WithHostStore(store),
	}, options...)...)
	t.Cleanup(func() { l.Close(context.Background()) })
	return l
}

func wantOpen(t *testing.T, l *idgen.LazyGenerator, want bool) {
	t.Helper()
	if l.IsOpen() != want {
		t.Errorf("%v: open is %v", l, !want)
	}
}

func TestALazyHandleReadsNothingUntilItsFirstUseWhichSaysWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "idgen.toml")
	orders := idgen.Lazy(path, "orders", idgen.WithPattern("O-{0000}"))
	defer orders.Close(t.Context())
	wantOpen(t, orders, false)
	wantStatus(t, errorOf(orders.Next()), idgen.ErrConfigFile)
	write(t, path, twoGenerators)
	gives(orders.Next())(t, 1) // it tries again
	gives(orders.NextText())(t, "O-0002")
	ids := make([]int64, 3)
	if n, err := orders.Fill(ids); n != 3 || err != nil || !slices.Equal(ids, []int64{3, 4, 5}) {
		t.Error(n, err, ids)
	}
	wantOpen(t, orders, true)
}

func TestAHandleSaysWhatItIsWithoutAPassword(t *testing.T) {
	rows := idgen.NewLazy(idgen.WithTag("t"), idgen.Options{"kind": "segment"}, idgen.WithStore("mysql://a:secret@b/c"))
	if text := fmt.Sprintf("%v %+v", rows, rows); text != strings.Repeat(
		` LazyGenerator kind="segment" tag="t" (not open)`, 2)[1:] {
		t.Error(text)
	}
	orders := idgen.Lazy("idgen.toml", "orders")
	orders.Close(t.Context())
	if orders.String() != `LazyGenerator "orders" of "idgen.toml" (closed)` {
		t.Error(orders)
	}
}

func TestOfGoroutinesThatRaceOneOpensAndAllDrawFromItsGenerator(t *testing.T) {
	rows := lazyOn(t, newToldStore(), idgen.WithSegmentStep(1000))
	ids, generators := make([]int64, 16), make([]*idgen.Generator, 16)
	var ready sync.WaitGroup
	ready.Add(len(ids))
	inGoroutines(len(ids), func(i int) {
		ready.Done()
		ready.Wait()
		generators[i], _ = rows.Get(t.Context())
		ids[i], _ = rows.Next()
	})
	slices.Sort(ids)
	if ids[0] != 1 || ids[len(ids)-1] != int64(len(ids)) || len(slices.Compact(generators)) != 1 {
		t.Errorf("a second opening took another range: %d", ids)
	}
}

func TestAFailureToOpenGoesToAllWhoWaitForItAndTheNextUseTriesAgain(t *testing.T) {
	store := newToldStore(idgen.ErrStoreDamaged)
	store.mayAnswer = make(chan struct{})
	rows := lazyOn(t, store, idgen.WithWaitMax(30*time.Second))
	failures := make(chan error)
	for range 4 {
		go func() { failures <- errorOf(rows.Next()) }()
	}
	untilWaiting(t, 3, "(*LazyGenerator).Get(")
	close(store.mayAnswer)
	for range 4 {
		wantStatus(t, <-failures, idgen.ErrStoreDamaged)
	}
	gives(rows.Next())(t, 1)
}

func TestAContextEndsTheOpeningOfItsCallerAndTheNextOfThoseWhoWaitOpens(t *testing.T) {
	store := newHeldStore()
	rows := lazyOn(t, store, idgen.WithWaitMax(30*time.Second))
	because := errors.New("the request is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	first := later(func() error { return errorOf(rows.NextContext(ctx)) })
	<-store.asked
	waits, leave := context.WithCancel(t.Context())
	second := later(func() error { return errorOf(rows.NextContext(waits)) })
	third := later(func() error { return errorOf(rows.Next()) })
	untilWaiting(t, 2, "(*LazyGenerator).Get(")
	leave()
	wantStatus(t, <-second, idgen.ErrCancelled, context.Canceled)
	cancel(because)
	wantStatus(t, <-first, idgen.ErrCancelled, because)
	close(store.mayAnswer)
	if err := <-third; err != nil {
		t.Error(err)
	}
}

func TestOpeningTriesAgainAfterWhatWaitingCuresUnlessOpenWaitForbidsIt(t *testing.T) {
	rows := lazyOn(t, newToldStore(idgen.ErrStoreUnavailable, idgen.ErrStoreUnavailable, idgen.ErrWorkerBusy))
	gives(rows.Next())(t, 1)
	rows = lazyOn(t, newToldStore(idgen.ErrStoreUnavailable), idgen.WithOpenWait(0))
	wantStatus(t, errorOf(rows.Next()), idgen.ErrStoreUnavailable)
	gives(rows.Next())(t, 1)
	rows = lazyOn(t, newToldStore(idgen.ErrTagUnknown), idgen.WithOpenWait(time.Hour))
	wantStatus(t, errorOf(rows.Next()), idgen.ErrTagUnknown)
	wantStatus(t, errorOf(idgen.New(t.Context(), idgen.WithOpenWait(time.Second))), idgen.ErrUnsupported)
}

func TestTheWaitForAStoreIsNoLongerThanOpenWait(t *testing.T) {
	asked := 0
	store := newToldStore()
	store.fails = func() error { asked++; return idgen.ErrStoreUnavailable }
	rows := lazyOn(t, store, idgen.WithOpenWait(100*time.Millisecond))
	start := time.Now()
	wantStatus(t, errorOf(rows.Next()), idgen.ErrStoreUnavailable)
	// Pauses grow from 50 ms to 2 s: the minute that is the default would have 35 of them.
	if waited := time.Since(start); waited < 100*time.Millisecond || asked < 2 || asked > 10 {
		t.Error("waited", waited, "and asked", asked)
	}
}

func TestAContextEndsTheWaitForAStoreThatIsDown(t *testing.T) {
	store := newDownStore()
	rows := lazyOn(t, store, idgen.WithOpenWait(time.Hour))
	wantStatus(t, errorOf(rows.Get(ended(t))), idgen.ErrCancelled)
	wantCancelled(t, store.asked, func(ctx context.Context) error { return errorOf(rows.NextContext(ctx)) })
	wantOpen(t, rows, false)
}

func TestAWorkerThatIsStillHeldIsWaitedFor(t *testing.T) {
	options := idgen.Options{"worker": "1", "store": "memory", "namespace": t.Name()}
	old := mustNew(t, options, idgen.WithWindow(time.Second)) // configured in another way: the worker is not shared
	events := idgen.NewLazy(options)
	defer events.Close(t.Context())
	drawn := later(func() error { return errorOf(events.Next()) })
	wantStatus(t, errorOf(idgen.New(t.Context(), options)), idgen.ErrWorkerBusy)
	old.Close(t.Context())
	if err := <-drawn; err != nil {
		t.Error(err)
	}
}

func TestAClosedHandleStaysClosedAndNeverOpens(t *testing.T) {
	store := newToldStore()
	for maxID, use := range []func(l *idgen.LazyGenerator){
		func(*idgen.LazyGenerator) {}, // the store is never asked
		func(l *idgen.LazyGenerator) { gives(l.Next())(t, 1) },
	} {
		rows := lazyOn(t, store)
		use(rows)
		for range 2 {
			if err := rows.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		store.mutex.Lock()
		if store.maxID != int64(maxID) {
			t.Errorf("the store stands at %d, want %d", store.maxID, maxID)
		}
		store.mutex.Unlock()
		wantStatus(t, errorOf(rows.Next()), idgen.ErrClosed)
		wantOpen(t, rows, false)
		if asked := len(store.asked); asked != maxID {
			t.Error("a closed handle has asked the store")
		}
	}
}

func TestClosingEndsAnOpeningThatWaitsForItsStore(t *testing.T) {
	for name, store := range map[string]*toldStore{"between attempts": newDownStore(), "in one": newHeldStore()} {
		t.Run(name, func(t *testing.T) {
			rows := lazyOn(t, store, idgen.WithOpenWait(time.Hour), idgen.WithWaitMax(time.Hour))
			failed := later(func() error { return errorOf(rows.Next()) })
			<-store.asked
			rows.Close(t.Context())
			wantSays(t, <-failed, idgen.ErrClosed, ": the lazy generator is closed; make another one")
		})
	}
}

// usesTheHandle is a clock that draws from the generator which opens with it.
type usesTheHandle struct {
	idgen.Clock
	handle *idgen.LazyGenerator
	err    error
}

func (c *usesTheHandle) Now() time.Time {
	if !c.handle.IsOpen() {
		_, c.err = c.handle.Next()
	}
	return c.Clock.Now()
}

func TestAStoreOrAClockThatUsesTheHandleWhichOpensWithItIsAnErrorAndNoDeadlock(t *testing.T) {
	store := newToldStore()
	handle := lazyOn(t, store, idgen.WithOpenWait(time.Hour))
	store.take = func(context.Context) error { return errorOf(handle.Next()) }
	wantStatus(t, errorOf(handle.Next()), idgen.ErrUnsupported)

	clock := &usesTheHandle{Clock: newFakeClock()}
	clock.handle = idgen.NewLazy(idgen.WithWorker(1), idgen.WithStore("memory"), idgen.WithNamespace(t.Name()),
		idgen.WithClock(clock))
	defer clock.handle.Close(t.Context())
	mustNext(t, need(clock.handle.Get(t.Context()))(t))
	wantStatus(t, clock.err, idgen.ErrUnsupported)
}
