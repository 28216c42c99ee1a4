#include "sql/server_settings.hpp"

#include <map>

#include "idgen/concat.hpp"

namespace idgen::sql {
namespace {

using Settings = std::map<std::string, std::string>;

void demand(const Settings& settings, const char* name, std::string_view wanted, const char* otherwise,
            const Wording& wording, const Parameters& parameters) {
  const auto found = settings.find(name);
  if (found == settings.end() || found->second == wanted || parameters.accepts_loss(name)) return;
  throw Error(Status::store_unsafe, concat({wording.shown, ": the server runs with ", name, " = ", found->second, ": ",
                                            otherwise, ", and ids would be issued twice. Set it to ", wanted,
                                            ", or give that up with ?accept_loss=", name}));
}

void check_mysql(Connection& connection, const Dialect& dialect, const Schema& schema, const Wording& wording,
                 const Parameters& parameters, bool is_tidb) {
  const auto ask = [&](std::string_view text) {
    return connection.execute(Statement(dialect, About::segments, true) << text).rows;
  };
  Settings settings;
  for (const Row& row : ask("SHOW VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', "
                            "'tidb_super_read_only', 'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', "
                            "'log_bin', 'sync_binlog')"))
    settings[row.at(0).text] = row.at(1).text;
  for (const char* name : {"read_only", "super_read_only", "tidb_super_read_only"}) {
    if (settings[name] != "ON" && settings[name] != "1") continue;
    throw Error(Status::store_permission, concat({wording.shown, ": the server runs with ", name,
                                                  " = ON, it cannot grant anything; name the primary"}));
  }
  if (is_tidb) return;  // it accepts the names below, and commits through Raft whatever they say
  demand(settings, "innodb_flush_log_at_trx_commit", "1", "a crash can undo a commit of the last second", wording,
         parameters);
  demand(settings, "innodb_doublewrite", "ON", "a power loss can tear a page", wording, parameters);
  if (settings["log_bin"] == "ON") {
    demand(settings, "sync_binlog", "1", "after a power loss the replicas may not know the last commits", wording,
           parameters);
  }
  const std::string here = concat({" WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '", wording.table, "'"});
  const auto counter = ask(concat({"SELECT DATA_TYPE AS found FROM information_schema.COLUMNS", here,
                                   " AND COLUMN_NAME = '", schema.counter, "'"}));
  // In a rounded number, or in a text, which is calculated with as one, max_id + 1 may equal max_id.
  const std::string type = counter.empty() ? "int" : counter[0].at(0).text;
  if (type.find("int") == type.npos && type != "decimal") {
    throw Error(Status::store_version,
                concat({wording.shown, ": the column ", schema.counter, " of the table ", wording.table,
                        " is of the type ", type, ", which does not hold whole numbers exactly; it must be bigint"}));
  }
  const auto engine = ask(concat({"SELECT ENGINE AS found FROM information_schema.TABLES", here}));
  if (!engine.empty() && engine[0].at(0).text != "InnoDB") {
    throw Error(Status::store_unsafe,
                concat({wording.shown, ": the table ", wording.table, " has the engine ", engine[0].at(0).text,
                        ", which may forget a commit in a crash: ALTER TABLE ", wording.table, " ENGINE = InnoDB"}));
  }
}

void check_postgres(Connection& connection, const Dialect& dialect, const Wording& wording,
                    const Parameters& parameters) {
  const Answer answer = connection.execute(
      Statement(dialect, About::segments, true)
      << concat({"SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes, "
                 "CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END AS standby, CAST((SELECT relpersistence FROM "
                 "pg_class WHERE oid = to_regclass('",
                 wording.table, "')) AS text) AS kept"}));
  if (answer.rows.empty())
    throw Error(Status::store_damaged, concat({wording.shown, ": the driver returned no row for a SELECT"}));
  const Row& found = answer.rows.front();
  for (std::size_t column = 0; column < 2; ++column) {
    const char* const setting = column == 0 ? "fsync" : "full_page_writes";
    demand({{setting, found.at(column).text}}, setting, "on", "a power loss can undo a commit", wording, parameters);
  }
  if (found.at(2).text != "0") {
    throw Error(
        Status::store_permission,
        concat({wording.shown, ": the server is in recovery (a standby), it cannot grant anything; name the primary"}));
  }
  if (found.at(3).text == "u") {
    throw Error(Status::store_unsafe,
                concat({wording.shown, ": the table ", wording.table,
                        " is UNLOGGED: a crash empties it, and standbys do not have it: ALTER TABLE ", wording.table,
                        " SET LOGGED"}));
  }
}

}  // namespace

void check_server(Connection& connection, const Dialect& dialect, const Schema& schema, const Wording& wording,
                  const Parameters& parameters, bool is_tidb) {
  if (dialect.database == Database::mysql) {
    check_mysql(connection, dialect, schema, wording, parameters, is_tidb);
  } else {
    check_postgres(connection, dialect, wording, parameters);
  }
}

}  // namespace idgen::sql
