module github.com/idgen/idgen

go 1.24.0

require (
	github.com/BurntSushi/toml v1.6.0
	github.com/mattn/go-sqlite3 v1.14.52
)
