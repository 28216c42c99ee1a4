//go:build cgo

package idgen

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// Dialect is what a database of [SQLStore] speaks.
type Dialect int

// The dialects.
const (
	MySQL    Dialect = iota + 1 // MariaDB and MySQL; not TiDB
	Postgres                    // PostgreSQL
	SQLite                      // a database of the program's own; never the file of a sqlite: store that is in use
)

// SQLStore grants segments from a database, over the program's own connection pool. The table is that of the stores mysql:// and
// postgres://, so both may draw from one tag at the same time. It names no driver: those that tell a number (Number) or an SQLSTATE
// (SQLState()) with their errors have them told apart; that is all that are common.
//
// A grant is one statement in a transaction of its own, because a pool may hand out sessions that do not commit by themselves. The
// driver's own time limits hold, and should be set.
type SQLStore struct {
	db      *sql.DB
	dialect Dialect
}

// NewSQLStore makes a store over a pool, which stays the caller's and must outlive the generator. Nothing is asked of it yet.
func NewSQLStore(db *sql.DB, dialect Dialect) *SQLStore { return &SQLStore{db, dialect} }

const (
	whereTag   = " WHERE ns = ? AND tag = ?"
	returnTail = "UPDATE idgen_segment SET max_id = max_id - ?, updated_unix_ms = ?" + whereTag + " AND max_id = ?"
	readTail   = "SELECT max_id FROM idgen_segment" + whereTag

	howToCreate = "Make it with `idgen segment create --store URL --tag TAG`, or INSERT INTO idgen_segment(ns, tag, max_id) " +
		"VALUES(NAMESPACE, TAG, 0)"
)

// One statement is one atomic step. PostgreSQL: no grant is acknowledged before it is on disk, whatever the session says. TiDB may run a
// transaction optimistically, so what LAST_INSERT_ID gave may not be what was committed.
var takeTail = map[Dialect]string{
	MySQL: "UPDATE idgen_segment SET max_id = LAST_INSERT_ID(max_id + ?), grants = grants + 1, updated_unix_ms = ?" + whereTag +
		" AND max_id BETWEEN 0 AND ? AND LOCATE('TiDB', VERSION()) = 0",
	Postgres: "UPDATE idgen_segment SET max_id = max_id + ?, grants = grants + 1, updated_unix_ms = ?" +
		" FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable" + whereTag +
		" AND max_id BETWEEN 0 AND ? RETURNING max_id",
	SQLite: "UPDATE idgen_segment SET max_id = max_id + ?, grants = grants + 1, updated_unix_ms = ?" + whereTag +
		" AND max_id BETWEEN 0 AND ? RETURNING max_id",
}

// SegmentTake implements [Store].
func (s *SQLStore) SegmentTake(ctx context.Context, namespace, tag string, count int64) (first int64, err error) {
	if count < 1 {
		return 0, &Error{Status: ErrArgument, Message: fmt.Sprintf("a segment of %d numbers cannot be meant; ask for at least 1", count)}
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		last, err := s.take(ctx, tx, namespace, tag, count)
		if err == nil && last < count {
			return &Error{Status: ErrStoreDamaged,
				Message: fmt.Sprintf("the driver gave %d for the end of a grant of %d numbers; it was not used", last, count)}
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
	return s.transact(ctx, func(tx *sql.Tx) error {
		ns, name := s.stored(namespace), s.stored(tag)
		done, err := tx.ExecContext(ctx, s.sql(returnTail), unused, time.Now().UnixMilli(), ns, name, last)
		if err != nil {
			return err
		}
		if changed, err := done.RowsAffected(); err != nil || changed == 1 {
			return err
		}
		_, err = s.maxID(ctx, tx, namespace, tag)
		return err
	})
}

// take returns the last number of the grant.
func (s *SQLStore) take(ctx context.Context, tx *sql.Tx, namespace, tag string, count int64) (last int64, err error) {
	arguments := []any{count, time.Now().UnixMilli(), s.stored(namespace), s.stored(tag), math.MaxInt64 - count}
	if s.dialect == MySQL {
		done, err := tx.ExecContext(ctx, s.sql(takeTail[s.dialect]), arguments...)
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
		err := tx.QueryRowContext(ctx, s.sql(takeTail[s.dialect]), arguments...).Scan(&last)
		if !errors.Is(err, sql.ErrNoRows) {
			return last, err
		}
	}
	return 0, s.refusal(ctx, tx, namespace, tag, count)
}

// refusal says why no row was changed.
func (s *SQLStore) refusal(ctx context.Context, tx *sql.Tx, namespace, tag string, count int64) error {
	if s.dialect == MySQL {
		var version string
		if err := tx.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
			return err
		}
		if strings.Contains(version, "TiDB") {
			return &Error{Status: ErrUnsupported, Message: "TiDB may run a transaction optimistically, so this store cannot know what it granted; " +
				`use store = "mysql://...", which knows TiDB`}
		}
	}
	found, err := s.maxID(ctx, tx, namespace, tag)
	switch {
	case err != nil:
		return err
	case found < 0:
		return &Error{Status: ErrStoreDamaged, Message: fmt.Sprintf(
			"the table idgen_segment holds %d where a number from 0 to 2^63 - 1 belongs. Set it right by hand, above the highest id in use", found)}
	case found > math.MaxInt64-count:
		return &Error{Status: ErrExhausted, Message: fmt.Sprintf(
			"tag \"%s\" of namespace \"%s\" stands at %d; %d more would pass 2^63 - 1. Take a smaller step, or a new tag", tag, namespace, found, count)}
	}
	return &Error{Status: ErrStoreUnavailable, Message: fmt.Sprintf("tag \"%s\" changed while it was read; nothing was granted", tag)}
}

func (s *SQLStore) maxID(ctx context.Context, tx *sql.Tx, namespace, tag string) (found int64, err error) {
	err = tx.QueryRowContext(ctx, s.sql(readTail), s.stored(namespace), s.stored(tag)).Scan(&found)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &Error{Status: ErrTagUnknown, Message: fmt.Sprintf(
			"tag \"%s\" of namespace \"%s\" is not in the table idgen_segment. %s: it begins at 0, so the first id is 1", tag, namespace, howToCreate)}
	}
	return found, err
}

