package idgen_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/idgen/idgen/go"
)

func TestGoroutinesNeverGetTheSameId(t *testing.T) {
	kinds := map[string]func(testing.TB, ...idgen.Option) *idgen.Generator{
		"segment": newSegment, "snowflake": newSnowflake,
	}
	for kind, newOfKind := range kinds {
		for _, order := range []string{"strict", "relaxed"} {
			t.Run(kind+" "+order, func(t *testing.T) { wantDistinct(t, newOfKind(t, idgen.WithOrder(order))) })
		}
	}
	t.Run("segment on SQLite", func(t *testing.T) {
		wantDistinct(t, newSegment(t, idgen.WithStore(sqliteStore(t)), idgen.WithSegmentStep(1000)))
	})
}

// wantDistinct draws in every way at once, and compares all ids.
func wantDistinct(t *testing.T, g *idgen.Generator) {
	t.Helper()
	const each = 20_000
	blocks := g.Blocks(256)
	draw := []func(ids []int64) error{
		func(ids []int64) (err error) {
			for i := range ids {
				if ids[i], err = g.Next(); err != nil {
					return err
				}
			}
			return nil
		},
		func(ids []int64) error {
			for part := range slices.Chunk(ids, 777) {
				if n, err := g.Fill(part); err != nil || n != len(part) {
					return errors.Join(err, errors.New("Fill fell short"))
				}
			}
			return nil
		},
		func(ids []int64) (err error) {
			for i := range ids {
				if ids[i], err = blocks.Next(); err != nil {
					return err
				}
			}
			return nil
		},
		func(ids []int64) error {
			i := 0
			for id, err := range g.All() {
				if err != nil || i == len(ids) {
					return err
				}
				ids[i] = id
				i++
			}
			return nil
		},
	}
	const goroutines = 8
	all := make([]int64, goroutines*each)
	failures := make([]error, goroutines)
	inGoroutines(goroutines, func(i int) {
		failures[i] = draw[i%len(draw)](all[i*each : (i+1)*each])
	})
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	wantNoneTwice(t, all)
}

func TestNextDoesNotAllocate(t *testing.T) {
	for name, g := range map[string]*idgen.Generator{
		"segment":   newSegment(t, idgen.WithSegmentStep(1_000_000)),
		"snowflake": newSnowflake(t, idgen.WithLayout("time:41ms sequence:22"), idgen.Options{"worker": ""}),
	} {
		buffer := make([]int64, 64)
		calls := map[string]func() error{
			"Next":        func() error { _, err := g.Next(); return err },
			"NextContext": func() error { _, err := g.NextContext(t.Context()); return err },
			"TryNext": func() error {
				if _, err := g.TryNext(); err != nil && !errors.Is(err, idgen.ErrWouldBlock) {
					return err
				}
				return nil
			},
			"Fill": func() error { _, err := g.Fill(buffer); return err },
		}
		for call, do := range calls {
			allocated := testing.AllocsPerRun(1000, func() {
				if err := do(); err != nil {
					t.Fatal(err)
				}
			})
			if allocated != 0 {
				t.Errorf("%s of a %s allocates %v times", call, name, allocated)
			}
		}
	}
}

func TestALoopThatBreaksLosesNoId(t *testing.T) {
	g := newSegment(t)
	last := int64(0)
	for id, err := range g.All() {
		if err != nil {
			t.Fatal(err)
		}
		if last = id; id >= 10 {
			break
		}
	}
	if next := mustNext(t, g); last != 10 || next != 11 {
		t.Errorf("the loop ended at %d, then came %d", last, next)
	}
}

func TestALoopEndsAfterItsFirstError(t *testing.T) {
	g := newSegment(t)
	turns := 0
	for id, err := range g.All() {
		if turns++; turns == 3 {
			g.Close(t.Context())
		}
		if turns == 4 {
			wantStatus(t, err, idgen.ErrClosed)
			if id != 0 {
				t.Errorf("an id with the error: %d", id)
			}
		}
	}
	if turns != 4 {
		t.Errorf("%d turns, want 4: three ids and the error", turns)
	}
}

func TestABlockIsARunOfIdsThatNobodyElseGets(t *testing.T) {
	g := newSegment(t, idgen.WithSegmentStep(100))
	block := need(g.Block(30))(t)
	got := slices.Collect(block.All())
	if len(got) == 0 || len(got) > 30 || int64(len(got)) != block.Count || block.Stride != 1 {
		t.Fatalf("got %v of %+v", got, block)
	}
	for i, id := range got {
		if id != int64(i+1) || id != block.At(int64(i)) {
			t.Errorf("got %v of %+v", got, block)
		}
	}
	if next := mustNext(t, g); next != block.Count+1 {
		t.Errorf("after a block of %d came %d", block.Count, next)
	}
	wantStatus(t, errorOf(g.Block(0)), idgen.ErrArgument)
	wantStatus(t, errorOf(g.Block(-1)), idgen.ErrArgument)
}

