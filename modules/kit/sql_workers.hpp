// The rows of workers in an SQL database; see worker_rows.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "idgen/text.hpp"
#include "sql.hpp"
#include "store/nonce_text.hpp"
#include "store/worker_rows.hpp"

namespace idgen::module {

inline constexpr const char* kWorkerTable = "idgen_worker";
inline constexpr const char* kHowToCreateWorkers = "Make it with `idgen store create`, or set store_create = true";

// What differs between databases.
struct WorkerDialect {
  std::string_view create_namespaces;
  std::string_view create_workers;
  std::string_view now_ms;     // of the server, an expression of whole Unix milliseconds
  std::string_view if_absent;  // after an INSERT: nothing happens if the row is there
};

struct HeldSqlWorker : HeldWorker {};

// What a Connection inherits: what WorkerRows asks of it. It has worker_rows(sql), all rows as texts, "" for NULL;
// change_worker(sql), the number of rows that were inserted or changed; and quoted(text).
template <class Connection>
class SqlWorkers {
 public:
  WorkerRows<Connection, HeldSqlWorker>& workers() { return workers_; }

  void create_workers() {
    Connection& server = self();
    server.change_worker(std::string(dialect_.create_namespaces));
    server.change_worker(std::string(dialect_.create_workers));
  }

  HeldSqlWorker read_worker(const std::string& name_space, std::uint64_t worker) {
    Connection& server = self();
    const std::string now(dialect_.now_ms);
    const auto rows = server.worker_rows("SELECT " + now + ", w.fence, w.owner, w.hw, w.lease_until - " + now +
                                         ", w.clock_ahead, w.holder FROM (SELECT 1 AS one) AS it LEFT JOIN " +
                                         kWorkerTable + " AS w ON " + where(server, name_space, worker, "w."));
    if (rows.size() != 1) fail_damaged(name_space, worker, "it has " + std::to_string(rows.size()) + " rows");
    return held_of(name_space, worker, rows.front());
  }

  template <class Row>
  void list_workers(const std::string& name_space, bool, Row&& row) {
    Connection& server = self();
    const std::string now(dialect_.now_ms);
    for (std::vector<std::string>& found : server.worker_rows(
             "SELECT " + now + ", fence, owner, hw, lease_until - " + now + ", clock_ahead, holder, worker FROM " +
             kWorkerTable + " WHERE ns = " + server.quoted(name_space) + " ORDER BY worker")) {
      const std::uint64_t worker = stored_number(shown_workers_, found[7].c_str());
      row(worker, held_of(name_space, worker, found));
    }
  }

  bool replace_worker(const std::string& name_space, std::uint64_t worker, HeldSqlWorker& held, const WorkerRow& next,
                      const WindowRequest* request) {
    Connection& server = self();
    const std::string now(dialect_.now_ms);
    const std::string fence = std::to_string(next.fence), hw = std::to_string(next.hw);
    const std::string owner = server.quoted(next.owned ? hex_of(next.owner) : "");
    const std::string holder = server.quoted(next.holder);
    const std::string lease = now + (request != nullptr ? " + " + std::to_string(request->lease_ms) : "");
    std::uint64_t changed = 0;
    if (held.row.fence == 0) {
      changed = server.change_worker(std::string("INSERT INTO ") + kWorkerTable +
                                     "(ns, worker, fence, owner, hw, lease_until, clock_ahead, holder) SELECT " +
                                     server.quoted(name_space) + ", " + std::to_string(worker) + ", " + fence + ", " +
                                     owner + ", " + hw + ", " + lease + ", " +
                                     (request != nullptr ? std::to_string(request->now_ms) + " - " + now : "0") + ", " +
                                     holder + std::string(dialect_.if_absent));
    } else {
      std::string sql = std::string("UPDATE ") + kWorkerTable + " SET fence = " + fence + ", owner = " + owner +
                        ", hw = " + hw + ", lease_until = " + lease + ", holder = " + holder;
      std::string where_clock;
      if (request != nullptr) {
        const std::string ahead = std::to_string(request->now_ms) + " - " + now;
        sql += ", clock_ahead = " + ahead;
        where_clock = " AND " + ahead + " <= " + std::to_string(request->max_lead_ms);
      }
      changed = server.change_worker(sql + " WHERE " + where(server, name_space, worker, "") +
                                     " AND fence = " + std::to_string(held.row.fence) +
                                     " AND owner = " + server.quoted(held.row.owned ? hex_of(held.row.owner) : "") +
                                     " AND hw = " + std::to_string(held.row.hw) + where_clock);
    }
    if (changed != 1) return false;
    held.row = next;
    return true;
  }

