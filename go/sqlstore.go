//go:build cgo

package idgen

// #include "idgen_go_callbacks.h"
import "C"

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"runtime/cgo"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// Dialect is the SQL that a database of an [SQLStore] speaks.
type Dialect int

// The dialects.
const (
	MySQL    Dialect = C.IDGEN_SQL_MYSQL    // MariaDB and MySQL; not TiDB
	Postgres Dialect = C.IDGEN_SQL_POSTGRES // PostgreSQL
	// SQLite is a database of the program's own; never the file of a sqlite: store that is in use.
	SQLite Dialect = C.IDGEN_SQL_SQLITE
)

// SQLStore grants segments, and windows of workers, from a database, over the program's own connection pool. The tables
// are those of the stores mysql:// and postgres://, so both may draw from one tag at the same time, and no worker is
// leased by both. It depends on no driver: it classifies errors by the field Number or the method SQLState(), which all
// common drivers have.
//
// Give it a small pool of its own; two connections serve any number of generators. In a pool shared with transactions,
// those that draw ids can hold all connections while they wait for the one that the store needs. The call then fails
// after PoolTimeout, before wait_max, with an error that says so.
//
// A grant, or a worker's renewal, is one statement, committed before it is used, because a pool may hand out sessions
// that do not commit by themselves. A connection that is inside a transaction is refused with [ErrStoreUnsafe] and left
// as it is. The driver's own time limits apply, and should be set.
type SQLStore struct {
	// PoolTimeout is how long one call waits for a connection of the pool; 0 means 2 seconds. Set it before the first
	// call.
	PoolTimeout time.Duration

	db      *sql.DB
	dialect Dialect
	lender  lender
}

// NewSQLStore makes a store over a pool, which the caller still owns and which must outlive the generator. Does not use
// the pool yet.
func NewSQLStore(db *sql.DB, dialect Dialect) *SQLStore { return &SQLStore{db: db, dialect: dialect} }

// CreateTables makes the tables of segments and workers, if they are missing: all that workers need. May block on the
// database.
func (s *SQLStore) CreateTables(ctx context.Context) error { return CreateStore(storeOption{s, ctx}) }

// CreateSegment makes a tag at 0, so that its first id is 1, and the table if it is missing. May block on the database.
// Errors: ErrTagExists, those of the store.
func (s *SQLStore) CreateSegment(ctx context.Context, namespace, tag string) error {
	return CreateSegment(WithNamespace(namespace), WithTag(tag), storeOption{s, ctx})
}

// ShowSegment reads the state of a tag. May block on the database. Errors: ErrTagUnknown, those of the store.
func (s *SQLStore) ShowSegment(ctx context.Context, namespace, tag string) (SegmentInfo, error) {
	return ShowSegment(WithNamespace(namespace), WithTag(tag), storeOption{s, ctx})
}

// ListSegments reads the state of all tags of all namespaces, in the order of their names. May block on the database.
func (s *SQLStore) ListSegments(ctx context.Context) ([]SegmentRow, error) {
	return ListSegments(storeOption{s, ctx})
}

// AdvanceSegment raises MaxID to to, or by 1 if it is already there, and never lowers it. All later grants are above
// to. Running generators still issue what they reserved before. Returns the new state; errors as for ShowSegment.
func (s *SQLStore) AdvanceSegment(ctx context.Context, namespace, tag string, to int64) (SegmentInfo, error) {
	return AdvanceSegment(to, WithNamespace(namespace), WithTag(tag), storeOption{s, ctx})
}

// WorkerInfo is a worker of a namespace.
type WorkerInfo struct {
	Worker       int64  // the number of all node fields together
	Fence        int64  // of the latest grant, each owner's above the one before
	HwMs         int64  // its time is reserved up to here, exclusive, in Unix ms
	ClockAheadMs int64  // the holder's clock minus the database's, at its latest window
	IsLive       bool   // an owner is alive, or may be
	Holder       string // the latest owner, "process 4711 on db-3"
}

