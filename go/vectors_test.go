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

// row reads columns by name; one that is missing, or is not a number, ends the test. What ends the test is told with
// the row.
type row struct {
	testing.TB
	columns map[string]string
	line    string
}

func (r row) Fatalf(format string, arguments ...any) {
	r.Helper()
	r.TB.Fatalf("%s: "+format, append([]any{r.line}, arguments...)...)
}

func (r row) text(column string) string {
	r.Helper()
	value, ok := r.columns[column]
	if !ok {
		r.Fatalf("there is no column %s", column)
	}
	return value
}

func (r row) unsigned(column string) uint64 { return number(r, column, strconv.ParseUint) }
func (r row) signed(column string) int64    { return number(r, column, strconv.ParseInt) }

func number[T uint64 | int64](r row, column string, parse func(string, int, int) (T, error)) T {
	r.Helper()
	if r.text(column) == "-" {
		return 0
	}
	value, err := parse(r.text(column), 10, 64)
	if err != nil {
		r.Fatalf("%s: %v", column, err)
	}
	return value
}

// wide reads a number as an id of so many bytes.
func (r row) wide(column string, bytes uint64) idgen.WideID {
	r.Helper()
	number, ok := new(big.Int), true
	if r.text(column) != "-" {
		number, ok = number.SetString(r.text(column), 10)
	}
	if !ok {
		r.Fatalf("%s is no number", column)
	}
	return mustWide(r, number.FillBytes(make([]byte, bytes)))
}

func (r row) parts() idgen.Parts {
	r.Helper()
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
	r.Helper()
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
	r.Helper()
	switch r.text("kind") {
	case "integer":
		return idgen.OwnerInt(r.signed("owner"))
	case "text":
		return idgen.OwnerString(r.text("owner"))
	}
	owner, err := hex.DecodeString(r.text("owner"))
	if err != nil {
		r.Fatalf("%s: %v", r.line, err)
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
		info := need(mustLayout(r, r.text("name"), "").Info())(r)
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
	for file, bytes := range map[string]uint64{"layouts.tsv": 8, "layouts_wide.tsv": 16} {
		for _, r := range vectors(t, file, 50) {
			key := r.text("layout") + " " + r.text("epoch_unix_ms")
			if layouts[key] == nil {
				layouts[key] = mustLayout(r, r.text("layout"), r.text("epoch_unix_ms"))
			}
			layout, id, parts := layouts[key], r.wide("id", bytes), r.parts()
			gives(layout.DecodeWide(id))(r, parts)
			gives(layout.EncodeWide(parts))(r, id)
			if narrow, is := id.Int64(); is {
				gives(layout.Decode(narrow))(r, parts)
				gives(layout.Encode(parts))(r, narrow)
			} else {
				wantStatus(r, errorOf(layout.Decode(1)), idgen.ErrUnsupported)
				wantStatus(r, errorOf(layout.Encode(parts)), idgen.ErrUnsupported)
			}
		}
	}
}

func TestOwnersHaveTheGenesOfTheVectors(t *testing.T) {
	order := mustLayout(t, "order", "")
	for _, r := range vectors(t, "genes.tsv", 90) {
		for _, bits := range []int{4, 16, 23, 63} {
			layout := mustLayout(r, fmt.Sprintf("gene:%d segment:%d", bits, 127-bits), "")
			for _, rule := range []idgen.GeneRule{idgen.GeneHash, idgen.GeneAuto} {
				gives(layout.Gene(r.owner(), rule))(r, r.unsigned(fmt.Sprintf("hash%d", bits)))
			}
		}
		for _, rule := range []idgen.GeneRule{idgen.GeneMod, idgen.GeneAuto} {
			if gene, err := order.Gene(r.owner(), rule); r.text("mod4") == "-" {
				wantStatus(r, err, idgen.ErrValue)
			} else {
				gives(gene, err)(r, r.unsigned("mod4"))
			}
		}
	}
}

func TestTextFormsAreThoseOfTheVectors(t *testing.T) {
	for _, r := range append(vectors(t, "encodings.tsv", 20), vectors(t, "encodings_wide.tsv", 20)...) {
		var id idgen.WideID
		if bytes, isWide := r.columns["bytes"]; isWide {
			id = mustWide(r, need(hex.DecodeString(bytes))(r))
		} else {
			id = r.wide("id", 8)
		}
		for _, e := range encodings {
			gives(idgen.FormatWide(id, e.encoding))(r, r.text(e.name))
			gives(idgen.ParseWide(r.text(e.name), e.encoding))(r, id)
			if narrow, is := id.Int64(); is {
				gives(idgen.Format(narrow, e.encoding))(r, r.text(e.name))
				gives(idgen.Parse(r.text(e.name), e.encoding))(r, narrow)
			}
		}
	}
}

func TestStandardIdsReadAndDecodeAsTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "standard.tsv", 100) {
		want := r.standardParts()
		standard, id, err := idgen.ParseStandard(r.text("text"))
		if err != nil || standard != want.Standard || hex.EncodeToString(id) != r.text("bytes") {
			r.Fatalf("reads as %s %x, %v", standard, id, err)
		}
		gives(idgen.DecodeStandard(standard, id))(r, want)
		gives(idgen.FormatStandard(standard, id))(r, r.text("canonical"))
		for called := idgen.StandardUUID; called <= idgen.StandardUUID7 && standard <= idgen.StandardUUID7; called++ {
			gives(idgen.DecodeStandard(called, id))(r, want)
		}
	}
}

func TestInstantsReadAsTheVectorsSay(t *testing.T) {
	for _, r := range vectors(t, "instants.tsv", 10) {
		info, err := mustLayout(r, "time:41ms worker:10 sequence:12", r.text("text")).Info()
		gives(info.EpochUnixMs, err)(r, r.signed("unix_ms"))
	}
}

func TestMistakesHaveTheRecordedStatusAndMessage(t *testing.T) {
	for _, r := range vectors(t, "bad_layouts.tsv", 10) {
		wantMistake(r, errorOf(idgen.ParseLayout(r.text("layout"), r.text("epoch"))))
	}
	for _, r := range vectors(t, "bad_texts.tsv", 10) {
		wantMistake(r, parseAs(r))
	}
}

// parseAs returns the error of a text in the form that the row names; a form that Go does not know ends the test.
func parseAs(r row) error {
	r.Helper()
	if r.text("encoding") == "standard" {
		_, _, err := idgen.ParseStandard(r.text("text"))
		return err
	}
	for _, e := range encodings {
		if e.name == r.text("encoding") {
			return errorOf(idgen.Parse(r.text("text"), e.encoding))
		}
	}
	r.Fatalf("there is no such encoding")
	return nil
}

func wantMistake(r row, err error) {
	r.Helper()
	var e *idgen.Error
	if !errors.As(err, &e) || e.Name() != r.text("status") || e.Message != r.text("message") {
		r.Errorf("%s: got %v", r.line, err)
	}
}
