#include "sql/dialect.hpp"

namespace idgen::sql {

namespace {

constexpr std::string_view kColumns =
    "ns, tag, max_id, grants, updated_unix_ms, step, rate, holder, 1 AS stride, 0 AS remainder";
constexpr std::string_view kInsert =
    "(ns, tag, max_id, grants, updated_unix_ms) VALUES({namespace}, {tag}, {counter}, 0, {now})";
constexpr std::string_view kGranted =
    ", grants = grants + 1, rate = {rate}, holder = {holder}, updated_unix_ms = {now}";
constexpr std::string_view kAdvanced = ", grants = grants + 1, updated_unix_ms = {now}";
constexpr std::string_view kChanged = ", updated_unix_ms = {now}";

// idgen's own names are bytes, not characters, so that no collation makes two of them equal.
constexpr SchemaText kMysqlText = {.create_table = R"(CREATE TABLE IF NOT EXISTS idgen_segment (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  max_id BIGINT NOT NULL,
  grants BIGINT NOT NULL DEFAULT 0,
  updated_unix_ms BIGINT NOT NULL DEFAULT 0,
  step BIGINT NOT NULL DEFAULT 0,
  rate BIGINT NOT NULL DEFAULT 0,
  holder VARBINARY(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)) ENGINE = InnoDB)",
                                   .columns = kColumns,
                                   .insert = kInsert,
                                   .granted = kGranted,
                                   .advanced = kAdvanced,
                                   .changed = kChanged};

constexpr SchemaText kPostgresText = {.create_table = R"(CREATE TABLE IF NOT EXISTS idgen_segment (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  max_id bigint NOT NULL CHECK (max_id >= 0),
  grants bigint NOT NULL DEFAULT 0 CHECK (grants >= 0),
  updated_unix_ms bigint NOT NULL DEFAULT 0,
  step bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
  rate bigint NOT NULL DEFAULT 0,
  holder varchar(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)))",
                                      .columns = kColumns,
                                      .insert = kInsert,
                                      .granted = kGranted,
                                      .advanced = kAdvanced,
                                      .changed = kChanged};

constexpr SchemaText kSqliteText = {.create_table = R"(CREATE TABLE IF NOT EXISTS idgen_segment (
  ns TEXT NOT NULL,
  tag TEXT NOT NULL,
  max_id INTEGER NOT NULL CHECK (max_id >= 0),
  grants INTEGER NOT NULL DEFAULT 0,
  updated_unix_ms INTEGER NOT NULL DEFAULT 0,
  step INTEGER NOT NULL DEFAULT 0,
  rate INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)))",
                                    .columns = kColumns,
                                    .insert = kInsert,
                                    .granted = kGranted,
                                    .advanced = kAdvanced,
                                    .changed = kChanged};

constexpr std::string_view kIfAbsent = " ON CONFLICT DO NOTHING";
constexpr std::string_view kDurably = " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable";
constexpr std::string_view kLogAgain =
    " ON CONFLICT (ns, tag, slot) DO UPDATE SET grant_no = EXCLUDED.grant_no, first_id = EXCLUDED.first_id, last_id = "
    "EXCLUDED.last_id, granted_unix_ms = EXCLUDED.granted_unix_ms, holder = EXCLUDED.holder";

constexpr Dialect mysql(bool is_host) {
  return {.database = Database::mysql,
          .number = "?",
          .text = "?",
          .has_bytes = true,
          // By UTC: a local time comes twice in the hour when clocks go back.
          .now_ms = "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
          .greatest = "GREATEST",
          // If a session counts found rows, it counts a row that was there as one that was changed.
          .if_absent = is_host ? "" : " ON DUPLICATE KEY UPDATE ns = VALUES(ns)",
          .if_tag_absent = is_host ? "" : " ON DUPLICATE KEY UPDATE tag = tag",
          .insert_from = "",
          .durably = "",
          // TiDB first runs a statement that commits by itself optimistically, so what LAST_INSERT_ID gave, or how many
          // rows were changed, may not be what was committed. Druid's filter "wall" refuses VERSION() in a condition.
          .unless_tidb = is_host ? " AND LOCATE('TiDB', @@GLOBAL.version) = 0" : "",
          .is_tidb = is_host ? "LOCATE('TiDB', VERSION())" : "0",
          .create_namespaces = R"(CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns VARBINARY(512) NOT NULL PRIMARY KEY,
  format VARBINARY(1024) NOT NULL) ENGINE = InnoDB)",
          .create_workers = R"(CREATE TABLE IF NOT EXISTS idgen_worker (
  ns VARBINARY(512) NOT NULL,
  worker BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  owner VARBINARY(32) NOT NULL,
  hw BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  clock_ahead BIGINT NOT NULL,
  holder VARBINARY(512) NOT NULL,
  PRIMARY KEY (ns, worker)) ENGINE = InnoDB)",
          .create_log = R"(CREATE TABLE IF NOT EXISTS idgen_grant (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  slot BIGINT NOT NULL,
  grant_no BIGINT NOT NULL,
  first_id BIGINT NOT NULL,
  last_id BIGINT NOT NULL,
  granted_unix_ms BIGINT NOT NULL,
  holder VARBINARY(512) NOT NULL,
  PRIMARY KEY (ns, tag, slot),
  KEY by_last (ns, tag, last_id)) ENGINE = InnoDB)",
          .log_again =
              " ON DUPLICATE KEY UPDATE grant_no = VALUES(grant_no), first_id = VALUES(first_id), last_id = "
              "VALUES(last_id), granted_unix_ms = VALUES(granted_unix_ms), holder = VALUES(holder)",
          .own = kMysqlText};
}

