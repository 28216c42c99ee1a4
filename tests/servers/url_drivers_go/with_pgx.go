//go:build with_pgx

package main

import (
	_ "github.com/idgen/idgen/go/pgx" // which is pgx/v5/stdlib
	"github.com/jackc/pgx/v5/pgconn"
)

func init() { causes = append(causes, as[*pgconn.PgError]) }
