package idgen_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

const twitterID = 1541815603606036480 // 2022-06-28T16:07:40.105Z

func mustPattern(t testing.TB, pattern string, options ...idgen.Option) *idgen.TextPattern {
	t.Helper()
	return need(idgen.NewTextPattern(pattern, options...))(t)
}

func TestPatternsWriteAndReadWhatTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "patterns.tsv", 100) {
		pattern := mustPattern(t, r.text("pattern"), idgen.WithZone(r.text("zone")), idgen.WithLayout(r.text("layout")))
		id := r.wide("id", r.unsigned("bytes"))
		gives(pattern.FormatWide(id))(r, r.text("text"))
		parts, err := pattern.Parse(r.text("text"))
		if err != nil || parts.ID != id || parts.Number.Low() != id.Low() || parts.Number.High() != id.High() {
			t.Errorf("%s: reads as %+v, %v", r.line, parts, err)
		}
		if narrow, ok := id.Int64(); ok {
			gives(pattern.Format(narrow))(r, r.text("text"))
		}
	}
}

func TestBadPatternsAndTextsAreRefusedAsTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "bad_patterns.tsv", 10) {
		for _, options := range [][]idgen.Option{nil, {idgen.WithZone("UTC")}} {
			if r.text("layout") != "" {
				options = append(options, idgen.WithLayout(r.text("layout")))
			}
			pattern, err := idgen.NewTextPattern(r.text("pattern"), options...)
			if err == nil && r.text("id") != "-" {
				_, err = pattern.Format(r.signed("id"))
			} else if err == nil {
				_, err = pattern.Parse(r.text("text"))
			}
			wantMistake(r, err)
		}
	}
}

func TestTheDateOfATextIsTheTimeAtWhichItsUnitBegan(t *testing.T) {
	pattern := mustPattern(t, "{yyyyMMdd HH}-{decimal}", idgen.WithZone("+09:30"), idgen.WithLayout("twitter"))
	parts, err := pattern.Parse("20220629 01-1541815603606036480")
	if err != nil || parts.ID != idgen.WideIDOf(twitterID) || parts.Unit != idgen.UnitHour {
		t.Fatal(parts, err)
	}
	zone := time.FixedZone("", 9*3600+1800)
	if began := parts.Time(zone); !began.Equal(time.Date(2022, 6, 28, 15, 30, 0, 0, time.UTC)) {
		t.Fatal(began)
	}
}

func TestAPatternKeepsItsBlanksWhateverItsOptions(t *testing.T) {
	for _, options := range [][]idgen.Option{nil, {idgen.WithZone("UTC")}} {
		gives(mustPattern(t, " № {000} ", options...).Format(7))(t, " № 007 ")
	}
}

func TestAPatternRefusesWhatNoIdOrOptionIs(t *testing.T) {
	pattern := mustPattern(t, "{000}")
	wantStatus(t, errorOf(pattern.FormatWide(idgen.WideID{})), idgen.ErrValue)
	wantStatus(t, errorOf(pattern.Parse("00\x00")), idgen.ErrText)
	wantStatus(t, errorOf(idgen.NewTextPattern("{yyyy}-{decimal}", idgen.WithLayout("nonsense"))), idgen.ErrLayout)
	if _, err := idgen.NewTextPattern("{hex}", idgen.WithZone("+25:00")); err == nil {
		t.Error("there is no such zone") // which of two errors it is depends on a module
	}
	wantStatus(t, errorOf(idgen.NewTextPattern("{hex}\x00")), idgen.ErrArgument)
}

func TestAConfigurationHasThePatternOfItsGenerator(t *testing.T) {
	path := written(t, "idgen.toml",
		"[orders]\nlayout = \"twitter\"\npattern = \"{yyyyMMdd}-{decimal}\"\nzone = \"+14:00\"\n")
	gives(need(idgen.OpenTextPattern(path, "orders"))(t).Format(twitterID))(t, "20220629-1541815603606036480")
	inUTC := need(idgen.OpenTextPattern(path, "orders", idgen.WithZone("UTC")))(t)
	gives(inUTC.Format(twitterID))(t, "20220628-1541815603606036480")
	wantStatus(t, errorOf(idgen.OpenTextPattern(path, "others")), idgen.ErrConfigFile)
}

func TestAGeneratorWritesItsIdsByItsPatternWhichOutlivesIt(t *testing.T) {
	orders := unclosed(t, idgen.WithPattern("№ {0000}-{check}"))
	gives(orders.NextText())(t, "№ 0001-8")
	pattern := orders.TextPattern()
	orders = nil
	collectGarbage(t)
	if parts, err := pattern.Parse("№ 0002-6"); err != nil || parts.ID != idgen.WideIDOf(2) {
		t.Fatal(parts, err)
	}
}

func TestASerialHasANumberThatIsNotItsId(t *testing.T) {
	orders := newSegment(t,
		idgen.WithKind("serial"), idgen.WithPattern("SO{yyyy}-{000}"), idgen.WithClock(newFakeClock()))
	gives(orders.NextText())(t, "SO2026-001")
	parts, err := orders.TextPattern().Parse("SO2026-001")
	if err != nil || parts.Number != idgen.WideIDOf(1) || parts.Unit != idgen.UnitYear || parts.Year != 2026 {
		t.Fatal(parts, err)
	}
	gives(orders.TextPattern().FormatWide(parts.ID))(t, "SO2026-001")
}

func TestTheLongestTextIsWhole(t *testing.T) {
	before := strings.Repeat("x", 112)
	gives(newSegment(t, idgen.WithPattern(before+"{decimal:39}")).NextText())(t, before+fmt.Sprintf("%039d", 1))
}

func ExampleTextPattern() {
	ctx := context.Background()
	invoices, err := idgen.New(ctx, idgen.Options{
		"kind": "segment", "tag": "invoices", "store": "memory:texts", "store_create": "true",
		"pattern": "SO-{000000}{check}",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer invoices.Close(ctx)
	text, err := invoices.NextText()
	fmt.Println(text, err)
	parts, err := invoices.TextPattern().Parse(text)
	fmt.Println(parts.ID.Low(), err)
	// Output:
	// SO-0000018 <nil>
	// 1 <nil>
}
