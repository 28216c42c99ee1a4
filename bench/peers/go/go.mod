module github.com/idgen/idgen/bench/peers/go

go 1.24.0

require (
	github.com/google/uuid v1.6.0
	github.com/idgen/idgen v0.1.0
	github.com/oklog/ulid/v2 v2.1.1
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/mattn/go-sqlite3 v1.14.52 // indirect
)

replace github.com/idgen/idgen => ../../..
