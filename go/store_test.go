package idgen_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
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

// onStore makes a segment on a store of the program's own.
func onStore(t *testing.T, store any, more ...idgen.Option) (*idgen.Generator, error) {
	t.Helper()
	options := idgen.Options{"kind": "segment", "tag": "orders", "segment.step": "10", "segment.runway": "0"}
	g, err := idgen.New(t.Context(), append([]idgen.Option{options, idgen.WithHostStore(store)}, more...)...)
	if err == nil {
		t.Cleanup(func() { _ = g.Close(context.Background()) })
	}
	return g, err
}

func TestSerialsWithADateNeedAStoreThatGrantsAboveANumber(t *testing.T) {
	draw := func(store any, pattern string) (string, error) {
		orders, err := onStore(t, store, idgen.WithKind("serial"), idgen.WithPattern(pattern))
		if err != nil {
			return "", err
		}
		defer func() { _ = orders.Close(t.Context()) }()
		return orders.NextText()
	}
	store := new(aboveCounter)
	for _, want := range []string{"-0001", "-0002"} {
		if text := need(draw(store, "{yyyyMMdd}-{0000}"))(t); !strings.HasSuffix(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	gives(draw(new(counter), "C{0000}"))(t, "C0001")
	wantStatus(t, errorOf(draw(new(counter), "{yyyyMMdd}-{0000}")), idgen.ErrUnsupported)
}

func TestWhatAStoreReturnsBecomesTheErrorOfTheCall(t *testing.T) {
	for _, c := range []struct {
		failure func() error
		want    idgen.Status
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
		_, err := onStore(t, &counter{failure: c.failure}, idgen.WithWaitMax(0))
		wantSays(t, err, c.want, c.text)
		if strings.Contains(err.Error(), "s3") || strings.ContainsRune(err.Error(), '\uFFFD') {
			t.Error(err)
		}
	}
	for _, none := range []any{nil, 7, (*idgen.SQLStore)(nil), idgen.NewSQLStore(nil, idgen.SQLite)} {
		wantStatus(t, errorOf(onStore(t, none)), idgen.ErrArgument)
	}
	wantStatus(t, errorOf(snowflakeOn(t, &counter{}, "1")), idgen.ErrUnsupported)
}

func database(t *testing.T, create string) *sql.DB {
	t.Helper()
	db := need(sql.Open("sqlite3", filepath.Join(t.TempDir(), "app.db")))(t)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1) // a store that does not return it gets no other
	run(t, db, create)
	return db
}

func run(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestADatabaseOfTheProgramsOwnIsAStoreWhoseTagsAreMadeAndAdministered(t *testing.T) {
	db := database(t, "SELECT 1")
	store := idgen.NewSQLStore(db, idgen.SQLite)
	show := func(tag string) error { return errorOf(store.ShowSegment(t.Context(), "default", tag)) }
	wantSays(t, show("orders"), idgen.ErrStoreMissing, "idgen segment create")
	for _, tag := range []string{"orders", "items"} {
		if err := store.CreateSegment(t.Context(), "default", tag); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, store.CreateSegment(t.Context(), "default", "orders"), idgen.ErrTagExists)
	orders := need(onStore(t, store))(t)
	gives(orders.Fill(make([]int64, 25)))(t, 25)
	if err := orders.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if info := need(store.AdvanceSegment(t.Context(), "default", "orders", 10))(t); info.MaxID != 26 {
		t.Errorf("%+v", info)
	}
	info, err := store.AdvanceSegment(t.Context(), "default", "orders", 1000)
	if err != nil || info.MaxID != 1000 {
		t.Error(info, err)
	}
	gives(store.ShowSegment(t.Context(), "default", "orders"))(t, info)
	rows, err := store.ListSegments(t.Context())
	if err != nil || len(rows) != 2 || rows[0].Tag != "items" || rows[1].SegmentInfo != info ||
		rows[1].Namespace != "default" {
		t.Error(rows, err)
	}
	wantSays(t, show("nothing"), idgen.ErrTagUnknown, "nothing")
	run(t, db, "CREATE TRIGGER refuses BEFORE UPDATE ON idgen_segment BEGIN SELECT RAISE(ABORT, 'reset by peer'); END")
	_, err = store.AdvanceSegment(t.Context(), "default", "orders", 2000)
	wantSays(t, err, idgen.ErrStoreUnavailable, "reset by peer")
	_ = db.Close()
	wantSays(t, show("orders"), idgen.ErrStoreUnavailable, "closed")
	store = idgen.NewSQLStore(db, 0)
	wantSays(t, show("orders"), idgen.ErrArgument, "Postgres")
}

func TestAConnectionInsideATransactionIsRefusedAndLeftAsItIs(t *testing.T) {
	db := database(t, table)
	run(t, db, "BEGIN")
	run(t, db, "UPDATE idgen_segment SET max_id = 7")
	wantStatus(t, errorOf(onStore(t, idgen.NewSQLStore(db, idgen.SQLite))), idgen.ErrStoreUnsafe)
	run(t, db, "COMMIT")
	var theirs int64
	if err := db.QueryRow("SELECT max_id FROM idgen_segment").Scan(&theirs); err != nil || theirs != 7 {
		t.Error(theirs, err)
	}
}

func TestACallThatHoldsThePoolsLastConnectionEndsWithinTheBoundAndOnlyOnce(t *testing.T) {
	db := database(t, table)
	store := idgen.NewSQLStore(db, idgen.SQLite)
	store.PoolTimeout = 200 * time.Millisecond
	orders := need(onStore(t, store, idgen.WithWaitMax(time.Hour)))(t)
	mine := need(db.Begin())(t) // as GORM's, with SetMaxOpenConns(1)
	n, err := orders.Fill(make([]int64, 1000))
	wantSays(t, err, idgen.ErrStoreUnavailable, "small pool of its own")
	if n != 10 {
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
	show := func() error { return errorOf(store.ShowSegment(t.Context(), "default", "orders")) }
	tooLate := func() {
		mine := need(db.Conn(t.Context()))(t)
		wantStatus(t, show(), idgen.ErrStoreUnavailable)
		_ = mine.Close()
	}
	tooLate()
	if err := show(); err != nil {
		t.Error(err)
	}
	if waits := db.Stats().WaitCount; waits != 1 {
		t.Error("the call has waited in the pool again", waits)
	}
	tooLate()
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
	var stores [2]*counter
	var generators [2]*idgen.Generator
	var wanted [2]*failure
	for i := range stores {
		stores[i] = &counter{}
		generators[i] = need(onStore(t, stores[i], idgen.WithWaitMax(20*time.Millisecond)))(t)
		wanted[i] = &failure{"the same words"}
		stores[i].mutex.Lock()
		stores[i].failure = func() error { return wanted[i] }
		stores[i].mutex.Unlock()
	}
	wantCause := func(err error, want *failure) {
		t.Helper()
		var found *failure
		if wantSays(t, err, idgen.ErrHost, want.text); !errors.As(err, &found) || found != want {
			t.Error(err, found)
		}
	}
	for i, orders := range generators {
		_, err := orders.Fill(make([]int64, 5))
		for err == nil {
			_, err = orders.Next()
		}
		wantCause(err, wanted[i])
		wantCause(errorOf(orders.Fill(make([]int64, 5))), wanted[i])
	}
	wantCause(errorOf(onStore(t, stores[0], idgen.WithTag("t"))), wanted[0])
}
