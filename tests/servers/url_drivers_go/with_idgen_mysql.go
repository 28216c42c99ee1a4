//go:build with_idgen_mysql

package main

import (
	"github.com/go-sql-driver/mysql"
	_ "github.com/idgen/idgen/go/mysql"
)

func init() { causes = append(causes, as[*mysql.MySQLError]) }
