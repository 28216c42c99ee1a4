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
	process := fmt.Sprint(os.Getpid(), "@", need(os.Hostname())(t))
	var generators []*idgen.Generator
	var samples map[string]string
	for _, r := range vectors(t, "metrics.tsv", 20) {
		what, value := r.text("what"), r.text("value")
		if r.text("row") != "sample" {
			g := mustNew(t, options(what), idgen.WithStore("memory:metrics"), idgen.WithStoreCreate(true))
			need(g.Fill(make([]int64, r.unsigned("value"))))(r)
			if r.text("row") == "closed" {
				g.Close(t.Context())
			}
			generators = append(generators, g)
			continue
		}
		if samples == nil {
			samples = map[string]string{}
			for line := range strings.Lines(need(idgen.Metrics(append(generators, generators[0])...))(t)) {
				value := strings.LastIndexByte(line, ' ')
				samples[line[:value]] = strings.TrimSpace(line[value:])
			}
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

func TestNoGeneratorsAreNoText(t *testing.T) { gives(idgen.Metrics())(t, "") }

func TestStatsSayWhatWasIssuedAndHowLongTheRestLasts(t *testing.T) {
	orders := newSegment(t, idgen.WithSegmentStep(100))
	gives(orders.Fill(make([]int64, 30)))(t, 30)
	stats := need(orders.Stats())(t)
	if stats.Issued != 30 || stats.Issued != stats.Granted-stats.Remaining || stats.Handles != 1 || stats.Refills < 1 ||
		!math.IsInf(stats.StockSeconds, 1) && stats.Rate == 0 {
		t.Errorf("%+v", stats)
	}
	events := newSnowflake(t)
	mustNext(t, events)
	if stats := need(events.Stats())(t); stats.StockSeconds <= 0 || stats.StockSeconds > 60 || stats.Rate != 0 {
		t.Errorf("%+v", stats)
	}
}

func TestAGeneratorThatIsStoppedSaysWhyAndWhatFailedLast(t *testing.T) {
	store := idgen.WithStore(sqliteStore(t))
	orders := newSegment(t, store, idgen.WithTag("orders"), idgen.WithSegmentStep(10))
	stats := need(orders.Stats())(t)
	if stats.Stopped != nil || stats.LastError != nil || !stats.LastFailureAt.IsZero() {
		t.Errorf("in health: %+v", stats)
	}
	need(idgen.AdvanceSegment(math.MaxInt64, store, idgen.WithTag("orders")))(t)
	wantStatus(t, errorOf(orders.Fill(make([]int64, 100))), idgen.ErrExhausted)
	stats = need(orders.Stats())(t)
	if !errors.Is(stats.Stopped, idgen.ErrExhausted) || !errors.Is(stats.LastError, idgen.ErrExhausted) ||
		time.Since(stats.LastFailureAt) > time.Hour || stats.LayoutLeft != 0 {
		t.Errorf("exhausted: %+v", stats)
	}
}

func TestAGeneratorSaysWhichItIs(t *testing.T) {
	orders := newSegment(t, idgen.WithName("orders"), idgen.WithTag("t"))
	const want = "Generator segment 'orders', tag 't' of namespace 'default'"
	open := orders.String()
	orders.Close(t.Context())
	var none *idgen.Generator
	if open != want || fmt.Sprint(orders) != want+", closed" || none.String() != "no generator" {
		t.Errorf("got %s, %s, %s", open, orders, none)
	}
}
