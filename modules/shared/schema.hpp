// The tables that segments are drawn from: idgen's own, and those of Leaf, tinyid and CosId, with their own arithmetic,
// so that both may draw from one row at the same time. What is sent is in core/src/sql; each database adds the texts of
// the others' tables.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "module.hpp"
#include "sql.hpp"
#include "sql/tables.hpp"

namespace idgen::module {

using sql::Schema;

// The row's name. Throws Error{value} for names that the schema's rows cannot have.
inline std::string key_of_row(const Schema& schema, const std::string& name_space, const std::string& tag) {
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

inline constexpr Schema kSchemas[] = {
    sql::kOwnSchema,
    {.name = "leaf",
     .table = "leaf_alloc",
     .where = " WHERE biz_tag = {key}",
     .order = " ORDER BY biz_tag",
     .counter = "max_id",
     .step = "step",
     .next_free = 1,
     .longest_key = 128,
     .key = key_of_row},
    {.name = "tinyid",
     .table = "tiny_id_info",
     .where = " WHERE biz_type = {key}",
     .order = " ORDER BY biz_type",
     .counter = "max_id",
     .step = "COALESCE(step, 0)",
     .has_stride = true,
     .longest_key = 63,
     .key = key_of_row},
    {.name = "cosid",
     .table = "cosid",
     .where = " WHERE name = {key}",
     .order = " ORDER BY name",
     .counter = "last_max_id",
     .step = "",
     .joins_names = true,
     .longest_key = 100,
     .key = key_of_row},
};

// The rows of serials; see key_producer.hpp.
inline constexpr Schema kKeyProducer = {
    .name = "key_producer", .table = "key_producer", .where = {}, .order = {}, .counter = {}, .step = {}};

// What a module knows of its database: the dialect, and the others' tables in the order of kSchemas.
struct SchemaDialect {
  const sql::Dialect& dialect;
  std::span<const sql::SchemaText> others;
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

inline const sql::SchemaText& text_of(const SchemaDialect& known, const Settings& settings) {
  if (schema_of(settings).is_own()) return known.dialect.own;
  for (std::size_t i = 0; i < known.others.size(); ++i)
    if (kSchemas[i + 1].name == settings.schema) return known.others[i];
  throw_schema_unknown(settings);
}

inline sql::Wording wording_of(const Settings& settings) {
  const Schema& schema = schema_of(settings);
  return {.shown = settings.url.shown(),
          .table = schema.table,
          .schema = schema.name,
          .how_to_create = sql::kHowToCreate,
          .how_to_create_workers = sql::kHowToCreateWorkers,
          .how_to_create_grants = sql::kHowToCreateGrants};
}

// For describe().
inline std::string schema_sentence(const Schema& schema) {
  if (schema.is_own()) return "";
  return "schema: " + std::string(schema.name) + "; the rows of " + std::string(schema.table) +
         " are shared with the original, with its arithmetic. What the original does not check, idgen cannot check "
         "for it\n";
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

// Each part quoted. Throws Error{value}.
template <class Connection>
std::string path_of(Connection& server, const std::string& what, const std::string& name) {
  std::string path;
  for (const std::string& part : parts_of_name(what, name)) path += (path.empty() ? "" : ".") + server.identifier(part);
  return path;
}

// What create() sends, for people. `literal` writes a text.
inline std::string statements_of(const SchemaDialect& known, const Settings& settings, const std::string& name_space,
                                 const std::string& tag, std::string (*literal)(const std::string&)) {
  const sql::SchemaText& text = text_of(known, settings);
  return std::string(text.create_table) + ";\n" +
         (settings.grant_log != 0 ? std::string(known.dialect.create_log) + ";\n" : "") +
         with_literals(sql::insertion(schema_of(settings), known.dialect, text, settings.step, name_space, tag, 0),
                       literal) +
         ";\n";
}

// A store of these tables. Server, a connection, is an sql::Connection and has describe().
template <class Server>
class SchemaStore : public ConnectedStore<Server>, public WindowStore {
  using Session = sql::Tables::Session;

 public:
  SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) final {
    return in_session([&](const Session& on) { return tables_.take(on, name_space, tag, request); });
  }
  void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused) final {
    check_segment_return(last, unused);
    if (unused != 0) in_session([&](const Session& on) { tables_.give_back(on, name_space, tag, last, unused); });
  }
  void create(const std::string& name_space, const std::string& tag, std::uint64_t above) final {
    in_session([&](const Session& on) { tables_.create(on, name_space, tag, above); });
  }
  void create_store() final {
    in_session([&](const Session& on) { tables_.create_tables(on); });
  }
  SegmentInfo show(const std::string& name_space, const std::string& tag) final {
    return in_session([&](const Session& on) { return tables_.show(on, name_space, tag); });
  }
  SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) final {
    return in_session([&](const Session& on) { return tables_.advance(on, name_space, tag, target); });
  }
  SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) final {
    check_step_of(schema_, step);
    return in_session([&](const Session& on) { return tables_.set_step(on, name_space, tag, step); });
  }
  void list(const std::function<void(const SegmentInfo&)>& row) final {
    const auto found = in_session([&](const Session& on) { return tables_.list(on); });
    for (const SegmentInfo& info : found) row(info);
  }
  LoggedGrant grant_of(const std::string& name_space, const std::string& tag, std::uint64_t id) {
    return in_session([&](const Session& on) { return tables_.grant_of(on, name_space, tag, id); });
  }
  NumberedColumn column_of(const std::string& table, const std::string& column,
                           const std::optional<std::string>& sequence) {
    return in_session([&](const Session& on) { return tables_.column_of(on, table, column, sequence); });
  }
  std::string describe() final { return server_ + kWorkersSentence + schema_sentence(schema_); }

