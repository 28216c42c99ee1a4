// The hot counter: one 64-bit number and one limit. Everything idgen issues is drawn here.
//
//     limit = limit_;  n = next_++;  if (n < limit) n is ours
//
// Whatever can go wrong lowers the limit; the fast path asks nothing else.
//
// Why it is right, with S1, S2, ... the ranges opened one after the other, each above the one before (I2, I7):
//  - next_ only moves up (I4), so no number is drawn twice.
//  - open() first lifts next_ to the new range, then publishes its end. A thread that has read the end of Si before its step therefore
//    steps from inside or above Si, and n < end(Si) puts n into Si: never into a gap between ranges, which is somebody else's (I1).
//    The order matters: the limit must be read before the step.
//  - a child process finds zeros: no number is below a limit of 0 (I3).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace idgen {

class alignas(64) Counter {
 public:
  // Above every limit: where a sealed counter stands.
  static constexpr std::uint64_t kSealed = std::uint64_t{1} << 63;

  // Fast path. Draws one number, or returns false.
  bool draw(std::uint64_t& n) noexcept {
    const std::uint64_t limit = limit_.load(std::memory_order_acquire);
    // Without this look a poller would push next_ through a range that is yet to be opened.
    if (next_.load(std::memory_order_relaxed) >= limit) [[unlikely]]
      return false;
    n = next_.fetch_add(1, std::memory_order_relaxed);
    return n < limit;
  }

  // Draws up to want numbers first, first + 1, ...; returns how many, 0 if none.
  std::uint64_t draw(std::uint64_t want, std::uint64_t& first) noexcept {
    return draw_between(0, ~std::uint64_t{0}, {}, want, first);
  }

  // Where to go on when the counter is behind the floor: at floor + ((next + salt) & mask). Mask 0 starts at the floor; salt 0 carries the
  // low bits on, so that the low bits of ids stay evenly spread.
  struct Start {
    std::uint64_t mask = 0;
    std::uint64_t salt = 0;
  };
  // The number that is drawn next when next_ stands at `next`.
  static std::uint64_t wanted(std::uint64_t next, std::uint64_t floor, Start start) noexcept {
    return next >= floor ? next : floor + ((next + start.salt) & start.mask);
  }

  // As above, from at least `floor` on and below `ceiling`.
  std::uint64_t draw_between(std::uint64_t floor, std::uint64_t ceiling, Start start, std::uint64_t want,
                             std::uint64_t& first) noexcept {
    std::uint64_t seen = next_.load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t from = wanted(seen, floor, start);
      // Read after `seen`: if the counter still stands at `seen` below, no range has been opened in between.
      const std::uint64_t end = std::min(limit_.load(std::memory_order_acquire), ceiling);
      if (from >= end) [[unlikely]]
        return 0;
      const std::uint64_t count = std::min(want, end - from);
      if (next_.compare_exchange_weak(seen, from + count, std::memory_order_acq_rel, std::memory_order_acquire)) {
        first = from;
        return count;
      }
    }
  }

  std::uint64_t next() const noexcept { return next_.load(std::memory_order_acquire); }
  std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_acquire); }

  // The rest is for the slow path, under its lock.

  // Opens a range that lies above all earlier ones, at its first number plus the low bits of next_ that carry_mask keeps. limit may be below
  // the range's end, to be raised later.
  void open(std::uint64_t first, std::uint64_t limit, std::uint64_t carry_mask = 0) noexcept {
    std::uint64_t seen = next_.load(std::memory_order_relaxed);
    while (seen < first && !next_.compare_exchange_weak(seen, first + (seen & carry_mask), std::memory_order_relaxed)) {
    }
    limit_.store(limit, std::memory_order_release);
  }
  // Moves the limit inside the open range.
  void set_limit(std::uint64_t limit) noexcept { limit_.store(limit, std::memory_order_release); }
  // Nobody draws after this. Returns the first number that nobody drew: what is above it can be given back.
  std::uint64_t seal() noexcept {
    limit_.store(0, std::memory_order_release);
    return next_.exchange(kSealed, std::memory_order_acq_rel);
  }

 private:
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> limit_{0};
};

}  // namespace idgen
