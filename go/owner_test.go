package idgen_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
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

func layoutOf(t testing.TB, g *idgen.Generator) *idgen.Layout {
	t.Helper()
	return need(g.Layout())(t)
}

func wantGene(t testing.TB, l *idgen.Layout, id int64, owner idgen.Owner) {
	t.Helper()
	parts, err := l.Decode(id)
	gene, geneErr := l.Gene(owner, idgen.GeneAuto)
	if err != nil || geneErr != nil || parts.Gene != gene {
		t.Fatalf("id %d of %v has %+v, %v, %v", id, owner, parts, err, geneErr)
	}
}

// sameOwner is one owner, and that owner as often as ids are wanted.
type sameOwner struct {
	one  idgen.Owner
	many idgen.Owners
}

// owners are the forms of the row's owner: all are one.
func (r row) owners() []sameOwner {
	r.t.Helper()
	count, data := int(r.unsigned("count")), []byte(r.text("owner"))
	if r.text("kind") == "bytes" {
		data, _ = hex.DecodeString(r.text("owner"))
	}
	forms := []sameOwner{
		{r.owner(), idgen.OwnersBytes(slices.Repeat([][]byte{data}, count))},
		{idgen.OwnerBytes(data), idgen.OwnersString(slices.Repeat([]string{string(data)}, count))},
	}
	if r.text("kind") == "integer" {
		forms = append(forms, sameOwner{r.owner(), idgen.OwnersInt(slices.Repeat([]int64{r.signed("owner")}, count))})
	}
	return forms
}

// ownedCalls are the calls with a context that take an owner. Those without a context call them.
var ownedCalls = []string{"NextFor", "FillFor", "FillForEach", "NextWideFor", "FillWideFor", "FillWideForEach"}

// draw fills ids by one of ownedCalls, and returns those that were there before a failure.
func (o sameOwner) draw(ctx context.Context, g *idgen.Generator, call string) (ids []idgen.WideID, err error) {
	narrow, wide, n := make([]int64, o.many.Len()), make([]idgen.WideID, o.many.Len()), 0
	switch call {
	case "NextFor", "NextWideFor":
		for id, number := (idgen.WideID{}), int64(0); len(ids) < len(wide); ids = append(ids, id) {
			if call == "NextWideFor" {
				id, err = g.NextWideForContext(ctx, o.one)
			} else {
				number, err = g.NextForContext(ctx, o.one)
				id = idgen.WideIDOf(number)
			}
			if err != nil {
				break
			}
		}
		return ids, err
	case "FillFor":
		n, err = g.FillForContext(ctx, o.one, narrow)
	case "FillForEach":
		n, err = g.FillForEachContext(ctx, o.many, narrow)
	case "FillWideFor":
		n, err = g.FillWideForContext(ctx, o.one, wide)
		return wide[:n], err
	case "FillWideForEach":
		n, err = g.FillWideForEachContext(ctx, o.many, wide)
		return wide[:n], err
	}
	for _, id := range narrow[:n] {
		ids = append(ids, idgen.WideIDOf(id))
	}
	return ids, err
}

var stores atomic.Int64

// open makes the generator of the row, in a new store.
func (r row) open() (*idgen.Generator, error) {
	r.t.Helper()
	store := fmt.Sprint("memory:owners", stores.Add(1))
	options := idgen.Options{"store": store, "store_create": "true", "tag": "orders"}
	if r.text("used") != "0" {
		if err := idgen.CreateSegment(options); err != nil {
			r.t.Fatal(err)
		}
		if _, err := idgen.AdvanceSegment(r.signed("used"), options); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, property := range strings.Split(r.text("properties"), "; ") {
		key, value, _ := strings.Cut(property, "=")
		options[key] = value
	}
	return idgen.New(r.t.Context(), options,
		idgen.WithClock(&fakeClock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}))
}

