// The hot counter: one 64-bit number and the open range. Every id that idgen issues is drawn here.
//
//     n = next_++;  if (first_ <= n && n < limit_) n is ours
//
// Whatever goes wrong lowers the limit; the fast path checks nothing else.
//
// Why it is right, with S1, S2, ... the ranges opened one after the other, each above the one before (I2, I7):
//  - next_ only moves up (I4), or is parked above all limits and then continues where it was: no number is drawn twice.
//  - A number between Si and S(i+1), which is somebody else's, is below the limit only if that is a limit of a later
//    range. open() publishes a range's first number before its limit, so a thread that reads that limit then reads a
//    first number above n (I1).
//  - A child process finds zeros: no number is below a limit of 0 (I3).
//
// To read limit and first number costs where each read is dear (Java). Who has read them once may remember both, limit
// first, unless give_up() is ever called: what lay between them is its drawer's for good. For ranges only rise, and
// whatever else takes numbers back (seal(), park()) has moved next_ away from them first. give_up() has too, but the
// store may grant a part of what it got back, and then the counter stands between the old bounds once more, where
// others have numbers above the new limit. version_ says when to remember anew.
//
// The locked instruction comes first because it waits for all loads before it: reading the limit first would cost a
// quarter more. The price is that a number drawn at the limit has left the counter: only the thread that drew it can
// still issue it (Supply::claim).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/assert.hpp"

namespace idgen {

class alignas(64) Counter {
 public:
  // No limit is above this.
  static constexpr std::uint64_t kEnd = std::uint64_t{1} << 63;
  // Where a parked or sealed counter is: so far above kEnd that draws at the end of the last range are not mistaken for
  // it.
  static constexpr std::uint64_t kParked = std::uint64_t{3} << 62;

  // Fast path. Draws one number. False: it is not in the open range; nobody else draws it.
  bool draw(std::uint64_t& n) noexcept {
    n = next_.fetch_add(1, std::memory_order_acquire);
    return n < limit_.load(std::memory_order_acquire) && n >= first_.load(std::memory_order_relaxed);
  }

  // Draws up to want numbers first, first + 1, ...; returns how many, 0 if none.
  std::uint64_t draw(std::uint64_t want, std::uint64_t& first) noexcept {
    return draw_between(0, ~std::uint64_t{0}, {}, want, first);
  }

  // Where to continue when the counter is behind the floor: at floor + ((next + salt) & mask). Mask 0 starts at the
  // floor; salt 0 keeps the low bits, so that the low bits of ids stay evenly spread.
  struct Start {
    std::uint64_t mask = 0;
    std::uint64_t salt = 0;
  };
  // The number drawn next when next_ is at `next`.
  static std::uint64_t wanted(std::uint64_t next, std::uint64_t floor, Start start) noexcept {
    return next >= floor ? next : floor + ((next + start.salt) & start.mask);
  }

  // As above, but at least `floor` and below `ceiling`. Always inlined: sources that are compiled for size use it too,
  // and of several copies of a function the linker keeps one, which may be theirs.
  [[gnu::always_inline]] std::uint64_t draw_between(std::uint64_t floor, std::uint64_t ceiling, Start start,
                                                    std::uint64_t want, std::uint64_t& first) noexcept {
    std::uint64_t seen = next_.load(std::memory_order_acquire);
    for (;;) {
      const std::uint64_t from = wanted(seen, floor, start);
      // Read after `seen`: if the counter is still at `seen` below, no range has been opened in between.
      const std::uint64_t end = std::min(limit_.load(std::memory_order_acquire), ceiling);
      if (from >= end) [[unlikely]]
        return 0;
      const std::uint64_t count = std::min(want, end - from);
      const std::uint64_t over = from - seen;
      if (over != 0) [[unlikely]]
        skip(over);
      if (next_.compare_exchange_weak(seen, from + count, std::memory_order_acq_rel, std::memory_order_acquire)) {
        IDGEN_ASSERT("I4: the counter only moves up", seen <= from && from < from + count);
        IDGEN_ASSERT("I1: nothing is drawn beyond the last range of all", from + count <= kEnd);
        first = from;
        return count;
      }
      if (over != 0) [[unlikely]]
        skip(0 - over);
    }
  }

  // The number after the last one drawn: kParked or more once sealed.
  std::uint64_t next() const noexcept {
    const std::uint64_t next = next_.load(std::memory_order_acquire);
    return next < kParked ? next : resume_.load(std::memory_order_relaxed);
  }
  std::uint64_t limit() const noexcept { return limit_.load(std::memory_order_acquire); }
  // How many numbers were drawn here by draw_between(), with the counter at `next`, which was read before: never more
  // than that, because whoever skips numbers says so before the counter moves.
  std::uint64_t drawn(std::uint64_t next) const noexcept {
    const std::uint64_t skipped = skipped_.load(std::memory_order_acquire);
    return next > skipped ? next - skipped : 0;
  }

