// Segments and workers in the tables of an SQL database: which statements are sent, and what their answers mean.
//
// MySQL: UPDATE ... SET max_id = LAST_INSERT_ID(max_id + n), whose value comes back with the acknowledgement.
// PostgreSQL: UPDATE ... RETURNING; not a SEQUENCE, because the value that nextval() returns is not yet durable when it
// arrives. Each is one statement that commits by itself. Where that is not enough, a transaction locks the row, reads,
// compares and sets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "idgen/mutex.hpp"
#include "idgen/store.hpp"
#include "sql/dialect.hpp"
#include "sql/fault.hpp"
#include "sql/statement.hpp"
#include "sql/terms.hpp"
#include "store/worker_rows.hpp"

namespace idgen::sql {

struct Terms {
  std::uint64_t step = 0;       // of a new tag, if the schema's row needs one
  std::uint64_t grant_log = 0;  // how many grants of a tag to remember
  bool create = false;          // make a tag that is missing, at 0
};

// What Tables::create() sends for the row. Throws Error{value} for what the row cannot be.
Statement insertion(const Schema& schema, const Dialect& dialect, const SchemaText& text, std::uint64_t step,
                    const std::string& name_space, const std::string& tag, std::uint64_t above);

// Threads: any. A call uses one connection; several calls may run at the same time, each with its own.
class Tables {
 public:
  Tables(Wording wording, const Schema& schema);

  // One call's connection, and what it speaks.
  struct Session {
    Connection& connection;
    const Dialect& dialect;
    const SchemaText& text;  // of the schema
    const Terms& terms;
  };

  // Contracts: class Store in idgen/store.hpp.
  SegmentGrant take(const Session& session, const std::string& name_space, const std::string& tag,
                    const SegmentRequest& request);
  void give_back(const Session& session, const std::string& name_space, const std::string& tag, std::uint64_t last,
                 std::uint64_t unused);
  void create(const Session& session, const std::string& name_space, const std::string& tag, std::uint64_t above);
  // Those of segments, and in idgen's own schema those of workers.
  void create_tables(const Session& session);
  SegmentInfo show(const Session& session, const std::string& name_space, const std::string& tag);
  SegmentInfo advance(const Session& session, const std::string& name_space, const std::string& tag,
                      std::uint64_t target);
  SegmentInfo set_step(const Session& session, const std::string& name_space, const std::string& tag,
                       std::uint64_t step);
  std::vector<SegmentInfo> list(const Session& session);
  LoggedGrant grant_of(const Session& session, const std::string& name_space, const std::string& tag, std::uint64_t id);
  NumberedColumn column_of(const Session& session, const std::string& table, const std::string& column,
                           const std::optional<std::string>& sequence);

  Window window_take(const Session& session, const WindowRequest& request);
  void window_return(const Session& session, const std::string& name_space, std::uint64_t worker, std::uint64_t fence,
                     std::int64_t end_ms, std::int64_t used_ms);
  WindowInfo window_show(const Session& session, const std::string& name_space, std::uint64_t worker);
  std::vector<WindowInfo> window_list(const Session& session, const std::string& name_space, bool numbers_only);
  void window_repair(const Session& session, const std::string& name_space, std::uint64_t worker,
                     const WindowInfo& seen, std::int64_t hw_ms);
  void window_release(const Session& session, const std::string& name_space, std::uint64_t worker,
                      const WindowInfo& seen, bool even_if_live);
  std::string namespace_format(const Session& session, const std::string& name_space, const std::string& format);

 private:
  using Key = std::pair<std::string, std::string>;

  std::optional<std::uint64_t> take_at_once(const Session& session, const Statement& rest, const RowTerms& terms,
                                            std::uint64_t above, std::uint64_t count) const;
  std::optional<std::uint64_t> take_locked(const Session& session, const Statement& where, const Statement& rest,
                                           const RowTerms& terms, std::uint64_t above, std::uint64_t count) const;
  std::optional<SegmentGrant> take_returning(const Session& session, const Statement& where, const Statement& granted,
                                             std::uint64_t above, const SegmentRequest& request) const;
  void check_is_no_tidb(const Session& session) const;
  Answer execute_logged(const Session& session, Statement&& update, const Statement& log) const;
  void make_segments(const Session& session) const;
  bool insert(const Session& session, const std::string& name_space, const std::string& tag, std::uint64_t above) const;
  std::optional<SchemaRow> find(const Session& session, const Statement& where) const;
  SchemaRow read(const Session& session, const std::string& name_space, const std::string& tag) const;
  SchemaRow row_of(const Session& session, const Row& row) const;
  std::uint64_t number(const Cell& cell) const;
  Statement where_tag(const Session& session, const std::string& name_space, const std::string& tag) const;
  Statement update(const Session& session) const;
  Statement select(const Session& session) const;
  [[noreturn]] void fail_unchanged(const std::string& tag) const;
  [[noreturn]] void fail_grant(std::uint64_t counter, std::uint64_t count) const;
  RowTerms recall(const Key& key);
  void remember(const Key& key, const RowTerms& terms);

  const Wording wording_;
  const Schema& schema_;
  WorkerRows<WorkerServer, HeldWorker> workers_;
  Mutex mutex_;
  std::map<Key, RowTerms> terms_ IDGEN_GUARDED_BY(mutex_);  // last seen in a row, so that a grant is one round trip
};

}  // namespace idgen::sql
