package idgen_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

const twoGenerators = `
[orders]
kind = "segment"
store = "sqlite:ids.db"
store_create = true
[orders.segment]
step = 500
prefetch = 0.25

[events]
kind = "snowflake"
layout = "time:41ms worker:10 sequence:12"
epoch = 2025-01-01T00:00:00Z
worker = 3
wait-max = "2s"
store = "sqlite:ids.db"
store_create = true
`

func TestOneFileConfiguresGeneratorsOfBothKinds(t *testing.T) {
	path := written(t, "idgen.toml", twoGenerators)
	orders := need(idgen.Open(t.Context(), path, "orders"))(t)
	defer orders.Close(t.Context())
	gives(orders.Next())(t, 1)
	if stats := need(orders.Stats())(t); stats.Granted%500 != 0 {
		t.Errorf("segment.step = 500 was not read: %+v", stats)
	}
	events := need(idgen.Open(t.Context(), path, "events"))(t)
	defer events.Close(t.Context())
	if parts := need(events.Decode(mustNext(t, events)))(t); parts.Worker != 3 {
		t.Errorf("got %+v", parts)
	}
	// A relative store path starts from the file's folder, not from the working directory. The tag is the table's name.
	info := need(idgen.ShowSegment(idgen.WithStore("sqlite:"+filepath.Join(filepath.Dir(path), "ids.db")),
		idgen.WithTag("orders")))(t)
	if info.MaxID < 500 || info.Grants < 1 || time.Since(info.Updated) > time.Hour {
		t.Errorf("got %+v", info)
	}
}

func TestTheEnvironmentOverridesTheFileCanDoWithoutItAndIsOverriddenByOptions(t *testing.T) {
	path := written(t, "idgen.toml", twoGenerators)
	t.Setenv("IDGEN_EVENTS_WORKER", "9")
	ofFile, ofOptions := idgen.Lazy(path, "events"), idgen.Lazy(path, "events", idgen.WithWorker(5))
	ofNone := idgen.NewLazy(idgen.Environment("events"), idgen.WithStore("memory:"+t.Name()))
	for g, worker := range map[*idgen.LazyGenerator]uint64{ofFile: 9, ofOptions: 5, ofNone: 9} {
		defer g.Close(t.Context())
		if parts, err := need(g.Get(t.Context()))(t).Decode(need(g.Next())(t)); err != nil || parts.Worker != worker {
			t.Errorf("got %+v, %v; want worker %d", parts, err, worker)
		}
	}
	t.Setenv("IDGEN_EVENTS_SEGMENT_STEPP", "1")
	wantStatus(t, errorOf(idgen.New(t.Context(), idgen.Environment("events"))), idgen.ErrUnknownKey)
}

// A Go build reads the file in Go, with another library for TOML than the core's: only the place is the same.
func TestAMalformedFileIsNamedWithItsPlace(t *testing.T) {
	for content, want := range map[string]string{
		"":                    "PATH has no table [c]; it has: none",
		"[c]\nworker = = 3\n": "PATH: line 2, column ",
		"[c]\n\na" + strings.Repeat(".a", 33) + " = 1\n": "PATH: line 3: more than 32 levels of tables, lists and " +
			"parts of a name; allowed are 32",
		"[d" + strings.Repeat(". 'a'", 100_000) + "]\n": "PATH: line 1: more than 32 levels",
		"[c]\nd = " + strings.Repeat("[", 100_000):      "PATH: line 2: more than 32 levels",
		// Dots elsewhere are no levels.
		"[d] # DOTS\na = \"\\\"DOTS\"\nb = [" + strings.Repeat("1.5, ", 100) + "]\n" +
			"c = '''\nDOTS'''\n": "PATH has no table [c]",
	} {
		path := written(t, "idgen.toml", strings.ReplaceAll(content, "DOTS", strings.Repeat(".", 100)))
		_, err := idgen.Open(t.Context(), path, "c")
		wantStatus(t, err, idgen.ErrConfigFile)
		if want := strings.ReplaceAll(want, "PATH", path); !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}

func TestGoValuesBecomeTheTextThatTheCoreTakes(t *testing.T) {
	g := newSnowflake(t, idgen.WithWaitMax(1500*time.Millisecond),
		idgen.WithEpoch(time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)),
		idgen.With("window", "3s"), idgen.With("worker", uint8(5)), idgen.With("segment.prefetch", float32(0.5)))
	layout := need(g.Layout())(t)
	if info, err := layout.Info(); err != nil || info.EpochUnixMs != 1714521600000 {
		t.Errorf("got %+v, %v", info, err)
	}
	if parts, err := g.Decode(mustNext(t, g)); err != nil || parts.Worker != 5 {
		t.Errorf("got %+v, %v", parts, err)
	}
}

func TestBadOptionsAreRefusedWithWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		option idgen.Option
		want   idgen.Status
		says   string
	}{
		{idgen.WithWaitMax(1500 * time.Microsecond), idgen.ErrValue, "wait_max = '1.5ms'"},
		{idgen.WithTag("a\x00b"), idgen.ErrArgument, "NUL"},
		{idgen.With("a\x00b", 1), idgen.ErrArgument, "NUL"},
		{idgen.Environment("a\x00b"), idgen.ErrArgument, "NUL"},
		{idgen.WithEpoch(time.Date(2025, 1, 1, 0, 0, 0, 500_000, time.UTC)), idgen.ErrValue,
			"2025-01-01T00:00:00.0005Z is not a whole number of milliseconds"},
	} {
		_, err := idgen.New(t.Context(), idgen.WithWorker(1), idgen.WithStore("memory"), c.option)
		wantSays(t, err, c.want, c.says)
	}
	for _, names := range [][2]string{{"or\x00ders", "id"}, {"orders", "i\x00d"}} {
		wantStatus(t, errorOf(idgen.SegmentMaxOf(names[0], names[1], idgen.WithStore("memory"))), idgen.ErrArgument)
	}
}