func (o sameOwner) check(r row, call string) {
	g, err := r.open()
	var ids []idgen.WideID
	if err == nil {
		defer g.Close(r.t.Context())
		ids, err = o.draw(r.t.Context(), g, call)
		if _, tried := g.TryNextFor(o.one); err != nil && call == "NextFor" && fmt.Sprint(tried) != err.Error() {
			r.t.Errorf("%s: %v, but %v when it is tried", r.line, err, tried)
		}
	}
	layouts, texts := map[bool]*idgen.Layout{true: mustLayout(r.t, "business128", "")}, []string{}
	for _, id := range ids {
		text := id.String()
		if narrow, ok := id.Int64(); ok {
			layouts[false], text = layoutOf(r.t, g), strconv.FormatInt(narrow, 10)
		}
		texts = append(texts, text)
		parts, err := g.DecodeWide(id)
		if again, _ := layouts[id.IsWide()].EncodeWide(parts); err != nil || again != id {
			r.t.Errorf("%s: %s decodes to %+v, %v", r.line, id, parts, err)
		}
	}
	if got := strings.Join(texts, ","); got != r.text("ids") {
		r.t.Errorf("%s: %s of %+v makes %s", r.line, call, o.one, got)
	}
	if r.text("status") != "" {
		wantMistake(r.t, r, err)
	} else if err != nil {
		r.t.Errorf("%s: %s: %v", r.line, call, err)
	}
}

func TestEveryCallThatTakesAnOwnerMakesTheIdsAndTheRefusalsOfTheVectors(t *testing.T) {
	for _, r := range vectors(t, "owners.tsv", 30) {
		for _, owner := range r.owners() {
			for _, call := range ownedCalls {
				if strings.Contains(call, "Wide") == (r.text("calls") == "wide") || r.text("calls") == "both" {
					owner.check(r, call)
				}
			}
		}
	}
}

func TestABatchForManyOwnersHasAnIdForEach(t *testing.T) {
	g := newBusiness(t)
	layout := layoutOf(t, g)
	const count = 1000 // several parts
	numbers, texts, bytes, all := make([]int64, count), make([]string, count), make([][]byte, count), []int64{}
	for i := range count {
		numbers[i] = int64(i*i - 500)
		texts[i] = strconv.FormatInt(numbers[i], 10)
		bytes[i] = []byte(texts[i])
	}
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
			wantGene(t, layout, ids[i], idgen.OwnerInt(numbers[i]))
			wantGene(t, layout, narrow, idgen.OwnerInt(numbers[i]))
			all = append(all, ids[i], narrow)
		}
		for _, other := range []int{0, 1, count - 1, count + 1} {
			n, err := g.FillForEach(owners, make([]int64, other))
			wantStatus(t, err, idgen.ErrArgument)
			want := fmt.Sprintf("%d owners for %d ids; give one owner for each", count, other)
			if n != 0 || !strings.Contains(err.Error(), want) {
				t.Errorf("got %d, %v", n, err)
			}
			wantStatus(t, errorOf(g.FillWideForEach(owners, make([]idgen.WideID, other))), idgen.ErrArgument)
		}
	}
	wantNoneTwice(t, all)
}

func TestNoOwnersAreNoError(t *testing.T) {
	g := newBusiness(t)
	if n, err := g.FillFor(idgen.OwnerInt(42), nil); n != 0 || err != nil {
		t.Errorf("one owner: got %d, %v", n, err)
	}
	for _, none := range []idgen.Owners{
		{}, idgen.OwnersInt(nil), idgen.OwnersInt([]int64{}), idgen.OwnersString([]string{}), idgen.OwnersBytes(nil),
	} {
		n, err := g.FillForEach(none, nil)
		wide, wideErr := g.FillWideForEach(none, nil)
		if n != 0 || err != nil || wide != 0 || wideErr != nil {
			t.Errorf("got %d, %v; wide: %d, %v", n, err, wide, wideErr)
		}
	}
}

func TestABatchThatMeetsABadOwnerKeepsWhatItHas(t *testing.T) {
	g, order := newBusiness(t), newOrder(t)
	texts, numbers, wide := slices.Repeat([]string{"a"}, 1000), make([]int64, 1000), make([]idgen.WideID, 1000)
	texts[700], numbers[300] = "", -1 // gene = mod takes no negative one
	for _, batch := range []struct {
		g      *idgen.Generator
		owners idgen.Owners
		want   int
	}{{g, idgen.OwnersString(texts), 700}, {order, idgen.OwnersInt(numbers), 300}} {
		ids := make([]int64, 1000)
		n, err := batch.g.FillForEach(batch.owners, ids)
		wantStatus(t, err, idgen.ErrValue)
		if n != batch.want || slices.Index(ids, 0) != n || slices.Max(ids[n:]) != 0 {
			t.Errorf("%d written, want %d: %v", n, batch.want, ids)
		}
	}
	n, err := g.FillWideForEach(idgen.OwnersString(texts), wide)
	wantStatus(t, err, idgen.ErrValue)
	if n != 700 || slices.Index(wide, idgen.WideID{}) != 700 || wide[999] != (idgen.WideID{}) {
		t.Errorf("%d written: %v", n, wide)
	}
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
	}
	id, err := g.NextFor(idgen.OwnerString("a"))
	if parts, _ := g.Decode(id); err != nil || parts.Segment != 1 {
		t.Errorf("got %+v, %v", parts, err)
	}
}

