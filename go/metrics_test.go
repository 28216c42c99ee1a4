package idgen_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

var (
	helpLine   = regexp.MustCompile(`^# HELP (\w+) \S.*$`)
	typeLine   = regexp.MustCompile(`^# TYPE (\w+) (counter|gauge)$`)
	sampleLine = regexp.MustCompile(`^(\w+)({\w+="(?:[^"\\]|\\[\\"n])*"(?:,\w+="(?:[^"\\]|\\[\\"n])*")*})` +
		` (\+Inf|[0-9.e+-]+)$`)
)

// parseMetrics reads every sample by its name and labels, and takes nothing that Prometheus refuses.
func parseMetrics(t *testing.T, generators ...*idgen.Generator) map[string]float64 {
	t.Helper()
	text, err := idgen.Metrics(generators...)
	if err != nil {
		t.Fatal(err)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Fatalf("the last line has no end: %q", text)
	}
	samples, described := map[string]float64{}, map[string]bool{}
	metric, lines := "", strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines) && text != ""; i++ {
		if help := helpLine.FindStringSubmatch(lines[i]); help != nil && i+1 < len(lines) {
			metric = help[1]
			i++
			kind := typeLine.FindStringSubmatch(lines[i])
			if described[metric] || kind == nil || kind[1] != metric ||
				(kind[2] == "counter") != strings.HasSuffix(metric, "_total") {
				t.Fatalf("%q is not the type of %s, or it was described before", lines[i], metric)
			}
			described[metric] = true
			continue
		}
		sample := sampleLine.FindStringSubmatch(lines[i])
		if sample == nil || sample[1] != metric {
			t.Fatalf("%q is not a sample of %s", lines[i], metric)
		}
		value, err := strconv.ParseFloat(sample[3], 64)
		if _, twice := samples[metric+sample[2]]; err != nil || twice {
			t.Fatalf("%q is there twice, or its value is none: %v", lines[i], err)
		}
		samples[metric+sample[2]] = value
	}
	return samples
}

func processLabel(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return `process="` + strconv.Itoa(os.Getpid()) + "@" + host + `"}`
}

func TestMetricsAreTheStatsOfEachGenerator(t *testing.T) {
	orders := newSegment(t, idgen.WithName("orders"))
	events := newSnowflake(t, idgen.WithName("events"))
	if _, err := orders.Fill(make([]int64, 30)); err != nil {
		t.Fatal(err)
	}
	mustNext(t, events)
	samples := parseMetrics(t, orders, events)
	ofOrders := `{name="orders",namespace="default",kind="segment",` + processLabel(t)
	ofEvents := `{name="events",namespace="` + t.Name() + `",kind="snowflake",` + processLabel(t)
	if samples["idgen_issued_total"+ofOrders] != 30 || samples["idgen_stock"+ofOrders] <= 0 ||
		samples["idgen_handles"+ofOrders] != 1 {
		t.Errorf("of a segment that issued 30: %v", samples)
	}
	if left := samples["idgen_stock_seconds"+ofEvents]; left <= 0 || left > 60 {
		t.Errorf("a window lasts %v s", left)
	}
	if samples["idgen_issued_total"+ofEvents] != 1 || samples["idgen_granted_seconds_total"+ofEvents] < 10 {
		t.Errorf("of a snowflake that issued one: %v", samples)
	}
	orders.Close(t.Context())
	samples = parseMetrics(t, orders)
	if samples["idgen_issued_total"+ofOrders] != 30 || samples["idgen_handles"+ofOrders] != 0 {
		t.Errorf("once closed: %v", samples)
	}
}

func TestGeneratorsThatShareAWorkerAreOneSample(t *testing.T) {
	a, b := newSnowflake(t), newSnowflake(t)
	label := `{name="idgen",namespace="` + t.Name() + `",kind="snowflake",` + processLabel(t)
	if got := parseMetrics(t, a, b, a)["idgen_handles"+label]; got != 2 {
		t.Errorf("%v handles, want 2", got)
	}
}

