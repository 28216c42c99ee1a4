package idgen_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// mustNew makes a generator that is closed with the test.
func mustNew(t testing.TB, options ...idgen.Option) *idgen.Generator {
	t.Helper()
	g, err := idgen.New(t.Context(), options...)
	if err != nil {
		t.Fatal(err)
	}
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

// sqliteStore is the URL of a store file that does not exist yet.
func sqliteStore(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "idgen.db") }

func mustNext(t testing.TB, g *idgen.Generator) int64 {
	t.Helper()
	id, err := g.Next()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wantStatus(t testing.TB, err error, want idgen.Status) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %s", err, want.Name())
	}
}

// wantCollected collects garbage until the object that closes the channel is collected.
func wantCollected(t *testing.T, released chan struct{}) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		runtime.GC()
		select {
		case <-released:
			return
		case <-deadline:
			t.Fatal("still in memory after 20 s")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// fakeClock stands still until it is told to move, or somebody sleeps on it.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func newFakeClock() *fakeClock { return &fakeClock{now: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)} }

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(d time.Duration) { c.Step(d) }

func (c *fakeClock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// stuckClock never moves: a caller waits until something else ends the wait.
type stuckClock struct {
	now     time.Time
	waiting chan struct{} // closed when the first caller waits
	once    sync.Once
}

func newStuckClock() *stuckClock {
	return &stuckClock{now: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), waiting: make(chan struct{})}
}

func (c *stuckClock) Now() time.Time { return c.now }
func (c *stuckClock) Sleep(d time.Duration) {
	c.once.Do(func() { close(c.waiting) })
	time.Sleep(min(d, time.Millisecond)) // so that the waiting caller does not spin
}

// camelCase turns segment.step into SegmentStep.
func camelCase(name string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '_' }) {
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}