  std::string format_of(const std::string& name_space, const std::string& format) {
    Connection& server = self();
    const std::string ns = server.quoted(name_space);
    const auto read = [&] { return server.worker_rows("SELECT format FROM idgen_namespace WHERE ns = " + ns); };
    auto rows = read();
    if (rows.empty() && !format.empty()) {
      server.change_worker("INSERT INTO idgen_namespace(ns, format) SELECT " + ns + ", " + server.quoted(format) +
                           std::string(dialect_.if_absent));
      rows = read();
      if (rows.empty()) {
        throw Error(Status::store_permission,
                    shown_workers_ +
                        ": a row inserted into idgen_namespace is not there: row-level security, a trigger or a "
                        "rule prevents that. Allow this user to insert rows");
      }
    }
    return rows.empty() ? "" : rows.front().front();
  }

 protected:
  SqlWorkers(std::string shown, const WorkerDialect& dialect)
      : shown_workers_(std::move(shown)), dialect_(dialect), workers_(shown_workers_) {}

 private:
  Connection& self() { return static_cast<Connection&>(*this); }
  // Of the columns now, fence, owner, hw, what is left of the lease, clock_ahead, holder.
  HeldSqlWorker held_of(const std::string& name_space, std::uint64_t worker,
                        const std::vector<std::string>& row) const {
    HeldSqlWorker held;
    const auto number = [&](std::size_t column) { return signed_number(name_space, worker, row[column]); };
    held.store_ms = number(0);
    if (row[1].empty()) return held;
    held.row.fence = stored_number(shown_workers_, row[1].c_str());
    if (held.row.fence == 0 || held.row.fence >= kLargestNumber)
      fail_damaged(name_space, worker, "its fence is " + row[1] + ", outside 1 to 2^63 - 2");
    if (!row[2].empty()) {
      const std::optional<Nonce> owner = nonce_of(row[2]);
      if (!owner) fail_damaged(name_space, worker, "its owner is no text of 32 hexadecimal digits");
      held.row.owner = *owner;
      held.row.owned = true;
    }
    held.row.hw = number(3);
    held.lease_left_ms = std::max<std::int64_t>(number(4), 0);
    held.is_live = number(4) > 0;
    held.clock_ahead_ms = number(5);
    held.row.holder = row[6];
    return held;
  }
  static std::string where(Connection& server, const std::string& name_space, std::uint64_t worker,
                           const std::string& alias) {
    return alias + "ns = " + server.quoted(name_space) + " AND " + alias + "worker = " + std::to_string(worker);
  }
  [[noreturn]] void fail_damaged(const std::string& name_space, std::uint64_t worker, const std::string& what) const {
    throw Error(Status::store_damaged, shown_workers_ + ": " + worker_name(name_space, worker) + ": " + what +
                                           ". Set the row in " + kWorkerTable + " right by hand");
  }
  std::int64_t signed_number(const std::string& name_space, std::uint64_t worker, const std::string& text) const {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
      fail_damaged(name_space, worker, in_quotes(text) + " is no whole number of 64 bits");
    return number;
  }

  const std::string shown_workers_;
  const WorkerDialect& dialect_;
  WorkerRows<Connection, HeldSqlWorker> workers_;
};

}  // namespace idgen::module
