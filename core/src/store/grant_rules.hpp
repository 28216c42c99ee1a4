// The arithmetic of grants, the same for every store of idgen's own. Pure: a row and a request in, the new row out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "idgen/status.hpp"
#include "idgen/store.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"

namespace idgen {

constexpr std::uint64_t kLargestNumber = std::numeric_limits<std::int64_t>::max();  // ids fit a signed column
constexpr std::uint64_t kLargestStep = 1'000'000'000;

inline bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// A text as an SQL literal, for people to read and paste: always on one line, because the rest of a name could
// otherwise be taken for another statement. `function` makes a character of its number: char in SQLite, chr in
// PostgreSQL.
inline std::string sql_text(const std::string& text, const std::string& function) {
  std::string out = "'";
  for (const char c : text) {
    if (is_control(c)) {
      out += "' || " + function + "(" + std::to_string(c) + ") || '";
    } else {
      out.append(c == '\'' ? 2 : 1, c);
    }
  }
  return out + "'";
}

// The system's clock: only for `updated_unix_ms`, never for a grant.
inline std::int64_t store_clock_unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A worker's row. All zero if nobody has had the worker yet.
struct WorkerRow {
  std::uint64_t fence = 0;
  Nonce owner{};
  bool owned = false;   // false: given up, or never had
  std::int64_t hw = 0;  // Unix ms, exclusive: the end of the latest window
  std::string holder;   // the latest
};

inline std::string worker_name(const std::string& name_space, std::uint64_t worker) {
  return "worker " + std::to_string(worker) + " of namespace " + in_quotes(name_space);
}

// For lists: the row that `read` returns, or its damage, so that the other rows can be shown.
template <class Read>
SegmentInfo row_or_damage(Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.status() != Status::store_damaged) throw;
    SegmentInfo row;
    row.damage = error;
    return row;
  }
}

inline std::string tag_name(const std::string& name_space, const std::string& tag) {
  return "tag " + in_quotes(tag) + " of namespace " + in_quotes(name_space);
}

// Throws Error{argument}: the caller's defect; nothing was changed.
inline void check_window_request(const WindowRequest& request) {
  if (request.worker > kLargestNumber || request.fence > kLargestNumber) {
    throw Error(Status::argument,
                concat({"worker ", request.worker, " or fence ", request.fence, " is above 2^63 - 1"}));
  }
  if (request.width_ms < 0 || request.min_ms < 0 || (request.width_ms == 0 && request.min_ms == 0)) {
    throw Error(Status::argument, concat({"a window of ", request.width_ms, " ms, at least ", request.min_ms,
                                          " ms beyond its start, is invalid"}));
  }
}

[[noreturn]] inline void throw_not_owner(const WindowRequest& request, const WorkerRow& row) {
  throw Error(Status::worker_busy,
              concat({worker_name(request.name_space, request.worker), ": grant ", request.fence,
                      " has ended, the store is at grant ", row.fence,
                      (row.holder.empty() ? std::string() : ", last held by " + row.holder),
                      ". What this process has reserved stays its own; to continue, acquire the worker again"}));
}

[[noreturn]] inline void throw_format_mismatch(const std::string& name_space, const std::string& found,
                                               const std::string& asked) {
  throw Error(
      Status::format_mismatch,
      concat({"namespace ", quote(name_space), " is in use with the format ", quote(found), ", asked was ",
              quote(asked), ": ids of two formats collide. Use the same layout and epoch, or another namespace"}));
}

// By the clock that all machines share, the store's. Throws Error{clock_leap}: what a clock that is ahead reserves is
// reserved for good, so nothing is.
inline void check_clock(const WindowRequest& request, std::int64_t store_ms) {
  std::int64_t ahead_ms = 0;
  if (__builtin_sub_overflow(request.now_ms, store_ms, &ahead_ms) || ahead_ms <= request.max_lead_ms) return;
  throw Error(Status::clock_leap,
              concat({worker_name(request.name_space, request.worker), ": this clock, ", format_instant(request.now_ms),
                      ", is ", ahead_ms, " ms ahead of the store's, ", format_instant(store_ms),
                      " (allowed: ", request.max_lead_ms,
                      " ms, max_ahead). No time was reserved. Set the clock, or the store's if that is wrong"}),
              kNsPerSecond);
}

