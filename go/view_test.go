package idgen_test

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// cgoCalls is how often draw calls into C.
func cgoCalls(draw func()) int64 {
	before := runtime.NumCgoCall()
	draw()
	return runtime.NumCgoCall() - before
}

func mustNextBlock(t testing.TB, g *idgen.Generator) int64 {
	t.Helper()
	block := need(g.Block(1))(t)
	return block.First
}

func mustFillOne(t testing.TB, g *idgen.Generator) int64 {
	t.Helper()
	ids := make([]int64, 1)
	if _, err := g.FillContext(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	return ids[0]
}

// tryNext is TryNext, and Next where that would have to wait.
func tryNext(g *idgen.Generator) (int64, error) {
	id, err := g.TryNext()
	if errors.Is(err, idgen.ErrWouldBlock) {
		return g.Next()
	}
	return id, err
}

func mustTryNext(t testing.TB, g *idgen.Generator) int64 {
	t.Helper()
	return need(tryNext(g))(t)
}

func mustNextContext(t testing.TB, g *idgen.Generator) int64 {
	t.Helper()
	return need(g.NextContext(t.Context()))(t)
}

func TestNextCallsIntoCOnlyNowAndThen(t *testing.T) {
	const each = 10_000
	for name, g := range map[string]*idgen.Generator{
		"segment":   newSegment(t, idgen.WithSegmentStep(1_000_000)),
		"snowflake": newSnowflake(t, idgen.WithLayout("time:41ms sequence:22"), idgen.Options{"worker": ""}),
		"snowflake by the second": newSnowflake(t, idgen.WithLayout("time:32s sequence:21 worker:10"),
			idgen.WithNamespace("by the second")),
	} {
		calls := cgoCalls(func() {
			for range each {
				mustNext(t, g)
				mustTryNext(t, g)
				mustNextContext(t, g)
			}
		})
		if calls > each/10 {
			t.Errorf("%d ids of a %s took %d calls into C", 3*each, name, calls)
		}
	}
}

func TestIdsDrawnInGoAndInCAreOneSequenceAcrossSegments(t *testing.T) {
	g := newSegment(t, idgen.WithStore(sqliteStore(t)), idgen.WithSegmentStep(10), idgen.Options{"segment.runway": "0"})
	ways := []func(testing.TB, *idgen.Generator) int64{
		mustNext, mustFillOne, mustNext, mustTryNext, mustNextBlock, mustTryNext, mustNextContext,
	}
	// 7 ways and segments of 10: each way meets each place of a segment.
	for want := int64(1); want <= 700; want++ {
		way := int(want) % len(ways)
		if id := ways[way](t, g); id != want {
			t.Fatalf("way %d gave %d, want %d", way, id, want)
		}
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
			draw := mustNext // alone in the end: what follows the clock there is not the core
			if i%2 == 1 && before.Sub(start) < 10*time.Millisecond {
				draw = mustFillOne
			}
			id := draw(t, g)
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

// wantRising draws in every way at once, and compares all ids.
func wantRising(t *testing.T, g *idgen.Generator) {
	t.Helper()
	const goroutines, each = 8, 6000
	all := make([]int64, goroutines*each)
	failures := make([]error, goroutines)
	inGoroutines(goroutines, func(i int) {
		ids := all[i*each : (i+1)*each]
		for n := 0; n < each && failures[i] == nil; {
			switch (n + i) % 3 {
			case 0:
				ids[n], failures[i] = g.Next()
				n++
			case 1:
				ids[n], failures[i] = tryNext(g)
				n++
			case 2:
				few := ids[n:min(n+1+i, each)]
				_, failures[i] = g.Fill(few)
				n += len(few)
			}
		}
	})
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	for ids := range slices.Chunk(all, each) {
		for i, id := range ids[1:] {
			wantAbove(t, id, ids[i])
		}
	}
	wantNoneTwice(t, all)
	stats := need(g.Stats())(t)
	// Whoever comes late to the end of a range of numbers draws anew, and leaves a gap.
	gaps := int64(stats.IssuedIDs) - goroutines*each
	if isSnowflake := stats.TagLeft == math.MaxUint64; gaps < 0 || gaps > 0 && isSnowflake {
		t.Errorf("%d ids are counted, of %d", stats.IssuedIDs, goroutines*each)
	}
}

func TestGoroutinesThatDrawInGoAndInCNeverGetTheSameId(t *testing.T) {
	t.Run("segment of 10", func(t *testing.T) {
		wantRising(t, newSegment(t, idgen.WithSegmentStep(10), idgen.Options{"segment.runway": "0"}))
	})
	t.Run("segment on SQLite", func(t *testing.T) {
		wantRising(t, newSegment(t, idgen.WithStore(sqliteStore(t)), idgen.WithSegmentStep(100)))
	})
	t.Run("snowflake", func(t *testing.T) { wantRising(t, newSnowflake(t)) })
	t.Run("snowflake with short windows", func(t *testing.T) {
		wantRising(t, newSnowflake(t, idgen.WithStore(sqliteStore(t)), idgen.Options{"window": "100ms"}))
	})
}

func TestAGeneratorThatIsClosedWhileGoroutinesDrawSaysSoToAll(t *testing.T) {
	kinds := map[string]func(testing.TB, ...idgen.Option) *idgen.Generator{
		"segment": newSegment, "snowflake": newSnowflake,
	}
	for kind, newOfKind := range kinds {
		t.Run(kind, func(t *testing.T) {
			g := newOfKind(t)
			const goroutines = 4
			drawn := make([][]int64, goroutines)
			var running, begun sync.WaitGroup
			begun.Add(goroutines)
			for i := range goroutines {
				running.Add(1)
				go func() {
					defer running.Done()
					draw := g.Next
					if i%2 == 1 {
						draw = func() (int64, error) { return tryNext(g) }
					}
					for {
						id, err := draw()
						if err != nil {
							if !errors.Is(err, idgen.ErrClosed) {
								t.Errorf("got %v, want CLOSED", err)
							}
							return
						}
						if drawn[i] = append(drawn[i], id); len(drawn[i]) == 1000 {
							begun.Done()
						}
					}
				}()
			}
			begun.Wait()
			if err := g.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				if id, err := g.Next(); !errors.Is(err, idgen.ErrClosed) {
					t.Fatalf("after Close: %d, %v", id, err)
				}
			}
			running.Wait()
			wantNoneTwice(t, slices.Concat(drawn...))
		})
	}
}

func TestACopyDrawsFromTheSameCounterUntilEitherIsClosed(t *testing.T) {
	g := newSegment(t, idgen.WithStore(sqliteStore(t)), idgen.WithSegmentStep(10))
	another := *g
	for want := int64(1); want <= 100; want += 2 {
		if id := mustNext(t, g); id != want {
			t.Fatalf("the generator gave %d, want %d", id, want)
		}
		if id := mustNext(t, &another); id != want+1 {
			t.Fatalf("the copy gave %d, want %d", id, want+1)
		}
	}
	if err := another.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, errorOf(g.Next()), idgen.ErrClosed)
	wantStatus(t, errorOf(another.TryNext()), idgen.ErrClosed)
}

// sharedStore makes another store of a counter, as another process has one.
type sharedStore struct{ *counter }

func TestNumbersOfAnotherProcessAreNotDrawn(t *testing.T) {
	numbers := &counter{}
	var generators [2]*idgen.Generator
	for i := range generators {
		generators[i] = mustNew(t, idgen.Options{"kind": "segment", "tag": "orders", "segment.step": "10",
			"segment.runway": "0"}, idgen.WithHostStore(&sharedStore{numbers}))
	}
	seen := map[int64]bool{}
	for i := range 1000 {
		id := mustNext(t, generators[i/7%2])
		if seen[id] {
			t.Fatalf("DUPLICATE: %d was issued twice", id)
		}
		seen[id] = true
	}
}

func TestNoSnowflakeLiesBeyondTheReservedTime(t *testing.T) {
	store, db := withWorkers(t)
	g := need(snowflakeOn(t, store, "7", idgen.Options{"window": "100ms", "wait_max": "1s"}))(t)
	defer func() { _ = g.Close(t.Context()) }()
	if _, err := db.Exec("CREATE TRIGGER refuses BEFORE UPDATE ON idgen_worker " +
		"BEGIN SELECT RAISE(ABORT, 'connection reset by peer'); END"); err != nil {
		t.Fatal(err)
	}
	var err error
	last := int64(0)
	until(t, func() bool { // the reserved time ends
		for range 1000 {
			var id int64
			if id, err = g.Next(); err != nil {
				return true
			}
			last = id
		}
		return false
	})
	wantStatus(t, err, idgen.ErrStoreUnavailable)
	parts := need(g.Decode(last))(t)
	if end := onlyRow(t, store).HwMs; parts.UnixMs >= end {
		t.Errorf("the last id is of %d, reserved is what is before %d", parts.UnixMs, end)
	}
}

func TestTwoGeneratorsOnOneWorkerShareItUntilEachIsClosed(t *testing.T) {
	first, second := newSnowflake(t), newSnowflake(t)
	last := int64(0)
	for range 100 {
		for _, g := range []*idgen.Generator{first, second} {
			id := mustNext(t, g)
			wantAbove(t, id, last)
			last = id
		}
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Next(); !errors.Is(err, idgen.ErrClosed) {
		t.Errorf("the closed one: %v", err)
	}
	wantAbove(t, mustNext(t, second), last)
}

func TestGeneratorsThatOnlyTheCoreCanDrawFromGiveIdsToo(t *testing.T) {
	for name, g := range map[string]*idgen.Generator{
		"order = relaxed":         newSegment(t, idgen.WithOrder("relaxed"), idgen.WithTag("relaxed")),
		"segment.stride":          newSegment(t, idgen.Options{"segment.stride": "4"}, idgen.WithTag("stride")),
		"serial":                  newSegment(t, idgen.WithKind("serial"), idgen.WithPattern("{yyyyMMdd}{000000}")),
		"sequence_start = random": newSnowflake(t, idgen.Options{"sequence_start": "random"}),
		"a clock of the program":  newSnowflake(t, idgen.WithClock(newFakeClock()), idgen.WithNamespace("clock")),
	} {
		const each = 2000
		var ids []int64
		calls := cgoCalls(func() {
			for range each {
				ids = append(ids, mustNext(t, g), mustTryNext(t, g))
			}
		})
		wantNoneTwice(t, ids)
		if calls < 2*each {
			t.Errorf("%s: %d ids took %d calls into C", name, 2*each, calls)
		}
	}
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

func TestTheFirstIdThatTheStoreDoesNotGrantSaysWhy(t *testing.T) {
	store := &counter{}
	g := mustNew(t, idgen.Options{"kind": "segment", "tag": "orders", "segment.step": "10", "segment.runway": "0",
		"wait_max": "20ms"}, idgen.WithHostStore(store))
	mustNext(t, g)
	store.mutex.Lock()
	store.failure = func() error { return errors.New("connection reset by peer") }
	store.mutex.Unlock()
	var err error
	for err == nil {
		_, err = g.Next()
	}
	wantStatus(t, err, idgen.ErrHost)
	if !strings.Contains(err.Error(), "connection reset by peer") {
		t.Error(err)
	}
}
