package idgen_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/idgen/idgen/go"
)

// hookedStore is a counter with a hook before each of its two calls.
type hookedStore struct {
	counter
	take, giveBack func(context.Context) error
}

func (s *hookedStore) SegmentTake(ctx context.Context, namespace, tag string, count int64) (int64, error) {
	if s.take != nil {
		if err := s.take(ctx); err != nil {
			return 0, err
		}
	}
	return s.counter.SegmentTake(ctx, namespace, tag, count)
}

func (s *hookedStore) SegmentReturn(ctx context.Context, namespace, tag string, last, unused int64) error {
	if s.giveBack != nil {
		if err := s.giveBack(ctx); err != nil {
			return err
		}
	}
	return s.counter.SegmentReturn(ctx, namespace, tag, last, unused)
}

// untilItEnds is a store's call that hangs, but listens to its context.
func untilItEnds(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestACancelledContextEndsNew(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	stores := map[string]func(context.Context) error{
		"whose store listens to its context": untilItEnds,
		"whose store does not":               func(context.Context) error { <-never; return nil },
	}
	for name, hang := range stores {
		t.Run(name, func(t *testing.T) {
			inside := make(chan struct{})
			store := &hookedStore{take: func(ctx context.Context) error { close(inside); return hang(ctx) }}
			wantCancelled(t, inside, func(ctx context.Context) error {
				return errorOf(idgen.New(ctx, idgen.Options{
					"kind": "segment", "tag": "orders", "store_timeout": "10m", "wait_max": "1h"},
					idgen.WithHostStore(store)))
			})
		})
	}
}

func TestAContextThatHasEndedOpensNothing(t *testing.T) {
	store := &hookedStore{take: func(context.Context) error { t.Error("the store was asked"); return nil }}
	_, err := idgen.New(ended(t), idgen.WithKind("segment"), idgen.WithTag("orders"), idgen.WithHostStore(store))
	wantStatus(t, err, idgen.ErrCancelled)
	_, err = idgen.Open(ended(t), "no such file", "orders")
	wantStatus(t, err, idgen.ErrCancelled, context.Canceled)
}

func TestAGeneratorOutlivesTheContextThatItWasMadeWith(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := &hookedStore{take: func(ctx context.Context) error { return ctx.Err() }}
	orders := need(idgen.New(ctx, idgen.Options{"kind": "segment", "tag": "orders", "segment.step": "10"},
		idgen.WithHostStore(store)))(t)
	defer orders.Close(t.Context())
	cancel()
	gives(orders.Fill(make([]int64, 200)))(t, 200)
}

func TestTheContextOfAStoreEndsAfterStoreTimeout(t *testing.T) {
	for _, timeout := range []string{"30ms", "30"} {
		found := make(chan error, 1)
		var once sync.Once
		store := &hookedStore{take: func(ctx context.Context) error {
			err := untilItEnds(ctx)
			once.Do(func() { found <- err })
			return err
		}}
		if _, err := onStore(t, store, idgen.Options{"store_timeout": timeout, "wait_max": "50ms"}); err == nil {
			t.Fatal("New succeeded on a store that never answers")
		}
		if err := <-found; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("store_timeout = %s: the context ended with %v", timeout, err)
		}
	}
}

func TestACancelledCloseStopsWaitingForTheStore(t *testing.T) {
	inside := make(chan struct{})
	orders := need(onStore(t, &hookedStore{
		giveBack: func(ctx context.Context) error { close(inside); return untilItEnds(ctx) },
	}))(t)
	mustNext(t, orders)
	ctx, cancel := context.WithCancel(t.Context())
	closed := later(func() error { return orders.Close(ctx) })
	<-inside
	cancel()
	if err := sent(t, closed); err != nil { // none if the store has ended first: the log has that
		wantStatus(t, err, idgen.ErrCancelled)
	}
	wantStatus(t, errorOf(orders.Next()), idgen.ErrClosed)
}
