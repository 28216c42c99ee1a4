//go:build cgo

package idgen

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// Dialect is the SQL that a database of an [SQLStore] speaks.
type Dialect int

// The dialects.
const (
	MySQL    Dialect = iota + 1 // MariaDB and MySQL; not TiDB
	Postgres                    // PostgreSQL
	SQLite                      // a database of the program's own; never the file of a sqlite: store that is in use
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

const (
	whereTag   = " WHERE ns = ? AND tag = ?"
	returnTail = "UPDATE idgen_segment SET max_id = max_id - ?, updated_unix_ms = ?" + whereTag + " AND max_id = ?"
	readTail   = "SELECT max_id FROM idgen_segment" + whereTag
	state      = "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment"
	insertRow  = "INSERT INTO idgen_segment(ns, tag, updated_unix_ms, max_id, grants) VALUES(?, ?, ?, 0, 0)"
	advanceTo  = "UPDATE idgen_segment SET max_id = CASE WHEN max_id < ? THEN ? ELSE max_id + 1 END, " +
		"grants = grants + 1," +
		" updated_unix_ms = ?" + whereTag + " AND max_id BETWEEN 0 AND ?"

	howToCreate = "Make it with SQLStore.CreateSegment(NAMESPACE, TAG) or `idgen segment create --store URL --tag TAG`"
)

// How the transaction of a call begins. MySQL's statement fails inside another transaction, where BEGIN would commit
// it. Otherwise it changes nothing, and the next statement begins a transaction or commits by itself.
var begin = map[Dialect]string{MySQL: "SET TRANSACTION READ WRITE", Postgres: "BEGIN", SQLite: "BEGIN"}

// As the native stores make it; a test compares them.
var createTable = map[Dialect]string{
	MySQL: `CREATE TABLE IF NOT EXISTS idgen_segment (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  max_id BIGINT NOT NULL,
  grants BIGINT NOT NULL DEFAULT 0,
  updated_unix_ms BIGINT NOT NULL DEFAULT 0,
  step BIGINT NOT NULL DEFAULT 0,
  rate BIGINT NOT NULL DEFAULT 0,
  holder VARBINARY(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)) ENGINE = InnoDB`,
	Postgres: `CREATE TABLE IF NOT EXISTS idgen_segment (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  max_id bigint NOT NULL CHECK (max_id >= 0),
  grants bigint NOT NULL DEFAULT 0 CHECK (grants >= 0),
  updated_unix_ms bigint NOT NULL DEFAULT 0,
  step bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
  rate bigint NOT NULL DEFAULT 0,
  holder varchar(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag))`,
	SQLite: `CREATE TABLE IF NOT EXISTS idgen_segment (
  ns TEXT NOT NULL,
  tag TEXT NOT NULL,
  max_id INTEGER NOT NULL CHECK (max_id >= 0),
  grants INTEGER NOT NULL DEFAULT 0,
  updated_unix_ms INTEGER NOT NULL DEFAULT 0,
  step INTEGER NOT NULL DEFAULT 0,
  rate INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag))`,
}

// One statement is one atomic step. PostgreSQL: no grant is acknowledged before it is on disk, whatever the session
// says. TiDB may run a transaction optimistically, so LAST_INSERT_ID may not return what was committed.
var takeTail = map[Dialect]string{
	MySQL: "UPDATE idgen_segment SET max_id = LAST_INSERT_ID(GREATEST(max_id, ?) + ?), grants = grants + 1, " +
		"updated_unix_ms = ?" + whereTag +
		" AND max_id BETWEEN 0 AND ? AND LOCATE('TiDB', VERSION()) = 0",
	Postgres: "UPDATE idgen_segment SET max_id = GREATEST(max_id, ?) + ?, grants = grants + 1, updated_unix_ms = ?" +
		" FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable" + whereTag +
		" AND max_id BETWEEN 0 AND ? RETURNING max_id",
	SQLite: "UPDATE idgen_segment SET max_id = MAX(max_id, ?) + ?, grants = grants + 1, updated_unix_ms = ?" +
		whereTag + " AND max_id BETWEEN 0 AND ? RETURNING max_id",
}

// SegmentTake implements [Store].
func (s *SQLStore) SegmentTake(ctx context.Context, namespace, tag string, count int64) (first int64, err error) {
	return s.SegmentTakeAbove(ctx, namespace, tag, count, 0)
}

// SegmentTakeAbove implements [AboveStore].
func (s *SQLStore) SegmentTakeAbove(
	ctx context.Context, namespace, tag string, count, above int64,
) (first int64, err error) {
	if count < 1 || above < 0 {
		return 0, &Error{Status: ErrArgument,
			Message: fmt.Sprintf("a segment of %d numbers above %d is invalid; ask for at least 1", count, above)}
	}
	if above > math.MaxInt64-count {
		return 0, exhausted(namespace, tag, above, count)
	}
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		last, err := s.take(ctx, on, namespace, tag, count, above)
		if err == nil && last-count < above {
			return &Error{Status: ErrStoreDamaged,
				Message: fmt.Sprintf("the driver gave %d for the end of a grant of %d numbers; it was not used",
					last, count)}
		}
		first = last - count + 1
		return err
	})
	if err != nil {
		return 0, err
	}
	return first, nil
}

