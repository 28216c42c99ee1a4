// What the order of a dump says: where ids step back, for each worker and in all, and which times they have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "audit_space.hpp"

namespace idgen_tool {

// An id that is smaller than an earlier one.
struct StepBack {
  std::uint64_t ordinal = 0;  // of the smaller one among the ids of all dumps, from 0
  std::size_t dump = 0;
  std::uint64_t row = 0;
  std::uint64_t from = 0;  // keys
  std::uint64_t to = 0;
  bool is_first_of_dump = false;  // the worker's first id in this dump: the step is between two dumps
};

// By place: in ticks if there is a time, else in numbers.
std::uint64_t size_of(const StepBack& step, const IdSpace& space);

struct WorkerSteps {
  static constexpr std::size_t kKept = 8;
  std::uint64_t count = 0;
  std::vector<StepBack> largest{};  // up to kKept, the largest first
};

class Flow {
 public:
  // `now_tick`: later ones are in the future.
  Flow(const IdSpace& space, std::uint64_t now_tick);

  void begin_dump();
  // The next ids of the dump, and their keys. rows: of each, or nullptr if they count up from first_row.
  void add(const std::uint64_t* ids, const std::uint64_t* keys, std::size_t count, const std::uint64_t* rows,
           std::uint64_t first_row);

  std::uint64_t ids() const noexcept { return ordinal_; }
  // Of all workers, each within its own ids.
  std::uint64_t steps_back() const noexcept { return steps_back_; }
  const std::map<std::uint64_t, WorkerSteps>& workers_with_steps() const noexcept { return steps_; }
  // Ids of workers beyond the first 16 384, whose order is not looked at; only where a layout has room for more.
  std::uint64_t not_followed() const noexcept { return not_followed_; }
  // From id to id whoever issued them: what a reader of the dump sees.
  const WorkerSteps& overall() const noexcept { return overall_; }

  // Only if there is a time. Of all ids:
  std::uint64_t earliest() const noexcept { return earliest_; }
  std::uint64_t latest() const noexcept { return latest_; }
  // Ids after now, and those in the first day of the layout's epoch: a wrong layout, or no snowflakes.
  std::uint64_t in_future() const noexcept { return in_future_; }
  std::uint64_t in_first_day() const noexcept { return in_first_day_; }
  // Of the others; if there are none, of all.
  std::uint64_t first_likely() const noexcept { return first_likely_ <= last_likely_ ? first_likely_ : earliest_; }
  std::uint64_t last_likely() const noexcept { return first_likely_ <= last_likely_ ? last_likely_ : latest_; }

  // The course of the dump: the least and the largest place among every `ids_per_point` ids.
  struct Point {
    std::uint64_t least = UINT64_MAX;
    std::uint64_t largest = 0;
  };
  const std::vector<Point>& course() const noexcept { return course_; }
  std::uint64_t ids_per_point() const noexcept { return ids_per_point_; }

 private:
  struct Worker {
    std::uint64_t last = 0;
    std::size_t dump = 0;
  };
  Worker* worker(std::uint64_t node);  // nullptr: there are too many
  static void keep(WorkerSteps& steps, const StepBack& step, const IdSpace& space);
  void look_at_ticks(const std::uint64_t* keys, std::size_t count);
  void draw_course(const std::uint64_t* keys, std::size_t count);

  const IdSpace& space_;
  std::uint64_t now_tick_;
  std::uint64_t first_day_ticks_ = 0;
  std::uint64_t ordinal_ = 0;
  std::size_t dump_ = 0;
  std::vector<Worker> few_;                         // by node, if there are not too many bits
  std::unordered_map<std::uint64_t, Worker> many_;  // else
  std::map<std::uint64_t, WorkerSteps> steps_;      // of those that have any
  std::size_t kept_ = 0;
  std::uint64_t steps_back_ = 0;
  std::uint64_t not_followed_ = 0;
  WorkerSteps overall_;
  std::uint64_t last_overall_ = 0;
  std::uint64_t last_key_ = 0;
  std::uint64_t earliest_ = UINT64_MAX;
  std::uint64_t latest_ = 0;
  std::uint64_t first_likely_ = UINT64_MAX;
  std::uint64_t last_likely_ = 0;
  std::uint64_t in_future_ = 0;
  std::uint64_t in_first_day_ = 0;
  std::vector<Point> course_;
  std::uint64_t ids_per_point_ = 1;
};

}  // namespace idgen_tool
