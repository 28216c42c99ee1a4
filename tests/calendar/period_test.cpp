#include "calendar/period.hpp"

#include <gtest/gtest.h>

namespace idgen {
namespace {

constexpr TimeUnit kUnits[] = {TimeUnit::year, TimeUnit::month, TimeUnit::day, TimeUnit::hour};

TEST(Period, RisesByOneFromEachToTheNextAndBack) {
  for (const TimeUnit unit : kUnits) {
    std::uint64_t period = period_of({.year = 1970}, unit);
    const std::uint64_t end = period_of({.year = unit == TimeUnit::hour ? 2101 : 2401}, unit);
    LocalTime before = begin_of(period, unit);
    EXPECT_EQ(before, LocalTime{});
    while (++period < end) {
      const LocalTime when = begin_of(period, unit);
      ASSERT_EQ(period_of(when, unit), period);
      const auto rank = [](const LocalTime& t) {
        return ((std::int64_t{t.year} * 100 + t.month) * 100 + t.day) * 100 + t.hour;
      };
      ASSERT_LT(rank(before), rank(when));
      before = when;
    }
  }
}

TEST(Period, TheLastOfThemFitsBesideItsNumbers) {
  for (const TimeUnit unit : kUnits) {
    const LocalTime last{.year = unit == TimeUnit::hour ? 2900 : 9999, .month = 12, .day = 31, .hour = 23};
    EXPECT_LT(period_of(last, unit), std::uint64_t{1} << (63 - kSerialBits));
  }
}

}  // namespace
}  // namespace idgen
