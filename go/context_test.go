package idgen_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// contextCalls draw up to five ids until a context ends, and say how many they have. They are those of a layout without
// a gene, and of the layout order.
func contextCalls(layout string) map[string]func(context.Context, *idgen.Generator) (int, error) {
	calls := map[string]func(context.Context, *idgen.Generator) (int, error){}
	if layout == "order" {
		for _, call := range ownedCalls {
			for _, owner := range fiveTimes7 {
				calls[fmt.Sprint(call, owner)] = func(ctx context.Context, g *idgen.Generator) (int, error) {
					ids, err := owner.draw(ctx, g, call)
					return len(ids), err
				}
			}
		}
		return calls
	}
	calls["Next"] = func(ctx context.Context, g *idgen.Generator) (int, error) { return 0, errorOf(g.NextContext(ctx)) }
	calls["Text"] = func(ctx context.Context, g *idgen.Generator) (int, error) {
		return 0, errorOf(g.NextTextContext(ctx))
	}
	calls["Fill"] = func(ctx context.Context, g *idgen.Generator) (int, error) {
		return g.FillContext(ctx, make([]int64, 5))
	}
	calls["Block"] = func(ctx context.Context, g *idgen.Generator) (int, error) {
		block, err := g.BlockContext(ctx, 5)
		return int(block.Count), err
	}
	return calls
}

// useUp draws until an id has to be waited for.
func useUp(t *testing.T, g *idgen.Generator, hasOwners bool) {
	t.Helper()
	var err error
	for owner := int64(0); err == nil; owner++ { // counters take numbers ahead
		if hasOwners {
			_, err = g.TryNextFor(idgen.OwnerInt(owner % 100))
		} else {
			_, err = g.TryNext()
		}
	}
	wantStatus(t, err, idgen.ErrWouldBlock)
}

// newWaiting is a generator whose next id has to wait for ever: the sequence of the only tick is used up.
func newWaiting(t *testing.T, layout string) (*idgen.Generator, *stuckClock) {
	clock := newStuckClock()
	g := newSnowflake(t, idgen.WithClock(clock), idgen.WithLayout(layout), idgen.WithWaitMax(time.Hour),
		idgen.WithSequenceStart("zero"), idgen.WithPattern("ID-{hex}"),
		idgen.WithNamespace(fmt.Sprint(t.Name(), stores.Add(1))))
	useUp(t, g, layout == "order")
	return g, clock
}

var errNoLongerWanted = errors.New("nobody wants it any more")

// wantCancelled runs call with a context that ends, with a cause, as soon as it is inside.
func wantCancelled(t *testing.T, inside <-chan struct{}, call func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := later(func() error { return call(ctx) })
	<-inside
	cancel(errNoLongerWanted)
	wantStatus(t, sent(t, failed), idgen.ErrCancelled, errNoLongerWanted, context.Canceled)
}

func TestACancelledContextEndsAWait(t *testing.T) {
	for _, layout := range []string{"default", "order"} {
		for name, call := range contextCalls(layout) {
			t.Run(name, func(t *testing.T) {
				g, clock := newWaiting(t, layout)
				wantCancelled(t, clock.waiting, func(ctx context.Context) error { return errorOf(call(ctx, g)) })
			})
		}
	}
}

func TestADeadlineEndsAWait(t *testing.T) {
	g, _ := newWaiting(t, "default")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Millisecond, errNoLongerWanted)
	defer cancel()
	for range 2 { // during it, and after
		wantStatus(t, errorOf(g.NextContext(ctx)), idgen.ErrCancelled, errNoLongerWanted, context.DeadlineExceeded)
	}
}

func TestAContextThatHasEndedDrawsNothing(t *testing.T) {
	for layout, g := range map[string]*idgen.Generator{
		"default": newSegment(t), "order": newBusiness(t, idgen.WithTag("owned"), idgen.WithCounters(1)),
	} {
		for name, call := range contextCalls(layout) {
			drawn, err := call(ended(t), g)
			if wantStatus(t, err, idgen.ErrCancelled, context.Canceled); drawn != 0 {
				t.Errorf("%s has drawn %d", name, drawn)
			}
		}
		id, err := g.Next()
		if layout == "order" {
			id, err = g.NextFor(idgen.OwnerInt(7))
		}
		if parts, _ := g.Decode(id); err != nil || parts.Segment != 1 {
			t.Errorf("the first id is %+v, %v: something was drawn", parts, err)
		}
	}
}