constexpr Dialect postgres(bool is_host) {
  return {.database = Database::postgres,
          .number = is_host ? "CAST(? AS bigint)" : "?",
          .text = is_host ? "CAST(? AS varchar)" : "?",
          .has_bytes = false,
          .now_ms = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
          .greatest = "GREATEST",
          .if_absent = kIfAbsent,
          .if_tag_absent = kIfAbsent,
          .insert_from = is_host ? kDurably : "",
          .durably = is_host ? kDurably : "",
          .unless_tidb = "",
          .is_tidb = "0",
          .create_namespaces = R"(CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns varchar(128) NOT NULL PRIMARY KEY,
  format varchar(1024) NOT NULL))",
          .create_workers = R"(CREATE TABLE IF NOT EXISTS idgen_worker (
  ns varchar(128) NOT NULL,
  worker bigint NOT NULL CHECK (worker >= 0),
  fence bigint NOT NULL CHECK (fence > 0),
  owner varchar(32) NOT NULL,
  hw bigint NOT NULL,
  lease_until bigint NOT NULL,
  clock_ahead bigint NOT NULL,
  holder varchar(512) NOT NULL,
  PRIMARY KEY (ns, worker)))",
          .create_log = R"(CREATE TABLE IF NOT EXISTS idgen_grant (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  slot bigint NOT NULL,
  grant_no bigint NOT NULL,
  first_id bigint NOT NULL,
  last_id bigint NOT NULL,
  granted_unix_ms bigint NOT NULL,
  holder varchar(512) NOT NULL,
  PRIMARY KEY (ns, tag, slot),
  UNIQUE (ns, tag, last_id, slot)))",
          .log_again = kLogAgain,
          .own = kPostgresText};
}

}  // namespace

constinit const Dialect kMysql = mysql(false), kHostMysql = mysql(true);
constinit const Dialect kPostgres = postgres(false), kHostPostgres = postgres(true);

constinit const Dialect kHostSqlite = {.database = Database::sqlite,
                                       .number = "?",
                                       .text = "?",
                                       .has_bytes = false,
                                       .now_ms = "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
                                       .greatest = "MAX",
                                       .if_absent = kIfAbsent,
                                       .if_tag_absent = kIfAbsent,
                                       .insert_from = " WHERE 1 = 1",
                                       .durably = "",
                                       .unless_tidb = "",
                                       .is_tidb = "0",
                                       .create_namespaces = R"(CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns TEXT NOT NULL PRIMARY KEY,
  format TEXT NOT NULL))",
                                       .create_workers = R"(CREATE TABLE IF NOT EXISTS idgen_worker (
  ns TEXT NOT NULL,
  worker INTEGER NOT NULL CHECK (worker >= 0),
  fence INTEGER NOT NULL CHECK (fence > 0),
  owner TEXT NOT NULL,
  hw INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  clock_ahead INTEGER NOT NULL,
  holder TEXT NOT NULL,
  PRIMARY KEY (ns, worker)))",
                                       .create_log = R"(CREATE TABLE IF NOT EXISTS idgen_grant (
  ns TEXT NOT NULL,
  tag TEXT NOT NULL,
  slot INTEGER NOT NULL,
  grant_no INTEGER NOT NULL,
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  granted_unix_ms INTEGER NOT NULL,
  holder TEXT NOT NULL,
  PRIMARY KEY (ns, tag, slot)))",
                                       .log_again = kLogAgain,
                                       .own = kSqliteText};

}  // namespace idgen::sql