// An owner whose lease has not ended. `left_ms`: until it has.
[[noreturn]] inline void throw_leased(const WindowRequest& request, const WorkerRow& row, std::int64_t left_ms,
                                      const std::string& shown) {
  throw Error(Status::worker_busy,
              concat({worker_name(request.name_space, request.worker), " is owned by ",
                      (row.holder.empty() ? "a process" : row.holder), "; if that is gone, its lease ends in ", left_ms,
                      " ms. Stop it, or give this process another worker number. Store: ", shown}),
              static_cast<std::uint64_t>(std::max<std::int64_t>(left_ms, 1)) * kNsPerMs);
}

// The window that follows a row. REQUIRES: checked request, and a renewal's fence and owner compared. Keeps I2: start
// >= hw. Throws Error{clock_back} if it would start after max_start_ms, Error{argument} if the numbers exceed 2^63 - 1.
inline Window next_window(const WorkerRow& row, const WindowRequest& request) {
  Window window;
  window.start_ms = row.hw > request.now_ms ? row.hw : request.now_ms;
  if (window.start_ms > request.max_start_ms) {
    const std::uint64_t wait_ms =
        static_cast<std::uint64_t>(window.start_ms) - static_cast<std::uint64_t>(request.max_start_ms);
    const std::uint64_t ahead_ms =
        static_cast<std::uint64_t>(window.start_ms) - static_cast<std::uint64_t>(request.now_ms);
    throw Error(Status::clock_back,
                concat({worker_name(request.name_space, request.worker), ": its time is reserved up to ",
                        format_instant(window.start_ms), ", which is ", ahead_ms, " ms ahead of this clock, ",
                        format_instant(request.now_ms), " (allowed: a start at ", format_instant(request.max_start_ms),
                        "). Correct the clock, wait ", wait_ms, " ms, or use another worker number"}),
                wait_ms > std::numeric_limits<std::uint64_t>::max() / kNsPerMs ? 0 : wait_ms * kNsPerMs);
  }
  std::int64_t by_start = 0;
  std::int64_t by_clock = 0;
  if (__builtin_add_overflow(window.start_ms, request.min_ms, &by_start) ||
      __builtin_add_overflow(request.now_ms, request.width_ms, &by_clock)) {
    throw Error(Status::argument, "the end of the window passes 2^63 - 1 ms");
  }
  window.end_ms = by_start > by_clock ? by_start : by_clock;
  if (window.end_ms <= window.start_ms) {
    throw Error(Status::argument, concat({"the window would be empty: width ", request.width_ms, " ms, minimum ",
                                          request.min_ms, " ms"}));
  }
  window.fence = request.fence != 0 ? request.fence : row.fence + 1;
  return window;
}

// The row after a repair: it has no owner, and earlier grants cannot be renewed. Throws Error{worker_busy, argument}.
inline WorkerRow repaired_row(const std::string& name_space, std::uint64_t worker, const WorkerRow& row, bool is_live,
                              const WindowInfo& seen, std::int64_t hw_ms) {
  if (is_live || row.fence != seen.fence || row.hw != seen.hw_ms) {
    throw Error(Status::worker_busy,
                concat({worker_name(name_space, worker), (is_live ? " has a live owner" : " was acquired"),
                        " meanwhile, ", row.holder, "; nothing was changed. Stop it, then look again"}));
  }
  if (hw_ms >= row.hw) throw Error(Status::argument, "a repair that lowers nothing is invalid");
  WorkerRow repaired = row;
  ++repaired.fence;
  repaired.owner = {};
  repaired.owned = false;
  repaired.hw = hw_ms;
  return repaired;
}

// The row after its owner's hold was ended: nobody's, and earlier grants cannot be renewed. Its time stays reserved, so
// an owner that is alive after all shares none with the next. Throws Error{worker_busy, value}.
inline WorkerRow released_row(const std::string& name_space, std::uint64_t worker, const WorkerRow& row, bool is_live,
                              const WindowInfo& seen, bool even_if_live) {
  const std::string name = worker_name(name_space, worker);
  if (row.fence != seen.fence || (is_live && !even_if_live)) {
    const char* const what = row.fence != seen.fence ? " was acquired meanwhile by " : " is owned by ";
    throw Error(Status::worker_busy, concat({name, what, (row.holder.empty() ? "a process" : row.holder),
                                             "; nothing was changed. Stop it, then look again"}));
  }
  if (!row.owned) throw Error(Status::value, name + " has no owner: there is nothing to release");
  WorkerRow released = row;
  ++released.fence;
  released.owner = {};
  released.owned = false;
  return released;
}