  // So many numbers that next_ passes, or has passed, are not issued.
  void skip(std::uint64_t numbers) noexcept { skipped_.fetch_add(numbers, std::memory_order_relaxed); }

  // The rest is for the slow path, under its lock.

  // Before the first range: nothing below `next` is drawn here.
  void begin_at(std::uint64_t next) noexcept {
    IDGEN_ASSERT("I4: the counter only moves up", next_.load() <= next && limit_.load() == 0 && next <= kEnd);
    skipped_.store(next, std::memory_order_relaxed);
    next_.store(next, std::memory_order_relaxed);
  }
  // Opens a range that lies above all earlier ones, at its first number plus the low bits of next_ that carry_mask
  // keeps. limit may be below the range's end, to be raised later.
  void open(std::uint64_t first, std::uint64_t limit, std::uint64_t carry_mask = 0) noexcept {
    IDGEN_ASSERT("I1: a range is one of numbers that there are", first <= limit && limit <= kEnd);
    IDGEN_ASSERT("I1: nothing is opened once all is sealed", !is_sealed());
    IDGEN_ASSERT("I7: a range lies above all earlier ones", first_.load() <= first && limit_.load() <= first);
    first_.store(first, std::memory_order_relaxed);
    // Released: a thread that reads this next_ sees no limit of a range that was given up before.
    std::uint64_t seen = next_.load(std::memory_order_relaxed);
    while (seen < first) {
      const std::uint64_t to = first + (seen & carry_mask), over = to - seen;
      skip(over);
      if (next_.compare_exchange_weak(seen, to, std::memory_order_release, std::memory_order_relaxed)) break;
      skip(0 - over);
    }
    if (seen >= kParked) {
      const std::uint64_t stood = resume_.load(std::memory_order_relaxed), to = std::max(first, stood);
      skip(to - stood);
      next_.store(to, std::memory_order_release);
    }
    IDGEN_ASSERT("I4: the counter stands in the range that opens, or beyond", next() >= first);
    limit_.store(limit, std::memory_order_release);
    changed();
  }
  // Moves the limit inside the open range. 0: nothing of it is issued.
  void set_limit(std::uint64_t limit) noexcept {
    IDGEN_ASSERT("I1: the limit lies in the open range", limit == 0 || (first_.load() <= limit && limit <= kEnd));
    limit_.store(limit, std::memory_order_release);
    changed();
  }
  // Nothing is left. Until the next range is opened, draws are lost above all limits: otherwise a poller would use up
  // numbers of the next range.
  void park() noexcept { leave(); }
  // The same, by a thread that last drew `given_up` and does not need it: it is drawn again, if nobody has drawn since.
  void park(std::uint64_t given_up) noexcept {
    leave();
    IDGEN_ASSERT("I4: the counter stands above what was drawn", given_up < resume_.load());
    if (resume_.load(std::memory_order_relaxed) == given_up + 1) resume_.store(given_up, std::memory_order_relaxed);
  }
  // Takes the rest of the open range back. Returns the first number that nobody drew or ever will draw here. One number
  // below it is burned, so that a running draw_between(), which compares only next_, cannot mistake a later range that
  // begins here for this one.
  std::uint64_t give_up() noexcept {
    limit_.store(0, std::memory_order_release);
    changed();
    leave();
    const std::uint64_t first = resume_.load(std::memory_order_relaxed) + 1;
    skip(1);
    resume_.store(first, std::memory_order_relaxed);
    return first;
  }
  // Ends drawing. Returns the first number that nobody drew: it and all above can be given back.
  std::uint64_t seal() noexcept {
    limit_.store(0, std::memory_order_release);
    changed();
    leave();
    return resume_.exchange(kParked, std::memory_order_relaxed);
  }

 private:
  void changed() noexcept { version_.fetch_add(1, std::memory_order_release); }
  void leave() noexcept {
    const std::uint64_t stood = next_.exchange(kParked, std::memory_order_acq_rel);
    IDGEN_ASSERT("I4: the counter only moves up", stood >= resume_.load());
    if (stood < kParked) resume_.store(stood, std::memory_order_relaxed);
  }
  bool is_sealed() const noexcept { return resume_.load(std::memory_order_relaxed) == kParked; }

  friend struct WordsOfView;  // capi/: the words in the order that idgen.h promises

  std::atomic<std::uint64_t> next_{0};
  std::atomic_uint64_t skipped_{0};  // numbers that next_ has passed and nobody drew; only counts
  // Every draw reads these and hardly any writes them: on a line of their own each processor keeps them, while next_
  // goes from one to the other.
  alignas(64) std::atomic<std::uint64_t> limit_{0};
  std::atomic<std::uint64_t> first_{0};    // of the open range
  std::atomic<std::uint64_t> resume_{0};   // where next_ continues after it was parked
  std::atomic<std::uint64_t> version_{0};  // of limit_ and first_, in this process image
};

}  // namespace idgen
