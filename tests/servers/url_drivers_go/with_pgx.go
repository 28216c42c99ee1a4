//go:build with_pgx

package main

import (
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib"
)

func init() { causes = append(causes, as[*pgconn.PgError]) }
