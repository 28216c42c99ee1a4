//go:build cgo && !idgen_system

// All of core/src/sql.
#include "../core/src/sql/columns.cpp"
#include "../core/src/sql/dialect.cpp"
#include "../core/src/sql/fault.cpp"
#include "../core/src/sql/server_settings.cpp"
#include "../core/src/sql/statement.cpp"
#include "../core/src/sql/tables.cpp"
#include "../core/src/sql/terms.cpp"
#include "../core/src/sql/workers.cpp"
