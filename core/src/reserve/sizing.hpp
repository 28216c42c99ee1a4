// How many numbers to reserve next, and when to request them. Values in, values out: the supply measures, and decides
// when to call this.
//
// What is left of a range at its mark should last for the runway, at the recent rate. So a range is rate × runway / (1
// − prefetch), at most twice and at least half the one before. While the source gives less than that, the supply chains
// ranges until the runway is held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "idgen/time_units.hpp"

namespace idgen {

// What the configuration says.
struct Sizing {
  double prefetch = 1;          // share of a range after which the next is requested
  std::int64_t runway_ns = 0;   // 0: the source decides the size of a range
  std::uint64_t stock_max = 0;  // numbers held, above which the runway requests no more
};

// What the supply knows when it decides.
struct Pace {
  std::uint64_t rate = 0;       // numbers per second drawn recently
  std::uint64_t last_size = 0;  // of the latest range
  bool is_starved = false;      // a caller has waited since that range: the rate would have been higher
};

// A rate is measured over at least this: a burst of a few milliseconds says nothing about a second.
inline constexpr std::int64_t kMeasureNs = kNsPerSecond;

// So many ranges are ready at most, no matter how small the source's ranges are.
inline constexpr std::size_t kLongestChain = 64;

// Numbers per second. REQUIRES: ns > 0.
std::uint64_t rate_of(std::uint64_t numbers, std::int64_t ns) noexcept;

// How many numbers of a range of `size` are drawn before the next is requested: from 1 to `size`.
std::uint64_t mark_of(const Sizing& sizing, std::uint64_t size) noexcept;

// Numbers drawn within the runway, at most stock_max.
std::uint64_t runway_of(const Sizing& sizing, std::uint64_t rate) noexcept;

// Size of the next range. 0: the source decides.
std::uint64_t next_size(const Sizing& sizing, const Pace& pace) noexcept;

// True if one more range should be requested at once: `held` numbers, including `ready_ranges` untouched ranges, do not
// last for the runway, and another range would not exceed stock_max.
bool is_short(const Sizing& sizing, const Pace& pace, std::uint64_t held, std::size_t ready_ranges) noexcept;

}  // namespace idgen
