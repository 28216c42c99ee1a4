package idgen_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/idgentest"
)

func newBusiness(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	return newSegment(t, append([]idgen.Option{idgen.WithKind("business")}, options...)...)
}

func newOrder(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	return newSnowflake(t, append([]idgen.Option{idgen.WithLayout("order")}, options...)...)
}

// sameOwner is one owner, and that owner as often as ids are wanted.
type sameOwner struct {
	one  idgen.Owner
	many idgen.Owners
}

// owners are the forms of the row's owner: all are one.
func (r row) owners() []sameOwner {
	r.Helper()
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
	r.Helper()
	store := fmt.Sprint("memory:owners", stores.Add(1))
	options := idgen.Options{"store": store, "store_create": "true", "tag": "orders"}
	if r.text("used") != "0" {
		if err := idgen.CreateSegment(options); err != nil {
			r.Fatal(err)
		}
		if _, err := idgen.AdvanceSegment(r.signed("used"), options); err != nil {
			r.Fatal(err)
		}
	}
	for _, property := range strings.Split(r.text("properties"), "; ") {
		key, value, _ := strings.Cut(property, "=")
		options[key] = value
	}
	return idgen.New(r.Context(), options,
		idgen.WithClock(idgentest.NewManualClock(idgentest.FirstMoment)))
}

func (o sameOwner) check(r row, call string) {
	g, err := r.open()
	var ids []idgen.WideID
	if err == nil {
		defer g.Close(r.Context())
		ids, err = o.draw(r.Context(), g, call)
		if _, tried := g.TryNextFor(o.one); err != nil && call == "NextFor" && fmt.Sprint(tried) != err.Error() {
			r.Errorf("%s: %v, but %v when it is tried", r.line, err, tried)
		}
	}
	layouts, texts := map[bool]*idgen.Layout{true: mustLayout(r, "business128", "")}, []string{}
	for _, id := range ids {
		text := id.String()
		if narrow, ok := id.Int64(); ok {
			layouts[false], text = need(g.Layout())(r), strconv.FormatInt(narrow, 10)
		}
		texts = append(texts, text)
		parts, err := g.DecodeWide(id)
		if again, _ := layouts[id.IsWide()].EncodeWide(parts); err != nil || again != id {
			r.Errorf("%s: %s decodes to %+v, %v", r.line, id, parts, err)
		}
	}
	if got := strings.Join(texts, ","); got != r.text("ids") {
		r.Errorf("%s: %s of %+v makes %s", r.line, call, o.one, got)
	}
	if r.text("status") != "" {
		wantMistake(r, err)
	} else if err != nil {
		r.Errorf("%s: %s: %v", r.line, call, err)
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
	layout := need(g.Layout())(t)
	const count = 1000 // several parts
	numbers, texts, bytes := make([]int64, count), make([]string, count), make([][]byte, count)
	for i := range count {
		numbers[i] = int64(i*i - 500)
		texts[i] = strconv.FormatInt(numbers[i], 10)
		bytes[i] = []byte(texts[i])
	}
	var all []int64
	ids, wide := make([]int64, count), make([]idgen.WideID, count)
	for _, owners := range []idgen.Owners{
		idgen.OwnersInt(numbers), idgen.OwnersString(texts), idgen.OwnersBytes(bytes),
	} {
		gives(g.FillForEach(owners, ids))(t, count)
		gives(g.FillWideForEach(owners, wide))(t, count)
		for i, number := range numbers {
			narrow, _ := wide[i].Int64()
			gene := need(layout.Gene(idgen.OwnerInt(number), idgen.GeneAuto))(t)
			for _, id := range []int64{ids[i], narrow} {
				if parts, err := layout.Decode(id); err != nil || parts.Gene != gene {
					t.Fatalf("id %d of %v has %+v, %v", id, number, parts, err)
				}
			}
			all = append(all, ids[i], narrow)
		}
		for _, other := range []int{0, 1, count - 1, count + 1} {
			n, err := g.FillForEach(owners, make([]int64, other))
			says := fmt.Sprintf("%d owners for %d ids; give one owner for each", count, other)
			wantSays(t, err, idgen.ErrArgument, says)
			wantStatus(t, errorOf(g.FillWideForEach(owners, make([]idgen.WideID, other))), idgen.ErrArgument)
			if n != 0 {
				t.Errorf("%d written", n)
			}
		}
	}
	wantNoneTwice(t, all)
}

func TestNoOwnersAreNoError(t *testing.T) {
	g := newBusiness(t)
	gives(g.FillFor(idgen.OwnerInt(42), nil))(t, 0)
	for _, none := range []idgen.Owners{
		{}, idgen.OwnersInt(nil), idgen.OwnersInt([]int64{}), idgen.OwnersString([]string{}), idgen.OwnersBytes(nil),
	} {
		gives(g.FillForEach(none, nil))(t, 0)
		gives(g.FillWideForEach(none, nil))(t, 0)
	}
}

func TestABatchThatMeetsABadOwnerKeepsWhatItHas(t *testing.T) {
	texts, ids := slices.Repeat([]string{"a"}, 1000), make([]int64, 1000) // several parts
	texts[700] = ""
	n, err := newBusiness(t).FillForEach(idgen.OwnersString(texts), ids)
	wantStatus(t, err, idgen.ErrValue)
	if n != 700 || slices.Index(ids, 0) != n || slices.Max(ids[n:]) != 0 {
		t.Errorf("%d written: %v", n, ids)
	}
}

func TestAGeneIsRefusedWithoutAnOwnerAFieldOrARule(t *testing.T) {
	layout := mustLayout(t, "business64", "")
	for _, owner := range []idgen.Owner{{}, idgen.OwnerString(""), idgen.OwnerBytes(nil)} {
		wantStatus(t, errorOf(layout.Gene(owner, idgen.GeneAuto)), idgen.ErrValue)
		wantStatus(t, errorOf(newBusiness(t).NextFor(owner)), idgen.ErrValue)
	}
	wantStatus(t, errorOf(layout.Gene(idgen.OwnerInt(7), 99)), idgen.ErrArgument)
	wantStatus(t, errorOf(mustLayout(t, "default", "").Gene(idgen.OwnerInt(7), idgen.GeneAuto)), idgen.ErrUnsupported)
}

// fiveTimes7 is an owner for the calls that must not draw.
var fiveTimes7 = []sameOwner{
	{idgen.OwnerInt(7), idgen.OwnersInt([]int64{7, 7, 7, 7, 7})},
	{idgen.OwnerString("7"), idgen.OwnersString([]string{"7", "7", "7", "7", "7"})},
}

func TestAClosedGeneratorSaysSoToOwners(t *testing.T) {
	g := newBusiness(t)
	g.Close(t.Context())
	for _, call := range ownedCalls {
		wantStatus(t, errorOf(fiveTimes7[0].draw(t.Context(), g, call)), idgen.ErrClosed)
	}
	wantStatus(t, errorOf(g.TryNextFor(idgen.OwnerInt(7))), idgen.ErrClosed)
}
