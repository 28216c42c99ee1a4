// What differs between databases.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace idgen::sql {

enum class Database { mysql, postgres, sqlite };

// A table that segments are drawn from: idgen's own. A module may know those of other generators.
struct Schema {
  std::string_view name;   // as in segment.schema
  std::string_view table;  // for messages and checks
  std::string_view where;  // of a tag's row; for the {words} here and below see Words
  std::string_view order;
  std::string_view counter;
  std::string_view step;        // the row's own, an expression; "" = it has none
  bool has_stride = false;      // columns delta and remainder
  std::uint64_t next_free = 0;  // 1: the counter is the next free number. 0: the highest that was granted
  bool joins_names = false;     // the row is called NAMESPACE.TAG
  std::size_t longest_key = 0;  // in characters; 0 = idgen's own limits
  // The row's name. Throws Error{value} for names that the schema's rows cannot have. Null: it has none.
  std::string (*key)(const Schema& schema, const std::string& name_space, const std::string& tag) = nullptr;

  bool is_own() const { return name == "idgen"; }
};

// A schema in one database.
struct SchemaText {
  std::string_view create_table;
  std::string_view columns;  // ns, tag, counter, grants, updated_unix_ms, step, rate, holder, stride, offset
  std::string_view insert;   // of a new row: columns and values
  // What is set besides the counter, with a comma in front: by a grant, an advance, any other change.
  std::string_view granted, advanced, changed;
};

struct Dialect {
  Database database;
  std::string_view number, text;  // marks of values. PostgreSQL derives the type of a literal, not of every parameter
  bool has_bytes;                 // texts of our own tables are bytes
  std::string_view now_ms;        // of the server, an expression of whole Unix milliseconds
  std::string_view greatest;      // of two numbers, a function
  // After the values of an INSERT: nothing happens if the row is there. "": it fails, which the connection knows.
  std::string_view if_absent, if_tag_absent;
  std::string_view insert_from;  // between SELECT ... and if_absent
  // In an UPDATE before WHERE. PostgreSQL's commit is then on disk before it is acknowledged, whatever a session says.
  std::string_view durably;
  std::string_view unless_tidb;  // for WHERE
  std::string_view is_tidb;      // an expression
  std::string_view create_namespaces, create_workers, create_log;
  std::string_view log_again;  // after the INSERT of a grant: its slot is used again
  SchemaText own;
};

// As the modules send it, over sessions that they have set up themselves.
extern const Dialect kMysql, kPostgres;
// Over a host's connections. What such a session says of durability, TiDB and rows that were not changed is unknown.
extern const Dialect kHostMysql, kHostPostgres, kHostSqlite;

inline constexpr Schema kOwnSchema = {.name = "idgen",
                                      .table = "idgen_segment",
                                      .where = " WHERE ns = {namespace} AND tag = {tag}",
                                      .order = " ORDER BY ns, tag",
                                      .counter = "max_id",
                                      .step = "step"};

}  // namespace idgen::sql