// hw after a return. Not below where this grant began: what is before belongs to another owner. Throws Error{argument}.
inline std::int64_t high_water_after_return(std::int64_t first_start_ms, std::int64_t end_ms, std::int64_t used_ms) {
  if (used_ms > end_ms) {
    throw Error(Status::argument, concat({"a window that ends at ", end_ms, " cannot have been used up to ", used_ms}));
  }
  return used_ms > first_start_ms ? used_ms : first_start_ms;
}

// The counter after a grant of count numbers. Throws Error{argument, exhausted}.
inline std::uint64_t advance_by(const std::string& name_space, const std::string& tag, std::uint64_t max_id,
                                std::uint64_t count) {
  if (count == 0) throw Error(Status::argument, "a segment of 0 numbers is invalid; ask for at least 1");
  if (count > kLargestNumber || max_id > kLargestNumber - count) {
    throw Error(Status::exhausted,
                concat({tag_name(name_space, tag), " stands at ", max_id, "; ", count, " more would pass 2^63 - 1. ",
                        max_id < kLargestNumber
                            ? "Take a smaller step"
                            : "It was retired, or is used up. If it was moved, use the new store; a new tag must begin "
                              "above all ids in use (`idgen segment create --above`)"}));
  }
  return max_id + count;
}

// Numbers in the next grant of a tag whose row has `row_step`; 0: it has none.
inline std::uint64_t grant_size(std::uint64_t row_step, const SegmentRequest& request) {
  return std::max(row_step != 0 ? row_step : request.step, request.wanted);
}

// Throws Error{value}.
inline void check_advance(std::uint64_t to) {
  if (to > kLargestNumber) {
    throw Error(Status::value, concat({"a counter cannot stand at ", to, "; allowed: 0 to 9223372036854775807"}));
  }
}

// A new tag. Throws Error{value}.
inline SegmentInfo new_segment(const std::string& name_space, const std::string& tag, std::uint64_t above = 0) {
  check_advance(above);
  SegmentInfo row;
  row.max_id = above;
  row.name_space = name_space;
  row.tag = tag;
  row.updated_unix_ms = store_clock_unix_ms();
  return row;
}

// The row after a grant. Throws Error{argument, exhausted}.
inline SegmentGrant take_grant(SegmentInfo& row, const SegmentRequest& request) {
  const std::uint64_t count = grant_size(row.step, request);
  const std::uint64_t before = std::max(row.max_id, request.above);
  row.max_id = advance_by(row.name_space, row.tag, before, count);
  ++row.grants;
  row.updated_unix_ms = store_clock_unix_ms();
  row.rate = request.rate;
  row.holder = request.holder;
  return {.first = before + 1, .count = count};
}

// Throws Error{value}.
inline void check_step(std::uint64_t step) {
  if (step > kLargestStep) {
    throw Error(Status::value, concat({"a step of ", step, " cannot be set; allowed: 1 to ", kLargestStep,
                                       ", or 0 for each generator's own segment.step"}));
  }
}

// Throws Error{argument}.
inline void check_segment_return(std::uint64_t last, std::uint64_t unused) {
  if (last > kLargestNumber || unused > last) {
    throw Error(Status::argument,
                concat({"of a segment that ends at ", last, ", ", unused, " numbers cannot be unused"}));
  }
}

// The counter after an advance. It always changes: the owner of the latest grant gives its rest back if the counter is
// still at the grant's end, and that rest may be below `to`. Throws Error{exhausted}.
inline std::uint64_t advanced(const std::string& name_space, const std::string& tag, std::uint64_t max_id,
                              std::uint64_t to) {
  return to > max_id ? to : advance_by(name_space, tag, max_id, 1);
}

// `how` says how to make the tag in this store.
[[noreturn]] inline void throw_tag_unknown(const std::string& name_space, const std::string& tag,
                                           const std::string& url, const std::string& how) {
  throw Error(Status::tag_unknown, concat({tag_name(name_space, tag), " is not in the store ", url, ". ", how,
                                           ": it begins at 0, so the first id is 1"}));
}

[[noreturn]] inline void throw_tag_exists(const std::string& name_space, const std::string& tag, std::uint64_t max_id) {
  throw Error(Status::tag_exists, concat({tag_name(name_space, tag), " already exists and stands at ", max_id,
                                          "; nothing was changed. To raise it use `idgen segment advance`"}));
}

}  // namespace idgen
