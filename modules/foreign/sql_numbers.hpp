// Workers' numbers in the tables of other generators: WORKER_NODE of Baidu's uid-generator, and cosid_machine of CosId.
// Statements of our own on the same rows, by the same conditions, so that either side's processes may run beside the
// other's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "number_request.hpp"
#include "sql.hpp"

namespace idgen::module {

// What differs between databases.
struct NumberDialect {
  std::string_view create_uid_generator;
  std::string_view create_cosid;
  std::string_view now_ms;     // as WorkerDialect
  std::string_view if_absent;  // after an INSERT into cosid_machine
  std::string_view returning;  // after an INSERT into WORKER_NODE
};

// Server has number_rows(sql), all rows as texts; change_numbers(sql), how many rows were changed; insert_number(sql),
// the id that was generated; and quoted(text).
template <class Server>
class SqlNumbers {
 public:
  SqlNumbers(std::string shown, const NumberDialect& dialect, bool creates)
      : shown_(std::move(shown)), dialect_(dialect), creates_(creates) {}

  ClaimedNumber claim(Server& server, const RequestNow& asked) {
    const NumberRequest request = asked.now();
    if (request.kind == kUidGenerator) return claim_id(server, request);
    if (request.kind == kCosid) return claim_machine(server, asked);
    throw_no_such_numbers(request.kind, shown_);
  }

  ClaimedNumber keep(Server& server, const NumberRequest& request, const ClaimedNumber& held) {
    if (request.kind != kCosid) return held;
    const std::int64_t store_ms = now_of(server);
    const bool may_report = request.now_ms - store_ms <= request.clock_limit_ms;
    ClaimedNumber kept = held;
    const std::string row = where(server, request, held.number);
    const std::string now = number_text(request.now_ms);
    const bool is_changed =
        may_report && server.change_numbers("UPDATE cosid_machine SET last_timestamp = GREATEST(last_timestamp, " +
                                            now + ")" + row + ours(server, request)) == 1;
    if (!is_changed) {  // also if the row says so already
      const auto found = server.number_rows("SELECT instance_id FROM cosid_machine" + row);
      if (found.empty()) {
        kept.lost = "its row is not in cosid_machine any more";
      } else if (found.front()[0] != request.address) {
        kept.lost = found.front()[0].empty() ? "it was given back"
                                             : "CosId's instance " + in_quotes(found.front()[0]) + " has taken it";
      }
    }
    if (kept.lost.empty()) check_report(request, store_ms);
    kept.reported_ms = std::max(held.reported_ms, request.now_ms);
    return kept;
  }

  void release(Server& server, const NumberRequest& request, const ClaimedNumber& held,
               std::optional<std::int64_t> used_ms) {
    if (request.kind != kCosid) return;
    const std::string set = used_ms ? "instance_id = '', last_timestamp = GREATEST(last_timestamp, " +
                                          number_text(*used_ms) + "), revert_time = " + number_text(request.now_ms)
                                    : "instance_id = " + server.quoted(cosid_left_behind(request.address, held.number));
    server.change_numbers("UPDATE cosid_machine SET " + set + where(server, request, held.number) +
                          ours(server, request));
  }

 private:
  // One row for each start. Rows are never changed or deleted.
  ClaimedNumber claim_id(Server& server, const NumberRequest& request) {
    if (creates_) server.change_numbers(std::string(dialect_.create_uid_generator));
    const AddressParts who = parts_of_address(request.address);
    constexpr int kActual = 2;  // WorkerNodeType: not a container
    ClaimedNumber claimed;
    claimed.number =
        server.insert_number("INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) SELECT " +
                             server.quoted(who.host) + ", " + server.quoted(who.port) + ", " + std::to_string(kActual) +
                             ", CURRENT_DATE, NOW(), NOW()" + std::string(dialect_.returning));
    if (claimed.number < request.numbers) return claimed;
    // Whose rows leave the same number, whether they came before or after ours: of two that meet, at least the second
    // one sees the other. The original refuses to start with an id beyond its field.
    const std::string size = std::to_string(request.numbers);
    const auto found = server.number_rows(
        "SELECT COALESCE(SUM(CASE WHEN PORT LIKE '%" + std::string(kUidMark) +
        "%' THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN PORT LIKE '%" + std::string(kUidMark) +
        "%' OR ID >= " + size + " THEN 0 ELSE 1 END), 0) FROM WORKER_NODE WHERE MOD(ID, " + size +
        ") = " + std::to_string(claimed.number % request.numbers) + " AND ID <> " + std::to_string(claimed.number));
    if (found.empty() || found.front()[1] != "0") {
      claimed.taken = ClaimedNumber::Taken::by_original;
    } else if (found.front()[0] != "0") {
      claimed.taken = ClaimedNumber::Taken::by_idgen;
    }
    return claimed;
  }

  struct Machine {
    std::uint64_t number;
    std::string stamp, instance;
  };

