package idgen_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idgen/idgen/go"
)

// All four languages read these files; tests/vectors/README.md describes their columns.

var encodings = []struct {
	name     string
	encoding idgen.Encoding
}{
	{"decimal", idgen.Decimal}, {"hex", idgen.Hex}, {"crockford", idgen.Crockford}, {"base58", idgen.Base58},
	{"base62", idgen.Base62},
}

// row reads columns by name; one that is missing, or is not a number, ends the test.
type row struct {
	t       *testing.T
	columns map[string]string
	line    string
}

func (r row) text(column string) string {
	r.t.Helper()
	value, ok := r.columns[column]
	if !ok {
		r.t.Fatalf("there is no column %s in %q", column, r.line)
	}
	return value
}

func (r row) unsigned(column string) uint64 {
	r.t.Helper()
	if r.text(column) == "-" {
		return 0
	}
	value, err := strconv.ParseUint(r.text(column), 10, 64)
	if err != nil {
		r.t.Fatalf("%s of %q: %v", column, r.line, err)
	}
	return value
}

func (r row) signed(column string) int64 {
	r.t.Helper()
	if r.text(column) == "-" {
		return 0
	}
	value, err := strconv.ParseInt(r.text(column), 10, 64)
	if err != nil {
		r.t.Fatalf("%s of %q: %v", column, r.line, err)
	}
	return value
}

func vectors(t *testing.T, file string, atLeast int) []row {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "tests", "vectors", file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var rows []row
	for _, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			names = strings.Split(strings.TrimSpace(strings.TrimPrefix(line, "#")), "\t")
			continue
		}
		values := strings.Split(line, "\t")
		if len(values) != len(names) {
			t.Fatalf("%s: %d columns instead of %d in %q", file, len(values), len(names), line)
		}
		columns := map[string]string{}
		for i, name := range names {
			columns[name] = values[i]
		}
		rows = append(rows, row{t, columns, line})
	}
	if len(rows) < atLeast {
		t.Fatalf("%s has %d rows", file, len(rows))
	}
	t.Logf("%s: %d rows", file, len(rows))
	return rows
}

func TestPresetsAreThoseOfTheVectors(t *testing.T) {
	var names []string
	for _, r := range vectors(t, "presets.tsv", 10) {
		names = append(names, r.text("name"))
		info, err := mustLayout(t, r.text("name"), "").Info()
		if err != nil {
			t.Errorf("%s: %v", r.line, err)
			continue
		}
		if info.Preset != r.text("name") || info.Text != r.text("text") ||
			info.EpochUnixMs != r.signed("epoch_unix_ms") ||
			uint64(info.Bits) != r.unsigned("bits") || info.IDsPerTick != r.unsigned("ids_per_tick") ||
			info.Workers != r.unsigned("workers") || info.LastUnixMs != r.signed("last_unix_ms") ||
			info.Unsigned != (r.text("is_unsigned") == "1") || info.JSSafe != (r.text("is_js_safe") == "1") ||
			info.Tick.Milliseconds() != r.signed("tick_ms") {
			t.Errorf("%s: got %+v", r.line, info)
		}
	}
	if !slices.Equal(names, idgen.Presets()) {
		t.Errorf("got %q, want %q", idgen.Presets(), names)
	}
}

func TestLayoutsEncodeAndDecodeAsTheVectorsSay(t *testing.T) {
	layouts := map[string]*idgen.Layout{}
	for _, r := range vectors(t, "layouts.tsv", 50) {
		key := r.text("layout") + " " + r.text("epoch_unix_ms")
		if layouts[key] == nil {
			layouts[key] = mustLayout(t, r.text("layout"), r.text("epoch_unix_ms"))
		}
		want := idgen.Parts{
			UnixMs: r.signed("unix_ms"), Time: r.unsigned("time"), Datacenter: r.unsigned("datacenter"),
			Worker: r.unsigned("worker"), Process: r.unsigned("process"), Shard: r.unsigned("shard"),
			Sequence: r.unsigned("sequence"), Gene: r.unsigned("gene"),
			Version: r.unsigned("version"), Segment: r.unsigned("segment"), Fixed: r.unsigned("fixed"),
		}
		for i, name := range []string{
			"time", "datacenter", "worker", "process", "shard", "sequence", "gene", "version", "segment", "fixed",
		} {
			if r.text(name) != "-" {
				want.Fields |= 1 << i
			}
		}
		got, err := layouts[key].Decode(int64(r.unsigned("id")))
		if err != nil || got != want {
			t.Errorf("%s: decodes to %+v, %v", r.line, got, err)
		}
		id, err := layouts[key].Encode(want)
		if err != nil || uint64(id) != r.unsigned("id") {
			t.Errorf("%s: encodes to %d, %v", r.line, uint64(id), err)
		}
	}
}

func TestWideLayoutsAreRefusedForTheirWidth(t *testing.T) {
	for _, r := range vectors(t, "layouts_wide.tsv", 1) {
		_, err := mustLayout(t, r.text("layout"), r.text("epoch_unix_ms")).Decode(1)
		wantStatus(t, err, idgen.ErrUnsupported)
	}
}

func TestTextFormsAreThoseOfTheVectors(t *testing.T) {
	for _, r := range vectors(t, "encodings.tsv", 20) {
		id := int64(r.unsigned("id"))
		for _, e := range encodings {
			if text, err := idgen.Format(id, e.encoding); err != nil || text != r.text(e.name) {
				t.Errorf("%s: got %q, %v", r.line, text, err)
			}
			if parsed, err := idgen.Parse(r.text(e.name), e.encoding); err != nil || parsed != id {
				t.Errorf("%s: %s reads as %d, %v", r.line, e.name, uint64(parsed), err)
			}
		}
	}
}

func TestInstantsReadAsTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "instants.tsv", 10) {
		info, err := mustLayout(t, "time:41ms worker:10 sequence:12", r.text("text")).Info()
		if err != nil || info.EpochUnixMs != r.signed("unix_ms") {
			t.Errorf("%s: got %d, %v", r.line, info.EpochUnixMs, err)
		}
	}
}

func TestMistakesHaveTheRecordedStatusAndMessage(t *testing.T) {
	for _, r := range vectors(t, "bad_layouts.tsv", 10) {
		_, err := idgen.ParseLayout(r.text("layout"), r.text("epoch"))
		wantMistake(t, r, err)
	}
	for _, r := range vectors(t, "bad_texts.tsv", 10) {
		for _, e := range encodings {
			if e.name == r.text("encoding") {
				_, err := idgen.Parse(r.text("text"), e.encoding)
				wantMistake(t, r, err)
			}
		}
	}
}

func wantMistake(t *testing.T, r row, err error) {
	t.Helper()
	var e *idgen.Error
	if !errors.As(err, &e) || e.Name() != r.text("status") || e.Message != r.text("message") {
		t.Errorf("%s: got %v", r.line, err)
	}
}
