package idgen_test

import (
	"context"
	"errors"
	"strings"
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

// cancelledBy runs call with a context that ends, with a cause, as soon as the store is in a call.
func cancelledBy(t *testing.T, inside <-chan struct{}, call func(context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- call(ctx) }()
	<-inside
	cancel(errNoLongerWanted)
	return sent(t, ended)
}

var errNoLongerWanted = errors.New("nobody wants it any more")

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
			err := cancelledBy(t, inside, func(ctx context.Context) error {
				_, err := idgen.New(ctx, idgen.Options{
					"kind": "segment", "tag": "orders", "store_timeout": "10m", "wait_max": "1h"},
					idgen.WithHostStore(store))
				return err
			})
			wantStatus(t, err, idgen.ErrCancelled)
			if !errors.Is(err, errNoLongerWanted) || !errors.Is(err, context.Canceled) {
				t.Errorf("%v is not the context's error and its cause", err)
			}
		})
	}
}

func TestAContextThatHasEndedOpensNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store := &hookedStore{take: func(context.Context) error { t.Error("the store was asked"); return nil }}
	_, err := idgen.New(ctx, idgen.WithKind("segment"), idgen.WithTag("orders"), idgen.WithHostStore(store))
	wantStatus(t, err, idgen.ErrCancelled)
	_, err = idgen.Open(ctx, "no such file", "orders")
	wantStatus(t, err, idgen.ErrCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
}

func TestAGeneratorOutlivesTheContextThatItWasMadeWith(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := &hookedStore{take: func(ctx context.Context) error { return ctx.Err() }}
	orders := need(idgen.New(ctx, idgen.Options{"kind": "segment", "tag": "orders", "segment.step": "10"},
		idgen.WithHostStore(store)))(t)
	defer orders.Close(t.Context())
	cancel()
	if n, err := orders.Fill(make([]int64, 200)); n != 200 || err != nil {
		t.Errorf("Fill = %d, %v", n, err)
	}
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
		_, err := idgen.New(t.Context(), idgen.Options{
			"kind": "segment", "tag": "orders", "store_timeout": timeout, "wait_max": "50ms"},
			idgen.WithHostStore(store))
		if err == nil {
			t.Fatal("New succeeded on a store that never answers")
		}
		if err := <-found; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("store_timeout = %s: the context ended with %v", timeout, err)
		}
	}
}

// tailLost draws one of ten numbers, closes the generator with close, and returns what the log said. The rest must be a
// gap.
func tailLost(t *testing.T, store *hookedStore, close func(*idgen.Generator) error) string {
	t.Helper()
	var mutex sync.Mutex
	var lines []string
	log := func(level idgen.LogLevel, message string) {
		mutex.Lock()
		defer mutex.Unlock()
		if level == idgen.LogWarning {
			lines = append(lines, message)
		}
	}
	orders := need(idgen.New(t.Context(), idgen.Options{
		"kind": "segment", "tag": "orders", "segment.step": "10", "segment.runway": "0"},
		idgen.WithHostStore(store), idgen.WithLog(log)))(t)
	last := mustNext(t, orders)
	if err := close(orders); err != nil {
		t.Errorf("Close made a failure of finished work: %v", err)
	}
	if _, err := orders.Next(); !errors.Is(err, idgen.ErrClosed) {
		t.Errorf("the generator goes on: %v", err)
	}
	store.mutex.Lock()
	defer store.mutex.Unlock()
	if store.maxID < last || store.maxID%10 != 0 {
		t.Errorf("the store stands at %d after %d was issued: a part of the rest was given back", store.maxID, last)
	}
	mutex.Lock()
	defer mutex.Unlock()
	return strings.Join(lines, "\n")
}

func TestCloseIsNoFailureWhenTheStoreDoesNotTakeTheRestBack(t *testing.T) {
	store := &hookedStore{giveBack: func(context.Context) error { return errors.New("connection reset by peer") }}
	said := tailLost(t, store, func(g *idgen.Generator) error { return g.Close(t.Context()) })
	if !strings.Contains(said, "connection reset by peer") {
		t.Errorf("the log does not say why the rest was lost: %q", said)
	}
}

func TestACancelledCloseStopsWaitingForTheStore(t *testing.T) {
	inside := make(chan struct{})
	store := &hookedStore{giveBack: func(ctx context.Context) error { close(inside); return untilItEnds(ctx) }}
	tailLost(t, store, func(g *idgen.Generator) error {
		err := cancelledBy(t, inside, g.Close)
		if errors.Is(err, idgen.ErrCancelled) {
			return nil
		}
		return err
	})
}
