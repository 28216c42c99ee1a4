// Units of time. The end of a name says what a number counts: wait_ns, window_ms.
#pragma once

#include <cstdint>

namespace idgen {

inline constexpr std::int64_t kNsPerMs = 1'000'000;
inline constexpr std::int64_t kNsPerSecond = 1'000 * kNsPerMs;

// For a wait that must not be too short.
constexpr std::int64_t ms_rounded_up(std::int64_t ns) noexcept { return (ns + kNsPerMs - 1) / kNsPerMs; }

inline std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept { return a / b - (a % b < 0); }

}  // namespace idgen
