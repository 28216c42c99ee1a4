// A worker's row in the store: what it says, and how to repair one that is far ahead of the clock.
//
// A row says how far a worker's time is reserved. A clock that was years ahead for a moment leaves it years ahead, and
// the worker must not begin earlier: uniqueness depends on that. Only somebody who knows which ids are in use can allow
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "idgen/config.hpp"

namespace idgen {

struct WorkerInfo {
  std::uint64_t worker = 0;                      // the number of all node fields together
  std::uint64_t fence = 0;                       // of the latest grant; 0: nobody has had the worker yet
  std::int64_t hw_ms = 0;                        // Unix ms, exclusive: its time is reserved up to here
  std::int64_t ahead_ms = 0;                     // of the clock
  bool is_live = false;                          // an owner is alive, or may be
  std::string holder;                            // the latest owner; "" = unknown
  std::optional<std::int64_t> clock_ahead_ms{};  // the holder's clock minus the store's, at its latest window
};

// Reads the row of the worker that a snowflake configuration names. Throws Error{unsupported} for segments and for
// stores without windows.
std::vector<WorkerInfo> list_workers(const Config& config);
WorkerInfo show_worker(const Config& config);

// The row with hw just above `highest_id`, but not below now. Changes nothing. Throws Error{worker_busy} (an owner is
// alive), Error{format_mismatch}, Error{value}: the row is at most max_ahead ahead, or the id is not this worker's, was
// not made through this row, or is far ahead itself.
WorkerInfo plan_worker_repair(const Config& config, std::uint64_t highest_id);

// Writes that row and ends all earlier grants. REQUIRES: no id of the worker above `highest_id` is in use; they will be
// issued.
WorkerInfo repair_worker(const Config& config, std::uint64_t highest_id);

// Ends the hold of an owner that is gone: the next one need not wait for its lease. What it has reserved stays its own,
// so no id comes twice, also if the owner is alive after all (`even_if_live`). Throws
// Error{worker_busy} (an owner is alive), Error{value} (the worker has no owner).
WorkerInfo release_worker(const Config& config, bool even_if_live);

}  // namespace idgen
