// Periods: which year, month, day or hour it is, as a number that rises with them. The numbers of a serial count within
// one; see kSerialBits.
#pragma once

#include <chrono>
#include <cstdint>

#include "idgen/pattern.hpp"

namespace idgen {

// An id of kind = serial is period << kSerialBits | number, so that it rises from period to period. Without a period it
// is the number.
inline constexpr unsigned kSerialBits = 40;
inline constexpr std::uint64_t kLastSerial = (std::uint64_t{1} << kSerialBits) - 1;

// The years that a pattern writes, each in a text of its own.
struct Years {
  std::int32_t first = 0, last = 9999;
  bool hold(std::int32_t year) const noexcept { return first <= year && year <= last; }
};
inline Years years_of(const TextPattern& pattern) noexcept {
  return pattern.has_year() && !pattern.has_century() ? Years{2000, 2099} : Years{};
}
inline Years years_of_serials(const TextPattern& pattern) noexcept {  // periods begin with 1970
  const Years years = years_of(pattern);
  return {years.first < 1970 ? 1970 : years.first, years.last};
}

inline std::int64_t days_of(const LocalTime& when) noexcept {
  using namespace std::chrono;
  const year_month_day date{year{when.year}, month(static_cast<unsigned>(when.month)),
                            day(static_cast<unsigned>(when.day))};
  return sys_days{date}.time_since_epoch().count();
}

// REQUIRES: a year from 1970 on; at most hours.
inline std::uint64_t period_of(const LocalTime& when, TimeUnit unit) noexcept {
  switch (unit) {
    case TimeUnit::year:
      return static_cast<std::uint64_t>(when.year);
    case TimeUnit::month:
      return static_cast<std::uint64_t>(when.year) * 12 + static_cast<std::uint64_t>(when.month - 1);
    case TimeUnit::day:
      return static_cast<std::uint64_t>(days_of(when));
    case TimeUnit::hour:
      return static_cast<std::uint64_t>(days_of(when) * 24 + when.hour);
    default:
      return 0;
  }
}

// Where it begins. The opposite of period_of().
inline LocalTime begin_of(std::uint64_t period, TimeUnit unit) noexcept {
  using namespace std::chrono;
  const auto number = static_cast<std::int64_t>(period);
  LocalTime when;
  if (unit == TimeUnit::year) {
    when.year = static_cast<std::int32_t>(number);
  } else if (unit == TimeUnit::month) {
    when.year = static_cast<std::int32_t>(number / 12);
    when.month = static_cast<std::int32_t>(number % 12) + 1;
  } else if (unit != TimeUnit::none) {
    const std::int64_t day_number = unit == TimeUnit::hour ? number / 24 : number;
    const year_month_day date{sys_days{days{day_number}}};
    when.year = static_cast<int>(date.year());
    when.month = static_cast<std::int32_t>(static_cast<unsigned>(date.month()));
    when.day = static_cast<std::int32_t>(static_cast<unsigned>(date.day()));
    if (unit == TimeUnit::hour) when.hour = static_cast<std::int32_t>(number % 24);
  }
  return when;
}

}  // namespace idgen
