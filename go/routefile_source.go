//go:build cgo && !idgen_system

package idgen

// Reads a table of routes in Go, because the core's own reader needs a C++ library that a Go build does not have. What
// is accepted is what idgen_route_table_read accepts.

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// routeReader turns a file into data. Its methods panic with an *Error, which read returns.
type routeReader struct {
	path   string
	values map[string]any
}

func readRouteTable(path string) (table *RouteTable, err error) {
	defer func() {
		if e, ok := recover().(*Error); ok {
			err = e
		}
	}()
	values, meta, err := decodeTOML(path)
	if err != nil {
		return nil, err
	}
	r := routeReader{path: path, values: values}
	data := r.read(meta)
	table, err = NewRouteTable(data)
	var failure *Error
	if errors.As(err, &failure) && failure.Status == ErrValue {
		return nil, configFileError("%s: %s", path, failure.Message)
	}
	return table, err
}

func (r routeReader) fail(format string, arguments ...any) {
	panic(configFileError("%s: %s", r.path, fmt.Sprintf(format, arguments...)))
}

func (r routeReader) read(meta toml.MetaData) RouteData {
	r.checkKeys(r.values, "the file", "version", "bits", "shards", "move", "range")
	data := RouteData{
		Version: r.integer(r.values, "version", "the file"),
		Bits:    uint32(min(r.integer(r.values, "bits", "the file"), math.MaxUint32)),
	}
	names, isList := r.values["shards"].([]any)
	if !isList {
		r.fail("'shards' is missing, or not a list of names, such as [\"db0\", \"db1\"]")
	}
	for _, name := range names {
		text, isText := name.(string)
		if !isText {
			r.fail("'shards' has an entry that is not a text in quotes")
		}
		data.Shards = append(data.Shards, text)
	}
	for i, entry := range r.tables("move") {
		where := fmt.Sprintf("[[move]] %d", i+1)
		r.checkKeys(entry, where, "nodes", "to", "share")
		first, last, isRight := parseNodes(r.text(entry, "nodes", where))
		if !isRight {
			r.fail("%s has nodes '%s'; write \"0-1023\" or \"7\"", where, entry["nodes"])
		}
		share, isRight := parseShare(r.text(entry, "share", where))
		if !isRight {
			r.fail("%s has a share of '%s'; write a percentage from \"0%%\" to \"100%%\" with at most two decimals, "+
				"such as \"35%%\" or \"0.25%%\"", where, entry["share"])
		}
		data.Moves = append(data.Moves, RouteMove{first, last, r.shard(data, r.text(entry, "to", where), where), share})
	}
	for i, entry := range r.tables("range") {
		where := fmt.Sprintf("[[range]] %d", i+1)
		r.checkKeys(entry, where, "upto", "shard")
		upto := uint32(min(r.integer(entry, "upto", where), math.MaxUint32))
		data.Ranges = append(data.Ranges, RouteRange{upto, r.shard(data, r.text(entry, "shard", where), where)})
	}
	// Then whatever is cut off at the end of the file, a range is missing, and the ring has a gap.
	hasRange := false
	for _, key := range meta.Keys() {
		if len(key) > 0 && key[0] == "range" {
			hasRange = true
		}
		if len(key) > 0 && key[0] == "move" && hasRange {
			r.fail("a [[move]] stands below a [[range]]; write all moves above all ranges, so that half a file is " +
				"never taken for a whole one")
		}
	}
	return data
}

func (r routeReader) checkKeys(table map[string]any, where string, known ...string) {
	for key := range table {
		if !slices.Contains(known, key) {
			r.fail("'%s' is not a key of %s; known are %s", key, where, strings.Join(known, ", "))
		}
	}
}

func (r routeReader) integer(table map[string]any, key, where string) uint64 {
	value, isThere := table[key]
	if !isThere {
		r.fail("%s has no '%s'; it is required", where, key)
	}
	number, isInteger := value.(int64)
	if !isInteger || number < 0 {
		r.fail("%s: '%s' is not a whole number of 0 or more", where, key)
	}
	return uint64(number)
}

func (r routeReader) text(table map[string]any, key, where string) string {
	value, isThere := table[key]
	if !isThere {
		r.fail("%s has no '%s'; it is required", where, key)
	}
	text, isText := value.(string)
	if !isText {
		r.fail("%s: '%s' is not a text in quotes", where, key)
	}
	return text
}

func (r routeReader) tables(key string) []map[string]any {
	value, isThere := r.values[key]
	if !isThere {
		return nil
	}
	tables, isList := value.([]map[string]any)
	if !isList {
		r.fail("'%s' is not a list of tables; write each under [[%s]]", key, key)
	}
	return tables
}

func (r routeReader) shard(data RouteData, name, where string) string {
	if !slices.Contains(data.Shards, name) {
		r.fail("%s names the unknown shard '%s'; 'shards' has %s", where, name, routeNames(data.Shards))
	}
	return name
}

// parseShare reads "35%" and "0.25%" as ten-thousandths.
func parseShare(text string) (uint32, bool) {
	digits, isPercent := strings.CutSuffix(text, "%")
	whole, decimals, hasPoint := strings.Cut(digits, ".")
	if !isPercent || !isDigits(whole, 3) || (hasPoint && !isDigits(decimals, 2)) {
		return 0, false
	}
	number, _ := strconv.Atoi(whole + (decimals + "00")[:2])
	return uint32(number), number <= 10000
}

// parseNodes reads "0-1023" and "7". A number that is too large becomes one that no ring has.
func parseNodes(text string) (first, last uint32, isRight bool) {
	from, to, hasDash := strings.Cut(text, "-")
	if !hasDash {
		to = from
	}
	if !isDigits(from, 19) || !isDigits(to, 19) {
		return 0, 0, false
	}
	a, _ := strconv.ParseUint(from, 10, 64)
	b, _ := strconv.ParseUint(to, 10, 64)
	return uint32(min(a, math.MaxUint32)), uint32(min(b, math.MaxUint32)), true
}

func isDigits(text string, most int) bool {
	return text != "" && len(text) <= most && strings.Trim(text, "0123456789") == ""
}