// transact runs use in a transaction and commits. What the pool and the driver report becomes an *Error.
func (s *SQLStore) transact(ctx context.Context, use func(*sql.Tx) error) error {
	if _, known := takeTail[s.dialect]; !known || s.db == nil {
		return &Error{Status: ErrArgument, Message: "NewSQLStore needs a *sql.DB and one of MySQL, Postgres, SQLite"}
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return translated(err)
	}
	if err := use(tx); err != nil {
		_ = tx.Rollback() // the error is the one that led here
		return translated(err)
	}
	if err := tx.Commit(); err != nil {
		return translated(err)
	}
	return nil
}

// sql numbers the marks where the dialect wants that.
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
	"42P01": ErrStoreMissing, "3D000": ErrStoreMissing,
	"42501": ErrStorePermission, "25006": ErrStorePermission, "28000": ErrStorePermission, "28P01": ErrStorePermission,
	"53100": ErrStoreFull,
	"42703": ErrStoreVersion, "42804": ErrStoreVersion,
	"22003": ErrStoreDamaged, "23514": ErrStoreDamaged,
}

var statusByNumber = map[uint64]Status{ // of MySQL
	1146: ErrStoreMissing, 1049: ErrStoreMissing,
	1044: ErrStorePermission, 1045: ErrStorePermission, 1142: ErrStorePermission, 1143: ErrStorePermission,
	1290: ErrStorePermission, 1792: ErrStorePermission,
	1021: ErrStoreFull, 1114: ErrStoreFull,
	1054: ErrStoreVersion,
	1690: ErrStoreDamaged,
}

// translated: by what the server said. All else is unknown, or can pass: unavailable.
func translated(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	text := textOf(err)
	var stated interface{ SQLState() string } // of pgx and lib/pq
	status := Status(0)
	noTable := false
	if errors.As(err, &stated) {
		status, noTable = statusBySQLState[stated.SQLState()], stated.SQLState() == "42P01"
	} else if number := numberOf(err); number != 0 {
		status, noTable = statusByNumber[number], number == 1146
	} else if strings.HasPrefix(text, "no such table: idgen_segment") { // SQLite
		status, noTable = ErrStoreMissing, true
	}
	switch {
	case noTable:
		text = "the table idgen_segment is not there. " + howToCreate + ". The driver: " + text
	case status == 0:
		status, text = ErrStoreUnavailable, "the store's database, or the pool of its connections: "+text
	default:
		text = "the store's database: " + text
	}
	return &Error{Status: status, Message: text, causes: []error{err}}
}

// numberOf finds the field Number of go-sql-driver's MySQLError, without a dependency on it.
func numberOf(err error) uint64 {
	for ; err != nil; err = errors.Unwrap(err) {
		value := reflect.Indirect(reflect.ValueOf(err))
		if value.Kind() != reflect.Struct {
			continue
		}
		if field := value.FieldByName("Number"); field.IsValid() && field.CanUint() {
			return field.Uint()
		}
	}
	return 0
}