// SegmentReturn implements [Store].
func (s *SQLStore) SegmentReturn(ctx context.Context, namespace, tag string, last, unused int64) error {
	if unused < 0 || last < unused {
		return &Error{Status: ErrArgument,
			Message: fmt.Sprintf("of a segment that ends at %d, %d numbers cannot be unused", last, unused)}
	}
	if unused == 0 {
		return nil
	}
	return s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		changed, err := s.change(ctx, on, returnTail, unused, time.Now().UnixMilli(), s.stored(namespace),
			s.stored(tag), last)
		if err != nil || changed == 1 {
			return err
		}
		_, err = s.maxID(ctx, on, namespace, tag)
		return err
	})
}

// CreateSegment makes a tag at 0, so that its first id is 1, and the table if it is missing. May block on the database.
// Errors: ErrTagExists, those of the store.
func (s *SQLStore) CreateSegment(ctx context.Context, namespace, tag string) error {
	insert := insertRow
	if s.dialect != MySQL { // if a failed statement would fail the transaction
		insert += " ON CONFLICT DO NOTHING"
	}
	create := func(ctx context.Context, on *sql.Conn) error {
		made, err := s.change(ctx, on, insert, s.stored(namespace), s.stored(tag), time.Now().UnixMilli())
		if err == nil && made == 0 || err != nil && numberOf(err) == 1062 {
			return &Error{Status: ErrTagExists,
				Message: fmt.Sprintf("tag \"%s\" of namespace \"%s\" is in the table idgen_segment already",
					tag, namespace)}
		}
		return err
	}
	err := s.transact(ctx, create)
	if !isNoTable(err) {
		return err
	}
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		_, err := on.ExecContext(ctx, createTable[s.dialect])
		return err
	})
	if err != nil {
		return err
	}
	return s.transact(ctx, create)
}

// ShowSegment reads the state of a tag. May block on the database. Errors: ErrTagUnknown, those of the store.
func (s *SQLStore) ShowSegment(ctx context.Context, namespace, tag string) (info SegmentInfo, err error) {
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		info, err = s.show(ctx, on, namespace, tag)
		return err
	})
	return info, err
}

// ListSegments reads the state of all tags of all namespaces, in the order of their names. May block on the database.
func (s *SQLStore) ListSegments(ctx context.Context) (rows []SegmentRow, err error) {
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		rows, err = s.rows(ctx, on, state+" ORDER BY ns, tag")
		return err
	})
	return rows, err
}

// AdvanceSegment raises MaxID to to, or by 1 if it is already there, and never lowers it. All later grants are above
// to. Running generators still issue what they reserved before. Returns the new state; errors as for ShowSegment.
func (s *SQLStore) AdvanceSegment(ctx context.Context, namespace, tag string, to int64) (info SegmentInfo, err error) {
	if to < 0 {
		return SegmentInfo{}, &Error{Status: ErrArgument,
			Message: fmt.Sprintf("a tag cannot be advanced to %d; allowed: 0 to 2^63 - 1", to)}
	}
	err = s.transact(ctx, func(ctx context.Context, on *sql.Conn) error {
		changed, err := s.change(ctx, on, advanceTo, to, to, time.Now().UnixMilli(), s.stored(namespace), s.stored(tag),
			int64(math.MaxInt64-1))
		if err != nil {
			return err
		}
		info, err = s.show(ctx, on, namespace, tag)
		if err == nil && changed != 1 {
			return exhausted(namespace, tag, info.MaxID, 1)
		}
		return err
	})
	return info, err
}

// take returns the last number of the grant.
func (s *SQLStore) take(
	ctx context.Context, on *sql.Conn, namespace, tag string, count, above int64,
) (last int64, err error) {
	arguments := []any{above, count, time.Now().UnixMilli(), s.stored(namespace), s.stored(tag), math.MaxInt64 - count}
	if s.dialect == MySQL {
		done, err := on.ExecContext(ctx, takeTail[s.dialect], arguments...)
		if err != nil {
			return 0, err
		}
		if changed, err := done.RowsAffected(); err != nil || changed == 1 {
			if err != nil {
				return 0, err
			}
			return done.LastInsertId()
		}
	} else {
		err := on.QueryRowContext(ctx, s.sql(takeTail[s.dialect]), arguments...).Scan(&last)
		if !errors.Is(err, sql.ErrNoRows) {
			return last, err
		}
	}
	return 0, s.refusal(ctx, on, namespace, tag, count)
}

