#include "reserve/sizing.hpp"

#include <algorithm>

namespace idgen {
std::uint64_t rate_of(std::uint64_t numbers, std::int64_t ns) noexcept {
  return static_cast<std::uint64_t>(static_cast<double>(numbers) * 1e9 / static_cast<double>(ns));
}

std::uint64_t mark_of(const Sizing& sizing, std::uint64_t size) noexcept {
  const auto mark = static_cast<std::uint64_t>(static_cast<double>(size) * sizing.prefetch);
  return std::clamp<std::uint64_t>(mark, 1, size);
}

std::uint64_t runway_of(const Sizing& sizing, std::uint64_t rate) noexcept {
  const double numbers = static_cast<double>(rate) * static_cast<double>(sizing.runway_ns) / 1e9;
  return numbers < static_cast<double>(sizing.stock_max) ? static_cast<std::uint64_t>(numbers) : sizing.stock_max;
}

std::uint64_t next_size(const Sizing& sizing, const Pace& pace) noexcept {
  if (sizing.runway_ns == 0) return 0;
  const auto runway = static_cast<double>(runway_of(sizing, pace.rate));
  const auto size = static_cast<std::uint64_t>(runway / (1 - std::min(sizing.prefetch, 0.5)));
  const std::uint64_t most = pace.last_size * 2;
  const std::uint64_t grown = std::clamp(pace.is_starved ? most : size, pace.last_size / 2, most);
  return std::min(grown, sizing.stock_max / 2);  // two are held
}

bool is_short(const Sizing& sizing, const Pace& pace, std::uint64_t held, std::size_t ready_ranges) noexcept {
  return held < runway_of(sizing, pace.rate) &&
         held + std::max(next_size(sizing, pace), pace.last_size) <= sizing.stock_max && ready_ranges < kLongestChain;
}

}  // namespace idgen
