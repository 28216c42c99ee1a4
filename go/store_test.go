package idgen_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
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

const table = `CREATE TABLE idgen_segment (
  ns TEXT, tag TEXT, max_id INTEGER NOT NULL, grants INTEGER NOT NULL DEFAULT 0,
	updated_unix_ms INTEGER NOT NULL DEFAULT 0, step INTEGER NOT NULL DEFAULT 0, rate INTEGER NOT NULL DEFAULT 0,
	holder TEXT NOT NULL DEFAULT '', PRIMARY KEY (ns, tag));
	INSERT INTO idgen_segment(ns, tag, max_id) VALUES('default', 'orders', 0)`

type counter struct {
	mutex   sync.Mutex
	maxID   int64
	failure func() error
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

type aboveCounter struct{ counter }

func (c *aboveCounter) SegmentTakeAbove(ctx context.Context, namespace, tag string, count, above int64) (int64, error) {
	c.maxID = max(c.maxID, above)
	return c.SegmentTake(ctx, namespace, tag, count)
}

func TestSerialsWithADateNeedAStoreThatGrantsAboveANumber(t *testing.T) {
	draw := func(store any, pattern string) (string, error) {
		options := idgen.Options{"kind": "serial", "tag": "orders", "segment.step": "10", "pattern": pattern}
		orders, err := idgen.New(t.Context(), options, idgen.WithHostStore(store))
		if err != nil {
			return "", err
		}
		defer func() { _ = orders.Close(t.Context()) }()
		return orders.NextText()
	}
	store := new(aboveCounter)
	for i, want := range []string{"-0001", "-0002"} {
		if text, err := draw(store, "{yyyyMMdd}-{0000}"); err != nil || !strings.HasSuffix(text, want) {
			t.Error(i, text, err)
		}
	}
	if text, err := draw(new(counter), "C{0000}"); err != nil || text != "C0001" {
		t.Error(text, err)
	}
	if _, err := draw(new(counter), "{yyyyMMdd}-{0000}"); !errors.Is(err, idgen.ErrUnsupported) {
		t.Error(err)
	}
	if text, err := draw(idgen.NewSQLStore(database(t, table), idgen.SQLite), "{yyyy}-{0000}"); err != nil ||
		!strings.HasSuffix(text, "-0001") {
		t.Error(text, err)
	}
}

// onStore makes a segment on a store of the program's own.
func onStore(t *testing.T, store any, more ...idgen.Option) (*idgen.Generator, error) {
	t.Helper()
	options := idgen.Options{"kind": "segment", "tag": "orders", "segment.step": "10", "segment.runway": "0"}
	return idgen.New(t.Context(), append([]idgen.Option{options, idgen.WithHostStore(store)}, more...)...)
}

func TestWhatAStoreReturnsBecomesTheErrorOfTheCall(t *testing.T) {
	for _, c := range []struct {
		failure func() error
		want    error
		text    string
	}{
		{func() error { return &idgen.Error{Status: idgen.ErrTagUnknown, Message: "no such tag here"} },
			idgen.ErrTagUnknown, "no such tag here"},
		{func() error { return fmt.Errorf("here: %w", idgen.ErrStoreMissing) }, idgen.ErrStoreMissing, "here: "},
		{func() error { return errors.New("no\nroom") }, idgen.ErrHost, "the program's own store: no room"},
		{func() error { return errors.New("db://app:s3cr3t:@/x@db password='s3 cr3t' pwd=s3cr3t") },
			idgen.ErrHost, "db://app:***@db password=***"},
		{func() error { panic("out of it") }, idgen.ErrHost, "panic: out of it"},
		{func() error { return errors.New(strings.Repeat("ü", 600)) }, idgen.ErrHost, "üüü"},
		{func() error { return &idgen.Error{} }, idgen.ErrHost, ""},
	} {
		options := idgen.Options{"kind": "segment", "tag": "orders", "wait_max": "0"}
		_, err := idgen.New(t.Context(), options, idgen.WithHostStore(&counter{failure: c.failure}))
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "s3") ||
			strings.ContainsRune(err.Error(), '\uFFFD') {
			t.Errorf("got %v, wanted %v and %q", err, c.want, c.text)
		}
	}
	for _, none := range []any{nil, 7, (*idgen.SQLStore)(nil)} {
		if _, err := onStore(t, none); !errors.Is(err, idgen.ErrArgument) {
			t.Error(none, err)
		}
	}
	snowflake := idgen.Options{"kind": "snowflake", "worker": "1"}
	_, err := idgen.New(t.Context(), snowflake, idgen.WithHostStore(&counter{}))
	if !errors.Is(err, idgen.ErrUnsupported) {
		t.Error(err)
	}
}