// WorkerList reads all workers of the namespace that anybody has had, by number. May block on the database.
func (s *SQLStore) WorkerList(ctx context.Context, namespace string) ([]WorkerInfo, error) {
	c, err := newConfig([]Option{WithNamespace(namespace), storeOption{s, ctx}})
	if err != nil {
		return nil, err
	}
	defer c.destroy()
	result := C.idgen_go_workers_of(c.handle)
	defer C.free(unsafe.Pointer(result.rows))
	if err := failed(result.failure); err != nil {
		return nil, err
	}
	workers := make([]WorkerInfo, 0, int(result.count))
	for _, row := range unsafe.Slice(result.rows, int(result.count)) {
		workers = append(workers, WorkerInfo{
			Worker:       int64(row.worker),
			Fence:        int64(row.fence),
			HwMs:         int64(row.hw_unix_ms),
			ClockAheadMs: int64(row.clock_ahead_ms),
			IsLive:       row.is_live != 0,
			Holder:       C.GoString(&row.holder[0]),
		})
	}
	return workers, nil
}

// sqlSession is a connection that the library has borrowed, or one of its own (sqldriver.go).
type sqlSession struct {
	ctx     context.Context // nil for one of its own
	sink    *storeSink
	on      *sql.Conn
	dialect Dialect
	own     *ownConnection
}

//export idgenGoSqlConnection
func idgenGoSqlConnection(handle C.uintptr_t, function C.idgen_sql_work_fn, work unsafe.Pointer,
	failure *C.idgen_sql_error_t) C.idgen_status_t {
	sink := cgo.Handle(handle).Value().(*storeSink)
	return sink.tellSQL(failure, sink.ask(func(ctx context.Context, store any) error {
		s := store.(*SQLStore)
		on, err := s.borrow(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = on.Close() }() // gives it back
		session := cgo.NewHandle(&sqlSession{ctx: ctx, sink: sink, on: on, dialect: s.dialect})
		defer session.Delete()
		C.idgen_go_sql_work(function, work, C.uintptr_t(session), C.int32_t(s.dialect))
		return nil
	}))
}

//export idgenGoSqlInside
func idgenGoSqlInside(session C.uintptr_t, inside *C.int32_t, failure *C.idgen_sql_error_t) C.idgen_status_t {
	return onSession(session, failure, func(s *sqlSession) (err error) {
		*inside, err = s.inside()
		return err
	})
}

//export idgenGoSqlExecute
func idgenGoSqlExecute(session C.uintptr_t, statement *C.idgen_sql_statement_t, outcome *C.idgen_sql_outcome_t,
	failure *C.idgen_sql_error_t) C.idgen_status_t {
	return onSession(session, failure, func(s *sqlSession) (err error) {
		if statement.each == nil {
			err = s.change(statement, outcome)
		} else {
			err = s.query(statement)
		}
		// Sessions of MySQL need not commit by themselves, and the driver does not say.
		if err == nil && statement.is_alone != 0 && s.dialect == MySQL && s.own == nil {
			err = s.run("COMMIT")
		}
		return err
	})
}

//export idgenGoSqlTransaction
func idgenGoSqlTransaction(session C.uintptr_t, begins C.int, failure *C.idgen_sql_error_t) C.idgen_status_t {
	return onSession(session, failure, func(s *sqlSession) error {
		switch {
		case begins == 0:
			return s.run("COMMIT")
		case s.dialect == SQLite:
			return s.run("BEGIN IMMEDIATE")
		}
		return s.run("BEGIN")
	})
}

