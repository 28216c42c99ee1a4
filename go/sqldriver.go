//go:build cgo

package idgen

// #include "idgen_go_callbacks.h"
import "C"

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
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
	"sync/atomic"
	"time"
)

// The stores mysql:// and postgres:// where their modules are not: over a driver that the program has registered with
// database/sql. The core keeps the connections and decides what is sent. Here each is a pool of one.

// sqlAddress is where a URL leads.
type sqlAddress struct {
	dialect                  Dialect
	host, socket, port       string
	user, password, database string
	tls                      string // off, prefer, require, verify-ca or verify
	authorities              string // a file, by its absolute path; "": the system's
	timeout                  time.Duration
}

func (a sqlAddress) isVerified() bool { return strings.HasPrefix(a.tls, "verify") }

// sqlDriver is one that is told by a text where to connect.
type sqlDriver struct {
	dialect Dialect
	name    string // that it registers
	path    string // of its package: another one under the same name need not understand the text
	// Data source names. The next one is for a server without TLS.
	sources func(sqlAddress) ([]string, error)
}

// The first one that the program has is used.
var sqlDrivers = []sqlDriver{
	{MySQL, "mysql", "github.com/go-sql-driver/mysql", sourcesOfGoSQLDriver},
	{Postgres, "pgx", "github.com/jackc/pgx/v5/stdlib", sourcesOfPgx},
	{Postgres, "postgres", "github.com/lib/pq", sourcesOfPq},
}

func refused(format string, words ...any) error {
	return &Error{Status: ErrUnsupported, Message: fmt.Sprintf(format, words...)}
}

func sourcesOfGoSQLDriver(a sqlAddress) ([]string, error) {
	const cannot = "github.com/go-sql-driver/mysql "
	if strings.Contains(a.user, ":") {
		return nil, refused(cannot + "cannot log in a user with a colon in its name")
	}
	if a.isVerified() && a.authorities != "" {
		return nil, refused(cannot + "cannot be given tls_ca by a URL. Use tls=verify without tls_ca, and put the " +
			"authority among the system's (Go also reads the file that SSL_CERT_FILE names)")
	}
	if a.isVerified() && a.socket != "" {
		return nil, refused(cannot+"cannot verify a server behind a socket: leave tls=%s out", a.tls)
	}
	modes := map[string]string{"off": "false", "prefer": "preferred", "require": "skip-verify", "verify": "true"}
	at := "tcp(" + net.JoinHostPort(a.host, a.port) + ")"
	if a.socket != "" {
		at = "unix(" + a.socket + ")"
	}
	bound := a.timeout.String()
	return []string{a.user + ":" + a.password + "@" + at + "/" + url.PathEscape(a.database) + "?" + url.Values{
		"tls":               {modes[a.tls]},
		"timeout":           {bound},
		"readTimeout":       {bound},
		"writeTimeout":      {bound},
		"autocommit":        {"true"},
		"interpolateParams": {"true"}, // one round trip for a statement, where preparing it takes three
	}.Encode()}, nil
}

// sourceOfPostgres is the URL that PostgreSQL's own library defined and others understand.
func sourceOfPostgres(a sqlAddress, driver, sslmode string, others ...string) (string, error) {
	settings := url.Values{
		"sslmode":          {sslmode},
		"sslrootcert":      {""}, // nothing from the environment
		"connect_timeout":  {strconv.Itoa(int((a.timeout + time.Second - 1) / time.Second))},
		"application_name": {"idgen"},
		"client_encoding":  {"UTF8"},
	}
	for i := 0; i < len(others); i += 2 {
		settings.Set(others[i], others[i+1])
	}
	if a.isVerified() && a.authorities != "" {
		settings.Set("sslrootcert", a.authorities)
	}
	source := url.URL{Scheme: "postgres", User: url.UserPassword(a.user, a.password), Path: "/" + a.database}
	folder, isSocket := a.host, strings.HasPrefix(a.host, "/")
	if a.socket != "" {
		name := ""
		folder, name = filepath.Split(a.socket)
		port, isNamed := strings.CutPrefix(name, ".s.PGSQL.")
		if _, err := strconv.ParseUint(port, 10, 16); !isNamed || err != nil {
			return "", refused("%s finds a socket only by the name that PostgreSQL gives it, "+
				".s.PGSQL.PORT; socket = '%s'", driver, a.socket)
		}
		a.port, isSocket = port, true
	}
	if !isSocket {
		source.Host = net.JoinHostPort(a.host, a.port)
	} else if a.tls == "off" || a.tls == "prefer" {
		settings.Set("host", folder)
		settings.Set("port", a.port)
		settings.Set("sslmode", "disable")
	} else {
		return "", refused("PostgreSQL has no TLS over a socket: leave tls=%s out", a.tls)
	}
	source.RawQuery = settings.Encode()
	return source.String(), nil
}