func TestAClosedGeneratorSaysSo(t *testing.T) {
	g := newSegment(t)
	id := mustNext(t, g)
	for range 2 {
		if err := g.Close(t.Context()); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	message := errorOf(g.Next()).Error()
	if !strings.Contains(message, t.Name()) {
		t.Errorf("the message does not name the generator: %s", message)
	}
	for call, err := range map[string]error{
		"Next": errorOf(g.Next()), "TryNext": errorOf(g.TryNext()), "NextContext": errorOf(g.NextContext(t.Context())),
	} {
		if wantStatus(t, err, idgen.ErrClosed); err.Error() != message {
			t.Errorf("%s says %q, Next said %q", call, err, message)
		}
	}
	n, err := g.Fill(make([]int64, 3))
	wantStatus(t, err, idgen.ErrClosed)
	if n != 0 {
		t.Errorf("Fill wrote %d", n)
	}
	wantStatus(t, errorOf(g.Block(10)), idgen.ErrClosed)
	if parts, err := g.Decode(id); err != nil || parts.Segment != uint64(id) {
		t.Errorf("Decode: %+v, %v", parts, err)
	}
}

func TestANilOrZeroGeneratorIsAnErrorNotACrash(t *testing.T) {
	for _, g := range []*idgen.Generator{nil, {}} {
		wantStatus(t, errorOf(g.Next()), idgen.ErrHandle)
		wantStatus(t, errorOf(g.TryNext()), idgen.ErrHandle)
		wantStatus(t, errorOf(g.NextContext(t.Context())), idgen.ErrHandle)
		wantStatus(t, errorOf(g.Fill(make([]int64, 1))), idgen.ErrHandle)
		wantStatus(t, errorOf(g.Describe()), idgen.ErrHandle)
		wantStatus(t, errorOf(g.Stats()), idgen.ErrHandle)
		wantStatus(t, errorOf(idgen.Metrics(newSegment(t), g)), idgen.ErrHandle)
		wantStatus(t, g.Close(t.Context()), idgen.ErrHandle)
	}
	var l *idgen.Layout
	wantStatus(t, errorOf(l.Decode(1)), idgen.ErrHandle)
	wantStatus(t, errorOf(l.Info()), idgen.ErrHandle)
}

func TestAForgottenGeneratorIsDestroyed(t *testing.T) {
	released := make(chan struct{})
	func() {
		g := need(idgen.New(t.Context(), idgen.WithKind("segment"), idgen.WithStore("memory"),
			idgen.WithStoreCreate(true), idgen.WithTag(t.Name()),
			idgen.WithClock(watched(newFakeClock(), released))))(t)
		mustNext(t, g)
	}()
	// The callback's handle is deleted when the core has freed the generator; after that nothing refers to the clock.
	wantCollected(t, released)
}

func TestACopyKeepsAGeneratorAlive(t *testing.T) {
	released := make(chan struct{})
	g := func() idgen.Generator {
		made := need(idgen.New(t.Context(), idgen.WithKind("segment"), idgen.WithStore("memory"),
			idgen.WithStoreCreate(true), idgen.WithTag(t.Name()),
			idgen.WithClock(watched(newFakeClock(), released))))(t)
		return *made
	}()
	for want := int64(1); want <= 5; want++ {
		collectGarbage(t)
		if id := mustNext(t, &g); id != want {
			t.Fatalf("got %d, want %d", id, want)
		}
	}
	select {
	case <-released:
		t.Fatal("destroyed while a copy is in use")
	default:
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	g = idgen.Generator{}
	wantCollected(t, released)
}

func TestAClosedGeneratorLetsALogThatHoldsItGo(t *testing.T) {
	type service struct{ ids *idgen.Generator }
	released := make(chan struct{})
	func() {
		s := &service{}
		var err error
		s.ids, err = idgen.New(t.Context(), idgen.WithKind("segment"), idgen.WithStore("memory"),
			idgen.WithStoreCreate(true), idgen.WithTag(t.Name()),
			idgen.WithLog(func(idgen.LogLevel, string) { _ = s.ids }))
		if err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(s, func(released chan struct{}) { close(released) }, released)
		mustNext(t, s.ids)
		if err := s.ids.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}()
	wantCollected(t, released)
}
