// Ticks that a thread slept through. At the cap of its layout a generator waits for each next tick, and now and then a
// sleep ends milliseconds late. The ids of the ticks in between would be lost, so the counter goes on where it stood,
// behind the clock, until it has caught up. (Staying awake costs a processor, and on a busy machine more ticks, because
// a thread that uses its processor loses it: docs/performance.md, "At the cap".)
//
// Meanwhile `slack` is below zero. So the fast path finds no room in any tick that has begun, and steps over none; ids
// are drawn here, in the slow path.
#pragma once

#include "generator/fast_path.hpp"

namespace idgen {

inline bool is_behind(std::uint64_t slack) noexcept { return static_cast<std::int64_t>(slack) < 0; }
inline bool is_ahead(std::uint64_t slack) noexcept { return static_cast<std::int64_t>(slack) > 0; }

// A thread has waited for the tick of `next`, where the counter stood and stands, and woke up in `tick`. Nothing
// changes if more than `most` ticks were missed: then the clock was set, or the machine stood still.
inline void fall_behind(HotPage& page, const Shape& shape, std::uint64_t next, std::uint64_t tick,
                        std::uint64_t most) noexcept {
  const std::uint64_t next_tick = next >> shape.sequence_bits;
  if (tick <= next_tick || tick - next_tick > most || tick <= most || page.counter.next() != next) return;
  std::uint64_t none = 0;
  page.slack.compare_exchange_strong(none, 0 - most);
}

// Draws up to want numbers of one tick that is over, but not older than allowed. Returns how many; 0 also ends it,
// unless there is no room.
inline std::uint64_t draw_behind(HotPage& page, const Shape& shape, std::uint64_t want,
                                 std::uint64_t& first) noexcept IDGEN_RUNS_HOST_CODE {
  std::uint64_t slack = page.slack.load();
  if (!is_behind(slack)) return 0;
  const std::uint64_t begun = tick_at(shape, wall_ms(shape)) << shape.sequence_bits;
  const std::uint64_t oldest = begun + (slack << shape.sequence_bits);
  const std::uint64_t next = page.counter.next();
  if (oldest <= next && next < begun) {
    const std::uint64_t end = ((next >> shape.sequence_bits) + 1) << shape.sequence_bits;
    return page.counter.draw_between(oldest, end, {}, want, first);
  }
  page.slack.compare_exchange_strong(slack, 0);
  return 0;
}

}  // namespace idgen
