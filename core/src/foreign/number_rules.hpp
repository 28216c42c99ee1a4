// Workers' numbers by the rows of another generator: the rules that are the same for every store. Pure.
//
// The other generators have no windows. Beside them, ids are unique because at no time two processes have one number,
// and because whoever takes a number over begins above the time that its row was last reported for. So these rules are
// kept to the letter, and with a clock that is wrong nothing is claimed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "idgen/number_store.hpp"
#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"

namespace idgen {

inline constexpr std::string_view kUidGenerator = "uid_generator";
inline constexpr std::string_view kCosid = "cosid";
inline constexpr std::string_view kLeaf = "zookeeper";

// In the column PORT of WORKER_NODE: the process is one of idgen's, whose windows keep its ids apart.
inline constexpr std::string_view kUidMark = "-idgen-";

// Leaf's processes report every 3 s. Who has not for so long does not run.
inline constexpr std::int64_t kLeafReportMs = 3'000;
inline constexpr std::int64_t kLeafAliveMs = 10'000;

[[noreturn]] inline void throw_no_such_numbers(const std::string& kind, const std::string& shown) {
  throw Error(Status::unsupported, "worker_source = " + kind + ": " + shown + " has no such rows");
}

// "10.0.0.1:8080" in its two parts; without a colon the second is "".
struct AddressParts {
  std::string host;
  std::string port;
};
inline AddressParts parts_of_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {address, ""};
  return {address.substr(0, colon), address.substr(colon + 1)};
}

// The number was used up to a time that this clock has yet to reach. Throws Error{clock_back}.
inline void check_used(const std::string& whose, std::int64_t used_to_ms, std::int64_t now_ms) {
  if (used_to_ms <= now_ms) return;
  const std::int64_t left_ms = used_to_ms - now_ms;
  throw Error(Status::clock_back,
              whose + " was reported in use at " + format_instant(used_to_ms) + ", which is " +
                  std::to_string(left_ms) + " ms ahead of this clock, " + format_instant(now_ms) +
                  ": the clock moved backwards, and ids would be issued twice. Correct the clock, or wait " +
                  std::to_string(left_ms) + " ms",
              static_cast<std::uint64_t>(left_ms) * kNsPerMs);
}

// CosId's processes judge by their own clocks who is alive. With a clock that is far behind the server's, they would
// take ours for dead; with one that is far ahead, we would take theirs. `before`: as of when the server was asked for
// its time; `request`: as of its answer, which may be late. Throws Error{clock_back,
// clock_leap, store_unavailable}.
inline void check_cosid_clock(const NumberRequest& before, const NumberRequest& request, std::int64_t store_ms) {
  const auto clock = [&](std::int64_t now_ms) {
    return "worker_source = cosid: this clock, " + format_instant(now_ms) + ", is " +
           std::to_string(std::abs(now_ms - store_ms)) + " ms ";
  };
  if (request.guard_ms > 0 && request.now_ms - before.now_ms > request.guard_ms / 4) {
    throw Error(Status::store_unavailable, "worker_source = cosid: the server took " +
                                               std::to_string(request.now_ms - before.now_ms) +
                                               " ms to say its time, too long to compare the clocks by");
  }
  if (request.guard_ms > 0 && store_ms - request.now_ms > request.guard_ms / 2) {
    throw Error(Status::clock_back, clock(request.now_ms) + "behind the server's, " + format_instant(store_ms) +
                                        ": CosId's processes would take this one for dead after worker_guard = " +
                                        std::to_string(request.guard_ms) + " ms. Correct the clock");
  }
  if (before.now_ms - store_ms > request.clock_limit_ms) {
    throw Error(Status::clock_leap,
                clock(before.now_ms) + "ahead of the server's, " + format_instant(store_ms) +
                    " (allowed: " + std::to_string(request.clock_limit_ms) +
                    " ms, max_ahead): whoever has the number next would have to wait. Correct the clock",
                kNsPerSecond);
  }
}

// Reports up to here are of processes that count as dead; below all reports if none does.
inline std::int64_t cosid_expired_ms(const NumberRequest& request, std::int64_t store_ms) {
  return request.guard_ms == 0 ? -1 : std::min(request.now_ms, store_ms) - request.guard_ms;
}

