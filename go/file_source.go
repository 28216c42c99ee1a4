//go:build cgo && !idgen_system

package idgen

// Reads the configuration file in Go, because the core's own reader needs a C++ library that a Go build does not have.
// Results and messages are those of idgen_config_load.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"
)

type file struct{ path, name string }

type tomlTable struct {
	name     string
	settings []setting
	err      error // why this table (and only this one) cannot be loaded
}

func (f file) apply(c *config) error {
	tables, err := readTOML(f.path)
	if err != nil {
		return err
	}
	found := slices.IndexFunc(tables, func(t tomlTable) bool { return t.name == f.name })
	if found < 0 {
		names := make([]string, len(tables))
		for i, table := range tables {
			names[i] = table.name
		}
		has := strings.Join(names, ", ")
		if has == "" {
			has = "none"
		}
		return configFileError("%s has no table [%s]; it has: %s", f.path, f.name, has)
	}
	if err := tables[found].err; err != nil {
		return err
	}
	if err := c.set("name", f.name); err != nil {
		return err
	}
	absolute, err := filepath.Abs(f.path)
	if err != nil {
		return configFileError("%s: %v", f.path, err)
	}
	if err := c.set("directory", filepath.Dir(absolute)); err != nil {
		return err
	}
	given := map[string]bool{}
	for _, s := range tables[found].settings {
		property := strings.ReplaceAll(s.key, "-", "_")
		if given[property] {
			return configFileError("%s [%s]: '%s' is given twice, with hyphens and without", f.path, f.name, property)
		}
		given[property] = true
		if err := c.set(s.key, s.value); err != nil {
			var e *Error
			if errors.As(err, &e) {
				e.Message = fmt.Sprintf("%s [%s]: %s", f.path, f.name, e.Message)
			}
			return err
		}
	}
	return c.loadEnvironment(f.name)
}

// Names returns the names of the generators in a TOML file, in the file's order. Errors: ErrConfigFile.
func Names(path string) ([]string, error) {
	tables, err := readTOML(path)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tables))
	for i, table := range tables {
		names[i] = table.name
	}
	return names, nil
}

// readTOML returns the tables of a file in the file's order, each with its settings sorted by name.
func readTOML(path string) ([]tomlTable, error) {
	values, meta, err := decodeTOML(path)
	if err != nil {
		return nil, err
	}
	var tables []tomlTable
	seen := map[string]bool{}
	for _, key := range meta.Keys() { // in the file's order; [a.b] before [a] does not count as a
		name := key[0]
		if seen[name] {
			continue
		}
		seen[name] = true
		nested, ok := values[name].(map[string]any)
		if !ok {
			return nil, configFileError("%s: '%s' is outside a table; put it under a [name]", path, name)
		}
		table := tomlTable{name: name}
		table.flatten(nested, "", path)
		tables = append(tables, table)
	}
	return tables, nil
}

const mostBytes, mostLevels = 64 << 20, 32

func decodeTOML(path string) (values map[string]any, meta toml.MetaData, err error) {
	opened, err := os.Open(path)
	if err == nil {
		defer opened.Close()
	}
	var content []byte
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(opened, mostBytes+1))
	}
	if err != nil {
		return nil, meta, configFileError("%s: the file cannot be read: %s", path, reasonOf(err))
	}
	if len(content) > mostBytes {
		return nil, meta, configFileError("%s: the file has more than 64 MiB, the most that is read", path)
	}
	text := string(content)
	if err := checkLevels(path, text); err != nil {
		return nil, meta, err
	}
	if meta, err = toml.Decode(text, &values); err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return nil, meta, configFileError("%s: line %d, column %d: %s", path, parse.Position.Line,
				parse.Position.Col, parse.Message)
		}
		return nil, meta, configFileError("%s: %v", path, err)
	}
	return values, meta, nil
}

// checkLevels refuses a file whose tables, lists and names with dots would use up the stack; as toml_file.cpp does.
func checkLevels(path, text string) error {
	line, open, dots := 1, 0, 0
	for at := 0; at < len(text); {
		next := at + 1
		switch c := text[at]; c {
		case '"', '\'':
			next = endOfText(text, at)
		case '#':
			if next = strings.IndexByte(text[at:], '\n') + at; next < at {
				next = len(text)
			}
		case '.':
			dots++
		case '=', ',', '[', ']', '{', '}', '\n':
			dots = 0
			if c == '[' || c == '{' {
				open++
			} else if (c == ']' || c == '}') && open > 0 {
				open--
			}
		}
		if open+dots > mostLevels {
			return configFileError("%s: line %d: more than 32 levels of tables, lists and parts of a name; "+
				"allowed are 32", path, line)
		}
		line += strings.Count(text[at:next], "\n")
		at = next
	}
	return nil
}

// endOfText returns where a text ends that begins at a quote, or the line, if it has no end there.
func endOfText(text string, at int) int {
	end := text[at : at+1]
	long := strings.HasPrefix(text[at:], strings.Repeat(end, 3))
	if long {
		end = strings.Repeat(end, 3)
	}
	for at += len(end); at < len(text) && (long || text[at] != '\n'); at++ {
		if strings.HasPrefix(text[at:], end) {
			return at + len(end)
		}
		if text[at] == '\\' && end[0] == '"' {
			at++
		}
	}
	return min(at, len(text))
}

func (t *tomlTable) flatten(values map[string]any, prefix, path string) {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		name := prefix + key
		if nested, ok := values[key].(map[string]any); ok {
			t.flatten(nested, name+".", path)
		} else if text, ok := tomlText(values[key]); ok {
			t.settings = append(t.settings, setting{name, text})
		} else if t.err == nil {
			t.err = configFileError("%s [%s]: %s is an array or a time of day; "+
				"a text, number, boolean or instant is wanted",
				path, t.name, name)
		}
	}
}

// tomlText writes a value as idgen_config_set takes it; false for an array or a time of day.
func tomlText(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case time.Time:
		switch v.Location().String() { // how the TOML library marks times that are not an instant
		case "time-local":
			return "", false
		case "date-local":
			return v.Format(time.DateOnly) + "T00:00:00Z", true
		case "datetime-local":
			// No offset: refused by the core, as it refuses its own.
			return v.Format("2006-01-02T15:04:05.999999999"), true
		}
		return v.Format(time.RFC3339Nano), true
	}
	return "", false
}

// reasonOf is why a file cannot be read, as the core says it.
func reasonOf(err error) string {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return err.Error()
	}
	reason := errno.Error() // in C it begins with a capital
	return strings.ToUpper(reason[:1]) + reason[1:]
}

func configFileError(format string, arguments ...any) error {
	return &Error{Status: ErrConfigFile, Message: fmt.Sprintf(format, arguments...)}
}
