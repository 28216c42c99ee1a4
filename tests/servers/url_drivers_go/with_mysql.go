//go:build with_mysql

package main

import "github.com/go-sql-driver/mysql"

func init() { causes = append(causes, as[*mysql.MySQLError]) }