func TestANameOfAnyCharactersIsOneLabel(t *testing.T) {
	g := newSegment(t, idgen.WithName("a \"b\" \\ c\nd, caf\u00e9"))
	label := `{name="a \"b\" \\ c\nd, café",namespace="default",kind="segment",` + processLabel(t)
	if _, there := parseMetrics(t, g)["idgen_stock"+label]; !there {
		t.Errorf("no sample with the labels %s", label)
	}
}

func TestNoGeneratorsAreNoText(t *testing.T) {
	if text, err := idgen.Metrics(); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestStatsSayWhatWasIssuedAndHowLongTheRestLasts(t *testing.T) {
	orders := newSegment(t, idgen.WithSegmentStep(100))
	if _, err := orders.Fill(make([]int64, 30)); err != nil {
		t.Fatal(err)
	}
	stats, err := orders.Stats()
	if err != nil || stats.Issued != 30 || stats.Issued != stats.Granted-stats.Remaining {
		t.Errorf("%+v, %v", stats, err)
	}
	if !math.IsInf(stats.StockSeconds, 1) && stats.Rate == 0 {
		t.Errorf("lasts %v s at an unknown rate", stats.StockSeconds)
	}
	events := newSnowflake(t)
	mustNext(t, events)
	if stats, err := events.Stats(); err != nil || stats.StockSeconds <= 0 || stats.StockSeconds > 60 ||
		stats.Rate != 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestAGeneratorThatIsStoppedSaysWhyAndWhatFailedLast(t *testing.T) {
	store := idgen.WithStore(sqliteStore(t))
	orders := newSegment(t, store, idgen.WithTag("orders"), idgen.WithSegmentStep(10))
	stats, err := orders.Stats()
	if err != nil || stats.Stopped != nil || stats.LastError != nil || !stats.LastFailureAt.IsZero() {
		t.Errorf("in health: %+v, %v", stats, err)
	}
	if _, err := idgen.AdvanceSegment(math.MaxInt64, store, idgen.WithTag("orders")); err != nil {
		t.Fatal(err)
	}
	_, err = orders.Fill(make([]int64, 100))
	wantStatus(t, err, idgen.ErrExhausted)
	stats, err = orders.Stats()
	if err != nil || !errors.Is(stats.Stopped, idgen.ErrExhausted) || !errors.Is(stats.LastError, idgen.ErrExhausted) ||
		time.Since(stats.LastFailureAt) > time.Hour || stats.LayoutLeft != 0 {
		t.Errorf("exhausted: %+v, %v", stats, err)
	}
}

func TestAGeneratorSaysWhichItIs(t *testing.T) {
	orders := newSegment(t, idgen.WithName("orders"), idgen.WithTag("t"))
	want := "Generator segment 'orders', tag 't' of namespace 'default'"
	if got := orders.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	orders.Close(t.Context())
	if got := fmt.Sprint(orders); got != want+", closed" {
		t.Errorf("got %s", got)
	}
	var none *idgen.Generator
	if got := none.String(); got != "no generator" {
		t.Errorf("got %s", got)
	}
}

func TestAllSegmentsOfAStoreAreListed(t *testing.T) {
	store := idgen.WithStore(sqliteStore(t))
	_, err := idgen.ListSegments(store)
	wantStatus(t, err, idgen.ErrStoreMissing)
	for _, row := range [][2]string{{"b", "orders"}, {"a", "orders"}, {"a", "café"}} {
		if err := idgen.CreateSegment(store, idgen.WithNamespace(row[0]), idgen.WithTag(row[1])); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := idgen.AdvanceSegment(7, store, idgen.WithNamespace("b"), idgen.WithTag("orders")); err != nil {
		t.Fatal(err)
	}
	rows, err := idgen.ListSegments(store)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for i, want := range []string{"a café 0", "a orders 0", "b orders 7"} {
		row := rows[i]
		if got := row.Namespace + " " + row.Tag + " " + strconv.FormatInt(row.MaxID, 10); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		info, err := idgen.ShowSegment(store, idgen.WithNamespace(row.Namespace), idgen.WithTag(row.Tag))
		if err != nil || info != row.SegmentInfo {
			t.Errorf("listed as %+v, shown as %+v, %v", row.SegmentInfo, info, err)
		}
		if info.Step != 0 || info.Rate != 0 || info.Holder != "" {
			t.Errorf("nobody has drawn from it: %+v", info)
		}
	}
}
