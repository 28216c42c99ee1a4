// Instants and durations as text.
#include <limits>
#include <random>
#include <string>

#include "idgen/text.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMaxMs = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(Instant, EveryInstantOfYears0To9999ReadsBack) {
  std::mt19937_64 rng(3);
  const std::int64_t first = parse_instant("0000-01-01T00:00:00Z"), last = parse_instant("9999-12-31T23:59:59.999Z");
  std::uniform_int_distribution<std::int64_t> any(first, last);
  for (int i = 0; i < 50000; ++i) {
    const std::int64_t ms = any(rng);
    ASSERT_EQ(parse_instant(format_instant(ms)), ms);
    if (std::abs(ms) < 100'000'000'000) continue;  // see below
    ASSERT_EQ(parse_instant(std::to_string(ms)), ms);
  }
}

TEST(Instant, YearsThatDoNotFitFourDigitsAreClamped) {
  EXPECT_EQ(format_instant(kMin), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_instant(kMaxMs), "9999-12-31T23:59:59.999Z");
}

TEST(Instant, DigitsBeyondTheMillisecondAreDropped) {
  EXPECT_EQ(parse_instant("1970-01-01T00:00:00.0019Z"), 1);
  EXPECT_EQ(parse_instant("1969-12-31T23:59:59.9999Z"), -1);
  EXPECT_EQ(parse_instant("1970-01-01T00:00:00." + std::string(100000, '9') + "Z"), 999);
}

TEST(Instant, ABareNumberOfSecondsOrADateIsNotTakenForMilliseconds) {
  EXPECT_ERROR(VALUE, HasSubstr("as Unix ms it would be 1970-01-21T02:08:09.600Z"), parse_instant("1735689600"));
  EXPECT_ERROR(VALUE, HasSubstr("Unix seconds, which lack 000 at the end"), parse_instant("946684800"));
  EXPECT_ERROR(VALUE, HasSubstr("it may be a date"), parse_instant("20250101"));
  EXPECT_EQ(parse_instant("946684800000"), parse_instant("2000-01-01T00:00:00Z"));
}

// Other refusals: tests/vectors/bad_layouts.tsv.
TEST(Instant, NothingIsRefusedWithAnExample) {
  EXPECT_ERROR(VALUE, HasSubstr("it is empty; write it like 2025-01-01T00:00:00Z"), parse_instant(""));
}

TEST(Instant, EveryPrefixOfAnInstantIsRefused) {
  const std::string whole = "2025-01-01T00:00:00.123+08:00";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    if (n >= 1 && n <= 4) continue;  // "2025" is a number of ms
    EXPECT_ERROR(VALUE, HasSubstr("is not an instant"), parse_instant(whole.substr(0, n)));
  }
  EXPECT_EQ(format_instant(parse_instant(whole)), "2024-12-31T16:00:00.123Z");
}

TEST(Duration, EachUnitIsItsNumberOfMilliseconds) {
  EXPECT_EQ(parse_duration_ms("250ms"), 250);
  EXPECT_EQ(parse_duration_ms("250"), 250);
  EXPECT_EQ(parse_duration_ms("10s"), 10000);
  EXPECT_EQ(parse_duration_ms("5m"), 300000);
  EXPECT_EQ(parse_duration_ms("2h"), 7200000);
  EXPECT_EQ(parse_duration_ms("1d"), 86400000);
  EXPECT_EQ(parse_duration_ms("4y"), std::int64_t{1461} * 86400000);
  EXPECT_EQ(parse_duration_ms("0"), 0);
  EXPECT_EQ(parse_duration_ms("0y"), 0);
  EXPECT_EQ(parse_duration_ms("9223372036854775807ms"), kMaxMs);
}

TEST(Duration, IsWrittenInTheLargestUnitThatDividesIt) {
  EXPECT_EQ(format_duration_ms(0), "0ms");
  EXPECT_EQ(format_duration_ms(250), "250ms");
  EXPECT_EQ(format_duration_ms(1500), "1500ms");
  EXPECT_EQ(format_duration_ms(10000), "10s");
  EXPECT_EQ(format_duration_ms(90000), "90s");
  EXPECT_EQ(format_duration_ms(300000), "5m");
  EXPECT_EQ(format_duration_ms(7200000), "2h");
  EXPECT_EQ(format_duration_ms(86400000), "1d");
  EXPECT_EQ(format_duration_ms(31557600000), "1y");
  EXPECT_EQ(format_duration_ms(kMaxMs), "9223372036854775807ms");
  EXPECT_EQ(format_duration_ms(kMin), "-9223372036854775808ms");
}

TEST(Duration, EveryDurationReadsBack) {
  std::mt19937_64 rng(4);
  for (int i = 0; i < 50000; ++i) {
    const auto ms = static_cast<std::int64_t>(rng() >> (1 + rng() % 63));
    ASSERT_EQ(parse_duration_ms(format_duration_ms(ms)), ms);
  }
}

TEST(Duration, WhatIsNoDurationIsRefusedWithTheReasonAndTheUnits) {
  EXPECT_ERROR(VALUE, HasSubstr("it is empty; write a whole number and ms, s, m, h, d or y"), parse_duration_ms(""));
  EXPECT_ERROR(VALUE, HasSubstr("it is negative"), parse_duration_ms("-5s"));
  EXPECT_ERROR(VALUE, HasSubstr("does not begin with a digit"), parse_duration_ms("s"));
  EXPECT_ERROR(VALUE, HasSubstr("does not begin with a digit"), parse_duration_ms(" 5s"));
  for (const char* text : {"5 s", "1.5s", "5S", "5min", "5us", "5w", "1h30m", "5s ", "5\xC2\xB5s", "1e3"}) {
    EXPECT_ERROR(VALUE, HasSubstr("is not a unit"), parse_duration_ms(text));
  }
  EXPECT_ERROR(VALUE, HasSubstr("the longest is"), parse_duration_ms("9223372036854775808ms"));
  EXPECT_ERROR(VALUE, HasSubstr("the longest is"), parse_duration_ms("292271024y"));
  EXPECT_ERROR(VALUE, HasSubstr("the longest is"), parse_duration_ms(std::string(1 << 20, '9') + "s"));
}

}  // namespace
}  // namespace idgen
