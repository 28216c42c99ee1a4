// Whether a clock can be trusted with a worker's time.
#pragma once

#include <cstdint>
#include <optional>

#include "generator/fast_path.hpp"
#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"

namespace idgen {

// Distinguishes a clock that leaps from time that passes. What a window reserves stays reserved: if a clock that is ten
// years ahead for a moment were trusted at once, the worker's time would be ten years ahead for good.
class ClockWitness {
 public:
  // Throws Error{clock_leap} until the clock has stayed where it leapt to.
  void check(std::int64_t wall_ns, std::int64_t mono_ns) {
    if (!trusted_ || trusted_->ahead(wall_ns, mono_ns) <= kPlausibleNs) {
      suspect_.reset();
      return;
    }
    // A clock that stands still, as in tests, counts as steady. One that leaps again, on or back, starts over.
    const bool is_steady = suspect_ && suspect_->ahead(wall_ns, mono_ns) <= kSteadyNs && wall_ns >= suspect_->wall_ns;
    if (!is_steady) suspect_ = Reading{wall_ns, mono_ns};
    const std::int64_t left_ns = kConfirmedNs - (mono_ns - suspect_->mono_ns);
    if (left_ns <= 0) return;
    throw Error(Status::clock_leap,
                "the clock has leapt " + format_duration_ms(trusted_->ahead(wall_ns, mono_ns) / kNsPerMs) +
                    " ahead, to " + format_instant(floor_div(wall_ns, kNsPerMs)) +
                    "; a worker's time is not reserved there before the clock has stayed there for " +
                    std::to_string(kConfirmedNs / kNsPerSecond) + " s. If it is wrong, set it",
                static_cast<std::uint64_t>(left_ns));
  }
  void trust(std::int64_t wall_ns, std::int64_t mono_ns) {
    trusted_ = Reading{wall_ns, mono_ns};
    suspect_.reset();
  }

 private:
  // A leap that a paused machine, or a slightly wrong clock, can cause is trusted at once.
  static constexpr std::int64_t kPlausibleNs = 600 * kNsPerSecond;
  static constexpr std::int64_t kConfirmedNs = 10 * kNsPerSecond;
  static constexpr std::int64_t kSteadyNs = kNsPerSecond;

  struct Reading {
    std::int64_t wall_ns;
    std::int64_t mono_ns;
    // By how much the wall clock has advanced more than the time that has passed.
    std::int64_t ahead(std::int64_t wall, std::int64_t mono) const { return (wall - wall_ns) - (mono - mono_ns); }
  };
  std::optional<Reading> trusted_;  // when a window was last taken
  std::optional<Reading> suspect_;  // where the clock leapt to
};

}  // namespace idgen
