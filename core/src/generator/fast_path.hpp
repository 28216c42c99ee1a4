// From the hot page to numbers, without branches for errors: those set the limit to 0.
#pragma once

#include <time.h>

#include "calendar/calendar.hpp"
#include "calendar/period.hpp"
#include "idgen/handle.hpp"
#include "idgen/time_units.hpp"
#include "reserve/hot_page.hpp"

namespace idgen {

inline std::int64_t wall_ms(const Shape& shape) noexcept IDGEN_RUNS_HOST_CODE {
  if (shape.host_clock) [[unlikely]]
    return floor_div(shape.host_clock->wall_ns(), kNsPerMs);
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000 +
         static_cast<std::int64_t>(static_cast<std::uint64_t>(now.tv_nsec) / std::uint64_t{kNsPerMs});
}

// Ticks since the epoch. Before the epoch: a huge number, above every max_tick.
inline std::uint64_t tick_at(const Shape& shape, std::int64_t unix_ms) noexcept {
  const std::int64_t since = unix_ms - shape.epoch_ms;
  return static_cast<std::uint64_t>(shape.tick_ms == 1 ? since : floor_div(since, shape.tick_ms));
}

inline std::uint64_t mix(std::uint64_t x) noexcept {  // the finalizer of splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// Where the sequence of this tick begins, according to sequence_start.
[[gnu::always_inline]] inline Counter::Start start_of(const Shape& shape, std::uint64_t tick) noexcept {
  return {shape.start_mask, shape.random_start ? mix(tick ^ shape.start_seed) : 0};
}

// Draws up to want numbers from the main counter, all in ticks that have begun or that `slack` allows. Returns how
// many.
inline std::uint64_t draw_timed(HotPage& page, const Shape& shape, std::uint64_t tick, std::uint64_t want,
                                std::uint64_t& first) noexcept {
  if (tick > shape.max_tick) [[unlikely]]
    return 0;
  const std::uint64_t floor = tick << shape.sequence_bits;
  const std::uint64_t ceiling = floor + ((page.slack.load(std::memory_order_relaxed) + 1) << shape.sequence_bits);
  return page.counter.draw_between(floor, ceiling, start_of(shape, tick), want, first);
}
inline std::uint64_t draw_timed(HotPage& page, const Shape& shape, std::uint64_t want,
                                std::uint64_t& first) noexcept IDGEN_RUNS_HOST_CODE {
  return draw_timed(page, shape, tick_at(shape, wall_ms(shape)), want, first);
}

// Of the present period, or of a later one if the store's is. None while the calendar does not know the present one.
inline std::uint64_t draw_serials(HotPage& page, const Shape& shape, std::uint64_t want,
                                  std::uint64_t& first) noexcept IDGEN_RUNS_HOST_CODE {
  const Calendar::Span* const now = shape.calendar->find(wall_ms(shape));
  if (now == nullptr) [[unlikely]]
    return 0;
  return page.counter.draw_between(now->period << kSerialBits, ~std::uint64_t{0}, {}, want, first);
}

// tick: of now, for timed numbers.
inline std::uint64_t draw_numbers(HotPage& page, const Shape& shape, std::uint64_t tick, std::uint64_t want,
                                  std::uint64_t& first) noexcept {
  return shape.timed ? draw_timed(page, shape, tick, want, first) : page.counter.draw(want, first);
}
inline std::uint64_t draw_numbers(HotPage& page, const Shape& shape, std::uint64_t want,
                                  std::uint64_t& first) noexcept IDGEN_RUNS_HOST_CODE {
  if (shape.timed) return draw_timed(page, shape, want, first);
  return shape.calendar != nullptr ? draw_serials(page, shape, want, first) : page.counter.draw(want, first);
}

// A stripe's block of time is good only while its tick lasts.
inline bool is_current(const Stripe& stripe, const Shape& shape, std::uint64_t tick) noexcept {
  return !shape.timed || (tick <= shape.max_tick && stripe.counter.next() >= tick << shape.sequence_bits);
}
inline bool is_current(const Stripe& stripe, const Shape& shape) noexcept IDGEN_RUNS_HOST_CODE {
  return !shape.timed || is_current(stripe, shape, tick_at(shape, wall_ms(shape)));
}

// Draws up to want numbers from this thread's stripe.
inline std::uint64_t draw_from_stripe(Stripe& stripe, const Shape& shape, std::uint64_t want,
                                      std::uint64_t& first) noexcept IDGEN_RUNS_HOST_CODE {
  return is_current(stripe, shape) ? stripe.counter.draw(want, first) : 0;
}

}  // namespace idgen