  Window window_take(const WindowRequest& request) final {
    return in_session([&](const Session& on) { return tables_.window_take(on, request); });
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) final {
    in_session([&](const Session& on) { tables_.window_return(on, name_space, worker, fence, end_ms, used_ms); });
  }
  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) final {
    return in_session([&](const Session& on) { return tables_.window_show(on, name_space, worker); });
  }
  std::vector<WindowInfo> window_list(const std::string& name_space, bool numbers_only) final {
    return in_session([&](const Session& on) { return tables_.window_list(on, name_space, numbers_only); });
  }
  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) final {
    in_session([&](const Session& on) { tables_.window_repair(on, name_space, worker, seen, hw_ms); });
  }
  void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                      bool even_if_live) final {
    in_session([&](const Session& on) { tables_.window_release(on, name_space, worker, seen, even_if_live); });
  }
  std::string namespace_format(const std::string& name_space, const std::string& format) final {
    return in_session([&](const Session& on) { return tables_.namespace_format(on, name_space, format); });
  }

 protected:
  SchemaStore(const Settings& settings, std::span<const std::string_view> parameters, const SchemaDialect& known)
      : ConnectedStore<Server>(settings, parameters),
        schema_(schema_of(settings)),
        dialect_(known.dialect),
        text_(text_of(known, settings)),
        terms_{.step = settings.step, .grant_log = settings.grant_log, .create = settings.create},
        tables_(wording_of(settings), schema_) {
    this->use([&](Server& server) {
      if (terms_.create) tables_.create_tables({server, dialect_, text_, terms_});
      server_ = server.describe();
    });
  }

 private:
  template <class Work>
  auto in_session(Work&& work) {
    return this->use([&](Server& server) { return work(Session{server, dialect_, text_, terms_}); });
  }

  const Schema& schema_;
  const sql::Dialect& dialect_;
  const sql::SchemaText& text_;
  const sql::Terms terms_;
  sql::Tables tables_;
  std::string server_;  // what describe() says of it
};

}  // namespace idgen::module