func database(t *testing.T, create string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // a store that does not return it gets no other
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

func TestTagsAreMadeAndShownAndAdvancedThroughTheStore(t *testing.T) {
	store := idgen.NewSQLStore(database(t, "SELECT 1"), idgen.SQLite)
	if err := store.CreateSegment(t.Context(), "shop", "orders"); err != nil {
		t.Fatal(err)
	}
	if err := store.CreateSegment(t.Context(), "shop", "orders"); !errors.Is(err, idgen.ErrTagExists) {
		t.Error(err)
	}
	if _, err := store.ShowSegment(t.Context(), "shop", "items"); !errors.Is(err, idgen.ErrTagUnknown) ||
		!strings.Contains(err.Error(), "items") {
		t.Error(err)
	}
	if info, err := store.AdvanceSegment(t.Context(), "shop", "orders", 1000); err != nil || info.MaxID != 1000 {
		t.Error(info, err)
	}
	info, err := store.AdvanceSegment(t.Context(), "shop", "orders", 10)
	if err != nil || info.MaxID != 1001 || info.Grants != 2 {
		t.Error(info, err)
	}
	if err := store.CreateSegment(t.Context(), "shop", "items"); err != nil {
		t.Error(err)
	}
	rows, err := store.ListSegments(t.Context())
	if err != nil || len(rows) != 2 || rows[0].Tag != "items" || rows[1].MaxID != 1001 || rows[1].Namespace != "shop" {
		t.Error(rows, err)
	}
	if _, err := store.AdvanceSegment(t.Context(), "shop", "orders", -1); !errors.Is(err, idgen.ErrValue) {
		t.Error(err)
	}
	if _, err := store.AdvanceSegment(t.Context(), "shop", "orders", math.MaxInt64); err != nil {
		t.Error(err)
	}
	if _, err := store.AdvanceSegment(t.Context(), "shop", "orders", 1); !errors.Is(err, idgen.ErrExhausted) {
		t.Error(err)
	}
}

func TestAConnectionInsideATransactionIsRefusedAndLeftAsItIs(t *testing.T) {
	db := database(t, table)
	run := func(statement string) {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	run("BEGIN")
	run("INSERT INTO idgen_segment(ns, tag, max_id) VALUES('default', 'theirs', 7)")
	if _, err := onStore(t, idgen.NewSQLStore(db, idgen.SQLite)); !errors.Is(err, idgen.ErrStoreUnsafe) {
		t.Error(err)
	}
	run("COMMIT")
	var theirs, ours int64
	sums := "SELECT sum(max_id * (tag = 'theirs')), sum(max_id * (tag = 'orders')) FROM idgen_segment"
	if err := db.QueryRow(sums).Scan(&theirs, &ours); err != nil ||
		theirs != 7 || ours != 0 {
		t.Error(theirs, ours, err)
	}
}

func TestACallThatHoldsThePoolsLastConnectionEndsWithinTheBoundAndOnlyOnce(t *testing.T) {
	db := database(t, table)
	store := idgen.NewSQLStore(db, idgen.SQLite)
	store.PoolTimeout = 200 * time.Millisecond
	orders, err := idgen.New(t.Context(), idgen.Options{
		"kind": "segment", "tag": "orders", "segment.step": "10", "segment.runway": "0",
		"wait_max": "1h"}, idgen.WithHostStore(store))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = orders.Close(t.Context()) }()
	mine, err := db.Begin() // as GORM's, with SetMaxOpenConns(1)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, 1000)
	n, err := orders.Fill(ids)
	if n != 10 || !errors.Is(err, idgen.ErrStoreUnavailable) ||
		!strings.Contains(err.Error(), "small pool of its own") {
		t.Error(n, err)
	}
	_ = mine.Rollback()
	until(t, func() bool {
		id, err := orders.Next()
		if err != nil {
			wantStatus(t, err, idgen.ErrStoreUnavailable)
		} else if id != 11 {
			t.Fatal("DUPLICATE or LOST:", id)
		}
		return err == nil
	})
}

func TestAConnectionThatComesTooLateServesTheNextCallOrGoesBack(t *testing.T) {
	db := database(t, table)
	store := idgen.NewSQLStore(db, idgen.SQLite)
	store.PoolTimeout = 500 * time.Millisecond
	hold := func() *sql.Conn {
		mine, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.ShowSegment(t.Context(), "default", "orders")
		if !errors.Is(err, idgen.ErrStoreUnavailable) {
			t.Error(err)
		}
		return mine
	}
	_ = hold().Close()
	if waits := db.Stats().WaitCount; waits != 1 {
		t.Error(waits)
	}
	if _, err := store.ShowSegment(t.Context(), "default", "orders"); err != nil {
		t.Error(err)
	}
	if waits := db.Stats().WaitCount; waits != 1 {
		t.Error("the call has waited in the pool again", waits)
	}
	_ = hold().Close()
	until(t, func() bool { return db.Stats().InUse == 0 }) // nobody came for the connection, so it goes back
}

// A server that fails when told to, and immediately after that.
type awayServer struct {
	asked atomic.Int32
	told  chan struct{}
}

func (a *awayServer) Driver() driver.Driver { return nil }

func (a *awayServer) Connect(context.Context) (driver.Conn, error) {
	if a.asked.Add(1) > 1 {
		return nil, errors.New("away now")
	}
	<-a.told
	return nil, errors.New("away then")
}

func TestWhyAPoolHadNoConnectionIsNotToldToWhoComesLater(t *testing.T) {
	server := &awayServer{told: make(chan struct{})}
	db := sql.OpenDB(server)
	defer func() { _ = db.Close() }()
	store := idgen.NewSQLStore(db, idgen.SQLite)
	store.PoolTimeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := store.ShowSegment(ctx, "default", "orders"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(server.told)
	stacks := make([]byte, 1<<20)
	until(t, func() bool { // it is not kept for the next caller
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*lender).seek")
	})
	_, err := store.ShowSegment(t.Context(), "default", "orders")
	if err == nil || !strings.Contains(err.Error(), "away now") {
		t.Error(err)
	}
}

type failure struct{ text string }

func (f *failure) Error() string { return f.text }

func TestTheCauseOfAnErrorIsWhatTheStoreReturned(t *testing.T) {
	stores := [2]*counter{{}, {}}
	var generators [2]*idgen.Generator
	fails := func(i int) *failure {
		mine := &failure{"the same words"}
		stores[i].mutex.Lock()
		defer stores[i].mutex.Unlock()
		stores[i].failure = func() error { return mine }
		return mine
	}
	for i, store := range stores {
		var err error
		generators[i], err = idgen.New(t.Context(), idgen.Options{
			"kind": "segment", "tag": "orders", "segment.step": "10", "segment.runway": "0",
			"wait_max": "200ms"}, idgen.WithHostStore(store))
		if err != nil {
			t.Fatal(err)
		}
	}
	wanted := [2]*failure{fails(0), fails(1)}
	for i, orders := range generators {
		_, err := orders.Fill(make([]int64, 100))
		var found *failure
		if !errors.Is(err, idgen.ErrHost) || !errors.As(err, &found) || found != wanted[i] {
			t.Error(err, found)
		}
	}
	var found *failure
	segment := idgen.Options{"kind": "segment", "tag": "t"}
	if _, err := idgen.New(t.Context(), segment, idgen.WithHostStore(stores[0])); !errors.As(err, &found) ||
		found != wanted[0] {
		t.Error(err, found)
	}
}

func TestMessagesOfTheDatabaseSayWhatToDo(t *testing.T) {
	closed := database(t, table)
	_ = closed.Close()
	for _, c := range []struct {
		store *idgen.SQLStore
		want  idgen.Status
		text  string
	}{
		{idgen.NewSQLStore(database(t, table), idgen.SQLite), idgen.ErrTagUnknown, "idgen segment create"},
		{idgen.NewSQLStore(database(t, "SELECT 1"), idgen.SQLite), idgen.ErrStoreMissing, "idgen segment create"},
		{idgen.NewSQLStore(closed, idgen.SQLite), idgen.ErrStoreUnavailable, "closed"},
		{idgen.NewSQLStore(closed, 0), idgen.ErrArgument, "Postgres"},
	} {
		_, err := c.store.ShowSegment(t.Context(), "default", "nobody")
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("got %v, wanted %v and %q", err, c.want, c.text)
		}
	}
}