func TestAGeneIsRefusedWithoutAnOwnerAFieldOrARule(t *testing.T) {
	for _, owner := range []idgen.Owner{{}, idgen.OwnerString(""), idgen.OwnerBytes(nil)} {
		wantStatus(t, errorOf(mustLayout(t, "business64", "").Gene(owner, idgen.GeneAuto)), idgen.ErrValue)
		wantStatus(t, errorOf(newBusiness(t).NextFor(owner)), idgen.ErrValue)
	}
	wantStatus(t, errorOf(mustLayout(t, "default", "").Gene(idgen.OwnerInt(7), idgen.GeneAuto)), idgen.ErrUnsupported)
	wantStatus(t, errorOf(mustLayout(t, "business64", "").Gene(idgen.OwnerInt(7), 99)), idgen.ErrArgument)
}

// fiveTimes7 is an owner for the calls that must not draw.
var fiveTimes7 = []sameOwner{
	{idgen.OwnerInt(7), idgen.OwnersInt([]int64{7, 7, 7, 7, 7})},
	{idgen.OwnerString("7"), idgen.OwnersString([]string{"7", "7", "7", "7", "7"})},
}

func TestAClosedGeneratorSaysSoToOwners(t *testing.T) {
	closed := newBusiness(t)
	closed.Close(t.Context())
	for g, want := range map[*idgen.Generator]idgen.Status{
		closed: idgen.ErrClosed, nil: idgen.ErrHandle, {}: idgen.ErrHandle,
	} {
		for _, call := range ownedCalls {
			wantStatus(t, errorOf(fiveTimes7[0].draw(t.Context(), g, call)), want)
		}
		wantStatus(t, errorOf(g.TryNextFor(idgen.OwnerInt(7))), want)
	}
	for _, g := range []*idgen.Generator{nil, {}} {
		wantStatus(t, errorOf(g.DecodeWide(idgen.WideIDOf(1))), idgen.ErrHandle)
	}
}

func TestACancelledContextEndsAWaitForAnOwnersId(t *testing.T) {
	for _, owner := range fiveTimes7 {
		for _, call := range ownedCalls {
			clock := newStuckClock()
			g := newOrder(t, idgen.WithClock(clock), idgen.WithSequenceStart("zero"), idgen.WithWaitMax(time.Hour),
				idgen.WithStore(fmt.Sprint("memory:owners", stores.Add(1))))
			if n, err := g.FillFor(idgen.OwnerInt(7), make([]int64, 4096)); n != 4096 || err != nil {
				t.Fatalf("got %d, %v", n, err)
			}
			why := errors.New("the client went away")
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error)
			go func() {
				_, err := owner.draw(ctx, g, call)
				ended <- err
			}()
			<-clock.waiting
			cancel(why)
			err := sent(t, ended)
			wantStatus(t, err, idgen.ErrCancelled)
			if !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v is not the context's", call, err)
			}
		}
	}
}

func TestAContextThatHasEndedDrawsNothingForAnOwner(t *testing.T) {
	g := newBusiness(t, idgen.WithCounters(1))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, owner := range fiveTimes7 {
		for _, call := range ownedCalls {
			ids, err := owner.draw(ended, g, call)
			if len(ids) != 0 || !errors.Is(err, idgen.ErrCancelled) || !errors.Is(err, context.Canceled) {
				t.Errorf("%s = %v, %v", call, ids, err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	id, err := g.NextForContext(ctx, idgen.OwnerInt(7))
	if parts, _ := g.Decode(id); err != nil || parts.Segment != 1 {
		t.Errorf("the first id is %+v, %v: something was drawn", parts, err)
	}
	for _, call := range ownedCalls {
		if _, err := fiveTimes7[1].draw(ctx, g, call); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}
