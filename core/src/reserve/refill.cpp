#include "reserve/refill.hpp"

#include <algorithm>

#include "idgen/time_units.hpp"

namespace idgen {
namespace {

constexpr std::int64_t kFirstRetryNs = 20 * kNsPerMs;
constexpr std::int64_t kLastRetryNs = 5 * kNsPerSecond;

}  // namespace

void Refill::failed(const Error& error, std::int64_t now_ns) {
  failure_ = error;
  failed_at_ns_ = now_ns;
  failed_unix_ms_ = 0;
  failed_for_ = needed_;
  ++failures_;
  const std::uint64_t doublings = std::min<std::uint64_t>(failures_in_a_row_++, 8);
  std::int64_t wait = std::min(kFirstRetryNs << doublings, kLastRetryNs);
  // Up to a quarter less, so that after a store's failure not all processes return to it at the same time.
  const std::uint64_t dice = static_cast<std::uint64_t>(now_ns) * 0x9e3779b97f4a7c15u >> 56;  // 0 to 255
  wait -= wait / 4 * static_cast<std::int64_t>(dice) / 255;
  wait += static_cast<std::int64_t>(error.retry_after_ns() % static_cast<std::uint64_t>(kLastRetryNs));
  retry_at_ns_ = now_ns + wait;
}

std::int64_t Refill::failed_unix_ms(std::int64_t now_ns, std::int64_t wall_ns) const noexcept {
  if (failure_ && failed_unix_ms_ == 0) failed_unix_ms_ = (wall_ns - (now_ns - failed_at_ns_)) / kNsPerMs;
  return failed_unix_ms_;
}

}  // namespace idgen
