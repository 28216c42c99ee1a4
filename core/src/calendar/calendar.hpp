// Which period it is, in a few nanoseconds as long as it lasts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "calendar/period.hpp"
#include "idgen/pattern.hpp"
#include "idgen/zone.hpp"

namespace idgen {

// Threads: any. A forked child goes on with what its parent had found out: there is no lock.
class Calendar {
 public:
  // A time that lies in one period: it ends with the period, or where the zone's clocks are changed.
  struct Span {
    std::int64_t from_ms;   // Unix ms
    std::int64_t until_ms;  // exclusive
    std::uint64_t period;
    bool holds(std::int64_t unix_ms) const noexcept { return from_ms <= unix_ms && unix_ms < until_ms; }
  };

  // REQUIRES: the pattern of a serial, with a date.
  Calendar(std::shared_ptr<const Zone> zone, const TextPattern& pattern)
      : zone_(std::move(zone)), unit_(pattern.finest()), years_(years_of_serials(pattern)) {}
  Calendar(const Calendar&) = delete;
  Calendar& operator=(const Calendar&) = delete;
  ~Calendar();

  // Null: not found out yet.
  const Span* find(std::int64_t unix_ms) const noexcept {
    const Span* const latest = latest_.load(std::memory_order_acquire);
    return latest != nullptr && latest->holds(unix_ms) ? latest : nullptr;
  }
  // Throws what the zone throws, Error{value} for a year that no pattern writes.
  const Span& learn(std::int64_t unix_ms) const;

 private:
  struct Known : Span {
    const Known* next = nullptr;
  };

  const std::shared_ptr<const Zone> zone_;
  const TimeUnit unit_;
  const Years years_;
  mutable std::atomic<const Known*> latest_{nullptr};
  mutable std::atomic<const Known*> known_{nullptr};  // all: a few, also after years
};

}  // namespace idgen
