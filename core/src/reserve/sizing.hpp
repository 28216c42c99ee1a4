// How many numbers to reserve next, and when to ask for them. Values in, values out: the supply measures and decides
// when to look here.
//
// What is left of a range at its mark is to last for the runway, at the rate of late. So a range is rate × runway / (1
// − prefetch), at most twice or half the one before; and while the source gives less than that, the supply chains
// ranges until the runway is held.
#pragma once

#include <cstddef>
#include <cstdint>

namespace idgen {

// What the configuration says.
struct Sizing {
  double prefetch = 1;          // share of a range after which the next is asked for
  std::int64_t runway_ns = 0;   // 0: a range is as the source sees fit
  std::uint64_t stock_max = 0;  // numbers held beyond which no more is asked for the sake of the runway
};

// What the supply knows at the moment when it asks.
struct Pace {
  std::uint64_t rate = 0;       // numbers a second that were drawn of late
  std::uint64_t last_size = 0;  // of the latest range
  bool is_starved = false;      // somebody has waited since that range: the rate would have been higher
};

// A rate is taken over no less: what a burst draws in a few milliseconds is not what a second draws.
inline constexpr std::int64_t kMeasureNs = 1'000'000'000;

// Numbers a second. REQUIRES: ns > 0.
std::uint64_t rate_of(std::uint64_t numbers, std::int64_t ns) noexcept;

// How many numbers of a range of `size` are drawn before the next is asked for: from 1 to `size`.
std::uint64_t mark_of(const Sizing& sizing, std::uint64_t size) noexcept;

// Numbers that are drawn in the runway, within stock_max.
std::uint64_t runway_of(const Sizing& sizing, std::uint64_t rate) noexcept;

// Size of the next range. 0: as the source sees fit.
std::uint64_t next_size(const Sizing& sizing, const Pace& pace) noexcept;

// Whether one more range is to be asked for at once: `held` numbers, of which `ready_ranges` ranges are untouched, do
// not last for the runway, and another range does not pass stock_max.
bool is_short(const Sizing& sizing, const Pace& pace, std::uint64_t held, std::size_t ready_ranges) noexcept;

}  // namespace idgen
