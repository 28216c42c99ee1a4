module github.com/idgen/idgen/bench/peers/go

go 1.24.0

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/google/uuid v1.6.0
	github.com/idgen/idgen v0.1.0
	github.com/oklog/ulid/v2 v2.1.1
	github.com/rs/xid v1.6.0
	github.com/sony/sonyflake v1.2.0
	github.com/sony/sonyflake/v2 v2.2.0
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/mattn/go-sqlite3 v1.14.52 // indirect
)

replace github.com/idgen/idgen => ../../..
