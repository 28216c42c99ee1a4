package idgen_test

import (
	"context"
	"errors"
	"fmt"
	"os"
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
	counter
	asked     chan struct{} // has something once the store was asked
	mayAnswer chan struct{} // closed: at once
}

func newToldStore(failures ...error) *toldStore {
	s := &toldStore{asked: make(chan struct{}, 1), mayAnswer: make(chan struct{})}
	close(s.mayAnswer)
	s.failure = func() error {
		if len(failures) == 0 {
			return nil
		}
		failure := failures[0]
		failures = failures[1:]
		return failure
	}
	return s
}

func (s *toldStore) SegmentTake(ctx context.Context, namespace, tag string, count int64) (int64, error) {
	select {
	case s.asked <- struct{}{}:
	default:
	}
	select {
	case <-s.mayAnswer:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	s.mutex.Lock()
	failure := s.failure()
	s.mutex.Unlock()
	if failure != nil {
		return 0, failure
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.maxID += count
	return s.maxID - count + 1, nil
}

func (s *toldStore) granted() int64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.maxID
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

func TestALazyHandleReadsNothingUntilItsFirstUseWhichSaysWhatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "idgen.toml")
	orders := idgen.Lazy(path, "orders", idgen.WithPattern("O-{0000}"))
	defer orders.Close(t.Context())
	if orders.IsOpen() {
		t.Error("open")
	}
	_, err := orders.Next()
	wantStatus(t, err, idgen.ErrConfigFile)
	if err := os.WriteFile(path, []byte(twoGenerators), 0o600); err != nil {
		t.Fatal(err)
	}
	if id, err := orders.Next(); id != 1 || err != nil {
		t.Errorf("the next use tries again: got %d, %v", id, err)
	}
	if text, err := orders.NextText(); text != "O-0002" || err != nil {
		t.Error(text, err)
	}
	ids := make([]int64, 3)
	if n, err := orders.Fill(ids); n != 3 || err != nil || !slices.Equal(ids, []int64{3, 4, 5}) {
		t.Error(n, err, ids)
	}
	if !orders.IsOpen() {
		t.Error("not open")
	}
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
	rows := idgen.NewLazy(idgen.Options{"kind": "segment", "tag": "t", "store_create": "true", "segment.step": "1000"},
		idgen.WithStore(sqliteStore(t)))
	defer rows.Close(t.Context())
	var running sync.WaitGroup
	start := make(chan struct{})
	ids := make([]int64, 16)
	generators := make([]*idgen.Generator, len(ids))
	for i := range ids {
		running.Add(1)
		go func() {
			defer running.Done()
			<-start
			generators[i], _ = rows.Get(t.Context())
			ids[i], _ = rows.Next()
		}()
	}
	close(start)
	running.Wait()
	slices.Sort(ids)
	if ids[0] != 1 || ids[len(ids)-1] != int64(len(ids)) {
		t.Errorf("a second opening took another range: %d", ids)
	}
	if len(slices.Compact(generators)) != 1 {
		t.Error("different generators")
	}
}

func TestAFailureToOpenGoesToAllWhoWaitForItAndTheNextUseTriesAgain(t *testing.T) {
	store := newToldStore(idgen.ErrStoreDamaged)
	store.mayAnswer = make(chan struct{})
	rows := lazyOn(t, store, idgen.WithWaitMax(30*time.Second))
	failures := make(chan error)
	for range 4 {
		go func() {
			_, err := rows.Next()
			failures <- err
		}()
	}
	untilWaiting(t, 3, "(*LazyGenerator).Get(")
	close(store.mayAnswer)
	for range 4 {
		wantStatus(t, <-failures, idgen.ErrStoreDamaged)
	}
	if id, err := rows.Next(); id != 1 || err != nil {
		t.Error(id, err)
	}
}

