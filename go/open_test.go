package idgen_test

import (
	"database/sql"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func writeConfig(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "idgen.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

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
wait_max = "2s"
store = "sqlite:ids.db"
store_create = true
`

func TestOneFileConfiguresGeneratorsOfBothKinds(t *testing.T) {
	path := writeConfig(t, twoGenerators)
	orders, err := idgen.Open(t.Context(), path, "orders")
	if err != nil {
		t.Fatal(err)
	}
	defer orders.Close(t.Context())
	if id := mustNext(t, orders); id != 1 {
		t.Errorf("the first order is %d", id)
	}
	if stats, err := orders.Stats(); err != nil || stats.Granted%500 != 0 {
		t.Errorf("segment.step = 500 was not read: %+v, %v", stats, err)
	}
	events, err := idgen.Open(t.Context(), path, "events")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close(t.Context())
	if parts, err := events.Decode(mustNext(t, events)); err != nil || parts.Worker != 3 {
		t.Errorf("got %+v, %v", parts, err)
	}
	// A relative store path starts from the file's folder, not from the working directory.
	if _, err := os.Stat(filepath.Join(filepath.Dir(path), "ids.db")); err != nil {
		t.Error(err)
	}
	// The tag is the table's name.
	info, err := idgen.ShowSegment(idgen.WithStore("sqlite:"+filepath.Join(filepath.Dir(path), "ids.db")),
		idgen.WithTag("orders"))
	if err != nil || info.MaxID < 500 || info.Grants < 1 || time.Since(info.Updated) > time.Hour {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestOptionsOverrideTheFile(t *testing.T) {
	g, err := idgen.Open(t.Context(), writeConfig(t, twoGenerators), "events", idgen.WithWorker(9))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(t.Context())
	if parts, err := g.Decode(mustNext(t, g)); err != nil || parts.Worker != 9 {
		t.Errorf("got %+v, %v", parts, err)
	}
}

func TestNamesAreInTheFilesOrder(t *testing.T) {
	path := writeConfig(t, "[zebra]\n[ant]\nkind='segment'\n['with space']\n[zebra.segment]\nstep=1\n")
	names, err := idgen.Names(path)
	if err != nil || !slices.Equal(names, []string{"zebra", "ant", "with space"}) {
		t.Errorf("got %q, %v", names, err)
	}
}

func TestAMistakeInTheFileIsNamedWithItsPlace(t *testing.T) {
	for _, c := range []struct {
		about, content, name string
		want                 idgen.Status
		message              string // PATH stands for the file
	}{
		{"no such table", "[a]\n[b]\n", "c", idgen.ErrConfigFile, "PATH has no table [c]; it has: a, b"},
		{"an empty file", "", "c", idgen.ErrConfigFile, "PATH has no table [c]; it has: none"},
		{"a key outside a table", "kind = 'segment'\n", "c", idgen.ErrConfigFile,
			"PATH: 'kind' is outside a table; put it under a [name]"},
		{"an array", "[c]\nworker = [1, 2]\n", "c", idgen.ErrConfigFile,
			"PATH [c]: worker is an array or a time of day; a text, number, boolean or instant is wanted"},
		{"a time of day", "[c]\nepoch = 07:32:00\n", "c", idgen.ErrConfigFile,
			"PATH [c]: epoch is an array or a time of day; a text, number, boolean or instant is wanted"},
		{"a name of many parts", "[c]\n\na" + strings.Repeat(".a", 33) + " = 1\n", "c", idgen.ErrConfigFile,
			"PATH: line 3: more than 32 levels of tables, lists and parts of a name; allowed are 32"},
		{"a header of many parts", "[c" + strings.Repeat(". 'a'", 100_000) + "]\n", "c", idgen.ErrConfigFile,
			"PATH: line 1: more than 32 levels"},
		{"lists in lists", "[c]\nd = " + strings.Repeat("[", 100_000), "c", idgen.ErrConfigFile,
			"PATH: line 2: more than 32 levels"},
		{"dots elsewhere", "[c] # DOTS\na = \"\\\"DOTS\"\nb = [" + strings.Repeat("1.5, ", 100) + "]\n" +
			"c = '''\nDOTS'''\n", "d", idgen.ErrConfigFile, "PATH has no table [d]"},
		{"malformed", "[c]\nworker = = 3\n", "c", idgen.ErrConfigFile, "PATH: line 2, column "},
		{"a key that does not exist", "[c]\nwroker = 3\n", "c", idgen.ErrUnknownKey,
			"PATH [c]: unknown property 'wroker'; the nearest is 'worker'"},
		{"a mistake in another table", "[a]\nworker = [1, 2]\n[c]\nsegment.step = 0\n", "c", idgen.ErrValue,
			"PATH [c]: segment.step"},
		{"a value out of range", "[c]\nsegment.step = 0\n", "c", idgen.ErrValue,
			"PATH [c]: segment.step = '0' is out of range"},
	} {
		t.Run(c.about, func(t *testing.T) {
			path := writeConfig(t, strings.ReplaceAll(c.content, "DOTS", strings.Repeat(".", 100)))
			_, err := idgen.Open(t.Context(), path, c.name)
			wantStatus(t, err, c.want)
			if want := strings.ReplaceAll(c.message, "PATH", path); !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.toml")
	_, err := idgen.Open(t.Context(), path, "orders")
	wantStatus(t, err, idgen.ErrConfigFile)
	if err.Error() != path+": the file cannot be read: No such file or directory" {
		t.Errorf("got %s", err)
	}
	_, err = idgen.Names(path)
	wantStatus(t, err, idgen.ErrConfigFile)
}

func TestGoValuesBecomeTheTextThatTheCoreTakes(t *testing.T) {
	g := newSnowflake(t, idgen.WithWaitMax(1500*time.Millisecond),
		idgen.WithEpoch(time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)),
		idgen.With("window", "3s"), idgen.With("worker", uint8(5)), idgen.With("segment.prefetch", float32(0.5)))
	layout, err := g.Layout()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := layout.Info(); err != nil || info.EpochUnixMs != 1714521600000 {
		t.Errorf("got %+v, %v", info, err)
	}
	if parts, err := g.Decode(mustNext(t, g)); err != nil || parts.Worker != 5 {
		t.Errorf("got %+v, %v", parts, err)
	}
}

func TestBadOptionsAreRefusedWithWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		about  string
		option idgen.Option
		want   idgen.Status
		says   string
	}{
		{"a choice that is none", idgen.WithOrder("loose"), idgen.ErrValue, "strict | relaxed"},
		{"a negative number", idgen.WithWorker(-1), idgen.ErrValue, "'-1'"},
		{"a worker too large for its field", idgen.WithWorker(1024), idgen.ErrValue, "1023"},
		{"a duration finer than a millisecond", idgen.WithWaitMax(1500 * time.Microsecond), idgen.ErrValue,
			"wait_max = '1.5ms'"},
		{"a NUL in a value", idgen.WithTag("a\x00b"), idgen.ErrArgument, "NUL"},
		{"a NUL in a key", idgen.With("a\x00b", 1), idgen.ErrArgument, "NUL"},
		{"a layout that does not add up", idgen.WithLayout("time:60ms worker:10 sequence:12"), idgen.ErrLayout, ""},
		{"an epoch in the future", idgen.WithEpoch(time.Now().Truncate(time.Second).AddDate(1, 0, 0)),
			idgen.ErrLifetime, ""},
		{"an epoch finer than a millisecond", idgen.WithEpoch(time.Date(2025, 1, 1, 0, 0, 0, 500_000, time.UTC)),
			idgen.ErrValue,
			"2025-01-01T00:00:00.0005Z is not a whole number of milliseconds"},
		{"a layout past its lifetime",
			idgen.Options{"layout": "time:31s worker:10 sequence:12", "epoch": "1950-01-01T00:00:00Z"},
			idgen.ErrLifetime, ""},
		{"a missing store", idgen.Options{"store": "sqlite:/nonexistent/ids.db", "store_create": "false"},
			idgen.ErrStoreMissing, "/nonexistent/ids.db"},
		{"a store of an unknown kind", idgen.WithStore("oracle://x"), 0, "no store of that kind"},
	} {
		t.Run(c.about, func(t *testing.T) {
			_, err := idgen.New(t.Context(), idgen.WithWorker(1), idgen.WithStore("memory"),
				idgen.WithStoreCreate(true), c.option)
			var e *idgen.Error
			if !errors.As(err, &e) || (c.want != 0 && e.Status != c.want) || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v, want %s with %q", err, c.want.Name(), c.says)
			}
		})
	}
}

func TestASecondOwnerOfAWorkerWithAnotherConfigurationIsRefused(t *testing.T) {
	store := sqliteStore(t)
	first := newSnowflake(t, idgen.WithStore(store))
	_, err := idgen.New(t.Context(), idgen.WithWorker(7), idgen.WithStore(store), idgen.WithNamespace(t.Name()),
		idgen.WithOnClockBack("fail"))
	wantStatus(t, err, idgen.ErrWorkerBusy)
	// An equal one shares the first's state, and so never repeats an id.
	second := newSnowflake(t, idgen.WithStore(store))
	if a, b := mustNext(t, first), mustNext(t, second); a == b {
		t.Errorf("both issued %d", a)
	}
	if stats, err := first.Stats(); err != nil || stats.Handles != 2 {
		t.Errorf("got %+v, %v", stats, err)
	}
}

func TestADamagedStoreIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := idgen.New(t.Context(), idgen.WithKind("segment"), idgen.WithTag("orders"),
		idgen.WithStore("sqlite:"+path))
	wantStatus(t, err, idgen.ErrStoreDamaged)
	if !strings.Contains(err.Error(), path) {
		t.Errorf("the message does not name the file: %s", err)
	}
}

func TestATagIsMadeAboveANumber(t *testing.T) {
	store, tag := idgen.WithStore(sqliteStore(t)), idgen.WithTag("orders")
	wantStatus(t, idgen.CreateSegmentAbove(math.MaxInt64+1, store, tag), idgen.ErrValue)
	if err := idgen.CreateSegmentAbove(500, store, tag); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, idgen.CreateSegmentAbove(900, store, tag), idgen.ErrTagExists)
	if id := mustNext(t, newSegment(t, store, tag)); id != 501 {
		t.Errorf("%d, want 501", id)
	}
}

func TestAStoreIsMadeWithoutATagAndAgainWithoutHarm(t *testing.T) {
	options := idgen.Options{"store": sqliteStore(t), "tag": "invoices"}
	if err := idgen.CreateStore(options); err != nil {
		t.Fatal(err)
	}
	if rows, err := idgen.ListSegments(options); err != nil || len(rows) != 0 {
		t.Errorf("%+v, %v", rows, err)
	}
	last := mustNext(t, mustNew(t, options, idgen.WithWorker(1)))
	if err := idgen.CreateSegment(options); err != nil {
		t.Fatal(err)
	}
	if _, err := idgen.AdvanceSegment(7, options); err != nil {
		t.Fatal(err)
	}
	if err := idgen.CreateStore(options); err != nil {
		t.Fatal(err)
	}
	if info, err := idgen.ShowSegment(options); err != nil || info.MaxID != 7 {
		t.Errorf("%+v, %v", info, err)
	}
	if id := mustNext(t, mustNew(t, options, idgen.WithWorker(1))); id <= last {
		t.Errorf("DUPLICATE or out of order: %d after %d", id, last)
	}
	if err := idgen.CreateStore(idgen.WithStore("memory")); err != nil {
		t.Error(err)
	}
}

func TestAStoreThatIsLostIsNotMadeAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	store := idgen.WithStore("sqlite:" + path)
	if err := idgen.CreateStore(store); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, create := range []bool{false, true} {
		err := idgen.CreateStore(store, idgen.WithStoreCreate(create))
		wantStatus(t, err, idgen.ErrStoreMissing)
		if !strings.Contains(err.Error(), "is lost: its lock file is there") {
			t.Error(err)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
}

func TestAStoreOfTheHostIsNotMadeByIdgen(t *testing.T) {
	err := idgen.CreateStore(idgen.WithHostStore(&hookedStore{}))
	wantStatus(t, err, idgen.ErrUnsupported)
	if !strings.Contains(err.Error(), "own store is made by the host") {
		t.Error(err)
	}
}

func TestSegmentsAreCreatedShownAndOnlyEverAdvanced(t *testing.T) {
	options := idgen.Options{"store": sqliteStore(t), "tag": "invoices"}
	_, err := idgen.ShowSegment(options)
	wantStatus(t, err, idgen.ErrStoreMissing)
	if err := idgen.CreateSegment(options); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, idgen.CreateSegment(options), idgen.ErrTagExists)
	_, err = idgen.ShowSegment(options, idgen.WithTag("others"))
	wantStatus(t, err, idgen.ErrTagUnknown)
	for _, step := range []struct{ to, want int64 }{{5000, 5000}, {100, 5001}} {
		if info, err := idgen.AdvanceSegment(step.to, options); err != nil || info.MaxID != step.want {
			t.Errorf("AdvanceSegment(%d): %+v, %v", step.to, info, err)
		}
	}
	if info, err := idgen.SetSegmentStep(50, options); err != nil || info.Step != 50 {
		t.Errorf("SetSegmentStep: %+v, %v", info, err)
	}
	_, err = idgen.SetSegmentStep(1_000_000_001, options)
	wantStatus(t, err, idgen.ErrValue)
	if info, err := idgen.ShowSegment(options); err != nil || info.MaxID != 5001 {
		t.Errorf("got %+v, %v", info, err)
	}
	g := mustNew(t, options, idgen.WithKind("segment"))
	if id := mustNext(t, g); id != 5002 {
		t.Errorf("got %d, want 5001", id)
	}
}

func TestWhatWouldMakeATagIsToldWithoutMakingIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	options := idgen.Options{
		"store": "sqlite:" + path, "namespace": strings.Repeat("'", 128), "tag": "caf\u00e9" + strings.Repeat("'", 120),
	}
	statements, err := idgen.SegmentStatements(options)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store was made: %v", err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statements)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := idgen.ShowSegment(options); err != nil || info.MaxID != 0 {
		t.Errorf("got %+v, %v", info, err)
	}
	text, err := idgen.SegmentStatements(idgen.WithStore("memory"), idgen.WithTag("orders"))
	if text != "" || err != nil {
		t.Errorf("of memory: %q, %v", text, err)
	}
}

func TestStatementsAreRefusedWhereThereCanBeNone(t *testing.T) {
	for want, options := range map[string][]idgen.Option{
		"own makes its tags itself": {idgen.WithHostStore(&counter{})},
		"mysql, mariadb, postgres":  {idgen.Options{"store": "memory", "segment.schema": "leaf", "tag": "orders"}},
		"libidgen_postgres.so": {idgen.Options{
			"store": "postgres://app@h.invalid/ids", "module.path": t.TempDir(), "tag": "orders",
		}},
	} {
		text, err := idgen.SegmentStatements(options...)
		wantStatus(t, err, idgen.ErrUnsupported)
		if text != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, %v, want %s", text, err, want)
		}
	}
	_, err := idgen.SegmentStatements(idgen.WithStore("oracle:ids"))
	wantStatus(t, err, idgen.ErrValue)
}

func TestAStoreWithoutOtherTablesCannotReadOne(t *testing.T) {
	for _, store := range []idgen.Option{
		idgen.WithStore("memory"), idgen.WithStore(sqliteStore(t)), idgen.WithHostStore(&counter{}),
	} {
		_, err := idgen.SegmentMaxOf("orders", "id", store)
		wantStatus(t, err, idgen.ErrUnsupported)
		if want := "'orders' cannot be read: only the stores mysql, mariadb"; !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for _, names := range [][2]string{{"or\x00ders", "id"}, {"orders", "i\x00d"}} {
		_, err := idgen.SegmentMaxOf(names[0], names[1], idgen.WithStore("memory"))
		wantStatus(t, err, idgen.ErrArgument)
	}
	_, err := idgen.SegmentMaxOf("orders", "id", idgen.Options{"stor": "memory"})
	wantStatus(t, err, idgen.ErrUnknownKey)
}

func TestTheEnvironmentOverridesTheFileAndCanDoWithoutIt(t *testing.T) {
	path := writeConfig(t, "[orders]\nkind = \"segment\"\nstore = \"memory\"\nwait-max = \"2s\"\n")
	t.Setenv("IDGEN_ORDERS_KIND", "segment")
	t.Setenv("IDGEN_ORDERS_STORE", "sqlite:"+filepath.Join(t.TempDir(), "ids.db"))
	t.Setenv("IDGEN_ORDERS_STORE_CREATE", "true")
	one, err := idgen.Open(t.Context(), path, "orders")
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close(t.Context())
	two, err := idgen.New(t.Context(), idgen.Environment("orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close(t.Context())
	if description, err := one.Describe(); err != nil || !strings.Contains(description, "ids.db") {
		t.Errorf("%s, %v", description, err)
	}
	if mustNext(t, one) == mustNext(t, two) {
		t.Error("they are not on one store")
	}
	t.Setenv("IDGEN_ORDERS_SEGMENT_STEPP", "1")
	_, err = idgen.New(t.Context(), idgen.Environment("orders"))
	wantStatus(t, err, idgen.ErrUnknownKey)
}

func TestAFileThatGivesAPropertyTwiceIsRefused(t *testing.T) {
	path := writeConfig(t, "[orders]\nwait-max = \"2s\"\nwait_max = \"2s\"\n")
	_, err := idgen.Open(t.Context(), path, "orders")
	wantStatus(t, err, idgen.ErrConfigFile)
	if !strings.Contains(err.Error(), "'wait_max' is given twice") {
		t.Error(err)
	}
}
