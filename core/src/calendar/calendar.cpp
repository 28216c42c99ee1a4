#include "calendar/calendar.hpp"

#include <algorithm>
#include <limits>

#include "idgen/status.hpp"

namespace idgen {
namespace {

using Limits = std::numeric_limits<std::int64_t>;

// Seconds since 1970-01-01 by the same clocks.
std::int64_t local_s(const LocalTime& when) noexcept { return days_of(when) * 86'400 + when.hour * 3'600; }

std::int64_t to_ms(std::int64_t seconds) noexcept {
  return seconds > Limits::max() / 1000   ? Limits::max()
         : seconds < Limits::min() / 1000 ? Limits::min()
                                          : seconds * 1000;
}

}  // namespace

Calendar::~Calendar() {
  for (const Known* each = known_.load(); each != nullptr;) {
    const Known* const next = each->next;
    delete each;
    each = next;
  }
}

const Calendar::Span& Calendar::learn(std::int64_t unix_ms) const {
  if (const Span* const found = find(unix_ms)) return *found;
  const Known* found = known_.load(std::memory_order_acquire);
  while (found != nullptr && !found->holds(unix_ms)) found = found->next;
  if (found == nullptr) {
    const LocalTime now = zone_->local_time(unix_ms);
    if (!years_.hold(now.year)) {
      throw Error(Status::value,
                  concat({"the clock says ", format_instant(unix_ms), "; serials of this pattern are of the years ",
                          years_.first, " to ", years_.last, ". Set it right"}));
    }
    const ZoneSpan zone = zone_->at(unix_ms / 1000);
    Known span{};
    span.period = period_of(now, unit_);
    span.from_ms = to_ms(std::max(zone.from_s, local_s(begin_of(span.period, unit_)) - zone.offset_s));
    span.until_ms = to_ms(std::min(zone.until_s, local_s(begin_of(span.period + 1, unit_)) - zone.offset_s));
    auto* const added = new Known(span);
    added->next = known_.load(std::memory_order_relaxed);
    while (!known_.compare_exchange_weak(added->next, added, std::memory_order_acq_rel)) {
    }
    found = added;
  }
  latest_.store(found, std::memory_order_release);
  return *found;
}

}  // namespace idgen
