module github.com/idgen/idgen/tests/servers/url_drivers_go

go 1.24.0

require (
	github.com/go-sql-driver/mysql v1.8.1
	github.com/idgen/idgen v0.1.0
	github.com/idgen/idgen/go/mysql v0.1.0
	github.com/idgen/idgen/go/pgx v0.1.0
	github.com/jackc/pgx/v5 v5.7.2
	github.com/lib/pq v1.12.3
)

require (
	filippo.io/edwards25519 v1.1.0 // indirect
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.2 // indirect
	github.com/mattn/go-sqlite3 v1.14.52 // indirect
	golang.org/x/crypto v0.31.0 // indirect
	golang.org/x/sync v0.10.0 // indirect
	golang.org/x/text v0.21.0 // indirect
)

replace (
	github.com/idgen/idgen => ../../..
	github.com/idgen/idgen/go/mysql => ../../../go/mysql
	github.com/idgen/idgen/go/pgx => ../../../go/pgx
)
