#include "sql/workers.hpp"

#include <algorithm>
#include <charconv>

#include "idgen/text.hpp"
#include "sql/terms.hpp"
#include "store/nonce_text.hpp"
#include "store/stored_number.hpp"

namespace idgen::sql {

// Behind the server's clock, and whether it is TiDB.
static constexpr std::string_view kWorkerColumns = ", fence, owner, hw, clock_ahead, holder, worker, lease_until";

HeldWorker WorkerTable::read_worker(const std::string& name_space, std::uint64_t worker) {
  Statement one(dialect_, About::workers, true);
  one << "SELECT " << dialect_.now_ms << " AS store_now, " << dialect_.is_tidb << " AS is_tidb" << kWorkerColumns
      << " FROM (SELECT 1 AS one) AS it LEFT JOIN idgen_worker ON ns = " << Text{name_space}
      << " AND worker = " << Number(worker);
  const Answer answer = connection_.execute(one);
  if (answer.rows.size() != 1) fail_damaged(name_space, worker, concat({"it has ", answer.rows.size(), " rows"}));
  return held_of(name_space, worker, answer.rows.front());
}

void WorkerTable::list_workers(const std::string& name_space, bool, const EachWorker& each) {
  Statement all(dialect_, About::workers, true);
  all << "SELECT " << dialect_.now_ms << " AS store_now, " << dialect_.is_tidb << " AS is_tidb" << kWorkerColumns
      << " FROM idgen_worker WHERE ns = " << Text{name_space} << " ORDER BY worker";
  for (const Row& row : connection_.execute(all).rows) {
    const std::uint64_t worker = stored_number(shown_, row.at(7).text.c_str());
    each(worker, held_of(name_space, worker, row));
  }
}

bool WorkerTable::replace_worker(const std::string& name_space, std::uint64_t worker, HeldWorker& held,
                                 const WorkerRow& next, const WindowRequest* request) {
  const std::string owner = next.owned ? hex_of(next.owner) : "";
  const std::string seen_owner = held.row.owned ? hex_of(held.row.owner) : "";
  Statement change(dialect_, About::workers);
  const auto lease_until = [&] {
    change << dialect_.now_ms;
    if (request != nullptr) change << " + " << Number(request->lease_ms);
  };
  if (held.row.fence == 0) {
    change << "INSERT INTO idgen_worker(ns, worker, fence, owner, hw, lease_until, clock_ahead, holder) SELECT "
           << Text{name_space} << ", " << Number(worker) << ", " << Number(next.fence) << ", " << Text{owner} << ", "
           << Number(next.hw) << ", ";
    lease_until();
    change << ", ";
    if (request != nullptr) {
      change << Number(request->now_ms) << " - " << dialect_.now_ms;
    } else {
      change << "0";
    }
    change << ", " << Text{next.holder} << dialect_.insert_from << dialect_.if_absent;
  } else {
    change << "UPDATE idgen_worker SET fence = " << Number(next.fence) << ", owner = " << Text{owner}
           << ", hw = " << Number(next.hw) << ", lease_until = ";
    lease_until();
    change << ", holder = " << Text{next.holder};
    if (request != nullptr) change << ", clock_ahead = " << Number(request->now_ms) << " - " << dialect_.now_ms;
    change << dialect_.durably << " WHERE ns = " << Text{name_space} << " AND worker = " << Number(worker)
           << " AND fence = " << Number(held.row.fence) << " AND owner = " << Text{seen_owner}
           << " AND hw = " << Number(held.row.hw);
    if (request != nullptr) {
      change << " AND " << Number(request->now_ms) << " - " << dialect_.now_ms
             << " <= " << Number(request->max_lead_ms);
    }
  }
  if (connection_.execute(change).changed != 1) return false;
  held.row = next;
  return true;
}

std::string WorkerTable::format_of(const std::string& name_space, const std::string& format) {
  Statement found(dialect_, About::workers, true);
  found << "SELECT format FROM idgen_namespace WHERE ns = " << Text{name_space};
  Answer answer = connection_.execute(found);
  if (answer.rows.empty() && !format.empty()) {
    Statement made(dialect_, About::workers);
    made << "INSERT INTO idgen_namespace(ns, format) SELECT " << Text{name_space} << ", " << Text{format}
         << dialect_.insert_from << dialect_.if_absent;
    connection_.execute(made);
    answer = connection_.execute(found);
    if (answer.rows.empty()) {
      throw Error(Status::store_permission,
                  concat({shown_,
                          ": a row inserted into idgen_namespace is not there: row-level security, a trigger or a "
                          "rule prevents that. Allow this user to insert rows"}));
    }
  }
  return answer.rows.empty() ? "" : answer.rows.front().at(0).text;
}

HeldWorker WorkerTable::held_of(const std::string& name_space, std::uint64_t worker, const Row& row) const {
  if (row.at(1).text != "0") refuse_tidb("whether it has the worker");
  HeldWorker held;
  const auto number = [&](std::size_t column) { return signed_number(name_space, worker, row.at(column)); };
  const std::int64_t now_ms = number(0);
  held.store_ms = now_ms;
  const Cell& fence = row.at(2);
  if (fence.is_null) return held;
  held.row.fence = stored_number(shown_, fence.text.c_str());
  if (held.row.fence == 0 || held.row.fence >= kLargestNumber)
    fail_damaged(name_space, worker, concat({"its fence is ", fence.text, ", outside 1 to 2^63 - 2"}));
  const std::string& owner = row.at(3).text;
  if (!owner.empty()) {
    const std::optional<Nonce> nonce = nonce_of(owner);
    if (!nonce) fail_damaged(name_space, worker, "its owner is no text of 32 hexadecimal digits");
    held.row.owner = *nonce;
    held.row.owned = true;
  }
  held.row.hw = number(4);
  held.clock_ahead_ms = number(5);
  held.row.holder = row.at(6).text;
  std::int64_t left_ms = 0;
  const std::int64_t lease_until_ms = number(8);
  if (__builtin_sub_overflow(lease_until_ms, now_ms, &left_ms))
    fail_damaged(name_space, worker, concat({"its lease ends at ", lease_until_ms}));
  held.lease_left_ms = std::max<std::int64_t>(left_ms, 0);
  held.is_live = left_ms > 0;
  return held;
}

std::int64_t WorkerTable::signed_number(const std::string& name_space, std::uint64_t worker, const Cell& cell) const {
  std::int64_t number = 0;
  const std::string& text = cell.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size())
    fail_damaged(name_space, worker, concat({quote(text), " is no whole number of 64 bits"}));
  return number;
}

void WorkerTable::fail_damaged(const std::string& name_space, std::uint64_t worker, const std::string& what) const {
  throw Error(Status::store_damaged, concat({shown_, ": ", worker_name(name_space, worker), ": ", what,
                                             ". Set the row in idgen_worker right by hand"}));
}

}  // namespace idgen::sql