// A number that was used up to a time beyond this is taken only if there is no other: its owner's clock was wrong, and
// nobody can use it until then.
inline std::int64_t cosid_usable_ms(const NumberRequest& request, std::int64_t store_ms) {
  return std::min(request.now_ms, store_ms) + request.clock_limit_ms;
}

// CosId's key of a row: its namespace and eight digits.
inline std::string cosid_name(const std::string& name_space, std::uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return name_space + "." + digits;
}

// Of a number that somebody has in our store: nobody's any more, but taken for dead only after worker_guard.
inline std::string cosid_left_behind(const std::string& address, std::uint64_t number) {
  return address + "~" + std::to_string(number);
}

// `oldest_ms`: the latest report of the one who will count as dead first; 0: unknown. Throws Error{worker_busy}.
[[noreturn]] inline void throw_no_cosid_number(const NumberRequest& request, const std::string& shown,
                                               std::int64_t oldest_ms, std::int64_t store_ms) {
  constexpr std::int64_t kLeastMs = 100;
  const bool is_known = request.guard_ms > 0 && oldest_ms > 0;
  const std::int64_t next_ms = is_known ? std::max(oldest_ms + request.guard_ms - store_ms, kLeastMs) : 0;
  throw Error(
      Status::worker_busy,
      "worker_source = cosid: all " + std::to_string(request.numbers) + " machine ids of namespace " +
          in_quotes(request.name_space) + " in " + shown + " are in use" +
          (next_ms > 0 ? "; the next one counts as dead in " + std::to_string(next_ms) + " ms, unless it reports before"
                       : "") +
          ". Stop a process, or use a layout with more bits",
      static_cast<std::uint64_t>(next_ms) * kNsPerMs);
}

// The clocks that Leaf's processes report, each minus the server's when it wrote the report.
struct LeafClocks {
  std::int64_t sum_ahead_ms = 0;
  std::int64_t count = 0;

  // `server_ms`: the server's clock now.
  void add(std::int64_t reported_ms, std::int64_t written_ms, std::int64_t server_ms) {
    if (server_ms - written_ms > kLeafAliveMs) return;  // it does not run
    sum_ahead_ms += reported_ms - written_ms;
    ++count;
  }
};

// Leaf's rule for a process that starts: its clock is not far off the mean of the others'. Throws Error{clock_back,
// clock_leap}.
inline void check_leaf_clock(const NumberRequest& request, const LeafClocks& others, std::int64_t server_ms) {
  if (others.count == 0) return;
  const std::int64_t off_ms = request.now_ms - server_ms - others.sum_ahead_ms / others.count;
  if (std::abs(off_ms) <= request.clock_limit_ms) return;
  throw Error(off_ms < 0 ? Status::clock_back : Status::clock_leap,
              "worker_source = zookeeper: this clock, " + format_instant(request.now_ms) + ", is " +
                  std::to_string(std::abs(off_ms)) + " ms " + (off_ms < 0 ? "behind" : "ahead of") +
                  " the mean of those that the " + std::to_string(others.count) + " other processes of " +
                  in_quotes(request.name_space) + " report (allowed: " + std::to_string(request.clock_limit_ms) +
                  " ms, worker_clock_limit). Correct the clock");
}

// A report from the future would keep the number from everybody, or its address from starting, until then. Throws
// Error{clock_leap}.
inline void check_report(const NumberRequest& request, std::int64_t server_ms) {
  const std::int64_t ahead_ms = request.now_ms - server_ms;
  if (ahead_ms <= request.clock_limit_ms) return;
  throw Error(Status::clock_leap,
              "worker_source = " + request.kind + ": this clock, " + format_instant(request.now_ms) + ", is " +
                  std::to_string(ahead_ms) + " ms ahead of the server's, " + format_instant(server_ms) +
                  " (allowed: " + std::to_string(request.clock_limit_ms) + " ms, " +
                  (request.kind == kLeaf ? "worker_clock_limit" : "max_ahead") +
                  "), and so is not reported. Correct the clock",
              kNsPerSecond);
}

}  // namespace idgen
