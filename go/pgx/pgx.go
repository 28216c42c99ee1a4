// Package pgx is imported for its effect: a program that imports it opens stores with a URL postgres:// without idgen's
// module for PostgreSQL, and so without libpq. The connections go over pgx, which is written in Go.
//
//	import (
//		"github.com/idgen/idgen/go"
//		_ "github.com/idgen/idgen/go/pgx"
//	)
//
//	orders, err := idgen.New(ctx, idgen.WithKind("segment"), idgen.WithTag("orders"),
//		idgen.WithStore("postgres://app:secret@db.example/ids?tls=verify"))
//
// The package only registers pgx with database/sql, where package idgen finds it. A program that imports
// github.com/jackc/pgx/v5/stdlib itself does not need this package. For other programs, its go.mod names a version of
// pgx with which idgen is tested. A module that is there is used first.
//
// # Settings
//
// The URL has the settings of the module: user_env, password_env, password_file, tls, tls_ca, socket and accept_loss.
// Those of a connection, and the files, are read again for each connection. idgen refuses these with
// [github.com/idgen/idgen/go.ErrUnsupported]:
//   - channel_binding and statements, several hosts, and a segment.schema other than idgen
//   - a socket that is not named .s.PGSQL.PORT
//   - tls=require, verify-ca and verify over a socket, where PostgreSQL has no TLS
//
// # Errors
//
// The statuses are those of the module. What pgx returned is in the error: errors.As finds a *pgconn.PgError.
package pgx

import _ "github.com/jackc/pgx/v5/stdlib" // registers itself
