// What a counter is fed with: the range in use, the ready ones behind it, and what is known of all grants.
//
// Values in, values out: it knows no lock, no clock, no thread and no counter. `next` is always the number after the
// last one that the counter has drawn. The caller holds the lock that guards the chain, and tells the counter.
//
// Of fixed size and without pointers, so that it can be in memory that processes share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "idgen/time_units.hpp"
#include "reserve/sizing.hpp"
#include "runtime/assert.hpp"

namespace idgen {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t end = 0;           // exclusive
  std::int64_t granted_at_ns = 0;  // mono; set by the supply
  std::uint64_t size() const noexcept { return end - first; }
};

// Some ranges, each above the one before.
class Ranges {
 public:
  static constexpr std::size_t kMost = kLongestChain + 1;  // a whole chain, and the rest of the range in use

  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  Range& operator[](std::size_t i) noexcept { return at_[(begin_ + i) % kMost]; }
  const Range& operator[](std::size_t i) const noexcept { return at_[(begin_ + i) % kMost]; }
  const Range& front() const noexcept { return (*this)[0]; }
  Range& back() noexcept { return (*this)[count_ - 1]; }
  const Range& back() const noexcept { return (*this)[count_ - 1]; }
  void push(const Range& range) noexcept {
    IDGEN_ASSERT("I1: no range that is held is overwritten", count_ < kMost);
    (*this)[count_++] = range;
  }
  void pop() noexcept {
    IDGEN_ASSERT("I1: only what was granted is opened", count_ > 0);
    begin_ = (begin_ + 1) % kMost;
    --count_;
  }

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t count_ = 0;
  Range at_[kMost] = {};
};

// What became of a grant.
enum class Grant {
  accepted,
  empty,  // it has no number; nothing has changed
  below,  // it begins below the end of an earlier one: the store has gone back, and nothing is held any more
};

struct RangeChain {
  Range current;  // in use: its numbers from `next` on are held
  Ranges ready;   // each above `current`
  Range rest;     // once sealed: of `current`, what was not drawn; may be empty, with first > end

  std::uint64_t granted = 0;      // numbers, of all grants
  std::uint64_t unused = 0;       // of these: no longer held, and not drawn
  std::uint64_t highest_end = 0;  // I7: the witness
  std::uint64_t used_end = 0;     // without what may be given back
  std::uint64_t last_size = 0;    // of the latest grant
  std::int64_t granted_at_ns = 0;
  std::uint64_t closed_at = 0;  // once sealed: `next`

  std::uint64_t rate = 0;      // numbers per second, between the last two measurements
  std::uint64_t measured = 0;  // numbers drawn until the last one
  std::int64_t measured_at_ns = 0;
  std::int64_t measured_over_ns = kNsPerSecond;

  bool is_starved = false;     // a caller has waited since the latest grant: the rate would be higher
  bool has_regressed = false;  // a grant was below an earlier one: for good

  bool is_in_use(std::uint64_t next) const noexcept { return next < current.end; }
  std::uint64_t held(std::uint64_t next) const noexcept;  // granted and not drawn
  std::uint64_t drawn(std::uint64_t next) const noexcept { return granted - unused - held(next); }
  // What has been held for longest; null: nothing is.
  const Range* oldest(std::uint64_t next) const noexcept;

  // The store has granted a range, now.
  Grant accept(Range range, std::int64_t now_ns, std::uint64_t next) noexcept;
  // The store has gone back: what is held may also have been granted to others, and nothing is held any more.
  void forget(std::uint64_t next) noexcept;
  // The first of the ready ones is in use from now on. Returns it. leaves_rest: what is left of the one before is not
  // drawn. REQUIRES: one is ready.
  const Range& open_next(std::uint64_t next, bool leaves_rest) noexcept;
  // Ready ranges whose time has passed are not kept, except the last.
  void drop_passed(std::uint64_t need) noexcept;
  // The counter has given up the range in use: `first` is the first number that was not drawn and will not be, and the
  // one below it is burned (Counter::give_up). Adds what may be given back.
  void give_up(std::uint64_t first, Ranges& old) noexcept;
  // Adds the ready ones that were granted until then.
  void take_old(std::int64_t until_ns, Ranges& old) noexcept;
  // Nothing is held, and all that was is given back: it may be granted again.
  void lower_witness() noexcept;
  // The counter is sealed, and gave `next`.
  void seal(std::uint64_t next) noexcept;
  // What is ready is not issued, then.
  Ranges take_ready() noexcept;

  void measure(std::int64_t now_ns, std::uint64_t next) noexcept;
  // If it has not been measured for longer than before, the rate has fallen since.
  std::uint64_t rate_at(std::int64_t now_ns, std::uint64_t next) const noexcept;
  Pace pace() const noexcept { return {.rate = rate, .last_size = last_size, .is_starved = is_starved}; }

  // Where assertions are on.
  void check(std::uint64_t next, std::uint64_t limit) const noexcept;

 private:
  void add(const Range& range) noexcept;
};

static_assert(std::is_trivially_copyable_v<RangeChain> && std::is_standard_layout_v<RangeChain>);

}  // namespace idgen