//export idgenGoSqlRollback
func idgenGoSqlRollback(session C.uintptr_t) {
	s := cgo.Handle(session).Value().(*sqlSession)
	if s.own != nil && s.own.isAbandoned.Load() {
		return // it is still busy
	}
	var err error
	defer recovered(&err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // the call's own may have ended
	defer cancel()
	_, err = s.on.ExecContext(ctx, "ROLLBACK")
	// A connection that cannot do even that does not go back to the pool. SQLite fails outside of a transaction.
	if err != nil && !strings.Contains(err.Error(), "no transaction is active") {
		_ = s.on.Raw(func(any) error { return driver.ErrBadConn })
	}
}

func onSession(handle C.uintptr_t, failure *C.idgen_sql_error_t, call func(*sqlSession) error) C.idgen_status_t {
	s := cgo.Handle(handle).Value().(*sqlSession)
	return s.sink.tellSQL(failure, func() (err error) {
		defer recovered(&err)
		return call(s)
	}())
}

// tellSQL writes an error in the form that the library takes. What the driver returned is for it to understand.
func (s *storeSink) tellSQL(failure *C.idgen_sql_error_t, err error) C.idgen_status_t {
	if err == nil {
		return C.IDGEN_OK
	}
	failure.cause = s.failed(err)
	status, message := ErrHost, textOf(err)
	var known *Error
	if errors.As(err, &known) {
		status, message = known.Status, known.Message
		if known.endsWaits {
			failure.retry_after_ns = C.IDGEN_ENDS_WAITS
		}
	}
	failure.code = C.uint32_t(numberOf(err))
	copyText(failure.sqlstate[:], sqlStateOf(err))
	copyText(failure.message[:], message)
	return C.idgen_status_t(status)
}

func (s *sqlSession) run(text string) error {
	_, err := s.send(text, nil)
	return err
}

func (s *sqlSession) send(text string, values []any) (sql.Result, error) {
	return within(s, func(ctx context.Context) (sql.Result, error) { return s.on.ExecContext(ctx, text, values...) })
}

func (s *sqlSession) change(statement *C.idgen_sql_statement_t, outcome *C.idgen_sql_outcome_t) error {
	text, values := s.sent(statement)
	done, err := s.send(text, values)
	if err != nil {
		return err
	}
	changed, err := done.RowsAffected()
	outcome.changed = C.uint64_t(changed)
	if err == nil && s.dialect == MySQL {
		var last int64
		last, err = done.LastInsertId()
		outcome.last_insert_id = C.uint64_t(last)
	}
	return err
}

func (s *sqlSession) query(statement *C.idgen_sql_statement_t) error {
	text, values := s.sent(statement)
	rows, err := within(s, func(ctx context.Context) ([][]any, error) { return rowsOf(ctx, s.on, text, values) })
	if err != nil {
		return err
	}
	for _, found := range rows {
		var pinned runtime.Pinner
		row := make([]C.idgen_sql_value_t, len(found))
		for i, value := range found {
			row[i] = answered(value, &pinned)
		}
		C.idgen_go_sql_row(statement, unsafe.SliceData(row), C.size_t(len(row)))
		pinned.Unpin()
	}
	return nil
}

func rowsOf(ctx context.Context, on *sql.Conn, text string, values []any) (all [][]any, err error) {
	rows, err := on.QueryContext(ctx, text, values...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		found, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range found {
			into[i] = &found[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all, rows.Err()
}

// answered is a value of a row as the library takes it.
func answered(value any, pinned *runtime.Pinner) C.idgen_sql_value_t {
	if number, is := value.(uint64); is && number <= math.MaxInt64 { // of MySQL
		value = int64(number)
	}
	switch number := value.(type) {
	case nil:
		return C.idgen_sql_value_t{kind: C.IDGEN_SQL_NULL}
	case int64:
		return C.idgen_sql_value_t{kind: C.IDGEN_SQL_INTEGER, number: C.int64_t(number)}
	}
	text, isBytes := value.([]byte)
	if !isBytes {
		text = fmt.Append(nil, value)
	}
	start := unsafe.SliceData(text)
	if len(text) > 0 {
		pinned.Pin(start)
	}
	return C.idgen_sql_value_t{
		kind: C.IDGEN_SQL_TEXT,
		text: (*C.char)(unsafe.Pointer(start)),
		size: C.size_t(len(text)),
	}
}

// sent is a statement as the driver takes it.
func (s *sqlSession) sent(statement *C.idgen_sql_statement_t) (text string, values []any) {
	text = C.GoString(statement.sql)
	for i, value := range unsafe.Slice(statement.values, int(statement.count)) {
		if s.dialect == Postgres {
			text = strings.Replace(text, "?", "$"+strconv.Itoa(i+1), 1)
		}
		switch value.kind {
		case C.IDGEN_SQL_NULL:
			values = append(values, nil)
		case C.IDGEN_SQL_INTEGER:
			values = append(values, int64(value.number))
		case C.IDGEN_SQL_TEXT:
			values = append(values, C.GoStringN(value.text, C.int(value.size)))
		default:
			values = append(values, C.GoBytes(unsafe.Pointer(value.text), C.int(value.size)))
		}
	}
	return text, values
}

// inside is 1 if the connection is inside a transaction, 0 if it is not, -1 if the library is to ask.
func (s *sqlSession) inside() (C.int32_t, error) {
	is, known := false, false
	var err error
	switch s.dialect {
	case MySQL:
		return -1, nil
	case SQLite:
		if err = s.run("BEGIN"); err == nil {
			err = s.run("ROLLBACK")
		} else if strings.Contains(err.Error(), "transaction within a transaction") {
			is, err = true, nil
		}
	case Postgres:
		err = s.on.Raw(func(connection any) error {
			is, known = isInTransaction(connection)
			return nil
		})
		// The driver, or its wrapper, does not say. Only a transaction has run a statement before.
		if err == nil && !known {
			err = s.on.QueryRowContext(s.ctx, "SELECT transaction_timestamp() <> statement_timestamp()").Scan(&is)
			if sqlStateOf(err) == "25P02" { // in_failed_sql_transaction
				is, err = true, nil
			}
		}
	}
	if is {
		return 1, err
	}
	return 0, err
}

// isInTransaction asks a connection of pgx or lib/pq, without a dependency on them. PostgreSQL itself answers BEGIN
// inside a transaction with no more than a warning.
func isInTransaction(connection any) (inside, known bool) {
	value := reflect.ValueOf(connection)
	for _, name := range []string{"Conn", "PgConn", "TxStatus"} { // pgx
		method := value.MethodByName(name)
		if !method.IsValid() || method.Type().NumIn() != 0 || method.Type().NumOut() != 1 {
			break
		}
		value = method.Call(nil)[0]
	}
	if indirect := reflect.Indirect(value); indirect.Kind() == reflect.Struct {
		value = indirect.FieldByName("txnStatus") // lib/pq
	}
	if !value.IsValid() || !value.CanUint() {
		return false, false
	}
	return value.Uint() != 'I', true
}

// borrow gives a connection of the pool.
func (s *SQLStore) borrow(ctx context.Context) (*sql.Conn, error) {
	bound := s.PoolTimeout
	if bound <= 0 {
		bound = 2 * time.Second
	}
	on, err := s.lender.borrow(ctx, s.db, bound)
	if errors.Is(err, errNobodyLends) {
		err = s.nobodyLends(bound)
	}
	return on, err
}

// nobodyLends: the caller may hold the connection that this waits for, so the call must not wait any longer.
func (s *SQLStore) nobodyLends(bound time.Duration) error {
	stats := s.db.Stats()
	if stats.MaxOpenConnections == 0 || stats.InUse < stats.MaxOpenConnections {
		return &Error{Status: ErrStoreUnavailable,
			Message: fmt.Sprintf("the server did not answer within %v (PoolTimeout)", bound)}
	}
	return &Error{
		Status: ErrStoreUnavailable,
		Message: fmt.Sprintf("no connection within %v (PoolTimeout): the pool has lent all its %d. "+
			"A transaction that asks for ids while it holds one may be waiting for itself: ask before it begins, or "+
			"give SQLStore a small pool of its own",
			bound,
			stats.MaxOpenConnections),
		endsWaits: true,
	}
}

// sqlStateOf is empty if the driver has none.
func sqlStateOf(err error) string {
	var stated interface{ SQLState() string } // of pgx and lib/pq
	if errors.As(err, &stated) {
		return stated.SQLState()
	}
	return ""
}

// numberOf finds the field Number of go-sql-driver's MySQLError, without a dependency on it.
func numberOf(err error) uint64 {
	if value := reflect.Indirect(reflect.ValueOf(err)); value.Kind() == reflect.Struct {
		if field := value.FieldByName("Number"); field.IsValid() && field.CanUint() {
			return field.Uint()
		}
	}
	switch wrapping := err.(type) {
	case interface{ Unwrap() error }:
		return numberOf(wrapping.Unwrap())
	case interface{ Unwrap() []error }:
		for _, wrapped := range wrapping.Unwrap() {
			if number := numberOf(wrapped); number != 0 {
				return number
			}
		}
	}
	return 0
}
