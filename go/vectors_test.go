package idgen_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

func (r row) unsigned(column string) uint64 { return number(r, column, strconv.ParseUint) }
func (r row) signed(column string) int64    { return number(r, column, strconv.ParseInt) }

func number[T uint64 | int64](r row, column string, parse func(string, int, int) (T, error)) T {
	r.t.Helper()
	if r.text(column) == "-" {
		return 0
	}
	value, err := parse(r.text(column), 10, 64)
	if err != nil {
		r.t.Fatalf("%s of %q: %v", column, r.line, err)
	}
	return value
}

// wide reads a number as an id of so many bytes.
func (r row) wide(column string, bytes uint64) idgen.WideID {
	r.t.Helper()
	number, ok := new(big.Int), true
	if r.text(column) != "-" {
		number, ok = number.SetString(r.text(column), 10)
	}
	if !ok {
		r.t.Fatalf("%s of %q is no number", column, r.line)
	}
	return mustWide(r.t, number.FillBytes(make([]byte, bytes)))
}

func (r row) parts() idgen.Parts {
	r.t.Helper()
	segment := r.wide("segment", 16)
	parts := idgen.Parts{
		UnixMs: r.signed("unix_ms"), Time: r.unsigned("time"), Datacenter: r.unsigned("datacenter"),
		Worker: r.unsigned("worker"), Process: r.unsigned("process"), Shard: r.unsigned("shard"),
		Sequence: r.unsigned("sequence"), Gene: r.unsigned("gene"),
		Version: r.unsigned("version"), Segment: segment.Low(), SegmentHigh: segment.High(), Fixed: r.unsigned("fixed"),
	}
	for i, name := range []string{
		"time", "datacenter", "worker", "process", "shard", "sequence", "gene", "version", "segment", "fixed",
	} {
		if r.text(name) != "-" {
			parts.Fields |= 1 << i
		}
	}
	return parts
}

func (r row) standardParts() idgen.StandardParts {
	r.t.Helper()
	parts := idgen.StandardParts{Standard: -1, Version: int(r.unsigned("version")), IsRFC: r.text("is_rfc") == "yes"}
	for standard := idgen.StandardUUID; standard <= idgen.StandardObjectID; standard++ {
		if standard.String() == r.text("standard") {
			parts.Standard = standard
		}
	}
	if parts.HasTime = r.text("unix_ms") != ""; parts.HasTime {
		parts.Time = time.UnixMilli(r.signed("unix_ms")).UTC()
	}
	if r.text("process") != "" {
		parts.Process, parts.Counter = r.unsigned("process"), uint32(r.unsigned("counter"))
	}
	return parts
}

func (r row) owner() idgen.Owner {
	r.t.Helper()
	switch r.text("kind") {
	case "integer":
		return idgen.OwnerInt(r.signed("owner"))
	case "text":
		return idgen.OwnerString(r.text("owner"))
	}
	owner, err := hex.DecodeString(r.text("owner"))
	if err != nil {
		r.t.Fatalf("%s: %v", r.line, err)
	}
	return idgen.OwnerBytes(owner)
}

func vectors(t *testing.T, file string, atLeast int) []row {
	t.Helper()
	content := need(os.ReadFile(filepath.Join("..", "tests", "vectors", file)))(t)
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
		want := r.parts()
		got, err := layouts[key].Decode(int64(r.unsigned("id")))
		if err != nil || got != want {
			t.Errorf("%s: decodes to %+v, %v", r.line, got, err)
		}
		id, err := layouts[key].Encode(want)
		if err != nil || uint64(id) != r.unsigned("id") {
			t.Errorf("%s: encodes to %d, %v", r.line, uint64(id), err)
		}
		wide, err := layouts[key].EncodeWide(want)
		if err != nil || wide != idgen.WideIDOf(id) {
			t.Errorf("%s: encodes to %s, %v", r.line, wide, err)
		}
		if got, err := layouts[key].DecodeWide(wide); err != nil || got != want {
			t.Errorf("%s: %s decodes to %+v, %v", r.line, wide, got, err)
		}
	}
}

func TestLayoutsOfSixteenBytesEncodeAndDecodeAsTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "layouts_wide.tsv", 50) {
		layout := mustLayout(t, r.text("layout"), r.text("epoch_unix_ms"))
		id := r.wide("id", 16)
		got, err := layout.DecodeWide(id)
		if want := r.parts(); err != nil || got != want {
			t.Errorf("%s: decodes to %+v, %v", r.line, got, err)
		}
		if again, err := layout.EncodeWide(got); err != nil || again != id {
			t.Errorf("%s: encodes to %s, %v", r.line, again, err)
		}
		wantStatus(t, errorOf(layout.Decode(1)), idgen.ErrUnsupported)
		wantStatus(t, errorOf(layout.Encode(got)), idgen.ErrUnsupported)
	}
}

