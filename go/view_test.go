package idgen_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func TestNextCallsIntoCOnlyNowAndThenWhereAViewIsOfUse(t *testing.T) {
	const each = 10_000
	for name, kind := range map[string]struct {
		g      *idgen.Generator
		inCore bool
	}{
		"segment":   {newSegment(t, idgen.WithSegmentStep(1_000_000)), false},
		"snowflake": {newSnowflake(t, idgen.WithLayout("time:41ms sequence:22"), idgen.Options{"worker": ""}), false},
		"snowflake by the second": {newSnowflake(t, idgen.WithLayout("time:32s sequence:21 worker:10"),
			idgen.WithNamespace("by the second")), false},
		"order = relaxed":  {newSegment(t, idgen.WithOrder("relaxed"), idgen.WithTag("relaxed")), true},
		"segment.stride":   {newSegment(t, idgen.Options{"segment.stride": "4"}, idgen.WithTag("stride")), true},
		"serial":           {newSegment(t, idgen.WithKind("serial"), idgen.WithPattern("{yyyyMMdd}{000000000}")), true},
		"sequence_start":   {newSnowflake(t, idgen.Options{"sequence_start": "random", "namespace": "random"}), true},
		"the host's clock": {newSnowflake(t, idgen.WithClock(newFakeClock()), idgen.WithNamespace("clock")), true},
	} {
		var ids []int64
		before := runtime.NumCgoCall()
		for range each {
			ids = append(ids, mustNext(t, kind.g), need(tryNext(kind.g))(t), need(kind.g.NextContext(t.Context()))(t))
		}
		wantNoneTwice(t, ids)
		if calls := runtime.NumCgoCall() - before; kind.inCore != (calls >= 3*each) || !kind.inCore && calls > each/10 {
			t.Errorf("%s: %d ids took %d calls into C", name, 3*each, calls)
		}
	}
}

func TestIdsDrawnInGoAndInCAreOneSequenceAcrossSegments(t *testing.T) {
	g := newSegment(t, idgen.WithStore(sqliteStore(t)), idgen.WithSegmentStep(10), idgen.Options{"segment.runway": "0"})
	// 7 turns and segments of 10: each way meets each place of a segment.
	for want := int64(1); want <= 700; want++ {
		gives(ways[want%7%int64(len(ways))](g))(t, want)
	}
}

func TestSnowflakesDrawnInGoAndInCHaveTheSameFields(t *testing.T) {
	for _, row := range []struct {
		layout, worker string
		tick           time.Duration
	}{
		{"time:41ms worker:10 sequence:12", "7", time.Millisecond},
		{"time:39x10ms sequence:8 worker:16", "7", 10 * time.Millisecond},
		{"time:32s sequence:21 worker:10", "7", time.Second},
		{"time:41ms sequence:22", "", time.Millisecond},
	} {
		g := newSnowflake(t, idgen.WithLayout(row.layout), idgen.WithNamespace(row.layout),
			idgen.Options{"worker": row.worker})
		last := int64(0)
		start := time.Now()
		for i := 0; time.Since(start) < 50*time.Millisecond; i++ {
			before := time.Now()
			way := 0 // alone in the end: what follows the clock there is not the core
			if before.Sub(start) < 10*time.Millisecond {
				way = i % 2
			}
			id := need(ways[way](g))(t)
			after := time.Now()
			wantAbove(t, id, last)
			last = id
			parts := need(g.Decode(id))(t)
			// The time is that of the tick's beginning. A clock that somebody sets is seen 10 ms later.
			earliest := before.Add(-row.tick - 12*time.Millisecond)
			if at := parts.Timestamp(); at.After(after) || at.Before(earliest) {
				t.Fatalf("%s: an id of %s between %s and %s", row.layout, at, before, after)
			}
			if row.worker != "" && parts.Worker != 7 {
				t.Fatalf("%s: an id of worker %d", row.layout, parts.Worker)
			}
		}
	}
}

func TestAGeneratorThatIsClosedWhileGoroutinesDrawSaysSoToAll(t *testing.T) {
	for _, g := range []*idgen.Generator{newSegment(t), newSnowflake(t)} {
		const goroutines = 4
		drawn := make([][]int64, goroutines)
		var begun sync.WaitGroup
		begun.Add(goroutines)
		inGoroutines(goroutines+1, func(i int) {
			afterClose := 0
			if i == goroutines {
				begun.Wait()
				if err := g.Close(t.Context()); err != nil {
					t.Error(err)
				}
				afterClose = 1
			}
			for afterClose < 1000 {
				id, err := []func(*idgen.Generator) (int64, error){(*idgen.Generator).Next, tryNext}[i%2](g)
				if err != nil {
					if afterClose++; !errors.Is(err, idgen.ErrClosed) {
						t.Errorf("got %v, want CLOSED", err)
					}
				} else if afterClose > 0 {
					t.Errorf("after CLOSED: %d", id)
				} else if drawn[i] = append(drawn[i], id); len(drawn[i]) == 1000 {
					begun.Done()
				}
			}
		})
		wantNoneTwice(t, slices.Concat(drawn...))
	}
}

func TestACopyDrawsFromTheSameCounterUntilEitherIsClosed(t *testing.T) {
	g := newSegment(t, idgen.WithStore(sqliteStore(t)), idgen.WithSegmentStep(10))
	another := *g
	for want := int64(1); want <= 100; want += 2 {
		gives(g.Next())(t, want)
		gives(another.Next())(t, want+1)
	}
	if err := another.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, errorOf(g.Next()), idgen.ErrClosed)
	wantStatus(t, errorOf(another.TryNext()), idgen.ErrClosed)
}

func TestAQuiescedGeneratorIsNotDrawnFromUntilTheReset(t *testing.T) {
	store, wait := idgen.WithStore(sqliteStore(t)), idgen.WithWaitMax(50*time.Millisecond)
	for _, g := range []*idgen.Generator{newSegment(t, store, wait), newSnowflake(t, store, wait)} {
		last := mustNext(t, g)
		if err := idgen.Quiesce(); err != nil {
			t.Fatal(err)
		}
		_, waited := g.Next()
		_, tried := g.TryNext()
		if err := idgen.Reset(); err != nil {
			t.Fatal(err)
		}
		wantSays(t, waited, idgen.ErrStoreUnavailable, "quiesced for a checkpoint")
		wantStatus(t, tried, idgen.ErrWouldBlock)
		if next := mustNext(t, g); next <= last || last == 1 && next != 2 { // the segment's tail was given back
			t.Errorf("%d, and after the reset %d", last, next)
		}
	}
}
