//go:build cgo

package idgen

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// Workers in the database of an SQLStore: the rows of the native stores, read and replaced by single statements. What a
// row becomes is decided by the core (core/src/store/worker_rows.hpp), as for the native stores.

// workerSQL is what differs between the dialects.
type workerSQL struct {
	now         string // the database's clock in Unix milliseconds, whatever the time zone of the session is
	isTiDB      string
	durably     string // after SET: no change is acknowledged before it is on disk, whatever the session says
	fromNothing string // of an INSERT without VALUES, which can have a condition
	text        string // a parameter whose type is not derived from where it stands
	number      string
	ifAbsent    string // MySQL would count a row that was there as changed, if the session asks for found rows
	tables      []string
}

var workerDialects = map[Dialect]workerSQL{
	MySQL: {
		now: "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
		// TiDB runs a statement that commits by itself optimistically, so how many rows it changed may not be what was
		// committed.
		isTiDB:      "LOCATE('TiDB', VERSION())",
		fromNothing: " FROM DUAL",
		text:        "?",
		number:      "?",
		tables: []string{`CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns VARBINARY(512) NOT NULL PRIMARY KEY,
  format VARBINARY(1024) NOT NULL) ENGINE = InnoDB`,
			`CREATE TABLE IF NOT EXISTS idgen_worker (
  ns VARBINARY(512) NOT NULL,
  worker BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  owner VARBINARY(32) NOT NULL,
  hw BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  clock_ahead BIGINT NOT NULL,
  holder VARBINARY(512) NOT NULL,
  PRIMARY KEY (ns, worker)) ENGINE = InnoDB`},
	},
	Postgres: {
		now:         "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
		isTiDB:      "0",
		durably:     " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable",
		fromNothing: " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable",
		text:        "CAST(? AS varchar)",
		number:      "CAST(? AS bigint)",
		ifAbsent:    " ON CONFLICT DO NOTHING",
		tables: []string{`CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns varchar(128) NOT NULL PRIMARY KEY,
  format varchar(1024) NOT NULL)`,
			`CREATE TABLE IF NOT EXISTS idgen_worker (
  ns varchar(128) NOT NULL,
  worker bigint NOT NULL CHECK (worker >= 0),
  fence bigint NOT NULL CHECK (fence > 0),
  owner varchar(32) NOT NULL,
  hw bigint NOT NULL,
  lease_until bigint NOT NULL,
  clock_ahead bigint NOT NULL,
  holder varchar(512) NOT NULL,
  PRIMARY KEY (ns, worker))`},
	},
	SQLite: {
		now:      "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
		isTiDB:   "0",
		text:     "?",
		number:   "?",
		ifAbsent: " ON CONFLICT DO NOTHING",
		tables: []string{`CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns TEXT NOT NULL PRIMARY KEY,
  format TEXT NOT NULL)`,
			`CREATE TABLE IF NOT EXISTS idgen_worker (
  ns TEXT NOT NULL,
  worker INTEGER NOT NULL CHECK (worker >= 0),
  fence INTEGER NOT NULL CHECK (fence > 0),
  owner TEXT NOT NULL,
  hw INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  clock_ahead INTEGER NOT NULL,
  holder TEXT NOT NULL,
  PRIMARY KEY (ns, worker))`},
	},
}

const (
	workerColumns = "SELECT {now} AS store_now, {is_tidb} AS is_tidb, worker, fence, owner, hw, " +
		"lease_until - {now} AS lease_left, clock_ahead, holder"
	readWorker = workerColumns +
		" FROM (SELECT 1 AS one) AS it LEFT JOIN idgen_worker ON ns = ? AND worker = ?"
	listWorkers  = workerColumns + " FROM idgen_worker WHERE ns = ? ORDER BY worker"
	insertWorker = "INSERT INTO idgen_worker(ns, worker, fence, owner, hw, lease_until, clock_ahead, holder) " +
		"SELECT {text}, {number}, {number}, {text}, {number}, {now} + {number}, {number} - {now}, {text}" +
		"{from_nothing} WHERE {number} - {now} <= {number}{if_absent}"
	workerAsSeen = " WHERE ns = ? AND worker = ? AND fence = ? AND owner = ? AND hw = ?"
	takeWorker   = "UPDATE idgen_worker SET fence = ?, owner = ?, hw = ?, lease_until = {now} + ?, " +
		"clock_ahead = ? - {now}, holder = ?{durably}" + workerAsSeen + " AND ? - {now} <= ?"
	giveUpWorker = "UPDATE idgen_worker SET fence = ?, owner = ?, hw = ?, lease_until = {now}, holder = ?{durably}" +
		workerAsSeen
	namespaceFormat    = "SELECT format FROM idgen_namespace WHERE ns = ?"
	setNamespaceFormat = "INSERT INTO idgen_namespace(ns, format) SELECT {text}, {text}" +
		"{from_nothing} WHERE 1 = 1{if_absent}"

	howToCreateWorkers = "Make it with SQLStore.CreateTables or `idgen store create --store URL`"
)

func (s *SQLStore) workerSQL(text string) string {
	dialect := workerDialects[s.dialect]
	return s.sql(strings.NewReplacer("{now}", dialect.now, "{is_tidb}", dialect.isTiDB, "{durably}", dialect.durably,
		"{from_nothing}", dialect.fromNothing, "{text}", dialect.text, "{number}", dialect.number,
		"{if_absent}", dialect.ifAbsent).Replace(text))
}

