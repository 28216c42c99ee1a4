// The tables that segments are drawn from: idgen's own, and those of Leaf, tinyid and CosId, with their own arithmetic,
// so that both may draw from one row at the same time. This file has what holds in every database; each database adds
// its statements as a Dialect.
#pragma once

#include <algorithm>
#include <charconv>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grant_log.hpp"
#include "module.hpp"
#include "sql.hpp"

namespace idgen::module {

struct Schema {
  std::string_view name;   // as in segment.schema
  std::string_view table;  // for messages and checks
  std::string_view where;  // of a tag's row
  std::string_view order;
  std::string_view counter;
  std::string_view step;        // the row's own, an expression; "" = it has none
  bool has_stride = false;      // columns delta and remainder
  std::uint64_t next_free = 0;  // 1: the counter is the next free number. 0: the highest that was granted
  bool joins_names = false;     // the row is called NAMESPACE.TAG
  std::size_t longest_key = 0;  // in characters; 0 = idgen's own limits

  bool is_own() const { return name == "idgen"; }
};

inline constexpr Schema kSchemas[] = {
    {.name = "idgen",
     .table = "idgen_segment",
     .where = " WHERE ns = {namespace} AND tag = {tag}",
     .order = " ORDER BY ns, tag",
     .counter = "max_id",
     .step = "step"},
    {.name = "leaf",
     .table = "leaf_alloc",
     .where = " WHERE biz_tag = {key}",
     .order = " ORDER BY biz_tag",
     .counter = "max_id",
     .step = "step",
     .next_free = 1,
     .longest_key = 128},
    {.name = "tinyid",
     .table = "tiny_id_info",
     .where = " WHERE biz_type = {key}",
     .order = " ORDER BY biz_type",
     .counter = "max_id",
     .step = "COALESCE(step, 0)",
     .has_stride = true,
     .longest_key = 63},
    {.name = "cosid",
     .table = "cosid",
     .where = " WHERE name = {key}",
     .order = " ORDER BY name",
     .counter = "last_max_id",
     .step = "",
     .joins_names = true,
     .longest_key = 100},
};

// The rows of serials; see key_producer.hpp.
inline constexpr Schema kKeyProducer = {
    .name = "key_producer", .table = "key_producer", .where = {}, .order = {}, .counter = {}, .step = {}};

// A schema in one database. The order of an array of them is that of kSchemas. {words} stand for values, see filled().
struct Dialect {
  std::string_view create_table;
  std::string_view columns;  // ns, tag, counter, grants, updated_unix_ms, step, rate, holder, stride, offset
  std::string_view insert;   // of a new row: columns and values
  // What is set besides the counter, with a comma in front: by a grant, an advance, any other change.
  std::string_view granted, advanced, changed;
  std::string_view create_log = {};  // the table of grant_log.hpp, of idgen's own schema
};

[[noreturn]] inline void throw_schema_unknown(const Settings& settings) {
  throw Error(Status::unsupported, settings.url.shown() + ": segment.schema = " + in_quotes(settings.schema) +
                                       " is not known to this module; install library and modules of one version");
}

inline const Schema& schema_of(const Settings& settings) {
  if (settings.schema == kKeyProducer.name) return kKeyProducer;
  for (const Schema& schema : kSchemas)
    if (schema.name == settings.schema) return schema;
  throw_schema_unknown(settings);
}

inline const Dialect& dialect_of(std::span<const Dialect> dialects, const Settings& settings) {
  for (std::size_t i = 0; i < dialects.size(); ++i)
    if (kSchemas[i].name == settings.schema) return dialects[i];
  throw_schema_unknown(settings);
}

using Words = std::initializer_list<std::pair<std::string_view, std::string>>;

// `text` with each {word} replaced, in one pass: what is put in is not looked at again.
inline std::string filled(std::string_view text, const Words& words) {
  std::string out;
  for (;;) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == text.npos) return out;
    const std::size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    for (const auto& [word, value] : words)
      if (word == name) out += value;
    text.remove_prefix(close + 1);
  }
}

// What a row says about grants. A grant's statement names the terms it assumes, so that one round trip is enough and no
// stale terms are used.
struct RowTerms {
  std::uint64_t step = 0;
  std::uint64_t stride = 1;
  std::uint64_t offset = 0;
  bool operator==(const RowTerms&) const = default;
};

struct SchemaRow {
  SegmentInfo info;
  std::uint64_t counter = 0;
  std::string stride, offset;  // as stored: an invalid one prevents only grants
};

// At least one stride: less could hold no id at all.
inline std::uint64_t grant_size(const RowTerms& terms, const SegmentRequest& request) {
  return std::max(grant_size(terms.step, request), terms.stride > 1 ? terms.stride : 0);
}

