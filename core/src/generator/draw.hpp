// One id, for the caller of the C ABI: the only code of the core that capi/ compiles into its own functions. A locked instruction waits for
// every store before it, so each register saved on the way there is paid for; the path of a strict segment saves none.
#pragma once

#include "generator/fast_path.hpp"
#include "generator/generator.hpp"

namespace idgen {

inline bool Handle::draw_plain(std::uint64_t& id) noexcept {
  std::uint64_t number;
  if (!plain_ || !page_.load(std::memory_order_relaxed)->counter.draw(number)) [[unlikely]] return false;
  id = number;
  return true;
}

[[gnu::always_inline]] inline bool Handle::draw(std::uint64_t& id) noexcept {
  HotPage& page = *page_.load(std::memory_order_relaxed);
  std::uint64_t number;
  if (shape_.timed && !shape_.striped) {
    const std::uint64_t tick = tick_at(shape_, wall_ms(shape_));
    const Shape shape = shape_;  // before the counter's step: a load after a locked instruction waits for it
    if (!draw_in_tick(page, shape, tick, 1, number)) return false;
    id = shape.id(number);
    return true;
  }
  if (shape_.striped) {
    Stripe& stripe = page.stripes[thread_stripe()];
    if (!shape_.timed) {
      if (!stripe.counter.draw(number)) return false;
      id = number;
      return true;
    }
    if (!draw_from_stripe(stripe, shape_, 1, number)) return false;
    id = shape_.id(number);
    return true;
  }
  return draw_plain(id);
}

}  // namespace idgen
