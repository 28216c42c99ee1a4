package idgen_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

const table = `CREATE TABLE idgen_segment (ns TEXT, tag TEXT, max_id INTEGER NOT NULL, grants INTEGER NOT NULL DEFAULT 0,
	updated_unix_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (ns, tag));
	INSERT INTO idgen_segment(ns, tag, max_id) VALUES('default', 'orders', 0)`

type counter struct {
	mutex   sync.Mutex
	maxID   int64
	failure func() error
	orders  *idgen.Generator // for the collector
}

func (c *counter) SegmentTake(_ context.Context, _, _ string, count int64) (int64, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.failure != nil {
		return 0, c.failure()
	}
	c.maxID += count
	return c.maxID - count + 1, nil
}

func (c *counter) SegmentReturn(_ context.Context, _, _ string, last, unused int64) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.maxID == last {
		c.maxID -= unused
	}
	return nil
}

func onStore(t *testing.T, store idgen.Store) (*idgen.Generator, error) {
	return idgen.New(t.Context(), idgen.Options{"kind": "segment", "tag": "orders", "segment.step": "10"}, idgen.WithHostStore(store))
}

func TestManyGoroutinesDrawFromTheProgramsStore(t *testing.T) {
	store := &counter{}
	orders, err := onStore(t, store)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var seen sync.Map
	for range 4 {
		running.Add(1)
		go func() {
			defer running.Done()
			for range 500 {
				id, err := orders.Next()
				if _, twice := seen.LoadOrStore(id, true); twice || err != nil {
					t.Error(id, twice, err)
				}
			}
		}()
	}
	running.Wait()
	if err := orders.Close(t.Context()); err != nil || store.maxID < 2000 {
		t.Error(store.maxID, err)
	}
}

func TestWhatAStoreReturnsBecomesTheErrorOfTheCall(t *testing.T) {
	for _, c := range []struct {
		failure func() error
		want    error
		text    string
	}{
		{func() error { return &idgen.Error{Status: idgen.ErrTagUnknown, Message: "no such tag here"} }, idgen.ErrTagUnknown, "no such tag here"},
		{func() error { return fmt.Errorf("here: %w", idgen.ErrStoreMissing) }, idgen.ErrStoreMissing, "here: "},
		{func() error { return errors.New("no\nroom") }, idgen.ErrHost, "the program's own store: no room"},
		{func() error { return errors.New("db://app:s3cr3t:@/x@db password='s3 cr3t' pwd=s3cr3t") }, idgen.ErrHost, "db://app:***@db password=***"},
		{func() error { panic("out of it") }, idgen.ErrHost, "panic: out of it"},
		{func() error { return errors.New(strings.Repeat("ü", 600)) }, idgen.ErrHost, "üüü"},
		{func() error { return &idgen.Error{} }, idgen.ErrHost, ""},
	} {
		_, err := idgen.New(t.Context(), idgen.Options{"kind": "segment", "tag": "orders", "wait_max": "0"}, idgen.WithHostStore(&counter{failure: c.failure}))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "s3") ||
			strings.ContainsRune(err.Error(), '\uFFFD') {
			t.Errorf("got %v, wanted %v and %q", err, c.want, c.text)
		}
	}
	if _, err := onStore(t, nil); !errors.Is(err, idgen.ErrArgument) {
		t.Error(err)
	}
	if _, err := idgen.New(t.Context(), idgen.Options{"kind": "snowflake", "worker": "1"}, idgen.WithHostStore(&counter{})); !errors.Is(err, idgen.ErrUnsupported) {
		t.Error(err)
	}
}

func TestAClosedGeneratorLetsAStoreThatHoldsItGo(t *testing.T) {
	var gone atomic.Bool
	func() {
		store := &counter{}
		var err error
		if store.orders, err = onStore(t, store); err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(store, func(flag *atomic.Bool) { flag.Store(true) }, &gone)
		if err := store.orders.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}()
	for range 500 {
		runtime.GC()
		if gone.Load() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the store is still there")
}

func database(t *testing.T, create string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // a store that does not give it back gets no other
	if _, err := db.Exec(create); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestADatabaseOfTheProgramsOwnIsAStore(t *testing.T) {
	db := database(t, table)
	orders, err := onStore(t, idgen.NewSQLStore(db, idgen.SQLite))
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, 25)
	if n, err := orders.Fill(ids); err != nil || n != 25 || ids[24] != 25 {
		t.Error(n, err, ids)
	}
	if err := orders.Close(t.Context()); err != nil {
		t.Error(err)
	}
	var maxID int64
	if err := db.QueryRow("SELECT max_id FROM idgen_segment").Scan(&maxID); err != nil || maxID != 25 {
		t.Error(maxID, err)
	}
}

func TestMessagesOfTheDatabaseSayWhatToDo(t *testing.T) {
	store := idgen.NewSQLStore(database(t, table), idgen.SQLite)
	take := func(store *idgen.SQLStore, tag string, count int64) error {
		_, err := store.SegmentTake(t.Context(), "default", tag, count)
		return err
	}
	closed := database(t, table)
	_ = closed.Close()
	for _, c := range []struct {
		err  error
		want idgen.Status
		text string
	}{
		{take(store, "nobody", 10), idgen.ErrTagUnknown, "INSERT INTO idgen_segment"},
		{store.SegmentReturn(t.Context(), "default", "nobody", 10, 5), idgen.ErrTagUnknown, "nobody"},
		{store.SegmentReturn(t.Context(), "default", "orders", 10, 11), idgen.ErrArgument, "unused"},
		{take(store, "orders", 0), idgen.ErrArgument, "at least 1"},
		{take(idgen.NewSQLStore(database(t, "SELECT 1"), idgen.SQLite), "orders", 10), idgen.ErrStoreMissing, "idgen segment create"},
		{take(idgen.NewSQLStore(closed, idgen.SQLite), "orders", 10), idgen.ErrStoreUnavailable, "closed"},
		{take(idgen.NewSQLStore(closed, 0), "orders", 10), idgen.ErrArgument, "Postgres"},
	} {
		if !errors.Is(c.err, c.want) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("got %v, wanted %v and %q", c.err, c.want, c.text)
		}
	}
	if err := take(store, "orders", math.MaxInt64); err != nil {
		t.Error(err)
	}
	if err := take(store, "orders", 1); !errors.Is(err, idgen.ErrExhausted) {
		t.Error(err)
	}
}