inline std::string and_terms(const Schema& schema, const RowTerms& terms) {
  std::string text;
  if (!schema.step.empty()) text += " AND " + std::string(schema.step) + " = " + std::to_string(terms.step);
  if (schema.has_stride)
    text += " AND delta = " + std::to_string(terms.stride) + " AND remainder = " + std::to_string(terms.offset);
  return text;
}

// A condition for WHERE: `count` more can be granted.
inline std::string and_room(const Schema& schema, std::uint64_t count) {
  return " AND " + std::string(schema.counter) + " BETWEEN " + std::to_string(schema.next_free) + " AND " +
         std::to_string(kLargestNumber - count);
}

// The grant that moved the counter to `counter`.
inline SegmentGrant grant_up_to(const Schema& schema, std::uint64_t counter, std::uint64_t count,
                                const RowTerms& terms) {
  return {
      .first = counter - count + 1 - schema.next_free, .count = count, .stride = terms.stride, .offset = terms.offset};
}

// Throws why a row with the right terms granted nothing; returns if a retry may succeed.
inline void check_room(const Schema& schema, const std::string& name_space, const std::string& tag,
                       const SchemaRow& row, std::uint64_t count) {
  if (row.counter < schema.next_free) {
    throw Error(Status::unsupported, "tag " + in_quotes(tag) + ": its row in " + std::string(schema.table) +
                                         " has max_id = " + std::to_string(row.counter) +
                                         ", so the next id were 0, which idgen does not issue. Begin with 1: `idgen "
                                         "segment advance --to 0`");
  }
  advance_by(name_space, tag, row.counter, count);
}

// Under row-level security, a trigger or a rule, a statement may succeed and change nothing. A statement may also miss
// a row that somebody else changes at that moment, but not this many times in a row.
inline constexpr int kMostUnchanged = 3;

[[noreturn]] inline void throw_unchanged(const Schema& schema, const std::string& shown, const std::string& tag) {
  const std::string table(schema.table);
  throw Error(Status::store_permission, shown + ": the row of tag " + in_quotes(tag) + " in " + table +
                                            " is there, but UPDATE does not change it as asked, without an error: "
                                            "row-level security, a trigger or a rule of " +
                                            table + " prevents that. Allow this user to change the row");
}

// For describe().
inline std::string schema_sentence(const Schema& schema) {
  if (schema.is_own()) return "";
  return "schema: " + std::string(schema.name) + "; the rows of " + std::string(schema.table) +
         " are shared with the original, with its arithmetic. What the original does not check, idgen cannot check "
         "for it\n";
}

// Throws Error{store_damaged}.
inline RowTerms terms_of(const Schema& schema, const SchemaRow& row) {
  const auto number = [](const std::string& text) {
    std::uint64_t found = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
    return error == std::errc{} && end == text.data() + text.size() ? found : kLargestNumber;
  };
  const RowTerms terms{row.info.step, number(row.stride), number(row.offset)};
  if (terms.stride >= 1 && terms.stride < kLargestNumber && terms.offset < terms.stride) return terms;
  throw Error(Status::store_damaged, "tag " + in_quotes(row.info.tag) + ": its row in " + std::string(schema.table) +
                                         " says delta = " + row.stride + ", remainder = " + row.offset +
                                         "; allowed: delta from 1 on, remainder from 0 to delta - 1. Correct the row");
}

// The counter value that puts the next grant above `highest`. Throws Error{value}.
inline std::uint64_t counter_above(const Schema& schema, std::uint64_t highest) {
  check_advance(highest);
  if (highest > kLargestNumber - schema.next_free) {
    throw Error(Status::value, "a counter of the schema " + std::string(schema.name) + " cannot be advanced to " +
                                   std::to_string(highest) + "; allowed: 0 to 9223372036854775806");
  }
  return highest + schema.next_free;
}