func (s *SQLStore) change(ctx context.Context, on *sql.Conn, text string, arguments ...any) (rows int64, err error) {
	done, err := on.ExecContext(ctx, s.sql(text), arguments...)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func (s *SQLStore) show(ctx context.Context, on *sql.Conn, namespace, tag string) (SegmentInfo, error) {
	rows, err := s.rows(ctx, on, state+whereTag, s.stored(namespace), s.stored(tag))
	if err == nil && len(rows) == 0 {
		err = unknown(namespace, tag)
	}
	if err != nil {
		return SegmentInfo{}, err
	}
	return rows[0].SegmentInfo, nil
}

func (s *SQLStore) rows(
	ctx context.Context, on *sql.Conn, text string, arguments ...any,
) (all []SegmentRow, err error) {
	found, err := on.QueryContext(ctx, s.sql(text), arguments...)
	if err != nil {
		return nil, err
	}
	err = eachRow(found, func() error {
		var row SegmentRow
		var updated int64
		err := found.Scan(&row.Namespace, &row.Tag, &row.MaxID, &row.Grants, &updated, &row.Step, &row.Rate,
			&row.Holder)
		row.Updated = time.UnixMilli(updated).UTC()
		all = append(all, row)
		return err
	})
	return all, err
}

// eachRow calls scan for each row, until it fails.
func eachRow(rows *sql.Rows, scan func() error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// refusal says why no row was changed.
func (s *SQLStore) refusal(ctx context.Context, on *sql.Conn, namespace, tag string, count int64) error {
	if s.dialect == MySQL {
		var version string
		if err := on.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
			return err
		}
		if strings.Contains(version, "TiDB") {
			return &Error{Status: ErrUnsupported, Message: "TiDB may run a transaction optimistically, so this " +
				"store cannot know what it granted; " +
				`use store = "mysql://...", which knows TiDB`}
		}
	}
	found, err := s.maxID(ctx, on, namespace, tag)
	switch {
	case err != nil:
		return err
	case found < 0:
		return &Error{Status: ErrStoreDamaged, Message: fmt.Sprintf(
			"the table idgen_segment holds %d where a number from 0 to 2^63 - 1 belongs. "+
				"Set it right by hand, above the highest id in use", found)}
	case found > math.MaxInt64-count:
		return exhausted(namespace, tag, found, count)
	}
	return &Error{Status: ErrStoreUnavailable,
		Message: fmt.Sprintf("tag \"%s\" changed while it was read; nothing was granted", tag)}
}

func (s *SQLStore) maxID(ctx context.Context, on *sql.Conn, namespace, tag string) (found int64, err error) {
	err = on.QueryRowContext(ctx, s.sql(readTail), s.stored(namespace), s.stored(tag)).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, unknown(namespace, tag)
	}
	return found, err
}

func unknown(namespace, tag string) error {
	return &Error{Status: ErrTagUnknown, Message: fmt.Sprintf(
		"tag \"%s\" of namespace \"%s\" is not in the table idgen_segment. %s: it begins at 0, so the first id is 1",
		tag, namespace,
		howToCreate)}
}

func exhausted(namespace, tag string, found, count int64) error {
	return &Error{Status: ErrExhausted, Message: fmt.Sprintf(
		"tag \"%s\" of namespace \"%s\" stands at %d; %d more would pass 2^63 - 1. Take a smaller step, or a new tag",
		tag, namespace,
		found, count)}
}

// transact runs use in a transaction and commits. What the pool and the driver report becomes an *Error.
func (s *SQLStore) transact(ctx context.Context, use func(ctx context.Context, on *sql.Conn) error) error {
	if _, known := takeTail[s.dialect]; !known || s.db == nil {
		return &Error{Status: ErrArgument, Message: "NewSQLStore needs a *sql.DB and one of MySQL, Postgres, SQLite"}
	}
	bound := s.PoolTimeout
	if bound <= 0 {
		bound = 2 * time.Second
	}
	on, err := s.lender.borrow(ctx, s.db, bound)
	if errors.Is(err, errNobodyLends) {
		return s.nobodyLends(bound)
	}
	if err != nil {
		return translated(err)
	}
	err = s.begin(ctx, on)
	if err == nil {
		if err = use(ctx, on); err == nil {
			_, err = on.ExecContext(ctx, "COMMIT")
		}
		if err != nil {
			roll(on)
		}
	}
	_ = on.Close() // gives it back
	if err != nil {
		return translated(err)
	}
	return nil
}

