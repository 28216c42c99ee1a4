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
    // What of it is somebody's, or its own already (I2)?
    if (!store_went_back) {
      auto next = held.lower_bound(first);
      if (next != held.begin() && std::prev(next)->second.end > first) --next;
      if (next != held.end() && next->first < end && next->second.image != image) {
        scheduler_.fail("I2: " + text(series, first, end) + " is granted to process " + std::to_string(image) +
                        ", but " + text(series, next->first, next->second.end) + " is process " +
                        std::to_string(next->second.image) + "'s");
      } else if (next != held.end() && next->first < end) {
        scheduler_.fail("I2: " + text(series, first, end) + " is granted to process " + std::to_string(image) +
                        ", which has " + text(series, next->first, next->second.end) + " already");
      }
    }
    cut(held, first, end, nullptr);
    held[first] = {end, image};
  }

  // The process says that it will not use that any more.
  void returned(std::uint64_t image, const Series& series, std::int64_t first, std::int64_t end) {
    cut(held_[series], first, end, &image);
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
    const auto& held = held_[series];
    auto mine = held.upper_bound(first);
    if (mine != held.begin()) --mine;
    const bool is_reserved = mine != held.end() && mine->first <= first && end <= mine->second.end;
    if (!is_reserved) {
      scheduler_.fail("I1: process " + std::to_string(image) + " issues " + std::to_string(id) + ", " +
                      text(series, first, end) + ", which is not reserved");
    } else if (mine->second.image != image && !store_went_back) {
      scheduler_.fail("I3: process " + std::to_string(image) + " issues " + std::to_string(id) + ", " +
                      text(series, first, end) + ", which is process " + std::to_string(mine->second.image) + "'s");
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
  struct Held {
    std::int64_t end;
    std::uint64_t image;
  };
  struct Issue {
    std::uint64_t generator, image;
  };
  using Ranges = std::map<std::int64_t, Held>;  // by their first number

  // Takes [first, end) out: of everybody, or of one process.
  static void cut(Ranges& ranges, std::int64_t first, std::int64_t end, const std::uint64_t* image) {
    auto range = ranges.lower_bound(first);
    if (range != ranges.begin() && std::prev(range)->second.end > first) --range;
    while (range != ranges.end() && range->first < end) {
      const auto [from, held] = *range;
      if (image && held.image != *image) {
        ++range;
        continue;
      }
      range = ranges.erase(range);
      if (from < first) ranges[from] = {first, held.image};
      if (held.end > end) range = ranges.insert_or_assign(end, Held{held.end, held.image}).first;
    }
  }

  Scheduler& scheduler_;
  std::map<Series, Ranges> held_;
  std::map<Series, std::map<std::int64_t, std::uint64_t>> used_;  // the first number of an id, and whose it was
  std::map<std::string, std::unordered_map<std::uint64_t, Issue>> ids_;
};

}  // namespace idgen::sim
