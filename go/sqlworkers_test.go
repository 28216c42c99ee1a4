package idgen_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// withWorkers is a store over an SQLite database that has its tables.
func withWorkers(t *testing.T) (*idgen.SQLStore, *sql.DB) {
	t.Helper()
	db := database(t, "SELECT 1")
	store := idgen.NewSQLStore(db, idgen.SQLite)
	for range 2 { // the second time it changes nothing
		if err := store.CreateTables(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return store, db
}

func snowflakeOn(t *testing.T, store any, worker string, more ...idgen.Option) (*idgen.Generator, error) {
	t.Helper()
	options := idgen.Options{"worker": worker, "worker_wait": "0ms", "namespace": "shop"}
	return idgen.New(t.Context(), append([]idgen.Option{options, idgen.WithHostStore(store)}, more...)...)
}

func onlyRow(t *testing.T, store *idgen.SQLStore) idgen.WorkerInfo {
	t.Helper()
	rows, err := store.WorkerList(t.Context(), "shop")
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	return rows[0]
}

func TestAWorkerInADatabaseOfTheProgramsOwnHasOneOwnerAtATime(t *testing.T) {
	store, _ := withWorkers(t)
	first, err := snowflakeOn(t, store, "7")
	if err != nil {
		t.Fatal(err)
	}
	id := mustNext(t, first)
	_, err = snowflakeOn(t, idgen.NewSQLStore(nil, 0), "7")
	wantStatus(t, err, idgen.ErrArgument)
	_, err = snowflakeOn(t, store, "7")
	wantStatus(t, err, idgen.ErrWorkerBusy)
	if !strings.Contains(err.Error(), "worker 7 of namespace 'shop' is owned by process ") {
		t.Error(err)
	}
	row := onlyRow(t, store)
	if row.Worker != 7 || row.Fence != 1 || !row.IsLive || row.HwMs <= time.Now().UnixMilli()-10000 ||
		row.ClockAheadMs > 0 || row.ClockAheadMs < -10000 {
		t.Error(row)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if row := onlyRow(t, store); row.IsLive || !strings.HasPrefix(row.Holder, "process ") {
		t.Error(row)
	}
	second, err := snowflakeOn(t, store, "7")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.Close(t.Context()) }()
	if mustNext(t, second) <= id || onlyRow(t, store).Fence != 2 {
		t.Error("the second owner begins above the first")
	}
}

func TestAWorkerThatIsAutoIsLeasedFromTheProgramsDatabase(t *testing.T) {
	store, _ := withWorkers(t)
	seen := map[uint64]bool{}
	for range 3 {
		g, err := snowflakeOn(t, store, "auto")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = g.Close(t.Context()) }()
		parts, err := g.Decode(mustNext(t, g))
		if err != nil || seen[parts.Worker] {
			t.Fatal(parts, err)
		}
		seen[parts.Worker] = true
	}
	rows, err := store.WorkerList(t.Context(), "shop")
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	for _, row := range rows {
		if !seen[uint64(row.Worker)] {
			t.Error(row)
		}
	}
	_, err = snowflakeOn(t, store, "1", idgen.WithLayout("time:41ms worker:10 sequence:11"))
	wantStatus(t, err, idgen.ErrFormatMismatch)
}

func TestMessagesAboutWorkersSayWhatToDo(t *testing.T) {
	_, err := snowflakeOn(t, idgen.NewSQLStore(database(t, "SELECT 1"), idgen.SQLite), "7")
	wantStatus(t, err, idgen.ErrStoreMissing)
	if !strings.Contains(err.Error(), "idgen store create") {
		t.Error(err)
	}
	_, err = snowflakeOn(t, idgen.NewSQLStore(database(t, "SELECT 1"), idgen.SQLite), "auto")
	wantStatus(t, err, idgen.ErrStoreMissing)

	store, db := withWorkers(t)
	if _, err := db.Exec("INSERT INTO idgen_worker VALUES('shop', 7, 1, 'me', 0, 0, 0, '')"); err != nil {
		t.Fatal(err)
	}
	_, err = snowflakeOn(t, store, "7")
	wantStatus(t, err, idgen.ErrStoreDamaged)

	_, err = snowflakeOn(t, &counter{}, "auto")
	wantStatus(t, err, idgen.ErrUnsupported)
	if !strings.Contains(err.Error(), "worker_list") {
		t.Error(err)
	}
}

// refusesToRead fails where a store of the program's own may.
type refusesToRead struct{ idgen.WorkerStore }

var errAway = errors.New("away")

func (refusesToRead) NamespaceFormat(_ context.Context, _, format string) (string, error) {
	return format, nil
}

func (refusesToRead) WorkerRead(_ context.Context, _ string, _ int64) (idgen.WorkerRow, error) {
	return idgen.WorkerRow{}, errAway
}

func TestTheCauseOfAWorkersErrorIsWhatTheStoreReturned(t *testing.T) {
	_, err := snowflakeOn(t, refusesToRead{}, "7", idgen.Options{"wait_max": "0ms"})
	wantStatus(t, err, idgen.ErrHost)
	if !errors.Is(err, errAway) {
		t.Error(err)
	}
}