func sourcesOfPgx(a sqlAddress) ([]string, error) {
	mode := map[string]string{"off": "disable", "verify": "verify-full"}[a.tls]
	if mode == "" {
		mode = a.tls
	}
	// Poolers that lend a connection for each statement need not know of what was prepared on another one.
	source, err := sourceOfPostgres(a, "github.com/jackc/pgx", mode, "default_query_exec_mode", "exec")
	return []string{source}, err
}

func sourcesOfPq(a sqlAddress) (sources []string, err error) {
	modes := map[string][]string{"off": {"disable"}, "prefer": {"require", "disable"}, "verify": {"verify-full"}}[a.tls]
	if modes == nil {
		modes = []string{a.tls}
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

// connect opens a connection over the first driver that the program has.
func (a sqlAddress) connect() (*sqlSession, error) {
	ctx, cancel := context.WithTimeout(context.Background(), a.timeout)
	defer cancel()
	for _, driver := range sqlDrivers {
		if driver.dialect != a.dialect || !slices.Contains(sql.Drivers(), driver.name) {
			continue
		}
		sources, err := driver.sources(a)
		if err != nil {
			return nil, err
		}
		for i, source := range sources {
			pool, err := sql.Open(driver.name, source)
			if err != nil {
				return nil, err
			}
			kind := reflect.TypeOf(pool.Driver())
			if kind.Kind() == reflect.Pointer {
				kind = kind.Elem()
			}
			if kind.PkgPath() != driver.path {
				_ = pool.Close()
				break
			}
			on, err := connectTo(ctx, pool)
			if err == nil {
				return &sqlSession{
					sink:    driverSink,
					on:      on,
					dialect: a.dialect,
					own:     &ownConnection{pool: pool, timeout: a.timeout},
				}, nil
			}
			if i+1 == len(sources) || !isOfMissingTLS(err) {
				return nil, a.withStatusOfTLS(err)
			}
		}
	}
	if a.dialect == MySQL {
		return nil, refused("there is none; import _ \"github.com/go-sql-driver/mysql\"")
	}
	return nil, refused("there is none; import _ \"github.com/jackc/pgx/v5/stdlib\"")
}

// connectTo takes the only connection of a pool, or closes the pool.
func connectTo(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	on, inTime, err := bounded(ctx, func() (*sql.Conn, error) { return pool.Conn(ctx) }, func(on *sql.Conn) {
		if on != nil {
			_ = on.Close()
		}
		_ = pool.Close()
	})
	if err != nil && inTime {
		_ = pool.Close()
	}
	return on, err
}

// withStatusOfTLS gives an error of TLS, for which drivers have no number, the status that the modules give it.
func (a sqlAddress) withStatusOfTLS(err error) error {
	var refused *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var ofAnother x509.HostnameError
	status := ErrStorePermission
	switch {
	case a.tls != "prefer" && isOfMissingTLS(err): // else pgx tells of both its attempts
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
		a := sqlAddress{
			dialect:     Dialect(address.dialect),
			host:        C.GoString(address.host),
			socket:      C.GoString(address.socket),
			port:        strconv.Itoa(int(address.port)),
			user:        C.GoString(address.user),
			password:    C.GoString(address.password),
			database:    C.GoString(address.database),
			tls:         C.GoString(address.tls),
			authorities: C.GoString(address.tls_ca),
			timeout:     time.Duration(address.timeout_ms) * time.Millisecond,
		}
		if a.authorities != "" {
			if a.authorities, err = filepath.Abs(a.authorities); err != nil {
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