func TestAContextEndsTheOpeningOfItsCallerAndTheNextOfThoseWhoWaitOpens(t *testing.T) {
	store := newToldStore()
	store.mayAnswer = make(chan struct{})
	rows := lazyOn(t, store, idgen.WithWaitMax(30*time.Second))
	because := errors.New("the request is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	first, second, third := make(chan error), make(chan error), make(chan error)
	go func() { _, err := rows.NextContext(ctx); first <- err }()
	<-store.asked
	waits, leave := context.WithCancel(t.Context())
	go func() { _, err := rows.NextContext(waits); second <- err }()
	go func() { _, err := rows.Next(); third <- err }()
	untilWaiting(t, 2, "(*LazyGenerator).Get(")
	leave()
	if err := <-second; !errors.Is(err, idgen.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	cancel(because)
	if err := <-first; !errors.Is(err, idgen.ErrCancelled) || !errors.Is(err, because) {
		t.Error(err)
	}
	close(store.mayAnswer)
	if err := <-third; err != nil {
		t.Error(err)
	}
}

func TestOpeningTriesAgainWhileTheStoreIsDown(t *testing.T) {
	rows := lazyOn(t, newToldStore(idgen.ErrStoreUnavailable, idgen.ErrStoreUnavailable, idgen.ErrWorkerBusy))
	if id, err := rows.Next(); id != 1 || err != nil {
		t.Error(id, err)
	}
}

func TestWithoutOpenWaitOneFailureIsTheEnd(t *testing.T) {
	rows := lazyOn(t, newToldStore(idgen.ErrStoreUnavailable), idgen.WithOpenWait(0))
	_, err := rows.Next()
	wantStatus(t, err, idgen.ErrStoreUnavailable)
	if id, err := rows.Next(); id != 1 || err != nil {
		t.Error(id, err)
	}
}

func TestWhatWaitingCannotCureIsReturnedAtOnce(t *testing.T) {
	rows := lazyOn(t, newToldStore(idgen.ErrTagUnknown), idgen.WithOpenWait(time.Hour))
	_, err := rows.Next()
	wantStatus(t, err, idgen.ErrTagUnknown)
}

func TestAContextEndsTheWaitForAStoreThatIsDown(t *testing.T) {
	store := newToldStore()
	store.failure = func() error { return idgen.ErrStoreUnavailable }
	rows := lazyOn(t, store, idgen.WithOpenWait(time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { _, err := rows.NextContext(ctx); failed <- err }()
	<-store.asked
	cancel()
	if err := <-failed; !errors.Is(err, idgen.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if rows.IsOpen() {
		t.Error("open")
	}
}

func TestAContextThatHasEndedOpensNoLazyHandle(t *testing.T) {
	rows := lazyOn(t, newToldStore())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rows.Get(ctx)
	wantStatus(t, err, idgen.ErrCancelled)
	if rows.IsOpen() {
		t.Error("open")
	}
}

func TestAWorkerThatIsStillHeldIsWaitedFor(t *testing.T) {
	options := idgen.Options{"worker": "1", "store": "memory", "namespace": t.Name()}
	old := mustNew(t, options, idgen.WithWindow(time.Second)) // configured in another way: the worker is not shared
	events := idgen.NewLazy(options)
	defer events.Close(t.Context())
	drawn := make(chan error)
	go func() { _, err := events.Next(); drawn <- err }()
	_, err := idgen.New(t.Context(), options)
	wantStatus(t, err, idgen.ErrWorkerBusy)
	old.Close(t.Context())
	if err := <-drawn; err != nil {
		t.Error(err)
	}
}

func TestAClosedHandleStaysClosedAndNeverOpens(t *testing.T) {
	store := newToldStore()
	rows := lazyOn(t, store)
	if err := rows.Close(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := rows.Next()
	wantStatus(t, err, idgen.ErrClosed)
	if !strings.HasSuffix(err.Error(), ": the lazy generator is closed; make another one") {
		t.Error(err)
	}
	if store.granted() != 0 {
		t.Error("it has asked the store")
	}
	used := lazyOn(t, store)
	if _, err := used.Next(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := used.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if store.granted() != 1 {
		t.Error("the rest was not given back")
	}
	_, err = used.Next()
	wantStatus(t, err, idgen.ErrClosed)
	if used.IsOpen() {
		t.Error("open")
	}
}

func TestClosingEndsAnOpeningThatWaitsForItsStore(t *testing.T) {
	for name, answers := range map[string]func() error{
		"between attempts": func() error { return idgen.ErrStoreUnavailable }, "in one": nil,
	} {
		t.Run(name, func(t *testing.T) {
			store := newToldStore()
			if answers != nil {
				store.failure = answers
			} else {
				store.mayAnswer = make(chan struct{})
			}
			rows := lazyOn(t, store, idgen.WithOpenWait(time.Hour), idgen.WithWaitMax(time.Hour))
			failed := make(chan error)
			go func() { _, err := rows.Next(); failed <- err }()
			<-store.asked
			rows.Close(t.Context())
			wantStatus(t, <-failed, idgen.ErrClosed)
		})
	}
}

// usesTheHandle is a store that draws from the generator which opens with it.
type usesTheHandle struct {
	*toldStore
	handle *idgen.LazyGenerator
}

func (s *usesTheHandle) SegmentTake(context.Context, string, string, int64) (int64, error) {
	return s.handle.Next()
}

func TestAStoreOrAClockThatUsesTheHandleWhichOpensWithItIsAnErrorAndNoDeadlock(t *testing.T) {
	store := &usesTheHandle{toldStore: newToldStore()}
	store.handle = lazyOn(t, store, idgen.WithOpenWait(time.Hour))
	_, err := store.handle.Next()
	wantStatus(t, err, idgen.ErrUnsupported)

	clock := &usesTheHandleToo{fakeClock: newFakeClock()}
	clock.handle = idgen.NewLazy(idgen.WithWorker(1), idgen.WithStore("memory"), idgen.WithNamespace(t.Name()),
		idgen.WithClock(clock))
	defer clock.handle.Close(t.Context())
	if _, err := clock.handle.Next(); err != nil {
		t.Error(err)
	}
	wantStatus(t, clock.err, idgen.ErrUnsupported)
}

type usesTheHandleToo struct {
	*fakeClock
	handle *idgen.LazyGenerator
	err    error
}

func (c *usesTheHandleToo) Now() time.Time {
	if !c.handle.IsOpen() {
		_, c.err = c.handle.Next()
	}
	return c.fakeClock.Now()
}

func TestNewAndOpenRefuseOpenWait(t *testing.T) {
	_, err := idgen.New(t.Context(), idgen.WithOpenWait(time.Second))
	wantStatus(t, err, idgen.ErrUnsupported)
}

func TestTheWaitForAStoreIsNoLongerThanOpenWait(t *testing.T) {
	asked := 0
	store := newToldStore()
	store.failure = func() error { asked++; return idgen.ErrStoreUnavailable }
	rows := lazyOn(t, store, idgen.WithOpenWait(100*time.Millisecond))
	start := time.Now()
	_, err := rows.Next()
	wantStatus(t, err, idgen.ErrStoreUnavailable)
	// Pauses grow from 50 ms to 2 s: the minute that is the default would have 35 of them.
	if waited := time.Since(start); waited < 100*time.Millisecond || asked < 2 || asked > 10 {
		t.Error("waited", waited, "and asked", asked)
	}
}
