//go:build cgo

package idgen

// #include "idgen_go_callbacks.h"
import "C"

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"reflect"
	"runtime/cgo"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The stores mysql:// and postgres:// where their modules are not: over a package that has called SetSQLConnector, or a
// driver that the program has registered with database/sql. The core keeps the connections and decides what is sent.
// Here each is a pool of one.

// SQLAddress is where the URL of a store leads. An empty text was not given.
type SQLAddress struct {
	Dialect     Dialect // MySQL or Postgres
	Host        string  // a name or an address, IPv6 without brackets
	Socket      string  // the file of a Unix socket. Host and Port are then not used to connect
	Port        string  // a number, never empty
	User        string  // with Password: as the URL, an environment variable or a file has it now
	Password    string
	Database    string
	TLS         string        // off, prefer, require, verify-ca or verify
	Authorities string        // the setting tls_ca: a file of certificates, by its absolute path. Empty: the system's
	Timeout     time.Duration // the setting store_timeout: for connecting, and for each answer
}

func (a SQLAddress) isVerified() bool { return strings.HasPrefix(a.TLS, "verify") }

var connectors sync.Map // of func(SQLAddress) (driver.Connector, error), by their Dialect

// SetSQLConnector gives all stores of a dialect, [MySQL] or [Postgres], a driver that they use where the module of
// their URL is not there. Packages that bring a driver call it in their init, as github.com/idgen/idgen/go/mysql does,
// and a program only imports them. The latest call counts. Drivers that are registered with database/sql are then not
// used for this dialect.
//
// The store calls connector again for each connection, from any goroutine. Statements on the connection must commit by
// themselves. connector refuses what the driver cannot do, such as a kind of TLS, by an [*Error] with [ErrUnsupported]
// and a message that says what to leave out.
func SetSQLConnector(dialect Dialect, connector func(SQLAddress) (driver.Connector, error)) {
	connectors.Store(dialect, connector)
}

// sqlDriver is one that is told by a text where to connect.
type sqlDriver struct {
	dialect Dialect
	name    string // that it registers
	path    string // of its package: another one under the same name need not understand the text
	// Data source names. The next one is for a server without TLS.
	sources func(SQLAddress) ([]string, error)
}

// The packages that bring a driver, for messages.
const (
	packageOfMySQL    = "github.com/idgen/idgen/go/mysql"
	packageOfPostgres = "github.com/idgen/idgen/go/pgx"
)

// The first one that the program has is used.
var sqlDrivers = []sqlDriver{
	{MySQL, "mysql", "github.com/go-sql-driver/mysql", sourcesOfGoSQLDriver},
	{Postgres, "pgx", "github.com/jackc/pgx/v5/stdlib", sourcesOfPgx},
	{Postgres, "postgres", "github.com/lib/pq", sourcesOfPq},
}

func refused(format string, words ...any) error {
	return &Error{Status: ErrUnsupported, Message: fmt.Sprintf(format, words...)}
}

func sourcesOfGoSQLDriver(a SQLAddress) ([]string, error) {
	cannot := ""
	switch {
	case strings.Contains(a.User, ":"):
		cannot = "log in a user with a colon in its name"
	case a.isVerified() && a.Authorities != "":
		cannot = "be given tls_ca"
	case a.isVerified() && a.Socket != "":
		cannot = "verify a server behind a socket"
	}
	if cannot != "" {
		return nil, refused("github.com/go-sql-driver/mysql alone cannot %s; import _ %q", cannot, packageOfMySQL)
	}
	modes := map[string]string{"off": "false", "prefer": "preferred", "require": "skip-verify", "verify": "true"}
	at := "tcp(" + net.JoinHostPort(a.Host, a.Port) + ")"
	if a.Socket != "" {
		at = "unix(" + a.Socket + ")"
	}
	bound := a.Timeout.String()
	return []string{a.User + ":" + a.Password + "@" + at + "/" + url.PathEscape(a.Database) + "?" + url.Values{
		"tls":               {modes[a.TLS]},
		"timeout":           {bound},
		"readTimeout":       {bound},
		"writeTimeout":      {bound},
		"autocommit":        {"true"},
		"interpolateParams": {"true"}, // one round trip for a statement, where preparing it takes three
	}.Encode()}, nil
}

