// What may be issued, and what was: it sees every reservation that a store acknowledged, and every id.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "sim/scheduler.hpp"

namespace idgen::sim {

// What is reserved: a tag's numbers, or the milliseconds of a worker.
using Series = std::pair<std::string, std::uint64_t>;  // tag, worker

class Oracle {
 public:
  explicit Oracle(Scheduler& scheduler) : scheduler_(scheduler) {}

  // A store has forgotten what it acknowledged: from now on, only a generator's own ids are compared (guarantees.md).
  bool store_went_back = false;
  std::uint64_t ids = 0;
  std::uint64_t reservations = 0;

  // A store's answer reaches the process `image`.
  void acknowledged(std::uint64_t image, const Series& series, std::int64_t first, std::int64_t end) {
    ++reservations;
    auto& held = held_[series];
    // Is any of it somebody's, or its own already (I2)?
    for (const auto& [owner, ranges] : held) {
      const auto other = overlapping(ranges, first, end);
      if (store_went_back || other == ranges.end()) continue;
      const std::string theirs = text(series, other->first, other->second);
      scheduler_.fail("I2: " + text(series, first, end) + " is granted to process " + std::to_string(image) +
                      (owner == image ? ", which has " + theirs + " already"
                                      : ", but " + theirs + " is process " + std::to_string(owner) + "'s"));
    }
    cut(held[image], first, end);
    held[image][first] = end;
  }

  // The process says that it will not use that any more.
  void returned(std::uint64_t image, const Series& series, std::int64_t first, std::int64_t end) {
    cut(held_[series][image], first, end);
    const auto& issued = used_[series];
    const auto used = issued.lower_bound(first);
    if (!store_went_back && used != issued.end() && used->first < end && used->second == image)
      scheduler_.fail("gives back " + text(series, first, end) + ", but has issued an id of " +
                      std::to_string(used->first));
  }

  // An id of [first, end) of a series is issued by a generator of a process.
  void issued(std::uint64_t image, std::uint64_t generator, const Series& series, std::uint64_t id, std::int64_t first,
              std::int64_t end) {
    ++ids;
    is_twice(series.first, id, generator, image);
    if (!holds(held_[series][image], first, end)) {
      const std::string what =
          "process " + std::to_string(image) + " issues " + std::to_string(id) + ", " + text(series, first, end);
      for (const auto& [owner, ranges] : held_[series])
        if (holds(ranges, first, end))
          scheduler_.fail("I3: " + what + ", which is process " + std::to_string(owner) + "'s");
      scheduler_.fail("I1: " + what + ", which is not reserved");
    }
    used_[series][first] = image;
  }

  // Nothing but uniqueness.
  void is_twice(const std::string& set, std::uint64_t id, std::uint64_t generator, std::uint64_t image) {
    const auto [found, is_new] = ids_[set].try_emplace(id, Issue{generator, image});
    if (is_new) return;
    if (store_went_back && found->second.generator != generator) return;
    scheduler_.fail("id " + std::to_string(id) + " was issued twice, by process " +
                    std::to_string(found->second.image) + " and by process " + std::to_string(image));
  }

  static std::string text(const Series& series, std::int64_t first, std::int64_t end) {
    if (!series.first.empty()) {
      return "tag " + series.first + " " + std::to_string(first) + " to " + std::to_string(end) + " (exclusive)";
    }
    return "worker " + std::to_string(series.second) + " " + std::to_string(first) + " to " + std::to_string(end) +
           " ms (exclusive)";
  }

 private:
  struct Issue {
    std::uint64_t generator, image;
  };
  using Ranges = std::map<std::int64_t, std::int64_t>;  // first, end

  static Ranges::const_iterator overlapping(const Ranges& ranges, std::int64_t first, std::int64_t end) {
    auto range = ranges.lower_bound(first);
    if (range != ranges.begin() && std::prev(range)->second > first) return std::prev(range);
    return range != ranges.end() && range->first < end ? range : ranges.end();
  }
  static bool holds(const Ranges& ranges, std::int64_t first, std::int64_t end) {
    const auto range = overlapping(ranges, first, end);
    return range != ranges.end() && range->first <= first && end <= range->second;
  }
  // Takes [first, end) out.
  static void cut(Ranges& ranges, std::int64_t first, std::int64_t end) {
    for (auto found = overlapping(ranges, first, end); found != ranges.end(); found = overlapping(ranges, first, end)) {
      const auto [from, to] = *found;
      ranges.erase(from);
      if (from < first) ranges[from] = first;
      if (to > end) ranges[end] = to;
    }
  }

  Scheduler& scheduler_;
  // By process: each has what it was granted, even of a time that the store has forgotten since.
  std::map<Series, std::map<std::uint64_t, Ranges>> held_;
  std::map<Series, std::map<std::int64_t, std::uint64_t>> used_;  // the first number of an id, and whose it was
  std::map<std::string, std::unordered_map<std::uint64_t, Issue>> ids_;
};

}  // namespace idgen::sim