func TestOwnersHaveTheGenesOfTheVectors(t *testing.T) {
	order := mustLayout(t, "order", "")
	for _, r := range vectors(t, "genes.tsv", 90) {
		for _, bits := range []int{4, 16, 23, 63} {
			layout := mustLayout(t, fmt.Sprintf("gene:%d segment:%d", bits, 127-bits), "")
			for _, rule := range []idgen.GeneRule{idgen.GeneHash, idgen.GeneAuto} {
				gene, err := layout.Gene(r.owner(), rule)
				if err != nil || gene != r.unsigned(fmt.Sprintf("hash%d", bits)) {
					t.Errorf("%s: the gene of %d bits is %d, %v", r.line, bits, gene, err)
				}
			}
		}
		for _, rule := range []idgen.GeneRule{idgen.GeneMod, idgen.GeneAuto} {
			gene, err := order.Gene(r.owner(), rule)
			if r.text("mod4") == "-" {
				wantStatus(t, err, idgen.ErrValue)
			} else if err != nil || gene != r.unsigned("mod4") {
				t.Errorf("%s: the gene by mod is %d, %v", r.line, gene, err)
			}
		}
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
			wantWideText(t, r, e.encoding, idgen.WideIDOf(id), r.text(e.name))
		}
	}
}

func TestTextFormsOfSixteenBytesAreThoseOfTheVectors(t *testing.T) {
	for _, r := range vectors(t, "encodings_wide.tsv", 20) {
		id := need(hex.DecodeString(r.text("bytes")))(t)
		for _, e := range encodings {
			wantWideText(t, r, e.encoding, mustWide(t, id), r.text(e.name))
		}
	}
}

func wantWideText(t *testing.T, r row, encoding idgen.Encoding, id idgen.WideID, want string) {
	t.Helper()
	if text, err := idgen.FormatWide(id, encoding); err != nil || text != want {
		t.Errorf("%s: got %q, %v", r.line, text, err)
	}
	if parsed, err := idgen.ParseWide(want, encoding); err != nil || parsed != id {
		t.Errorf("%s: %s reads as %s, %v", r.line, want, parsed, err)
	}
}

func TestStandardIdsReadAndDecodeAsTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "standard.tsv", 100) {
		want := r.standardParts()
		standard, id, err := idgen.ParseStandard(r.text("text"))
		if err != nil || standard != want.Standard || hex.EncodeToString(id) != r.text("bytes") {
			t.Errorf("%s: reads as %s %x, %v", r.line, standard, id, err)
			continue
		}
		if got, err := idgen.DecodeStandard(standard, id); err != nil || got != want {
			t.Errorf("%s: decodes to %+v, %v", r.line, got, err)
		}
		for called := idgen.StandardUUID; called <= idgen.StandardUUID7 && standard <= idgen.StandardUUID7; called++ {
			if got, err := idgen.DecodeStandard(called, id); err != nil || got != want {
				t.Errorf("%s: as %s it decodes to %+v, %v", r.line, called, got, err)
			}
		}
		text, err := idgen.FormatStandard(standard, id)
		if err != nil || text != r.text("canonical") {
			t.Errorf("%s: the text is %s, %v", r.line, text, err)
		}
		again, back, err := idgen.ParseStandard(text)
		if err != nil || again != standard || !slices.Equal(back, id) {
			t.Errorf("%s: %s reads as %s %x, %v", r.line, text, again, back, err)
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
		wantMistake(t, r, parseAs(r))
	}
}

// parseAs returns the error of a text in the form that the row names; a form that Go does not know ends the test.
func parseAs(r row) error {
	r.t.Helper()
	if r.text("encoding") == "standard" {
		_, _, err := idgen.ParseStandard(r.text("text"))
		return err
	}
	for _, e := range encodings {
		if e.name == r.text("encoding") {
			_, err := idgen.Parse(r.text("text"), e.encoding)
			return err
		}
	}
	r.t.Fatalf("%s: there is no encoding %q", r.line, r.text("encoding"))
	return nil
}

func wantMistake(t *testing.T, r row, err error) {
	t.Helper()
	var e *idgen.Error
	if !errors.As(err, &e) || e.Name() != r.text("status") || e.Message != r.text("message") {
		t.Errorf("%s: got %v", r.line, err)
	}
}
