package idgen_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idgen/idgen/go"
)

// tryNext is TryNext, and Next where that would have to wait.
func tryNext(g *idgen.Generator) (int64, error) {
	id, err := g.TryNext()
	if errors.Is(err, idgen.ErrWouldBlock) {
		return g.Next()
	}
	return id, err
}

func nextText(g *idgen.Generator) (int64, error) {
	text, err := g.NextText()
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// ways are the calls that make one id. Some draw in Go, and some in C.
var ways = []func(*idgen.Generator) (int64, error){
	(*idgen.Generator).Next,
	func(g *idgen.Generator) (int64, error) {
		ids := make([]int64, 1)
		_, err := g.Fill(ids)
		return ids[0], err
	},
	tryNext,
	func(g *idgen.Generator) (int64, error) {
		block, err := g.Block(1)
		return block.First, err
	},
	func(g *idgen.Generator) (int64, error) { return g.NextContext(context.Background()) },
	nextText,
}

func TestGoroutinesThatDrawInEveryWayNeverGetTheSameIdAndTheirsRise(t *testing.T) {
	for name, g := range map[string]*idgen.Generator{
		"segment of 10":              newSegment(t, idgen.Options{"segment.step": "10", "segment.runway": "0"}),
		"segment on SQLite":          newSegment(t, idgen.WithStore(sqliteStore(t)), idgen.WithSegmentStep(100)),
		"segment on a store of ours": need(onStore(t, &counter{}))(t),
		"snowflake":                  newSnowflake(t),
		"snowflake with short windows": newSnowflake(t,
			idgen.WithStore(sqliteStore(t)), idgen.Options{"window": "100ms"}),
	} {
		t.Run(name, func(t *testing.T) {
			all := drawn(t, g, 8, 6000, ways)
			wantRising(t, all, 6000)
			stats := need(g.Stats())(t)
			// Whoever comes late to the end of a range of numbers draws anew, and leaves a gap.
			gaps := int64(stats.IssuedIDs) - int64(len(all))
			if isSnowflake := stats.TagLeft == math.MaxUint64; gaps < 0 || gaps > 0 && isSnowflake {
				t.Errorf("%d ids are counted, of %d", stats.IssuedIDs, len(all))
			}
		})
	}
}

func TestGoroutinesThatShareBlocksNeverGetTheSameId(t *testing.T) {
	for _, order := range []string{"strict", "relaxed"} {
		for _, g := range []*idgen.Generator{
			newSegment(t, idgen.WithOrder(order), idgen.WithTag(order)),
			newSnowflake(t, idgen.WithOrder(order), idgen.WithNamespace(order)),
		} {
			blocks := g.Blocks(256)
			wantNoneTwice(t, drawn(t, g, 8, 6000, append([]func(*idgen.Generator) (int64, error){
				func(*idgen.Generator) (int64, error) { return blocks.Next() },
				func(*idgen.Generator) (int64, error) { return blocks.Next() },
			}, ways...)))
		}
	}
}

// drawn is what goroutines get that draw in these ways at once: each of them so many ids.
func drawn(t *testing.T, g *idgen.Generator, goroutines, each int,
	ways []func(*idgen.Generator) (int64, error)) []int64 {
	t.Helper()
	all, failures := make([]int64, goroutines*each), make([]error, goroutines)
	inGoroutines(goroutines, func(i int) {
		for n := 0; n < each && failures[i] == nil; n++ {
			all[i*each+n], failures[i] = ways[(n+i)%len(ways)](g)
		}
	})
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	return all
}

// wantRising wants that the ids of each goroutine rise.
func wantRising(t *testing.T, all []int64, each int) {
	t.Helper()
	for ids := range slices.Chunk(all, each) {
		for i, id := range ids[1:] {
			wantAbove(t, id, ids[i])
		}
	}
	wantNoneTwice(t, all)
}

func TestCallsThatDrawAllocateNothing(t *testing.T) {
	many, more, objects := make([]int64, 64), make([][16]byte, 100), make([][12]byte, 100)
	calls := map[string]func() error{
		"NewUUID4":      func() error { return errorOf(idgen.NewUUID4()) },
		"NewUUID7":      func() error { return errorOf(idgen.NewUUID7()) },
		"NewULID":       func() error { return errorOf(idgen.NewULID()) },
		"NewObjectID":   func() error { return errorOf(idgen.NewObjectID()) },
		"FillStandard":  func() error { return idgen.FillStandard(idgen.StandardUUID7, more) },
		"FillObjectIDs": func() error { return idgen.FillObjectIDs(objects) },
	}
	for kind, g := range map[string]*idgen.Generator{
		" of a segment":   newSegment(t, idgen.WithSegmentStep(1_000_000)),
		" of a snowflake": newSnowflake(t, idgen.WithLayout("time:41ms sequence:22"), idgen.Options{"worker": ""}),
	} {
		calls["Next"+kind] = func() error { return errorOf(g.Next()) }
		calls["NextContext"+kind] = func() error { return errorOf(g.NextContext(t.Context())) }
		calls["TryNext"+kind] = func() error { return errorOf(g.TryNext()) }
		calls["Fill"+kind] = func() error { return errorOf(g.Fill(many)) }
	}
	g := newBusiness(t, idgen.WithTag("owned"), idgen.WithSegmentStep(1_000_000))
	text, bytes := "customer-0012345", []byte("customer-0012345")
	ints, wide, texts := make([]int64, 64), make([]idgen.WideID, 64), slices.Repeat([]string{text}, 64)
	calls["NextFor a string"] = func() error { return errorOf(g.NextFor(idgen.OwnerString(text))) }
	calls["NextFor an int"] = func() error { return errorOf(g.NextFor(idgen.OwnerInt(-1234567))) }
	calls["NextFor bytes"] = func() error { return errorOf(g.NextFor(idgen.OwnerBytes(bytes))) }
	calls["NextForContext"] = func() error { return errorOf(g.NextForContext(t.Context(), idgen.OwnerInt(7))) }
	calls["TryNextFor"] = func() error { return errorOf(g.TryNextFor(idgen.OwnerString(text))) }
	calls["NextWideFor"] = func() error { return errorOf(g.NextWideFor(idgen.OwnerString(text))) }
	calls["FillFor"] = func() error { return errorOf(g.FillFor(idgen.OwnerString(text), many)) }
	calls["FillForEach ints"] = func() error { return errorOf(g.FillForEach(idgen.OwnersInt(ints), many)) }
	calls["FillForEach strings"] = func() error { return errorOf(g.FillForEach(idgen.OwnersString(texts), many)) }
	calls["FillWideFor"] = func() error { return errorOf(g.FillWideFor(idgen.OwnerString(text), wide)) }
	calls["FillWideForEach ints"] = func() error { return errorOf(g.FillWideForEach(idgen.OwnersInt(ints), wide)) }
	for name, call := range calls {
		allocated := testing.AllocsPerRun(1000, func() {
			if err := call(); err != nil && !errors.Is(err, idgen.ErrWouldBlock) {
				t.Fatal(err)
			}
		})
		if allocated != 0 {
			t.Errorf("%s allocates %v times", name, allocated)
		}
	}
}

func TestALoopLosesNoIdAndEndsAfterItsFirstError(t *testing.T) {
	g := newSegment(t)
	for id, err := range g.All() {
		gives(id, err)(t, 1)
		break
	}
	turns := 0
	for id, err := range g.All() {
		if turns++; turns == 1 {
			gives(id, err)(t, 2)
			g.Close(t.Context())
		} else if wantStatus(t, err, idgen.ErrClosed); id != 0 {
			t.Errorf("an id with the error: %d", id)
		}
	}
	if turns != 2 {
		t.Errorf("%d turns, want 2: an id and the error", turns)
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
	gives(g.Next())(t, block.Count+1)
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
	for i, way := range ways {
		if id, err := way(g); id != 0 || !errors.Is(err, idgen.ErrClosed) || !strings.Contains(err.Error(), t.Name()) {
			t.Errorf("way %d: %d, %v, which is not CLOSED with the generator's name", i, id, err)
		}
	}
	if n, err := g.Fill(make([]int64, 3)); n != 0 || !errors.Is(err, idgen.ErrClosed) {
		t.Errorf("Fill: %d, %v", n, err)
	}
	if parts, err := g.Decode(id); err != nil || parts.Segment != uint64(id) {
		t.Errorf("Decode: %+v, %v", parts, err)
	}
}

func TestWhatWasNotMadeIsAnErrorAndNoCrash(t *testing.T) {
	var l *idgen.Layout
	var cipher *idgen.IdCipher
	failures := []error{
		errorOf(l.Decode(1)), errorOf(l.Info()), errorOf(cipher.Hide(5)), cipher.Reload(),
		errorOf(idgen.NewRouter(nil, idgen.RouterOptions{})),
	}
	for _, pattern := range []*idgen.TextPattern{nil, {}} {
		failures = append(failures, errorOf(pattern.Format(1)), errorOf(pattern.Parse("1")))
	}
	for _, g := range []*idgen.Generator{nil, {}} {
		for _, way := range ways {
			failures = append(failures, errorOf(way(g)))
		}
		for _, call := range ownedCalls {
			failures = append(failures, errorOf(fiveTimes7[0].draw(t.Context(), g, call)))
		}
		failures = append(failures, errorOf(g.TryNextFor(idgen.OwnerInt(7))), errorOf(g.Describe()), errorOf(g.Stats()),
			errorOf(idgen.Metrics(newSegment(t), g)), errorOf(g.DecodeWide(idgen.WideIDOf(1))),
			errorOf(g.TextPattern().Format(1)), g.Close(t.Context()))
	}
	for _, err := range failures {
		wantStatus(t, err, idgen.ErrHandle)
	}
}

// unclosed makes a generator that the test does not hold. Its clock is released when the core has freed the generator.
func unclosed(t *testing.T, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	return need(idgen.New(t.Context(), append([]idgen.Option{
		idgen.Options{"kind": "segment", "store": "memory", "store_create": "true", "tag": t.Name()},
	}, options...)...))(t)
}

func TestAForgottenGeneratorIsDestroyed(t *testing.T) {
	clock := newFakeClock()
	released := whenCollected(clock)
	mustNext(t, unclosed(t, idgen.WithClock(clock)))
	wantCollected(t, released)
}

func TestACopyKeepsAGeneratorAlive(t *testing.T) {
	clock := newFakeClock()
	released := whenCollected(clock)
	g := *unclosed(t, idgen.WithClock(clock))
	for want := int64(1); want <= 5; want++ {
		collectGarbage(t)
		gives(g.Next())(t, want)
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

// service is a store, and holds the generator that draws from it.
type service struct {
	counter
	ids *idgen.Generator
}

func TestAClosedGeneratorLetsALogAndAStoreThatHoldItGo(t *testing.T) {
	for name, option := range map[string]func(s *service) idgen.Option{
		"log":   func(s *service) idgen.Option { return idgen.WithLog(func(idgen.LogLevel, string) { _ = s.ids }) },
		"store": func(s *service) idgen.Option { return idgen.WithHostStore(s) },
	} {
		t.Run(name, func(t *testing.T) {
			s := &service{}
			released := whenCollected(s)
			s.ids = unclosed(t, option(s))
			mustNext(t, s.ids)
			if err := s.ids.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			s = nil
			wantCollected(t, released)
		})
	}
}