// sourceOfPostgres is the URL that PostgreSQL's own library defined and others understand.
func sourceOfPostgres(a SQLAddress, driver, sslmode string, others ...string) (string, error) {
	settings := url.Values{
		"sslmode":          {sslmode},
		"sslrootcert":      {""}, // nothing from the environment
		"connect_timeout":  {strconv.Itoa(int((a.Timeout + time.Second - 1) / time.Second))},
		"application_name": {"idgen"},
		"client_encoding":  {"UTF8"},
	}
	for i := 0; i < len(others); i += 2 {
		settings.Set(others[i], others[i+1])
	}
	if a.isVerified() && a.Authorities != "" {
		settings.Set("sslrootcert", a.Authorities)
	}
	source := url.URL{Scheme: "postgres", User: url.UserPassword(a.User, a.Password), Path: "/" + a.Database}
	folder, isSocket := a.Host, strings.HasPrefix(a.Host, "/")
	if a.Socket != "" {
		name := ""
		folder, name = filepath.Split(a.Socket)
		port, isNamed := strings.CutPrefix(name, ".s.PGSQL.")
		if _, err := strconv.ParseUint(port, 10, 16); !isNamed || err != nil {
			return "", refused("%s finds a socket only by the name that PostgreSQL gives it, "+
				".s.PGSQL.PORT; socket = '%s'", driver, a.Socket)
		}
		a.Port, isSocket = port, true
	}
	if !isSocket {
		source.Host = net.JoinHostPort(a.Host, a.Port)
	} else if a.TLS == "off" || a.TLS == "prefer" {
		settings.Set("host", folder)
		settings.Set("port", a.Port)
		settings.Set("sslmode", "disable")
	} else {
		return "", refused("PostgreSQL has no TLS over a socket: leave tls=%s out", a.TLS)
	}
	source.RawQuery = settings.Encode()
	return source.String(), nil
}

func sourcesOfPgx(a SQLAddress) ([]string, error) {
	mode := map[string]string{"off": "disable", "verify": "verify-full"}[a.TLS]
	if mode == "" {
		mode = a.TLS
	}
	// Poolers that lend a connection for each statement need not know of what was prepared on another one.
	source, err := sourceOfPostgres(a, "github.com/jackc/pgx", mode, "default_query_exec_mode", "exec")
	return []string{source}, err
}

