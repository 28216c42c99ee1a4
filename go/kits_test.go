package idgen_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/idgentest"
)

// kit is what one reading of tests/vectors/kits.tsv works with. As a testing.TB, it panics where it would end the test.
type kit struct {
	testing.TB
	path        string
	withContext bool
	ids         *idgentest.Generator
	column      []int64 // that was filled last
	written     int
}

func (k *kit) Fatalf(format string, arguments ...any) {
	if err, ok := arguments[0].(error); ok {
		panic(err)
	}
	panic(fmt.Sprintf(format, arguments...))
}

func TestTheKitDoesWhatTheTableSays(t *testing.T) {
	table := string(need(os.ReadFile(filepath.Join("..", "tests", "vectors", "kits.toml")))(t))
	for _, withContext := range []bool{false, true} {
		folder := t.TempDir()
		k := &kit{TB: t, path: filepath.Join(folder, "kits.toml"), withContext: withContext}
		write(t, k.path, table)
		for _, r := range vectors(t, "kits.tsv", 80) {
			got, err := k.after(r)
			said := ""
			if failure := (*idgen.Error)(nil); errors.As(err, &failure) {
				got, said = strings.Replace(failure.Name(), "ARGUMENT", "refused", 1), failure.Message
				if failure.Retryable() {
					got += " retryable"
				}
				if k.written > 0 {
					got += fmt.Sprintf(", %d drawn", k.written)
				}
			} else if err != nil {
				got, said = "refused", err.Error()
			}
			says := strings.NewReplacer("set_back", "SetBack", "use a", "use A").Replace(r.text("says"))
			if got != r.text("gives") || !strings.Contains(said, says) {
				t.Fatalf("%q: got %q, %q", r.line, got, said)
			}
		}
		if files := need(os.ReadDir(folder))(t); len(files) != 1 {
			t.Errorf("there is more than the table in the folder: %v", files)
		}
	}
}

// after is what a row gives. What the kit says by a panic is an error here.
func (k *kit) after(r row) (got string, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			if err, _ = thrown.(error); err == nil {
				err = fmt.Errorf("%v", thrown)
			}
		}
	}()
	k.written = 0
	if r.text("generator") != "" {
		k.ids = k.made(r.text("generator"))
	}
	for _, column := range []string{"told", "clock", "call"} {
		if step := r.text(column); step != "" && err == nil {
			var value any
			value, err = k.step(strings.Split(step, " "))
			got = strings.Trim(fmt.Sprint(value), "[]")
		}
	}
	return got, err
}

func (k *kit) made(generator string) *idgentest.Generator {
	given := idgen.Options{"start": "0", "sequence": "0", "at": "0001-01-01T00:00:00Z"}
	for _, pair := range strings.Split(generator, ", ") {
		name, value, _ := strings.Cut(pair, "=")
		given[name] = value
	}
	take := func(name string) string { defer delete(given, name); return given[name] }
	start, sequence := need(strconv.Atoi(take("start")))(k), need(strconv.Atoi(take("sequence")))(k)
	setup := idgentest.Setup{Start: int64(start), Sequence: sequence, At: need(time.Parse(time.RFC3339, take("at")))(k)}
	if table := take("table"); table != "" {
		return idgentest.Open(k, k.path, table, setup, given)
	}
	return idgentest.New(k, setup, given)
}

func (k *kit) step(words []string) (any, error) {
	ids, clock, next, text, fill := k.ids, k.ids.Clock(), k.ids.Next, k.ids.NextText, k.ids.Fill
	if k.withContext {
		next = func() (int64, error) { return ids.NextContext(k.Context()) }
		text = func() (string, error) { return ids.NextTextContext(k.Context()) }
		fill = func(column []int64) (int, error) { return ids.FillContext(k.Context(), column) }
	}
	number := func() int { return need(strconv.Atoi(words[1]))(k) }
	by := func() time.Duration { return need(time.ParseDuration(words[1] + "s"))(k) }
	status := func() idgen.Status {
		all := idgen.Statuses()
		return all[slices.IndexFunc(all, func(each idgen.Status) bool { return each.Name() == words[2] })]
	}
	filled := func() (written int, err error) {
		k.column = make([]int64, number())
		k.written, err = fill(k.column)
		return k.written, err
	}
	decoded := func(id int64, err error) (idgen.Parts, string, error) {
		parts, _ := ids.Decode(id)
		return parts, parts.Timestamp().Format(time.RFC3339Nano), err
	}
	owners := map[string]func(string) idgen.Owner{
		"integer": func(text string) idgen.Owner { return idgen.OwnerInt(need(strconv.ParseInt(text, 10, 64))(k)) },
		"text":    idgen.OwnerString,
		"bytes":   func(text string) idgen.Owner { return idgen.OwnerBytes([]byte(text)) },
	}
	return map[string]func() (any, error){
		"fail_next":  func() (any, error) { ids.FailNext(number(), status()); return "", nil },
		"fail_after": func() (any, error) { ids.FailAfter(number(), status()); return "", nil },
		"recover":    func() (any, error) { ids.Recover(); return "", nil },
		"set":        func() (any, error) { clock.Set(need(time.Parse(time.RFC3339, words[1]))(k)); return "", nil },
		"advance":    func() (any, error) { clock.Advance(by()); return "", nil },
		"set_back":   func() (any, error) { clock.SetBack(by()); return "", nil },
		"clock":      func() (any, error) { return clock.Now().Format(time.RFC3339Nano), nil },
		"next":       func() (any, error) { return next() },
		"text":       func() (any, error) { return text() },
		"try": func() (any, error) {
			id, err := ids.TryNext()
			if errors.Is(err, idgen.ErrWouldBlock) {
				return "none", nil
			}
			return id, err
		},
		"batch":  func() (any, error) { _, err := filled(); return k.column, err }, // Go has Fill for both
		"fill":   func() (any, error) { return filled() },
		"column": func() (any, error) { return k.column, nil },
		"time":   func() (any, error) { _, at, err := decoded(next()); return at, err },
		"parts": func() (any, error) {
			parts, at, err := decoded(next())
			return []any{at, parts.Worker, parts.Sequence}, err
		},
		"for": func() (any, error) {
			parts, _, err := decoded(ids.NextFor(owners[words[1]](words[2])))
			return []any{parts.Segment, parts.Gene}, err
		},
		"close": func() (any, error) { return "", ids.Close(k.Context()) },
	}[words[0]]()
}
