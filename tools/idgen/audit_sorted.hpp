// What sorted keys say, one after the other: which came more than once, in which runs, and how much each worker issued
// when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "audit_space.hpp"

namespace idgen_tool {

// Duplicated ids of one worker, near one another.
struct Incident {
  static constexpr std::size_t kSamples = 32;
  std::uint64_t node = 0;
  std::uint64_t first = 0;  // keys
  std::uint64_t last = 0;
  std::uint64_t ids = 0;    // that came more than once
  std::uint64_t extra = 0;  // copies beyond the first of each
  std::uint64_t most_copies = 0;
  std::uint64_t single = 0;  // ids between the first and the last that came once
  std::uint64_t before = 0;  // ids of the worker below the first, and above the last
  std::uint64_t after = 0;
  bool begins_in_tick = false;  // the id just below the first came once, in the same tick: without a time, always
  std::vector<std::uint64_t> samples{};  // some of its keys, in order

  double density() const { return static_cast<double>(ids) / static_cast<double>(ids + single); }
};

// In one incident's stead: both, which are of one worker, `first` below.
Incident joined(const Incident& first, const Incident& second);

struct WorkerSummary {
  std::uint64_t node = 0;
  std::uint64_t ids = 0;  // different ones
  std::uint64_t duplicated = 0;
  std::uint64_t first = 0;  // keys
  std::uint64_t last = 0;
  // Only if there is a time:
  std::uint64_t ticks = 0;       // with at least one id
  std::uint64_t full_ticks = 0;  // with as many as the layout has room for
  std::uint64_t peak = 0;        // ids in one tick
  std::uint64_t peak_tick = 0;
  std::uint64_t longest_gap = 0;  // in ticks, without an id
  std::uint64_t gap_begin = 0;
};

// Ids per stretch of time, for the workers with the most ids and for the others together.
struct Rates {
  static constexpr std::size_t kStretches = 240;
  static constexpr std::size_t kShown = 6;
  struct Series {
    std::uint64_t node = 0;
    std::uint64_t ids = 0;
    std::vector<std::uint64_t> counts{};
  };
  std::uint64_t first_tick = 0;
  double ticks_per_stretch = 1;
  std::vector<Series> shown{};  // the largest first
  std::vector<std::uint64_t> others{};
  std::vector<std::uint64_t> all{};
  std::vector<std::uint64_t> duplicated{};
};

class SortedPass {
 public:
  // At most `most` incidents and workers are kept apart; the rates are of the ticks from first to last.
  SortedPass(const IdSpace& space, std::uint64_t first_tick, std::uint64_t last_tick, std::size_t most);
  void add(const std::uint64_t* keys, std::size_t count);
  void finish();

  std::uint64_t different() const noexcept { return different_; }
  std::uint64_t duplicated() const noexcept { return duplicated_; }
  std::uint64_t extra() const noexcept { return extra_; }
  std::uint64_t least() const noexcept { return least_; }
  std::uint64_t largest() const noexcept { return largest_; }
  const std::vector<Incident>& incidents() const noexcept { return incidents_; }
  std::uint64_t worker_count() const noexcept { return worker_count_; }
  // By node; if there are too many, those with the most ids.
  const std::vector<WorkerSummary>& workers() const noexcept { return workers_; }
  const Rates& rates() const noexcept { return rates_; }

 private:
  void end_key();
  void end_tick();
  void end_worker();
  void duplicate();
  void end_incident();
  bool is_far() const;
  void join_nearest();

  const IdSpace& space_;
  std::size_t most_;
  bool is_begun_ = false;
  std::uint64_t key_ = 0;  // the one that is being counted
  std::uint64_t copies_ = 0;
  std::uint64_t previous_ = 0;  // the different one before it
  bool has_previous_ = false;   // of the same worker
  bool was_single_ = false;
  std::uint64_t in_tick_ = 0;
  WorkerSummary worker_;
  std::uint64_t last_tick_ = 0;
  std::vector<std::uint64_t> counts_;  // of the worker
  Incident incident_;
  std::uint64_t since_ = 0;   // single ids since the incident's last one
  std::uint64_t stride_ = 1;  // of the samples
  std::uint64_t different_ = 0;
  std::uint64_t duplicated_ = 0;
  std::uint64_t extra_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t largest_ = 0;
  std::vector<Incident> incidents_;
  std::size_t incidents_of_worker_ = 0;  // where those of this worker begin
  std::uint64_t worker_count_ = 0;
  std::vector<WorkerSummary> workers_;
  Rates rates_;
  double stretches_per_tick_ = 0;
};

}  // namespace idgen_tool
