#include "reserve/sizing.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace idgen {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Sizing, ARateIsNumbersPerSecond) {
  struct Case {
    std::uint64_t numbers;
    std::int64_t ns;
    std::uint64_t rate;
  };
  for (const auto& [numbers, ns, rate] : {
           Case{0, kSecondNs, 0},
           Case{1'000, kSecondNs, 1'000},
           Case{1'000, 10 * kSecondNs, 100},
           Case{1'000, kSecondNs / 10, 10'000},
           Case{1, 3 * kSecondNs, 0},  // rounded down
           Case{5, 2 * kSecondNs, 2},
       })
    EXPECT_EQ(rate_of(numbers, ns), rate) << numbers << " in " << ns << " ns";
}

TEST(Sizing, TheMarkLiesInsideItsRange) {
  struct Case {
    double prefetch;
    std::uint64_t size;
    std::uint64_t mark;
  };
  for (const auto& [prefetch, size, mark] : {
           Case{0.1, 100, 10}, Case{0.1, 1'000'000, 100'000}, Case{0.5, 7, 3}, Case{1, 100, 100},
           Case{0, 100, 1},  // never 0: a limit at the range's first number would issue nothing
           Case{0.1, 1, 1}, Case{0.1, 9, 1},
           Case{1, kMost, kMost},  // rounded up by the double, which must not pass the end
       })
    EXPECT_EQ(mark_of({.prefetch = prefetch}, size), mark) << prefetch << " of " << size;
}

TEST(Sizing, TheRunwayIsWhatIsDrawnInItsTimeWithinStockMax) {
  struct Case {
    std::uint64_t rate;
    std::int64_t runway_ns;
    std::uint64_t stock_max;
    std::uint64_t runway;
  };
  for (const auto& [rate, runway_ns, stock_max, runway] : {
           Case{10'000, 10 * kSecondNs, 1'000'000, 100'000}, Case{10'000, 10 * kSecondNs, 100'000, 100'000},
           Case{10'000, 10 * kSecondNs, 99'999, 99'999}, Case{10'000, kSecondNs / 1000, 1'000'000, 10},
           Case{0, 10 * kSecondNs, 1'000'000, 0}, Case{10'000, 0, 1'000'000, 0},
           Case{kMost, 3600 * kSecondNs, 1'000'000, 1'000'000},  // more than 64 bits hold
       }) {
    EXPECT_EQ(runway_of({.runway_ns = runway_ns, .stock_max = stock_max}, rate), runway)
        << rate << " a second for " << runway_ns << " ns, at most " << stock_max;
  }
}

struct SizeCase {
  const char* what;
  Sizing sizing;
  Pace pace;
  std::uint64_t size;
};

TEST(Sizing, TheNextRangeFollowsTheRate) {
  // 10 s at the mark of a tenth, or of a half.
  const Sizing tenth{.prefetch = 0.1, .runway_ns = 10 * kSecondNs, .stock_max = 1'000'000};
  const Sizing half{.prefetch = 0.5, .runway_ns = 10 * kSecondNs, .stock_max = 1'000'000};
  const Sizing late{.prefetch = 0.9, .runway_ns = 10 * kSecondNs, .stock_max = 1'000'000};
  const Sizing little{.prefetch = 0.1, .runway_ns = 10 * kSecondNs, .stock_max = 20'000};
  const Sizing off{.prefetch = 0.1, .runway_ns = 0, .stock_max = 1'000'000};
  for (const SizeCase& with : {
           SizeCase{"steady", tenth, {.rate = 9'000, .last_size = 100'000}, 100'000},
           SizeCase{"the same rate, asked for half way", half, {.rate = 9'000, .last_size = 100'000}, 180'000},
           SizeCase{"a late mark counts as half way", late, {.rate = 9'000, .last_size = 100'000}, 180'000},
           SizeCase{"a little faster", tenth, {.rate = 10'800, .last_size = 100'000}, 120'000},
           SizeCase{"a little slower", tenth, {.rate = 7'200, .last_size = 100'000}, 80'000},
           SizeCase{"much faster: twice the one before", tenth, {.rate = 90'000, .last_size = 100'000}, 200'000},
           SizeCase{"much slower: half the one before", tenth, {.rate = 90, .last_size = 100'000}, 50'000},
           SizeCase{"nothing drawn: half the one before", tenth, {.rate = 0, .last_size = 100'000}, 50'000},
           SizeCase{"half of one is none: the source's own size", tenth, {.rate = 0, .last_size = 1}, 0},
           SizeCase{"starved: twice, whatever the rate", tenth, {.rate = 9, .last_size = 100, .is_starved = true}, 200},
           SizeCase{"half of stock_max, for two are held", little, {.rate = 9'000, .last_size = 9'000}, 10'000},
           SizeCase{"starved, too", little, {.rate = 0, .last_size = 9'000, .is_starved = true}, 10'000},
           SizeCase{"no runway", off, {.rate = 9'000, .last_size = 100'000}, 0},
           SizeCase{"no runway, starved", off, {.rate = 9'000, .last_size = 100'000, .is_starved = true}, 0},
       })
    EXPECT_EQ(next_size(with.sizing, with.pace), with.size) << with.what;
}

TEST(Sizing, AnotherRangeIsAskedForUntilTheRunwayIsHeld) {
  struct Case {
    const char* what;
    std::uint64_t held;
    std::size_t ready_ranges;
    Pace pace;
    bool is_short;
  };
  const Sizing sizing{.prefetch = 0.1, .runway_ns = 10 * kSecondNs, .stock_max = 50'000};
  const Pace small{.rate = 4'000, .last_size = 1'000};  // the runway is 40 000 numbers
  for (const Case& with : {
           Case{"little held", 2'000, 1, small, true},
           Case{"the runway but for one", 39'999, 39, small, true},
           Case{"the runway", 40'000, 40, small, false},
           Case{"nothing drawn", 0, 0, {.rate = 0, .last_size = 1'000}, false},
           Case{"no room for the one that would be asked for", 35'000, 2, {.rate = 4'000, .last_size = 8'000}, false},
           Case{"room for exactly that one", 34'000, 2, {.rate = 4'000, .last_size = 8'000}, true},
           Case{"no room for one as large as the source gave last",
                11'000,
                1,
                {.rate = 4'000, .last_size = 40'000},
                false},
           Case{"the chain is long enough", 2'000, 64, small, false},
           Case{"but for one", 2'000, 63, small, true},
       })
    EXPECT_EQ(is_short(sizing, with.pace, with.held, with.ready_ranges), with.is_short) << with.what;
  EXPECT_FALSE(is_short({.prefetch = 0.1}, small, 0, 0)) << "without a runway";
}

}  // namespace
}  // namespace idgen
