package idgen_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func newBusiness(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	return newSegment(t, append([]idgen.Option{idgen.WithKind("business")}, options...)...)
}

func newOrder(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	return newSnowflake(t, append([]idgen.Option{idgen.WithLayout("order")}, options...)...)
}

// newWidening has 49 ids of 8 bytes left.
func newWidening(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	where := []idgen.Option{idgen.WithStore(sqliteStore(t)), idgen.WithTag("orders")}
	if err := idgen.CreateSegment(where...); err != nil {
		t.Fatal(err)
	}
	if _, err := idgen.AdvanceSegment(1<<42-50, where...); err != nil {
		t.Fatal(err)
	}
	return newBusiness(t, append(append(where, idgen.WithCounters(1), idgen.WithOnFull("widen")), options...)...)
}

func layoutOf(t testing.TB, g *idgen.Generator) *idgen.Layout {
	t.Helper()
	l, err := g.Layout()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustGene(t testing.TB, l *idgen.Layout, owner idgen.Owner) uint64 {
	t.Helper()
	gene, err := l.Gene(owner, idgen.GeneAuto)
	if err != nil {
		t.Fatal(err)
	}
	return gene
}

func wantGene(t testing.TB, l *idgen.Layout, id int64, owner idgen.Owner) {
	t.Helper()
	parts, err := l.Decode(id)
	if err != nil || parts.Gene != mustGene(t, l, owner) {
		t.Fatalf("id %d of %v has %+v, %v", id, owner, parts, err)
	}
}

func TestNoneOfAHundredThousandIdsComesTwiceAndEachHasTheGeneOfItsOwner(t *testing.T) {
	const goroutines, each = 4, 25_000
	g := newBusiness(t, idgen.WithStore(sqliteStore(t)), idgen.WithCounters(7), idgen.WithSegmentStep(1000))
	ids := make([]int64, goroutines*each)
	owners := make([]int64, len(ids))
	var running sync.WaitGroup
	for part := range goroutines {
		running.Add(1)
		go func() {
			defer running.Done()
			for i := part * each; i < (part+1)*each; i++ {
				owners[i] = int64(part*500 + i%1000) // half of them are another goroutine's too
				text := strconv.FormatInt(owners[i], 10)
				owner := []idgen.Owner{
					idgen.OwnerInt(owners[i]), idgen.OwnerString(text), idgen.OwnerBytes([]byte(text)),
				}[i%3]
				var err error
				if ids[i], err = g.NextFor(owner); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	running.Wait()
	layout := layoutOf(t, g)
	for i, id := range ids {
		wantGene(t, layout, id, idgen.OwnerInt(owners[i]))
	}
	wantNoneTwice(t, ids)
}

func TestAnIntegerItsTextAndItsBytesAreOneOwner(t *testing.T) {
	g := newBusiness(t)
	layout := layoutOf(t, g)
	for _, number := range []int64{0, 42, -1, 1<<63 - 1, -1 << 63} {
		text := strconv.FormatInt(number, 10)
		last := int64(0)
		for _, owner := range []idgen.Owner{
			idgen.OwnerInt(number), idgen.OwnerString(text), idgen.OwnerBytes([]byte(text)),
		} {
			if got, want := mustGene(t, layout, owner), mustGene(t, layout, idgen.OwnerInt(number)); got != want {
				t.Errorf("%d: gene %d of one form, %d of another", number, got, want)
			}
			next, err := g.NextFor(owner)
			try, tryErr := g.TryNextFor(owner)
			wide, wideErr := g.NextWideFor(owner)
			if err := errors.Join(err, tryErr, wideErr); err != nil {
				t.Fatal(err)
			}
			narrow, _ := wide.Int64()
			for _, id := range []int64{next, try, narrow} {
				wantGene(t, layout, id, owner)
				wantAbove(t, id, last) // which is of the same gene
				last = id
			}
		}
	}
}

func TestNextForDoesNotAllocate(t *testing.T) {
	g := newBusiness(t, idgen.WithSegmentStep(1_000_000))
	text, bytes := "customer-0012345", []byte("customer-0012345")
	buffer, wide, ints := make([]int64, 64), make([]idgen.WideID, 64), make([]int64, 64)
	texts := slices.Repeat([]string{text}, 64)
	calls := map[string]func() error{
		"NextFor a string":     func() error { _, err := g.NextFor(idgen.OwnerString(text)); return err },
		"NextFor an int":       func() error { _, err := g.NextFor(idgen.OwnerInt(-1234567)); return err },
		"NextFor bytes":        func() error { _, err := g.NextFor(idgen.OwnerBytes(bytes)); return err },
		"NextForContext":       func() error { _, err := g.NextForContext(t.Context(), idgen.OwnerInt(7)); return err },
		"TryNextFor":           func() error { _, err := g.TryNextFor(idgen.OwnerString(text)); return err },
		"NextWideFor":          func() error { _, err := g.NextWideFor(idgen.OwnerString(text)); return err },
		"FillFor":              func() error { _, err := g.FillFor(idgen.OwnerString(text), buffer); return err },
		"FillForEach ints":     func() error { _, err := g.FillForEach(idgen.OwnersInt(ints), buffer); return err },
		"FillForEach strings":  func() error { _, err := g.FillForEach(idgen.OwnersString(texts), buffer); return err },
		"FillWideFor":          func() error { _, err := g.FillWideFor(idgen.OwnerString(text), wide); return err },
		"FillWideForEach ints": func() error { _, err := g.FillWideForEach(idgen.OwnersInt(ints), wide); return err },
	}
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

func TestABatchForOneOwnerRises(t *testing.T) {
	g := newBusiness(t)
	layout := layoutOf(t, g)
	ids := make([]int64, 1000)
	last := int64(0)
	for _, owner := range []idgen.Owner{
		idgen.OwnerInt(42), idgen.OwnerString("42"), idgen.OwnerBytes([]byte("42")),
	} {
		if n, err := g.FillFor(owner, ids); n != len(ids) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
		for _, id := range ids {
			wantGene(t, layout, id, owner)
			wantAbove(t, id, last)
			last = id
		}
	}
	if n, err := g.FillFor(idgen.OwnerInt(42), nil); n != 0 || err != nil {
		t.Errorf("FillFor of no ids = %d, %v", n, err)
	}
}

func TestABatchForManyOwnersHasAnIdForEach(t *testing.T) {
	g := newBusiness(t)
	layout := layoutOf(t, g)
	const count = 1000 // several parts
	numbers, texts, bytes := make([]int64, count), make([]string, count), make([][]byte, count)
	for i := range count {
		numbers[i] = int64(i*i - 500)
		texts[i] = strconv.FormatInt(numbers[i], 10)
		bytes[i] = []byte(texts[i])
	}
	seen := map[int64]bool{}
	ids, wide := make([]int64, count), make([]idgen.WideID, count)
	for _, owners := range []idgen.Owners{
		idgen.OwnersInt(numbers), idgen.OwnersString(texts), idgen.OwnersBytes(bytes),
	} {
		if n, err := g.FillForEach(owners, ids); n != count || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
		if n, err := g.FillWideForEach(owners, wide); n != count || err != nil {
			t.Fatalf("wide: got %d, %v", n, err)
		}
		for i := range count {
			narrow, _ := wide[i].Int64()
			for _, id := range []int64{ids[i], narrow} {
				wantGene(t, layout, id, idgen.OwnerInt(numbers[i]))
				if seen[id] {
					t.Fatalf("DUPLICATE: %d came twice", id)
				}
				seen[id] = true
			}
		}
		for _, other := range []int{0, 1, count - 1, count + 1} {
			n, err := g.FillForEach(owners, make([]int64, other))
			wantStatus(t, err, idgen.ErrArgument)
			want := fmt.Sprintf("%d owners for %d ids; give one owner for each", count, other)
			if n != 0 || !strings.Contains(err.Error(), want) {
				t.Errorf("got %d, %v", n, err)
			}
			_, err = g.FillWideForEach(owners, make([]idgen.WideID, other))
			wantStatus(t, err, idgen.ErrArgument)
		}
	}
	for _, none := range []idgen.Owners{
		{}, idgen.OwnersInt(nil), idgen.OwnersInt([]int64{}), idgen.OwnersString([]string{}), idgen.OwnersBytes(nil),
	} {
		if n, err := g.FillForEach(none, nil); n != 0 || err != nil {
			t.Errorf("no owners, no ids: got %d, %v", n, err)
		}
		if n, err := g.FillWideForEach(none, nil); n != 0 || err != nil {
			t.Errorf("no owners, no wide ids: got %d, %v", n, err)
		}
	}
}

func TestOwnersOfAnySizeFit(t *testing.T) {
	g := newBusiness(t)
	layout := layoutOf(t, g)
	owners := []string{"\x00", "a\x00b", "\xff\xfe", strings.Repeat("long", 100_000), "Zürich"}
	ids := make([]int64, len(owners))
	for range 2 {
		if n, err := g.FillForEach(idgen.OwnersString(owners), ids); n != len(ids) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
		for i, owner := range owners {
			wantGene(t, layout, ids[i], idgen.OwnerString(owner))
			id, err := g.NextFor(idgen.OwnerBytes([]byte(owner)))
			if err != nil {
				t.Fatal(err)
			}
			wantGene(t, layout, id, idgen.OwnerString(owner))
		}
	}
}

func TestABatchThatMeetsABadOwnerKeepsWhatItHas(t *testing.T) {
	wantWritten := func(n int, err error, want int, isReal func(i int) bool) {
		t.Helper()
		wantStatus(t, err, idgen.ErrValue)
		if n != want {
			t.Errorf("%d written, want %d", n, want)
		}
		for i := range 1000 {
			if isReal(i) != (i < want) {
				t.Fatalf("%d written, but number %d is otherwise", n, i)
			}
		}
	}
	g := newBusiness(t)
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	texts[700] = ""
	ids, wide := make([]int64, 1000), make([]idgen.WideID, 1000)
	n, err := g.FillForEach(idgen.OwnersString(texts), ids)
	wantWritten(n, err, 700, func(i int) bool { return ids[i] != 0 })
	n, err = g.FillWideForEach(idgen.OwnersString(texts), wide)
	wantWritten(n, err, 700, func(i int) bool { return wide[i] != idgen.WideID{} })

	numbers := make([]int64, 1000)
	numbers[300] = -1 // gene = mod takes no negative one
	clear(ids)
	n, err = newOrder(t).FillForEach(idgen.OwnersInt(numbers), ids)
	wantWritten(n, err, 300, func(i int) bool { return ids[i] != 0 })
}

func TestAnEmptyOwnerIsRefused(t *testing.T) {
	g := newBusiness(t)
	for _, owner := range []idgen.Owner{{}, idgen.OwnerString(""), idgen.OwnerBytes(nil), idgen.OwnerBytes([]byte{})} {
		for _, err := range ownedCalls(g, owner) {
			wantStatus(t, err, idgen.ErrValue)
			if !strings.Contains(err.Error(), "the owner is empty") {
				t.Errorf("got %v", err)
			}
		}
		_, err := layoutOf(t, g).Gene(owner, idgen.GeneAuto)
		wantStatus(t, err, idgen.ErrValue)
	}
	_, err := g.FillForEach(idgen.OwnersBytes(make([][]byte, 3)), make([]int64, 3))
	wantStatus(t, err, idgen.ErrValue)
}

// ownedCalls draws with every call that takes an owner.
func ownedCalls(g *idgen.Generator, owner idgen.Owner) []error {
	ctx := context.Background()
	_, next := g.NextFor(owner)
	_, nextContext := g.NextForContext(ctx, owner)
	_, try := g.TryNextFor(owner)
	_, fill := g.FillFor(owner, make([]int64, 3))
	_, wide := g.NextWideFor(owner)
	_, fillWide := g.FillWideFor(owner, make([]idgen.WideID, 3))
	return []error{next, nextContext, try, fill, wide, fillWide}
}

func TestCallsWithoutAnOwnerAreRefusedAndLoseNothing(t *testing.T) {
	g := newBusiness(t, idgen.WithCounters(1))
	_, next := g.Next()
	_, nextContext := g.NextContext(t.Context())
	_, try := g.TryNext()
	_, fill := g.Fill(make([]int64, 3))
	_, block := g.Block(3)
	for _, err := range []error{next, nextContext, try, fill, block} {
		wantStatus(t, err, idgen.ErrUnsupported)
		if !strings.Contains(err.Error(), "has a gene, which comes from an id's owner") {
			t.Errorf("got %v", err)
		}
	}
	id, err := g.NextFor(idgen.OwnerString("a"))
	if parts, _ := g.Decode(id); err != nil || parts.Segment != 1 {
		t.Errorf("got %+v, %v", parts, err)
	}
}

func TestAnOwnerIsRefusedWhereIdsHaveNone(t *testing.T) {
	g := newSegment(t)
	for _, err := range ownedCalls(g, idgen.OwnerInt(7)) {
		wantStatus(t, err, idgen.ErrUnsupported)
	}
	_, err := g.FillForEach(idgen.OwnersInt([]int64{1}), make([]int64, 1))
	wantStatus(t, err, idgen.ErrUnsupported)
	if id := mustNext(t, g); id != 1 {
		t.Errorf("the first id is %d: something was drawn", id)
	}
	_, err = mustLayout(t, "default", "").Gene(idgen.OwnerInt(7), idgen.GeneAuto)
	wantStatus(t, err, idgen.ErrUnsupported)
	_, err = mustLayout(t, "business64", "").Gene(idgen.OwnerInt(7), 99)
	wantStatus(t, err, idgen.ErrArgument)
}

func TestSnowflakesOfTheLayoutOrderEndWithTheLowBitsOfTheirOwner(t *testing.T) {
	g := newOrder(t)
	for _, number := range []int64{1820, 5177331, 7, 16, 1<<63 - 1} {
		for _, owner := range []idgen.Owner{idgen.OwnerInt(number), idgen.OwnerString(strconv.FormatInt(number, 10))} {
			id, err := g.NextFor(owner)
			if err != nil || id%16 != number%16 {
				t.Errorf("got %d, %v for %d", id, err, number)
			}
			if parts, err := g.Decode(id); err != nil || parts.Worker != 7 {
				t.Errorf("got %+v, %v", parts, err)
			}
		}
	}
	if id, err := g.NextFor(idgen.OwnerString("18446744073709551615")); err != nil || id%16 != 15 {
		t.Errorf("2^64 - 1 as text: got %d, %v", id, err)
	}
	for _, owner := range []idgen.Owner{idgen.OwnerString("acme"), idgen.OwnerInt(-1)} {
		_, err := g.NextFor(owner)
		wantStatus(t, err, idgen.ErrValue)
	}
	hashed := newOrder(t, idgen.WithNamespace("hashed"), idgen.WithGene("hash"))
	id, err := hashed.NextFor(idgen.OwnerString("acme"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := layoutOf(t, hashed).Gene(idgen.OwnerString("acme"), idgen.GeneHash)
	if err != nil || uint64(id%16) != want {
		t.Errorf("got gene %d, want %d, %v", id%16, want, err)
	}
}

func TestWhenEightBytesAreUsedUpIdsHaveSixteen(t *testing.T) {
	g := newWidening(t, idgen.WithSegmentStep(30))
	acme := idgen.OwnerString("acme")
	narrow, wide := layoutOf(t, g), mustLayout(t, "business128", "")
	var last idgen.WideID
	for i := 1; i <= 200; i++ {
		id, err := g.NextWideFor(acme)
		if err != nil || id.IsWide() != (i >= 50) {
			t.Fatalf("number %d is %s, %v", i, id, err)
		}
		parts, err := g.DecodeWide(id)
		layout := narrow
		if id.IsWide() {
			layout = wide
		}
		if err != nil || parts.Segment != uint64(1<<42-50+i) || parts.Gene != mustGene(t, layout, acme) ||
			parts.Gene&0xFFFF != mustGene(t, narrow, acme) {
			t.Fatalf("number %d is %s: %+v, %v", i, id, parts, err)
		}
		if id.Compare(last) <= 0 {
			t.Errorf("%s after %s", id, last)
		}
		last = id
	}
	_, next := g.NextFor(acme)
	_, try := g.TryNextFor(acme)
	_, fill := g.FillFor(acme, make([]int64, 3))
	for _, err := range []error{next, try, fill} {
		wantStatus(t, err, idgen.ErrExhausted)
		if !strings.Contains(err.Error(), "16 bytes") {
			t.Errorf("got %v", err)
		}
	}
	if id, ok := last.Int64(); ok {
		t.Errorf("an id of 16 bytes is the number %d", id)
	}
	_, err := narrow.DecodeWide(last)
	wantStatus(t, err, idgen.ErrValue)
}

func TestABatchGoesOnFromEightBytesToSixteen(t *testing.T) {
	fills := map[string]func(g *idgen.Generator, ids []idgen.WideID) (int, error){
		"one owner": func(g *idgen.Generator, ids []idgen.WideID) (int, error) {
			return g.FillWideFor(idgen.OwnerInt(0), ids)
		},
		"integers": func(g *idgen.Generator, ids []idgen.WideID) (int, error) {
			return g.FillWideForEach(idgen.OwnersInt(make([]int64, len(ids))), ids)
		},
		"strings": func(g *idgen.Generator, ids []idgen.WideID) (int, error) {
			return g.FillWideForEach(idgen.OwnersString(slices.Repeat([]string{"a"}, len(ids))), ids)
		},
	}
	for name, fill := range fills {
		t.Run(name, func(t *testing.T) {
			g := newWidening(t)
			ids := make([]idgen.WideID, 600)
			if n, err := fill(g, ids); n != len(ids) || err != nil {
				t.Fatalf("got %d, %v", n, err)
			}
			for i, id := range ids {
				parts, err := g.DecodeWide(id)
				if err != nil || id.IsWide() != (i >= 49) || parts.Segment != uint64(1<<42-49+i) {
					t.Fatalf("ids[%d] is %s: %+v, %v", i, id, parts, err)
				}
			}
		})
	}
}

func TestABatchOfEightBytesEndsWithTheLastOfThem(t *testing.T) {
	g := newWidening(t)
	ids := make([]int64, 100)
	n, err := g.FillFor(idgen.OwnerString("acme"), ids)
	wantStatus(t, err, idgen.ErrExhausted)
	if n != 49 || ids[48] == 0 || ids[49] != 0 {
		t.Errorf("%d written: %v", n, ids)
	}
	if id, err := g.NextWideFor(idgen.OwnerString("acme")); err != nil || !id.IsWide() {
		t.Errorf("got %s, %v", id, err)
	}
}

func TestALayoutOfSixteenBytesMakesNothingElse(t *testing.T) {
	g := newBusiness(t, idgen.WithLayout("business128"))
	acme := idgen.OwnerString("acme")
	id, err := g.NextWideFor(acme)
	if err != nil || !id.IsWide() {
		t.Fatalf("got %s, %v", id, err)
	}
	if parts, err := g.DecodeWide(id); err != nil || parts.Gene != mustGene(t, layoutOf(t, g), acme) {
		t.Errorf("got %+v, %v", parts, err)
	}
	_, next := g.NextFor(acme)
	_, try := g.TryNextFor(acme)
	_, fill := g.FillFor(acme, make([]int64, 3))
	_, each := g.FillForEach(idgen.OwnersInt(make([]int64, 3)), make([]int64, 3))
	for _, err := range []error{next, try, fill, each} {
		wantStatus(t, err, idgen.ErrUnsupported)
	}
	_, err = g.DecodeWide(idgen.WideIDOf(1))
	wantStatus(t, err, idgen.ErrValue)
	_, err = newBusiness(t, idgen.WithTag("narrow")).DecodeWide(id)
	wantStatus(t, err, idgen.ErrValue)
}

func TestAClosedGeneratorSaysSoToOwners(t *testing.T) {
	g := newBusiness(t)
	g.Close(t.Context())
	for _, err := range ownedCalls(g, idgen.OwnerInt(7)) {
		wantStatus(t, err, idgen.ErrClosed)
	}
	for _, g := range []*idgen.Generator{nil, {}} {
		for _, err := range ownedCalls(g, idgen.OwnerInt(7)) {
			wantStatus(t, err, idgen.ErrHandle)
		}
		_, err := g.DecodeWide(idgen.WideIDOf(1))
		wantStatus(t, err, idgen.ErrHandle)
	}
}

// ownedWaits are the calls with a context that take an owner.
var ownedWaits = map[string]func(context.Context, *idgen.Generator) (int, error){
	"NextForContext": func(ctx context.Context, g *idgen.Generator) (int, error) {
		_, err := g.NextForContext(ctx, idgen.OwnerInt(7))
		return 0, err
	},
	"FillForContext": func(ctx context.Context, g *idgen.Generator) (int, error) {
		return g.FillForContext(ctx, idgen.OwnerInt(7), make([]int64, 5))
	},
	"FillForEachContext, integers": func(ctx context.Context, g *idgen.Generator) (int, error) {
		return g.FillForEachContext(ctx, idgen.OwnersInt(make([]int64, 5)), make([]int64, 5))
	},
	"FillForEachContext, strings": func(ctx context.Context, g *idgen.Generator) (int, error) {
		return g.FillForEachContext(ctx, idgen.OwnersString([]string{"1", "2"}), make([]int64, 2))
	},
	"NextWideForContext": func(ctx context.Context, g *idgen.Generator) (int, error) {
		_, err := g.NextWideForContext(ctx, idgen.OwnerInt(7))
		return 0, err
	},
	"FillWideForContext": func(ctx context.Context, g *idgen.Generator) (int, error) {
		return g.FillWideForContext(ctx, idgen.OwnerInt(7), make([]idgen.WideID, 5))
	},
	"FillWideForEachContext, integers": func(ctx context.Context, g *idgen.Generator) (int, error) {
		return g.FillWideForEachContext(ctx, idgen.OwnersInt(make([]int64, 5)), make([]idgen.WideID, 5))
	},
	"FillWideForEachContext, bytes": func(ctx context.Context, g *idgen.Generator) (int, error) {
		return g.FillWideForEachContext(ctx, idgen.OwnersBytes([][]byte{{'1'}}), make([]idgen.WideID, 1))
	},
}

func TestACancelledContextEndsAWaitForAnOwnersId(t *testing.T) {
	for name, call := range ownedWaits {
		t.Run(name, func(t *testing.T) {
			clock := newStuckClock()
			g := newOrder(t, idgen.WithClock(clock), idgen.WithSequenceStart("zero"), idgen.WithWaitMax(time.Hour))
			if n, err := g.FillFor(idgen.OwnerInt(7), make([]int64, 4096)); n != 4096 || err != nil {
				t.Fatalf("got %d, %v", n, err)
			}
			why := errors.New("the client went away")
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error)
			go func() {
				_, err := call(ctx, g)
				ended <- err
			}()
			<-clock.waiting
			cancel(why)
			err := sent(t, ended)
			wantStatus(t, err, idgen.ErrCancelled)
			if !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
				t.Errorf("%v is not the context's", err)
			}
		})
	}
}

func TestAContextThatHasEndedDrawsNothingForAnOwner(t *testing.T) {
	g := newBusiness(t, idgen.WithCounters(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range ownedWaits {
		if n, err := call(ctx, g); n != 0 || !errors.Is(err, idgen.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %d, %v", name, n, err)
		}
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	id, err := g.NextForContext(ctx, idgen.OwnerInt(7))
	if parts, _ := g.Decode(id); err != nil || parts.Segment != 1 {
		t.Errorf("the first id is %+v, %v: something was drawn", parts, err)
	}
	for name, call := range ownedWaits {
		if _, err := call(ctx, g); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
