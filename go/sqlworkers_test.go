package idgen_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func snowflakeOn(t *testing.T, store any, worker string, more ...idgen.Option) (*idgen.Generator, error) {
	t.Helper()
	options := idgen.Options{"worker": worker, "worker_wait": "0ms", "namespace": "shop"}
	g, err := idgen.New(t.Context(), append([]idgen.Option{options, idgen.WithHostStore(store)}, more...)...)
	if err == nil {
		t.Cleanup(func() { _ = g.Close(context.Background()) })
	}
	return g, err
}

func TestAWorkerInADatabaseOfTheProgramsOwnHasOneOwnerAtATime(t *testing.T) {
	store := idgen.NewSQLStore(database(t, "SELECT 1"), idgen.SQLite)
	wantSays(t, errorOf(snowflakeOn(t, store, "7")), idgen.ErrStoreMissing, "idgen store create")
	for range 2 { // the second time it changes nothing
		if err := store.CreateTables(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	row := func() idgen.WorkerInfo {
		t.Helper()
		rows := need(store.WorkerList(t.Context(), "shop"))(t)
		if len(rows) != 1 {
			t.Fatal(rows)
		}
		return rows[0]
	}
	first := need(snowflakeOn(t, store, "7"))(t)
	id := mustNext(t, first)
	wantSays(t, errorOf(snowflakeOn(t, store, "7")), idgen.ErrWorkerBusy,
		"worker 7 of namespace 'shop' is owned by process ")
	if row := row(); row.Worker != 7 || row.Fence != 1 || !row.IsLive || row.HwMs <= time.Now().UnixMilli()-10000 ||
		row.ClockAheadMs > 0 || row.ClockAheadMs < -10000 {
		t.Error(row)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if row := row(); row.IsLive || !strings.HasPrefix(row.Holder, "process ") {
		t.Error(row)
	}
	second := need(snowflakeOn(t, store, "7"))(t)
	if mustNext(t, second) <= id || row().Fence != 2 {
		t.Error("the second owner begins above the first")
	}
}

func TestAWorkerThatIsAutoIsLeasedFromTheProgramsDatabase(t *testing.T) {
	store := idgen.NewSQLStore(database(t, "SELECT 1"), idgen.SQLite)
	if err := store.CreateTables(t.Context()); err != nil {
		t.Fatal(err)
	}
	workers := map[int64]bool{}
	for range 3 {
		g := need(snowflakeOn(t, store, "auto"))(t)
		workers[int64(need(g.Decode(mustNext(t, g)))(t).Worker)] = true
	}
	rows := need(store.WorkerList(t.Context(), "shop"))(t)
	for _, row := range rows {
		delete(workers, row.Worker)
	}
	if len(rows) != 3 || len(workers) != 0 {
		t.Error(rows, workers)
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
	wantStatus(t, errorOf(snowflakeOn(t, refusesToRead{}, "7", idgen.WithWaitMax(0))), idgen.ErrHost, errAway)
}
