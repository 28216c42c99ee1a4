package idgen_test

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
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

func wantNextText(t testing.TB, g *idgen.Generator, want string) {
	t.Helper()
	if text, err := g.NextText(); err != nil || text != want {
		t.Fatalf("got %q, %v; want %q", text, err, want)
	}
}

func TestPatternsWriteAndReadWhatTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "patterns.tsv", 100) {
		pattern := mustPattern(t, r.text("pattern"), idgen.WithZone(r.text("zone")), idgen.WithLayout(r.text("layout")))
		number, ok := new(big.Int).SetString(r.text("id"), 10)
		if !ok {
			t.Fatalf("%s: no number", r.line)
		}
		id := mustWide(t, number.FillBytes(make([]byte, r.unsigned("bytes"))))
		if text, err := pattern.FormatWide(id); err != nil || text != r.text("text") {
			t.Errorf("%s: got %q, %v", r.line, text, err)
		}
		parts, err := pattern.Parse(r.text("text"))
		if err != nil || parts.ID != id || new(big.Int).SetBytes(parts.Number.Bytes()).Cmp(number) != 0 {
			t.Errorf("%s: reads as %+v, %v", r.line, parts, err)
		}
		if narrow, ok := id.Int64(); ok {
			if text, err := pattern.Format(narrow); err != nil || text != r.text("text") {
				t.Errorf("%s: got %q, %v", r.line, text, err)
			}
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
			wantMistake(t, r, err)
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
		if text, err := mustPattern(t, " № {000} ", options...).Format(7); err != nil || text != " № 007 " {
			t.Errorf("%q %v", text, err)
		}
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
	path := filepath.Join(t.TempDir(), "idgen.toml")
	const table = "[orders]\nlayout = \"twitter\"\npattern = \"{yyyyMMdd}-{decimal}\"\nzone = \"+14:00\"\n"
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	pattern := need(idgen.OpenTextPattern(path, "orders"))(t)
	if text, err := pattern.Format(twitterID); err != nil || text != "20220629-1541815603606036480" {
		t.Fatal(text, err)
	}
	inUTC := need(idgen.OpenTextPattern(path, "orders", idgen.WithZone("UTC")))(t)
	if text, err := inUTC.Format(twitterID); err != nil || text != "20220628-1541815603606036480" {
		t.Fatal(text, err)
	}
	wantStatus(t, errorOf(idgen.OpenTextPattern(path, "others")), idgen.ErrConfigFile)
}

func TestAGeneratorWritesItsIdsByItsPattern(t *testing.T) {
	orders := newSegment(t, idgen.WithPattern("№ {0000}-{check}"))
	wantNextText(t, orders, "№ 0001-8")
	text, err := orders.NextTextContext(t.Context())
	if err != nil || text != "№ 0002-6" {
		t.Fatal(text, err)
	}
	if id := mustNext(t, orders); id != 3 {
		t.Fatal(id)
	}
	pattern := orders.TextPattern()
	if err := orders.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, errorOf(orders.NextText()), idgen.ErrClosed)
	wantStatus(t, errorOf(orders.NextTextContext(t.Context())), idgen.ErrClosed)
	runtime.KeepAlive(orders)
	orders = nil
	runtime.GC()
	if parts, err := pattern.Parse("№ 0002-6"); err != nil || parts.ID != idgen.WideIDOf(2) {
		t.Fatal(parts, err)
	}
}

func TestASerialHasANumberThatIsNotItsId(t *testing.T) {
	orders := newSegment(t,
		idgen.WithKind("serial"), idgen.WithPattern("SO{yyyy}-{000}"), idgen.WithClock(newFakeClock()))
	wantNextText(t, orders, "SO2026-001")
	parts, err := orders.TextPattern().Parse("SO2026-001")
	if err != nil || parts.Number != idgen.WideIDOf(1) || parts.Unit != idgen.UnitYear || parts.Year != 2026 {
		t.Fatal(parts, err)
	}
	if again, err := orders.TextPattern().FormatWide(parts.ID); err != nil || again != "SO2026-001" {
		t.Fatal(again, err)
	}
}

func TestTheLongestTextLosesNoId(t *testing.T) {
	before := strings.Repeat("x", 112)
	orders := newSegment(t, idgen.WithPattern(before+"{decimal:39}"))
	for number := 1; number <= 3; number++ {
		wantNextText(t, orders, before+fmt.Sprintf("%039d", number))
	}
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
