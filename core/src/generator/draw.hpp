// One id, for the caller of the C ABI: the only code of the core that capi/ compiles into its own functions. A locked
// instruction waits for every store before it, so each register saved before it costs time; the path of a strict
// segment saves none.
#pragma once

#include "generator/fast_path.hpp"
#include "generator/generator.hpp"

namespace idgen {

inline bool Handle::draw_plain(std::uint64_t& drawn) noexcept { return page_.load(kPageOrder)->counter.draw(drawn); }

[[gnu::always_inline]] inline bool Handle::draw_other(std::uint64_t& id) noexcept {
  if (!shape_.is_direct) return draw_spread(id);
  HotPage& page = *page_.load(kPageOrder);
  std::uint64_t number;
  if (!draw_timed(page, shape_, 1, number)) return false;
  id = shape_.timed_id(number, page.fixed.load(std::memory_order_relaxed));
  return true;
}

}  // namespace idgen
