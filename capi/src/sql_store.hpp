// A store in an SQL database over connections of the host: what core/src/sql sends goes through the host's callbacks.
#pragma once

#include <functional>
#include <vector>

#include "border.hpp"
#include "host_context.hpp"
#include "idgen/sql.h"
#include "idgen/store.hpp"
#include "sql/tables.hpp"

namespace idgen::capi {

// What the host has written of its failure.
class HostFailure {
 public:
  HostFailure() { error_.struct_size = sizeof error_; }
  idgen_sql_error_t* out() { return &error_; }
  const char* message() const { return error_.message; }

  sql::Fault fault(idgen_status_t status) {
    error_.message[sizeof error_.message - 1] = '\0';
    error_.sqlstate[sizeof error_.sqlstate - 1] = '\0';
    if (status != IDGEN_E_HOST) return sql::Fault::unknown;
    return sql::fault_of(error_.code, error_.sqlstate, error_.message);
  }
  [[noreturn]] void raise(idgen_status_t status, sql::About about, const sql::Wording& wording) {
    const sql::Fault found = fault(status);
    if (status == IDGEN_E_HOST) {
      sql::throw_fault(found, concat({wording.shown, ": ", error_.message}), about, wording, error_.retry_after_ns,
                       error_.cause);
    }
    throw Error(static_cast<Status>(status), *error_.message ? error_.message : idgen_status_message(status),
                error_.retry_after_ns, error_.cause);
  }

 private:
  idgen_sql_error_t error_{};
};

// A connection of the host for one call.
class HostConnection final : public sql::Connection {
 public:
  HostConnection(const idgen_sql_connections_t& host, void* ctx, void* connection, const sql::Wording& wording)
      : host_(host), ctx_(ctx), connection_(connection), wording_(wording) {}
  ~HostConnection() override { end(); }

  // False: it is inside a transaction. Nothing is sent where the driver knows that.
  bool is_idle(const sql::Dialect& dialect) {
    int32_t inside = -1;
    if (host_.in_transaction) {
      HostFailure failure;
      const idgen_status_t status = host_.in_transaction(ctx_, connection_, &inside, failure.out());
      has_failed_ = status != IDGEN_OK;
      if (has_failed_) failure.raise(status, sql::About::segments, wording_);
    }
    if (inside >= 0) return inside == 0;
    if (dialect.database != sql::Database::mysql) {
      throw Error(Status::unsupported,
                  "the driver does not tell whether a connection is inside a transaction, and what is inside one must "
                  "be left alone: nothing was asked of it. Use a driver that tells");
    }
    // Fails inside a transaction and else does nothing: a transaction may write unless it is told otherwise.
    is_begun_ = true;
    sql::Statement question(dialect, sql::About::segments);
    question << "SET TRANSACTION READ WRITE";
    HostFailure failure;
    sql::Answer answer;
    const idgen_status_t status = send(question, answer, failure);
    is_begun_ = false;
    if (status == IDGEN_OK) return true;
    if (failure.fault(status) == sql::Fault::inside_transaction) return false;
    fail(status, failure, sql::About::segments);
  }

  sql::Answer execute(const sql::Statement& statement) override {
    HostFailure failure;
    sql::Answer answer;
    const idgen_status_t status = send(statement, answer, failure);
    if (status == IDGEN_OK) return answer;
    if (!is_begun_ && failure.fault(status) == sql::Fault::row_is_there) {
      host_.rollback(ctx_, connection_);
      return {};
    }
    fail(status, failure, statement.about);
  }
  void begin() override {
    is_begun_ = true;
    call(host_.begin);
  }
  void commit() override {
    call(host_.commit);
    is_begun_ = false;
  }
  void rollback() override { end(); }

  // After a failure of the host's.
  bool has_failed() const { return has_failed_; }
  void end() noexcept {
    if (!is_begun_) return;
    is_begun_ = false;
    host_.rollback(ctx_, connection_);
  }

 private:
  // No exception may pass through the host.
  struct Sink {
    std::vector<sql::Row>& rows;
    bool lacks_memory = false;
  };
  static void keep(void* sink, const idgen_sql_value_t* values, std::size_t count) noexcept {
    auto& kept = *static_cast<Sink*>(sink);
    try {
      sql::Row& row = kept.rows.emplace_back();
      for (std::size_t i = 0; i < count; ++i) {
        sql::Cell& cell = row.cells.emplace_back();
        cell.is_null = values[i].kind == IDGEN_SQL_NULL;
        cell.is_exact = cell.is_null || values[i].kind == IDGEN_SQL_INTEGER;
        if (values[i].kind == IDGEN_SQL_INTEGER) {
          cell.text = std::to_string(values[i].number);
        } else if (!cell.is_null) {
          cell.text.assign(values[i].text, values[i].size);
        }
      }
    } catch (...) {
      kept.lacks_memory = true;
    }
  }

