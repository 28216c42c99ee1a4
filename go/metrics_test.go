package idgen_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func TestMetricsHaveTheSamplesOfTheVectors(t *testing.T) {
	host := need(os.Hostname())(t)
	process := strconv.Itoa(os.Getpid()) + "@" + host
	var generators []*idgen.Generator
	var samples map[string]string
	for _, r := range vectors(t, "metrics.tsv", 20) {
		what, value := r.text("what"), r.text("value")
		if r.text("row") != "sample" {
			g := mustNew(t, options(t, what), idgen.WithStore("memory:metrics"), idgen.WithStoreCreate(true))
			if _, err := g.Fill(make([]int64, r.unsigned("value"))); err != nil {
				t.Fatal(err)
			}
			if r.text("row") == "closed" {
				g.Close(t.Context())
			}
			generators = append(generators, g)
			continue
		}
		if samples == nil {
			samples = samplesOf(t, append(generators, generators[0]))
		}
		found, there := samples[strings.ReplaceAll(what, "PROCESS", process)]
		if least, atLeast := strings.CutSuffix(value, "+"); atLeast {
			number, _ := strconv.ParseFloat(found, 64)
			if wanted, err := strconv.ParseFloat(least, 64); err != nil || !there || number < wanted {
				t.Errorf("%s: got %q", r.line, found)
			}
		} else if there != (value != "-") || there && found != value {
			t.Errorf("%s: got %q", r.line, found)
		}
	}
}

func samplesOf(t *testing.T, generators []*idgen.Generator) map[string]string {
	t.Helper()
	text := need(idgen.Metrics(generators...))(t)
	samples := map[string]string{}
	for line := range strings.Lines(text) {
		value := strings.LastIndexByte(line, ' ')
		samples[line[:value]] = strings.TrimSpace(line[value:])
	}
	return samples
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
	if err != nil || stats.Issued != 30 || stats.Issued != stats.Granted-stats.Remaining || stats.Handles != 1 ||
		stats.Refills < 1 {
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
	wantStatus(t, errorOf(orders.Fill(make([]int64, 100))), idgen.ErrExhausted)
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