func sourcesOfPq(a SQLAddress) (sources []string, err error) {
	modes := map[string][]string{"off": {"disable"}, "prefer": {"require", "disable"}, "verify": {"verify-full"}}[a.TLS]
	if modes == nil {
		modes = []string{a.TLS}
	}
	for _, mode := range modes {
		// With it, a statement and its values are sent at once, which poolers need.
		source, err := sourceOfPostgres(a, "github.com/lib/pq", mode, "binary_parameters", "yes")
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// ownConnection is what a session has that the library has opened itself.
type ownConnection struct {
	pool        *sql.DB
	timeout     time.Duration
	isAbandoned atomic.Bool // the driver is still busy with a statement whose time has passed
}

func (s *sqlSession) close() {
	_ = s.on.Close()
	_ = s.own.pool.Close()
}

// bounded waits for a driver no longer than ctx lasts: lib/pq goes on reading from a server that says nothing. What
// comes later goes to late.
func bounded[T any](ctx context.Context, call func() (T, error), late func(T)) (found T, inTime bool, err error) {
	type answer struct {
		found T
		err   error
	}
	answers, isLate := make(chan answer), make(chan struct{})
	go func() {
		var a answer
		func() {
			defer recovered(&a.err)
			a.found, a.err = call()
		}()
		select {
		case answers <- a:
		case <-isLate:
			late(a.found)
		}
	}()
	select {
	case a := <-answers:
		return a.found, true, a.err
	case <-ctx.Done():
	}
	select { // a driver that listens to ctx answers soon
	case a := <-answers:
		return a.found, true, a.err
	case <-time.After(time.Second / 2):
	}
	close(isLate)
	return found, false, ctx.Err()
}

// within asks the driver of a session.
func within[T any](s *sqlSession, call func(context.Context) (T, error)) (T, error) {
	if s.own == nil {
		return call(s.ctx)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.own.timeout)
	defer cancel()
	found, inTime, err := bounded(ctx, func() (T, error) { return call(ctx) }, func(T) { s.close() })
	if !inTime {
		s.own.isAbandoned.Store(true)
	}
	return found, err
}

// connect opens a connection over what SetSQLConnector was told, or the first driver that the program has.
func (a SQLAddress) connect() (*sqlSession, error) {
	ctx, cancel := context.WithTimeout(context.Background(), a.Timeout)
	defer cancel()
	if set, isSet := connectors.Load(a.Dialect); isSet {
		connector, err := set.(func(SQLAddress) (driver.Connector, error))(a)
		if err != nil {
			return nil, err
		}
		return a.connectOver(ctx, sql.OpenDB(connector))
	}
	for _, known := range sqlDrivers {
		if known.dialect != a.Dialect || !slices.Contains(sql.Drivers(), known.name) {
			continue
		}
		sources, err := known.sources(a)
		if err != nil {
			return nil, err
		}
		for i, source := range sources {
			pool, err := sql.Open(known.name, source)
			if err != nil {
				return nil, err
			}
			kind := reflect.TypeOf(pool.Driver())
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			if kind.PkgPath() != known.path {
				_ = pool.Close()
				break
			}
			session, err := a.connectOver(ctx, pool)
			if err == nil || i+1 == len(sources) || !isOfMissingTLS(err) {
				return session, err
			}
		}
	}
	if a.Dialect == MySQL {
		return nil, refused("there is none; import _ %q", packageOfMySQL)
	}
	return nil, refused("there is none; import _ %q", packageOfPostgres)
}

// connectOver takes the only connection of a pool, or closes the pool.
func (a SQLAddress) connectOver(ctx context.Context, pool *sql.DB) (*sqlSession, error) {
	on, inTime, err := bounded(ctx, func() (*sql.Conn, error) { return pool.Conn(ctx) }, func(on *sql.Conn) {
		if on != nil {
			_ = on.Close()
		}
		_ = pool.Close()
	})
	if err == nil {
		own := &ownConnection{pool: pool, timeout: a.Timeout}
		return &sqlSession{sink: driverSink, on: on, dialect: a.Dialect, own: own}, nil
	}
	if inTime {
		_ = pool.Close()
	}
	return nil, a.withStatusOfTLS(err)
}

// withStatusOfTLS gives an error of TLS, for which drivers have no number, the status that the modules give it.
func (a SQLAddress) withStatusOfTLS(err error) error {
	var refused *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var ofAnother x509.HostnameError
	status := ErrStorePermission
	switch {
	case a.TLS != "prefer" && isOfMissingTLS(err): // else pgx tells of both its attempts
		status = ErrStoreUnsafe
	case errors.As(err, &refused), errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &ofAnother):
	default:
		return err
	}
	return errors.Join(&Error{Status: status, Message: textOf(err)}, err)
}

// isOfMissingTLS knows the words of each driver.
func isOfMissingTLS(err error) bool {
	return slices.ContainsFunc([]string{
		"server does not support TLS",      // go-sql-driver
		"server refused TLS connection",    // pgx
		"SSL is not enabled on the server", // lib/pq
	}, func(words string) bool { return strings.Contains(err.Error(), words) })
}

// driverSink keeps what drivers returned, for errors.As.
var driverSink = &storeSink{}

func init() {
	sinks.Store(driverSink, nil)
	_ = failed(C.idgen_go_set_sql_driver()) // without memory for it, a store says that its module is not there
}

//export idgenGoSqlConnect
func idgenGoSqlConnect(address *C.idgen_sql_address_t, connection *C.uintptr_t,
	failure *C.idgen_sql_error_t) C.idgen_status_t {
	return driverSink.tellSQL(failure, func() (err error) {
		defer recovered(&err)
		a := SQLAddress{
			Dialect:     Dialect(address.dialect),
			Host:        C.GoString(address.host),
			Socket:      C.GoString(address.socket),
			Port:        strconv.Itoa(int(address.port)),
			User:        C.GoString(address.user),
			Password:    C.GoString(address.password),
			Database:    C.GoString(address.database),
			TLS:         C.GoString(address.tls),
			Authorities: C.GoString(address.tls_ca),
			Timeout:     time.Duration(address.timeout_ms) * time.Millisecond,
		}
		if a.Authorities != "" {
			if a.Authorities, err = filepath.Abs(a.Authorities); err != nil {
				return err
			}
		}
		session, err := a.connect()
		if err == nil {
			*connection = C.uintptr_t(cgo.NewHandle(session))
		}
		return err
	}())
}

//export idgenGoSqlClose
func idgenGoSqlClose(connection C.uintptr_t) {
	session := cgo.Handle(connection)
	var err error
	defer recovered(&err)
	defer session.Delete()
	if s := session.Value().(*sqlSession); !s.own.isAbandoned.Load() {
		s.close()
	}
}
