module github.com/idgen/idgen/go/mysql

go 1.24.0

require (
	github.com/go-sql-driver/mysql v1.8.1
	github.com/idgen/idgen v0.1.0
)

require (
	filippo.io/edwards25519 v1.1.0 // indirect
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/mattn/go-sqlite3 v1.14.52 // indirect
)

replace github.com/idgen/idgen => ../..