// CreateTables makes the tables of segments and workers, if they are missing: all that workers need. May block on the
// database.
func (s *SQLStore) CreateTables(ctx context.Context) error {
	return s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		for _, table := range append([]string{createTable[s.dialect]}, workerDialects[s.dialect].tables...) {
			if _, err := on.ExecContext(ctx, table); err != nil {
				return err
			}
		}
		return nil
	})
}

// NamespaceFormat implements [WorkerStore].
func (s *SQLStore) NamespaceFormat(ctx context.Context, namespace, format string) (found string, err error) {
	// Each step is a transaction: inside one, a row that another process has just made may not be seen.
	isThere := false
	read := func(ctx context.Context, on *sql.Conn) error {
		rows, err := on.QueryContext(ctx, s.sql(namespaceFormat), s.stored(namespace))
		if err != nil {
			return err
		}
		return eachRow(rows, func() error {
			isThere = true
			return rows.Scan(&found)
		})
	}
	if err = s.transact(ctx, read); err != nil || isThere || format == "" {
		return found, err
	}
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		_, err := s.insert(ctx, on, s.workerSQL(setNamespaceFormat), s.stored(namespace), s.stored(format))
		return err
	})
	if err == nil {
		err = s.transact(ctx, read)
	}
	if err == nil && !isThere {
		err = &Error{Status: ErrStorePermission, Message: "a row inserted into idgen_namespace is not there: " +
			"row-level security, a trigger or a rule prevents that. Allow this user to insert rows"}
	}
	return found, err
}

// WorkerRead implements [WorkerStore].
func (s *SQLStore) WorkerRead(ctx context.Context, namespace string, worker int64) (row WorkerRow, err error) {
	rows, err := s.workerRows(ctx, s.workerSQL(readWorker), s.stored(namespace), worker)
	if err == nil && len(rows) != 1 {
		err = damagedWorker(worker, fmt.Sprintf("it has %d rows", len(rows)))
	}
	if err != nil {
		return WorkerRow{}, err
	}
	rows[0].Worker = worker
	return rows[0], nil
}

// WorkerList implements [WorkerStore]: all workers of the namespace that anybody has had, by number.
func (s *SQLStore) WorkerList(ctx context.Context, namespace string) ([]WorkerRow, error) {
	return s.workerRows(ctx, s.workerSQL(listWorkers), s.stored(namespace))
}

// WorkerReplace implements [WorkerStore].
func (s *SQLStore) WorkerReplace(ctx context.Context, namespace string, change WorkerChange) (changed bool, err error) {
	ns, owner, holder := s.stored(namespace), s.stored(change.Owner), s.stored(change.Holder)
	seen := []any{ns, change.Worker, change.SeenFence, s.stored(change.SeenOwner), change.SeenHwMs}
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		if change.SeenFence == 0 {
			changed, err = s.insert(ctx, on, s.workerSQL(insertWorker), ns, change.Worker, change.Fence, owner,
				change.HwMs, change.LeaseMs, change.NowMs, holder, change.NowMs, change.MaxLeadMs)
			return err
		}
		text, arguments := giveUpWorker, append([]any{change.Fence, owner, change.HwMs, holder}, seen...)
		if change.Owner != "" {
			text = takeWorker
			arguments = append([]any{change.Fence, owner, change.HwMs, change.LeaseMs, change.NowMs, holder}, seen...)
			arguments = append(arguments, change.NowMs, change.MaxLeadMs)
		}
		rows, err := s.change(ctx, on, s.workerSQL(text), arguments...)
		changed = rows == 1
		return err
	})
	return changed && err == nil, err
}

// insert returns false if the row is there already.
func (s *SQLStore) insert(ctx context.Context, on *sql.Conn, text string, arguments ...any) (made bool, err error) {
	rows, err := s.change(ctx, on, text, arguments...)
	if numberOf(err) == 1062 {
		return false, nil // of MySQL, where the transaction is whole
	}
	return rows == 1, err
}

func (s *SQLStore) workerRows(ctx context.Context, text string, arguments ...any) (all []WorkerRow, err error) {
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		rows, err := on.QueryContext(ctx, text, arguments...)
		if err != nil {
			return err
		}
		all = nil
		return eachRow(rows, func() error {
			row, err := workerRow(rows)
			all = append(all, row)
			return err
		})
	})
	return all, err
}

func workerRow(rows *sql.Rows) (WorkerRow, error) {
	var row WorkerRow
	var isTiDB bool
	var worker, fence, hw, left, ahead sql.NullInt64
	var owner, holder sql.NullString
	err := rows.Scan(&row.StoreNowMs, &isTiDB, &worker, &fence, &owner, &hw, &left, &ahead, &holder)
	if err == nil && isTiDB {
		err = &Error{Status: ErrUnsupported, Message: "TiDB runs a statement that commits by itself optimistically, " +
			`so this store cannot know whether it has the worker; use store = "mysql://...", which knows TiDB`}
	}
	if err == nil && fence.Valid && fence.Int64 < 1 {
		err = damagedWorker(worker.Int64, fmt.Sprintf("its fence is %d, outside 1 to 2^63 - 2", fence.Int64))
	}
	row.Worker, row.Fence, row.HwMs, row.LeaseLeftMs, row.ClockAheadMs = worker.Int64, fence.Int64, hw.Int64,
		left.Int64, ahead.Int64
	row.Owner, row.Holder = owner.String, holder.String
	return row, err
}

func damagedWorker(worker int64, what string) error {
	return &Error{Status: ErrStoreDamaged,
		Message: fmt.Sprintf("worker %d: %s. Set its row in idgen_worker right by hand", worker, what)}
}
