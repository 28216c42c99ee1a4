// A worker's row in the store: what it says, and how one that lies far ahead of the clock is brought back.
//
// A row says up to where a worker's time is reserved. A clock that was years ahead for a moment leaves it years ahead,
// and the worker must not begin before: that is what keeps ids unique. Only somebody who knows which ids are in use can
// say that it may.
#pragma once

#include <cstdint>
#include <string>

#include "idgen/config.hpp"

namespace idgen {

struct WorkerInfo {
  std::uint64_t worker = 0;   // the number of all node fields together
  std::uint64_t fence = 0;    // of the latest grant; 0: nobody has had the worker yet
  std::int64_t hw_ms = 0;     // Unix ms, exclusive: its time is reserved up to here
  std::int64_t ahead_ms = 0;  // of the clock
  bool is_live = false;       // an owner lives, or may live
  std::string holder;         // the latest owner; "" = unknown
};

// Of the worker that a snowflake configuration names. Throws Error{unsupported} for segments and for stores without
// windows.
WorkerInfo show_worker(const Config& config);

// The row as it would be if hw stood just above `highest_id`, but not below now. Nothing is changed. Throws
// Error{worker_busy} (an owner lives), Error{format_mismatch}, Error{value}: the row is at most max_ahead ahead, or the
// id is not this worker's, was not made through this row, or is far ahead itself.
WorkerInfo plan_worker_repair(const Config& config, std::uint64_t highest_id);

// Makes it so, and ends every grant before. REQUIRES: no id of the worker above `highest_id` is in use; they will be
// issued.
WorkerInfo repair_worker(const Config& config, std::uint64_t highest_id);

}  // namespace idgen
