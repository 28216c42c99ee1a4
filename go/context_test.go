package idgen_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// newWaiting is a generator whose next id has to wait for ever: the sequence of the only tick is used up.
func newWaiting(t *testing.T) (*idgen.Generator, *stuckClock) {
	clock := newStuckClock()
	g := newSnowflake(t, idgen.WithClock(clock), idgen.WithLayout("time:41ms worker:10 sequence:12"),
		idgen.WithSequenceStart("zero"), idgen.WithWaitMax(time.Hour), idgen.WithPattern("ID-{hex}"))
	if n, err := g.Fill(make([]int64, 4096)); n != 4096 || err != nil {
		t.Fatalf("got %d, %v", n, err)
	}
	return g, clock
}

func TestACancelledContextEndsAWait(t *testing.T) {
	calls := map[string]func(context.Context, *idgen.Generator) error{
		"NextContext": func(ctx context.Context, g *idgen.Generator) error { _, err := g.NextContext(ctx); return err },
		"FillContext": func(ctx context.Context, g *idgen.Generator) error {
			_, err := g.FillContext(ctx, make([]int64, 5))
			return err
		},
		"NextTextContext": func(ctx context.Context, g *idgen.Generator) error {
			_, err := g.NextTextContext(ctx)
			return err
		},
		"BlockContext": func(ctx context.Context, g *idgen.Generator) error {
			_, err := g.BlockContext(ctx, 5)
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			g, clock := newWaiting(t)
			why := errors.New("the client went away")
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error)
			go func() { ended <- call(ctx, g) }()
			<-clock.waiting
			cancel(why)
			err := sent(t, ended)
			wantStatus(t, err, idgen.ErrCancelled)
			if !errors.Is(err, why) {
				t.Errorf("%v is not the context's cause", err)
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v is not context.Canceled", err)
			}
		})
	}
}

func TestADeadlineEndsAWait(t *testing.T) {
	g, _ := newWaiting(t)
	why := errors.New("the client waits no longer")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, why)
	defer cancel()
	for _, when := range []string{"during", "after"} {
		_, err := g.NextContext(ctx)
		wantStatus(t, err, idgen.ErrCancelled)
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, why) {
			t.Errorf("%s the deadline: %v is not DeadlineExceeded and its cause", when, err)
		}
	}
}

func TestAContextThatHasEndedDrawsNothing(t *testing.T) {
	g := newSegment(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.NextContext(ctx)
	wantStatus(t, err, idgen.ErrCancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
	if n, err := g.FillContext(ctx, make([]int64, 10)); n != 0 || !errors.Is(err, idgen.ErrCancelled) {
		t.Errorf("FillContext = %d, %v", n, err)
	}
	if _, err := g.BlockContext(ctx, 10); !errors.Is(err, idgen.ErrCancelled) {
		t.Errorf("BlockContext: %v", err)
	}
	if id := mustNext(t, g); id != 1 {
		t.Errorf("the first id is %d: something was drawn", id)
	}
}

func TestCloseEndsAWait(t *testing.T) {
	g, clock := newWaiting(t)
	ended := make(chan error)
	go func() {
		_, err := g.Next()
		ended <- err
	}()
	<-clock.waiting
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, sent(t, ended), idgen.ErrClosed)
}

func TestTryNextSaysThatNextWouldWait(t *testing.T) {
	g, _ := newWaiting(t)
	wantStatus(t, errorOf(g.TryNext()), idgen.ErrWouldBlock)
}
