package idgen_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/idgentest"
)

// need is a value that came without an error: need(idgen.Parse(text, idgen.Hex))(t).
func need[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// gives compares a value that came without an error: gives(g.Next())(t, 1).
func gives[T comparable](found T, err error) func(testing.TB, T) {
	return func(t testing.TB, want T) {
		t.Helper()
		if err != nil || found != want {
			t.Fatalf("got %v, %v; want %v", found, err, want)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// later runs a call that may have to wait, and sends its error.
func later(call func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	return ended
}

// inGoroutines runs the body in so many goroutines, and returns once all have ended.
func inGoroutines(count int, body func(i int)) {
	var running sync.WaitGroup
	for i := range count {
		running.Add(1)
		go func() {
			defer running.Done()
			body(i)
		}()
	}
	running.Wait()
}

// mustNew makes a generator that is closed with the test.
func mustNew(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	g := need(idgen.New(t.Context(), options...))(t)
	t.Cleanup(func() { g.Close(context.Background()) })
	return g
}

// newSegment and newSnowflake draw from memory, which is quick. The whole process shares it, so each test has its own
// tag and namespace.
func newSegment(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	return mustNew(t, append([]idgen.Option{
		idgen.WithKind("segment"), idgen.WithStore("memory"), idgen.WithStoreCreate(true), idgen.WithTag(t.Name()),
	}, options...)...)
}

func newSnowflake(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	return mustNew(t, append([]idgen.Option{
		idgen.WithWorker(7), idgen.WithStore("memory"), idgen.WithStoreCreate(true), idgen.WithNamespace(t.Name()),
	}, options...)...)
}

// ended is a context that has ended.
func ended(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// written is the path of a file of that name in a folder of its own.
func written(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(t, path, text)
	return path
}

// sqliteStore is the URL of a store file that does not exist yet.
func sqliteStore(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "idgen.db") }

func mustNext(t testing.TB, g *idgen.Generator) int64 {
	t.Helper()
	return need(g.Next())(t)
}

// wantStatus wants an error that is of this status, and all the others too.
func wantStatus(t testing.TB, err error, want idgen.Status, others ...error) {
	t.Helper()
	for _, each := range append(others, want) {
		if !errors.Is(err, each) {
			t.Fatalf("got %v, want %s: %v", err, want.Name(), each)
		}
	}
}

func wantSays(t testing.TB, err error, status idgen.Status, part string) {
	t.Helper()
	wantStatus(t, err, status)
	if !strings.Contains(err.Error(), part) {
		t.Fatalf("%q does not contain %q", err, part)
	}
}

// patience is a deadline of so long on the reference machine. The runner (scripts/test) measures how slow this one is.
func patience(d time.Duration) time.Duration {
	if factor, err := strconv.ParseFloat(os.Getenv("IDGEN_PATIENCE"), 64); err == nil {
		return time.Duration(float64(d) * factor)
	}
	return d
}

// until waits for a condition.
func until(t testing.TB, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience(time.Minute)); !isSo(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v in vain", patience(time.Minute))
		}
	}
}

// sent is what comes out of a channel.
func sent[T any](t testing.TB, channel <-chan T) T {
	t.Helper()
	select {
	case found := <-channel:
		return found
	case <-time.After(patience(time.Minute)):
		t.Fatalf("waited %v in vain", patience(time.Minute))
		panic("unreachable")
	}
}

// untilWaiting waits until so many goroutines wait in a select of this function.
func untilWaiting(t testing.TB, count int, function string) {
	t.Helper()
	stacks := make([]byte, 1<<20+count<<11)
	until(t, func() bool {
		size := runtime.Stack(stacks, true)
		if size == len(stacks) {
			stacks = make([]byte, 2*size)
			return false
		}
		waiting := 0
		for stack := range strings.SplitSeq(string(stacks[:size]), "\n\n") {
			state, calls, _ := strings.Cut(stack, "\n")
			latest, _, _ := strings.Cut(calls, "\n")
			if strings.Contains(state, "[select") && strings.Contains(latest, function) {
				waiting++
			}
		}
		return waiting == count
	})
}

// wantNoneTwice sorts the ids. A test that fails with the word DUPLICATE is never run again.
func wantNoneTwice(t testing.TB, ids []int64) {
	t.Helper()
	slices.Sort(ids)
	for i, id := range ids {
		if i > 0 && id == ids[i-1] {
			t.Fatalf("DUPLICATE: %d was issued twice", id)
		}
	}
}

func wantAbove(t testing.TB, id, last int64) {
	t.Helper()
	if id <= last {
		t.Fatalf("DUPLICATE or out of order: %d after %d", id, last)
	}
}

// whenCollected is closed when nothing refers to the object any more.
func whenCollected[T any](object *T) chan struct{} {
	released := make(chan struct{})
	runtime.AddCleanup(object, func(released chan struct{}) { close(released) }, released)
	return released
}

// wantCollected collects garbage until the channel is closed.
func wantCollected(t testing.TB, released chan struct{}) {
	t.Helper()
	until(t, func() bool {
		runtime.GC()
		select {
		case <-released:
			return true
		default:
			return false
		}
	})
}

// collectGarbage collects all that there is: a new object is among it.
func collectGarbage(t testing.TB) {
	t.Helper()
	wantCollected(t, whenCollected(newFakeClock()))
}

// newFakeClock stands still until it is told to move, or somebody sleeps on it.
func newFakeClock() *idgentest.ManualClock {
	return idgentest.NewManualClock(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))
}

// stuckClock never moves: a caller waits until something else ends the wait.
type stuckClock struct {
	*idgentest.ManualClock
	waiting chan struct{} // closed when the first caller waits
	once    sync.Once
}

func newStuckClock() *stuckClock {
	return &stuckClock{ManualClock: newFakeClock(), waiting: make(chan struct{})}
}

func (c *stuckClock) Sleep(d time.Duration) {
	c.once.Do(func() { close(c.waiting) })
	time.Sleep(min(d, time.Millisecond)) // so that the waiting caller does not spin
}