// The row's name, if it has one. Throws Error{value} for names that the schema's rows cannot have.
inline std::string key_of_row(const Schema& schema, const std::string& name_space, const std::string& tag) {
  if (schema.is_own()) return "";
  if (!schema.joins_names && name_space != "default") {
    throw Error(Status::value, "namespace = " + in_quotes(name_space) + " with segment.schema = " +
                                   std::string(schema.name) + ": rows of " + std::string(schema.table) +
                                   " have no namespace. Leave namespace at \"default\", and use different tags");
  }
  std::string key = schema.joins_names ? name_space + "." + tag : tag;
  const auto characters = static_cast<std::size_t>(
      std::count_if(key.begin(), key.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  if (characters > schema.longest_key) {
    throw Error(Status::value, in_quotes(key) + " has " + std::to_string(characters) + " characters; a row of " +
                                   std::string(schema.table) + " has a name of at most " +
                                   std::to_string(schema.longest_key));
  }
  return key;
}

// Splits NAMESPACE.TAG at the last dot.
inline void split_name(SegmentInfo& info, const std::string& key) {
  const std::size_t dot = key.rfind('.');
  info.name_space = dot == key.npos ? "" : key.substr(0, dot);
  info.tag = dot == key.npos ? key : key.substr(dot + 1);
}

// Throws Error{unsupported, value}.
inline void check_step_of(const Schema& schema, std::uint64_t step) {
  check_step(step);
  if (schema.is_own()) return;
  if (schema.step.empty()) {
    throw Error(Status::unsupported, "a row of " + std::string(schema.table) +
                                         " has no step: with segment.schema = " + std::string(schema.name) +
                                         " each generator uses its own segment.step, and the original its own");
  }
  if (step == 0) {
    throw Error(Status::value, "a step of 0 cannot be set with segment.schema = " + std::string(schema.name) +
                                   ": the original would draw empty segments for ever; allowed: 1 to " +
                                   std::to_string(kLargestStep));
  }
}

// What a new row's step is. Throws Error{value}.
inline std::string step_of_new_row(const Schema& schema, const Settings& settings) {
  if (!schema.is_own() && !schema.step.empty() && settings.step == 0)
    throw Error(Status::value, "a row of " + std::string(schema.table) + " needs a step; set segment.step");
  return std::to_string(settings.step);
}

// "a.b" in parts, none of them empty. Throws Error{value}.
inline std::vector<std::string> parts_of_name(const std::string& what, const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (const std::string& part : parts)
    if (part.empty()) throw Error(Status::value, what + " " + in_quotes(name) + ": a name is missing");
  return parts;
}

// Each part quoted. Throws Error{value}.
template <class Connection>
std::string path_of(Connection& server, const std::string& what, const std::string& name) {
  std::string path;
  for (const std::string& part : parts_of_name(what, name)) path += (path.empty() ? "" : ".") + server.identifier(part);
  return path;
}

// Throws Error{value} for columns of text or floating point, whose MAX() may be below ids in use: as text 9 is larger
// than 10, and floating point may be rounded.
inline void check_column(const std::string& table, const std::string& column, bool is_exact) {
  if (is_exact) return;
  throw Error(Status::value, "the column " + column + " of " + table +
                                 " is not of a type of whole numbers, so its largest value need not be the largest id. "
                                 "Find that by hand, and use `idgen segment advance`");
}

// MAX() of a column, as text; "" is NULL. Throws Error{value} if it is not a whole number up to 2^63 - 1.
inline std::uint64_t largest_of(const std::string& table, const std::string& column, const std::string& text) {
  if (text.empty() || text[0] == '-') return 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number <= kLargestNumber) return number;
  throw Error(Status::value,
              "the largest " + column + " of " + table + " is " + in_quotes(text) + ", no whole number up to 2^63 - 1");
}

// A store of these tables: the schema and its dialect, and what is the same in every database. Connection has run(sql),
// quoted(text) and create_workers().
template <class Connection>
class SchemaStore : public ConnectedStore<Connection> {
 public:
  void create(const std::string& name_space, const std::string& tag, std::uint64_t above) final {
    this->use([&](Connection& server) {
      key_of_row(schema_, name_space, tag);  // before the table is made
      counter_above(schema_, above);
      make_segments(server);
      if (!insert(server, name_space, tag, above))
        throw_tag_exists(name_space, tag, read(server, name_space, tag).info.max_id);
    });
  }
  void create_store() final {
    this->use([&](Connection& server) { make_tables(server); });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) final {
    return this->use([&](Connection& server) { return read(server, name_space, tag).info; });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) final {
    check_step_of(schema_, step);
    return this->use([&](Connection& server) {
      server.run("UPDATE " + table_ + " SET step = " + number(step) + changed(dialect_.changed) +
                 where_tag(server, name_space, tag));
      SchemaRow now = read(server, name_space, tag);
      if (now.info.step != step) throw_unchanged(schema_, this->shown_, tag);
      return now.info;
    });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) final {
    this->use([&](Connection& server) {
      for (const SchemaRow& found : rows_of(server, select() + std::string(schema_.order), true)) row(found.info);
    });
  }

 protected:
  // `dialects` in the order of kSchemas.
  SchemaStore(const Settings& settings, std::span<const std::string_view> known, std::span<const Dialect> dialects)
      : ConnectedStore<Connection>(settings, known),
        schema_(schema_of(settings)),
        dialect_(dialect_of(dialects, settings)) {}

  // What a statement that begins with select() finds. As a list: a row that cannot be read has its damage.
  virtual std::vector<SchemaRow> rows_of(Connection& server, const std::string& sql, bool is_list) const = 0;
  // False: it already exists.
  virtual bool insert(Connection& server, const std::string& name_space, const std::string& tag,
                      std::uint64_t above) const = 0;

  // Those of segments, and in idgen's own schema those of workers.
  void make_tables(Connection& server) const {
    make_segments(server);
    if (schema_.is_own()) server.create_workers();
  }
  void make_segments(Connection& server) const {
    server.run(std::string(dialect_.create_table));
    if (has_log()) server.run(std::string(dialect_.create_log));
  }
  // What make_segments() runs, for people.
  static std::string tables_text(const Dialect& dialect, const Settings& settings) {
    return std::string(dialect.create_table) + ";\n" +
           (settings.grant_log != 0 ? std::string(dialect.create_log) + ";\n" : "");
  }
  bool has_log() const { return this->settings_.grant_log != 0; }
  // Throws Error{unsupported}.
  void check_log() const {
    if (schema_.is_own()) return;
    throw Error(Status::unsupported, "the rows of " + table_ + " remember no grants but the latest");
  }
  std::optional<SchemaRow> find(Connection& server, const std::string& where) const {
    std::vector<SchemaRow> found = rows_of(server, select() + where, false);
    return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
  }
  SchemaRow read(Connection& server, const std::string& name_space, const std::string& tag) const {
    std::optional<SchemaRow> found = find(server, where_tag(server, name_space, tag));
    if (!found) throw_tag_unknown(name_space, tag, this->shown_, kHowToCreate);
    return std::move(*found);
  }

  static std::string number(std::uint64_t value) { return std::to_string(value); }
  static std::string now() { return std::to_string(store_clock_unix_ms()); }
  static std::string changed(std::string_view text) { return filled(text, {{"now", now()}}); }

  // Names as literals of SQL.
  static std::string insert_text(const Schema& schema, const Dialect& dialect, const Settings& settings,
                                 const std::string& name_space, const std::string& tag, const std::string& key,
                                 std::uint64_t above) {
    return "INSERT INTO " + std::string(schema.table) +
           filled(dialect.insert, {{"namespace", name_space},
                                   {"tag", tag},
                                   {"key", key},
                                   {"counter", number(counter_above(schema, above))},
                                   {"step", step_of_new_row(schema, settings)},
                                   {"now", now()}});
  }
  std::string select() const { return "SELECT " + std::string(dialect_.columns) + " FROM " + table_; }
  std::string update() const { return "UPDATE " + table_ + " SET " + counter_ + " = "; }
  std::string where_tag(Connection& server, const std::string& name_space, const std::string& tag) const {
    return filled(schema_.where, {{"namespace", server.quoted(name_space)},
                                  {"tag", server.quoted(tag)},
                                  {"key", server.quoted(key_of_row(schema_, name_space, tag))}});
  }

  // Of Dialect::columns, as it is written there.
  std::string_view column_name(unsigned column) const {
    std::string_view rest = dialect_.columns;
    for (int depth = 0;; --column) {
      std::size_t end = 0;
      for (; end < rest.size() && (depth != 0 || rest[end] != ','); ++end)
        depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
      if (column == 0 || end == rest.size()) return rest.substr(0, end);
      rest.remove_prefix(end + 2);
    }
  }
  // Reads Dialect::columns with stored(column) and text(column).
  template <class Number, class Text>
  SchemaRow row_of(bool is_list, Number&& stored, Text&& text) const {
    SchemaRow row;
    const auto read = [&] {
      read_row(row, stored, text);
      return std::move(row.info);
    };
    row.info = is_list ? row_or_damage(read) : read();
    return row;
  }
  template <class Number, class Text>
  void read_row(SchemaRow& row, Number&& stored, Text&& text) const {
    const auto number = [&](unsigned column) {
      try {
        return stored(column);
      } catch (const Error& error) {
        throw Error(error.status(), "tag " + in_quotes(text(1)) + ", column " + std::string(column_name(column)) +
                                        ": " + error.message());
      }
    };
    row.counter = number(2);
    row.info = {.name_space = text(0),
                .tag = text(1),
                .max_id = row.counter - std::min(row.counter, schema_.next_free),
                .grants = number(3),
                .updated_unix_ms = static_cast<std::int64_t>(number(4)),
                .step = number(5),
                .rate = number(6),
                .holder = text(7)};
    if (schema_.joins_names) split_name(row.info, text(1));
    row.stride = text(8);
    row.offset = text(9);
  }

  const Schema& schema_;
  const Dialect& dialect_;
  const std::string table_{schema_.table};
  const std::string counter_{schema_.counter};
};

}  // namespace idgen::module