  idgen_status_t send(const sql::Statement& statement, sql::Answer& answer, HostFailure& failure) {
    std::vector<idgen_sql_value_t> values;
    for (const sql::Value& value : statement.values) {
      values.push_back({.kind = static_cast<int32_t>(value.kind),
                        .reserved = 0,
                        .number = value.number,
                        .text = value.text.data(),
                        .size = value.text.size()});
    }
    Sink sink{answer.rows};
    const idgen_sql_statement_t asked{.struct_size = sizeof asked,
                                      .is_alone = is_begun_ ? 0u : 1u,
                                      .sql = statement.text.c_str(),
                                      .values = values.data(),
                                      .count = values.size(),
                                      .each = statement.has_rows ? keep : nullptr,
                                      .rows = &sink};
    idgen_sql_outcome_t outcome{};
    outcome.struct_size = sizeof outcome;
    const idgen_status_t status = host_.execute(ctx_, connection_, &asked, &outcome, failure.out());
    if (sink.lacks_memory) throw std::bad_alloc();
    answer.changed = outcome.changed;
    answer.last_insert_id = outcome.last_insert_id;
    return status;
  }
  template <class F>
  void call(F function) {
    HostFailure failure;
    const idgen_status_t status = function(ctx_, connection_, failure.out());
    if (status != IDGEN_OK) fail(status, failure, sql::About::segments);
  }
  [[noreturn]] void fail(idgen_status_t status, HostFailure& failure, sql::About about) {
    has_failed_ = true;
    is_begun_ = true;
    end();  // whether or not one was begun: many drivers begin by themselves
    failure.raise(status, about, wording_);
  }

  const idgen_sql_connections_t& host_;
  void* const ctx_;
  void* const connection_;
  const sql::Wording& wording_;
  bool is_begun_ = false;
  bool has_failed_ = false;
};

// All but where a connection comes from.
class SqlStore : public Store, public WindowStore {
 public:
  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    SegmentGrant grant;
    on_connection([&](const Session& on) { grant = tables_.take(on, name_space, tag, request); });
    return grant;
  }
  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    if (unused == 0) return;
    on_connection([&](const Session& on) { tables_.give_back(on, name_space, tag, last, unused); });
  }
  void create() override {
    on_connection([&](const Session& on) { tables_.create_tables(on); });
  }
  void segment_create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    on_connection([&](const Session& on) { tables_.create(on, name_space, tag, above); });
  }
  SegmentInfo segment_show(const std::string& name_space, const std::string& tag) override {
    SegmentInfo info;
    on_connection([&](const Session& on) { info = tables_.show(on, name_space, tag); });
    return info;
  }
  std::vector<SegmentInfo> segment_list() override {
    std::vector<SegmentInfo> rows;
    on_connection([&](const Session& on) { rows = tables_.list(on); });
    return rows;
  }
  SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t to) override {
    SegmentInfo info;
    on_connection([&](const Session& on) { info = tables_.advance(on, name_space, tag, to); });
    return info;
  }
  SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    SegmentInfo info;
    on_connection([&](const Session& on) { info = tables_.set_step(on, name_space, tag, step); });
    return info;
  }
  LoggedGrant segment_grant_of(const std::string& name_space, const std::string& tag, std::uint64_t number) override {
    LoggedGrant grant;
    on_connection([&](const Session& on) { grant = tables_.grant_of(on, name_space, tag, number); });
    return grant;
  }
  NumberedColumn segment_column(const std::string& table, const std::string& column,
                                const std::optional<std::string>& sequence) override {
    NumberedColumn found;
    on_connection([&](const Session& on) {
      found = on.dialect.database == sql::Database::sqlite ? Store::segment_column(table, column, sequence)
                                                           : tables_.column_of(on, table, column, sequence);
    });
    return found;
  }

  WindowStore* windows() noexcept override { return this; }
  bool has_leases() const override { return true; }
  Window window_take(const WindowRequest& request) override {
    Window window;
    on_connection([&](const Session& on) { window = tables_.window_take(on, request); });
    return window;
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    on_connection([&](const Session& on) { tables_.window_return(on, name_space, worker, fence, end_ms, used_ms); });
  }
  std::vector<WindowInfo> window_list(const std::string& name_space, Detail detail) override {
    std::vector<WindowInfo> rows;
    on_connection([&](const Session& on) { rows = tables_.window_list(on, name_space, detail == Detail::numbers); });
    return rows;
  }
  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) override {
    WindowInfo info;
    on_connection([&](const Session& on) { info = tables_.window_show(on, name_space, worker); });
    return info;
  }
  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) override {
    on_connection([&](const Session& on) { tables_.window_repair(on, name_space, worker, seen, hw_ms); });
  }
  void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                      bool even_if_live) override {
    on_connection([&](const Session& on) { tables_.window_release(on, name_space, worker, seen, even_if_live); });
  }
  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    std::string found;
    on_connection([&](const Session& on) { found = tables_.namespace_format(on, name_space, format); });
    return found;
  }

 protected:
  using Session = sql::Tables::Session;
  using Work = std::function<void(const Session&)>;

  explicit SqlStore(sql::Wording wording) : wording_(std::move(wording)), tables_(wording_, sql::kOwnSchema) {}
  virtual void on_connection(const Work& work) = 0;

  const sql::Wording wording_;
  sql::Tables tables_;
};

}  // namespace idgen::capi