// begin refuses a connection that is inside a transaction, and leaves it as it is.
func (s *SQLStore) begin(ctx context.Context, on *sql.Conn) error {
	inside := false
	if s.dialect == Postgres {
		known := false
		err := on.Raw(func(connection any) error {
			inside, known = isInTransaction(connection)
			return nil
		})
		// The driver, or its wrapper, does not say. Only a transaction has run a statement before.
		if err == nil && !known {
			err = on.QueryRowContext(ctx, "SELECT transaction_timestamp() <> statement_timestamp()").Scan(&inside)
			if sqlStateOf(err) == "25P02" { // in_failed_sql_transaction
				inside, err = true, nil
			}
		}
		if err != nil {
			return err
		}
	}
	if !inside {
		_, err := on.ExecContext(ctx, begin[s.dialect])
		inside = err != nil &&
			(numberOf(err) == 1568 || strings.Contains(err.Error(), "transaction within a transaction"))
		if !inside {
			return err
		}
	}
	return &Error{Status: ErrStoreUnsafe, Message: "the pool gave a connection that is inside a transaction, which " +
		"is its owner's to commit or to roll back: nothing was asked of it and nothing was granted. For connections " +
		"that nobody else uses, give SQLStore a " +
		"small pool of its own"}
}

// roll undoes what transact began. A connection that cannot do even that does not go back to the pool.
func roll(on *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // the call's own may have ended
	defer cancel()
	if _, err := on.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = on.Raw(func(any) error { return driver.ErrBadConn })
	}
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

// sql numbers the placeholders if the dialect needs that.
func (s *SQLStore) sql(text string) string {
	if s.dialect != Postgres {
		return text
	}
	var out strings.Builder
	number := 0
	for _, c := range text {
		if c == '?' {
			number++
			fmt.Fprintf(&out, "$%d", number)
		} else {
			out.WriteRune(c)
		}
	}
	return out.String()
}

// stored: in MySQL the names are bytes, so that the session's character set does not change them.
func (s *SQLStore) stored(name string) any {
	if s.dialect == MySQL {
		return []byte(name)
	}
	return name
}

var statusBySQLState = map[string]Status{
	"42P01": ErrStoreMissing, "3D000": ErrStoreMissing, "3F000": ErrStoreMissing,
	"42501": ErrStorePermission, "25006": ErrStorePermission, "28000": ErrStorePermission, "28P01": ErrStorePermission,
	"53100": ErrStoreFull,
	"42703": ErrStoreVersion, "42804": ErrStoreVersion, "42846": ErrStoreVersion, "42883": ErrStoreVersion,
	"22003": ErrStoreDamaged, "23514": ErrStoreDamaged,
}

var statusByNumber = map[uint64]Status{ // of MySQL
	1146: ErrStoreMissing, 1049: ErrStoreMissing,
	1044: ErrStorePermission, 1045: ErrStorePermission, 1142: ErrStorePermission, 1143: ErrStorePermission,
	1290: ErrStorePermission, 1792: ErrStorePermission,
	// Accounts that no second try lets in.
	1130: ErrStorePermission, 1251: ErrStorePermission, 1698: ErrStorePermission, 1820: ErrStorePermission,
	1862: ErrStorePermission, 3118: ErrStorePermission, 4151: ErrStorePermission,
	1021: ErrStoreFull, 1114: ErrStoreFull,
	1054: ErrStoreVersion,
	1690: ErrStoreDamaged,
}

// translated maps what the server said. Anything else is unknown or temporary: unavailable.
func translated(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	text := textOf(err)
	noTable := isNoTable(err)
	var stated interface{ SQLState() string } // of pgx and lib/pq
	status := Status(0)
	if errors.As(err, &stated) {
		status = statusBySQLState[stated.SQLState()]
	} else {
		status = statusByNumber[numberOf(err)]
	}
	switch {
	case noTable:
		table, how := missingTable(text)
		status, text = ErrStoreMissing, "the table "+table+" is not there. "+how+". The driver: "+text
	case status == 0:
		status, text = ErrStoreUnavailable, "the store's database, or the pool of its connections: "+text
	default:
		text = "the store's database: " + text
	}
	return &Error{Status: status, Message: text, causes: []error{err}}
}

// sqlStateOf is empty if the driver has none.
func sqlStateOf(err error) string {
	var stated interface{ SQLState() string } // of pgx and lib/pq
	if errors.As(err, &stated) {
		return stated.SQLState()
	}
	return ""
}

func isNoTable(err error) bool {
	if state := sqlStateOf(err); state != "" {
		return state == "42P01"
	}
	// SQLite.
	return numberOf(err) == 1146 || err != nil && strings.Contains(err.Error(), "no such table: idgen_")
}

// missingTable is the one that the server's text names, and how to make it.
func missingTable(text string) (table, how string) {
	for _, table := range []string{"idgen_worker", "idgen_namespace"} {
		if strings.Contains(text, table) {
			return table, howToCreateWorkers
		}
	}
	return "idgen_segment", howToCreate
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