  // In CosId's order: our own, one that was given back or whose owner is dead, a new one.
  ClaimedNumber claim_machine(Server& server, const RequestNow& asked) {
    if (creates_) server.change_numbers(std::string(dialect_.create_cosid));
    const NumberRequest before = asked.now();
    const std::int64_t store_ms = now_of(server);
    const NumberRequest request = asked.now();
    check_cosid_clock(before, request, store_ms);
    const std::string name_space = server.quoted(request.name_space), me = server.quoted(request.address);
    const std::int64_t expired_ms = cosid_expired_ms(request, store_ms);
    const std::string is_expired = expired_ms < 0 ? "" : "last_timestamp <= " + number_text(expired_ms);
    const std::string is_free =
        "instance_id = '' AND last_timestamp <= " + number_text(cosid_usable_ms(request, store_ms));
    const std::string select =
        "SELECT machine_id, last_timestamp, instance_id FROM cosid_machine WHERE namespace = " + name_space;
    const std::string fits = " AND machine_id < " + std::to_string(request.numbers);
    // Everybody who takes a row changes it, so of those who meet on it one gets through each time.
    constexpr int kMostAttempts = 100;
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      const std::string limit = " ORDER BY last_timestamp, machine_id LIMIT 16";
      for (const std::string& rows :
           {select + fits + " AND instance_id = " + me + (is_expired.empty() ? "" : " AND NOT " + is_expired) + limit,
            select + fits + " AND (" + is_free + (is_expired.empty() ? "" : " OR " + is_expired) + ")" + limit}) {
        for (const Machine& machine : machines(server, rows)) {
          if (take(server, request, machine)) return claimed_of(request, machine);
        }
      }
      const auto next =
          server.number_rows("SELECT COALESCE(MAX(machine_id) + 1, 0), COALESCE(MIN(CASE WHEN machine_id < " +
                             std::to_string(request.numbers) +
                             " THEN last_timestamp END), 0) FROM cosid_machine WHERE namespace = " + name_space);
      if (next.size() != 1) throw_damaged("it has no rows to count");
      const std::uint64_t number = stored_number(shown_, next.front()[0].c_str());
      if (number >= request.numbers) {
        for (const Machine& machine : machines(server, select + fits + " AND instance_id = ''" + limit)) {
          if (take(server, request, machine)) return claimed_of(request, machine);
        }
        throw_no_cosid_number(request, shown_,
                              static_cast<std::int64_t>(stored_number(shown_, next.front()[1].c_str())), store_ms);
      }
      if (insert(server, request, number)) return claimed_of(request, {number, "0", ""});
    }
    throw Error(Status::store_unavailable,
                shown_ + ": no row of cosid_machine could be taken in " + std::to_string(kMostAttempts) +
                    " attempts: others change them all the time, or row-level security, a trigger or a rule keeps "
                    "them as they are");
  }

  std::vector<Machine> machines(Server& server, const std::string& sql) const {
    std::vector<Machine> found;
    for (const auto& row : server.number_rows(sql))
      found.push_back({stored_number(shown_, row[0].c_str()), row[1], row[2]});
    return found;
  }
  bool take(Server& server, const NumberRequest& request, const Machine& machine) const {
    const std::string now = number_text(request.now_ms);
    const bool is_own = machine.instance == request.address;
    // Its report may be ahead of our clock, and is then left; so this changes the row in any case.
    const std::string stamp = "GREATEST(last_timestamp, " + now + ")";
    const std::string distributed = is_own ? "" : ", distribute_time = " + now;
    const std::uint64_t changed =
        server.change_numbers("UPDATE cosid_machine SET instance_id = " + server.quoted(request.address) +
                              ", last_timestamp = " + stamp + distributed + where(server, request, machine.number) +
                              " AND instance_id = " + server.quoted(machine.instance) + " AND last_timestamp = " +
                              number_text(static_cast<std::int64_t>(stored_number(shown_, machine.stamp.c_str()))));
    // MySQL counts no row that was as asked for already: ours, reported ahead of our clock.
    return changed == 1 || (is_own && machine.stamp.size() >= now.size() && machine.stamp >= now);
  }
  bool insert(Server& server, const NumberRequest& request, std::uint64_t number) const {
    const std::string now = number_text(request.now_ms);
    return server.change_numbers(
               "INSERT INTO cosid_machine (name, namespace, machine_id, last_timestamp, instance_id, distribute_time, "
               "revert_time) SELECT " +
               server.quoted(cosid_name(request.name_space, number)) + ", " + server.quoted(request.name_space) + ", " +
               std::to_string(number) + ", " + now + ", " + server.quoted(request.address) + ", " + now + ", 0" +
               std::string(dialect_.if_absent)) == 1;
  }
  ClaimedNumber claimed_of(const NumberRequest& request, const Machine& machine) const {
    ClaimedNumber claimed;
    claimed.number = machine.number;
    claimed.used_to_ms = static_cast<std::int64_t>(stored_number(shown_, machine.stamp.c_str()));
    claimed.reported_ms = std::max(claimed.used_to_ms, request.now_ms);
    return claimed;
  }

  std::int64_t now_of(Server& server) const {
    const auto found = server.number_rows("SELECT " + std::string(dialect_.now_ms));
    if (found.size() != 1) throw_damaged("the server does not say what time it is");
    return static_cast<std::int64_t>(stored_number(shown_, found.front()[0].c_str()));
  }
  static std::string where(Server& server, const NumberRequest& request, std::uint64_t number) {
    return " WHERE name = " + server.quoted(cosid_name(request.name_space, number));
  }
  static std::string ours(Server& server, const NumberRequest& request) {
    return " AND instance_id = " + server.quoted(request.address);
  }
  [[noreturn]] void throw_damaged(const std::string& what) const {
    throw Error(Status::store_damaged, shown_ + ", cosid_machine: " + what);
  }

  const std::string shown_;
  const NumberDialect& dialect_;
  const bool creates_;
};

}  // namespace idgen::module
