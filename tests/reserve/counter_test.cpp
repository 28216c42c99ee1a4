#include "reserve/counter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace idgen {
namespace {

TEST(Counter, GivesNothingBeforeARangeIsOpened) {
  Counter counter;
  std::uint64_t n = 0;
  EXPECT_FALSE(counter.draw(n));
  EXPECT_EQ(counter.draw(10, n), 0u);
}

TEST(Counter, GivesEveryNumberOfARangeOnceAndNoMore) {
  Counter counter;
  counter.open(5, 8);
  std::vector<std::uint64_t> drawn;
  for (std::uint64_t n; counter.draw(n);) drawn.push_back(n);
  EXPECT_EQ(drawn, (std::vector<std::uint64_t>{5, 6, 7}));
}

TEST(Counter, ABatchIsCutAtTheLimit) {
  Counter counter;
  counter.open(5, 8);
  std::uint64_t first = 0;
  EXPECT_EQ(counter.draw(2, first), 2u);
  EXPECT_EQ(first, 5u);
  EXPECT_EQ(counter.draw(10, first), 1u);
  EXPECT_EQ(first, 7u);
  EXPECT_EQ(counter.draw(10, first), 0u);
}

TEST(Counter, PollingAnExhaustedRangeDoesNotEatTheNextOne) {
  Counter counter;
  counter.open(1, 4);
  std::uint64_t n;
  while (counter.draw(n)) {
  }
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(counter.draw(n));
  counter.open(4, 6);
  ASSERT_TRUE(counter.draw(n));
  EXPECT_EQ(n, 4u);
}

TEST(Counter, NumbersBetweenTwoRangesAreNeverGiven) {
  Counter counter;
  counter.open(1, 3);
  std::uint64_t n;
  while (counter.draw(n)) {
  }
  counter.open(100, 102);
  ASSERT_TRUE(counter.draw(n));
  EXPECT_EQ(n, 100u);
}

TEST(Counter, SealingSaysWhatIsUnusedAndEndsIssuing) {
  Counter counter;
  counter.open(10, 20);
  std::uint64_t n;
  ASSERT_TRUE(counter.draw(n));
  EXPECT_EQ(counter.seal(), 11u);
  EXPECT_FALSE(counter.draw(n));
  EXPECT_EQ(counter.draw(5, n), 0u);
}

TEST(Counter, BelowTheFloorItGoesOnAtTheFloorWithItsLowBits) {
  Counter counter;
  counter.open(0x1005, 0x9000);
  std::uint64_t n;
  ASSERT_EQ(counter.draw_between(0x2000, 0x3000, {0xff, 0}, 1, n), 1u);
  EXPECT_EQ(n, 0x2005u);
  ASSERT_EQ(counter.draw_between(0x2000, 0x3000, {0xff, 0}, 1, n), 1u);
  EXPECT_EQ(n, 0x2006u);
  ASSERT_EQ(counter.draw_between(0x4000, 0x5000, {0, 0}, 1, n), 1u);
  EXPECT_EQ(n, 0x4000u);
}

TEST(Counter, GivesNothingAtOrAboveTheCeiling) {
  Counter counter;
  counter.open(10, 100);
  std::uint64_t n;
  EXPECT_EQ(counter.draw_between(0, 12, {}, 5, n), 2u);
  EXPECT_EQ(counter.draw_between(0, 12, {}, 5, n), 0u);
}

// The race that the order of loads in counter.hpp is about: drawing while ranges with gaps between them are opened.
TEST(Counter, ThreadsDrawNothingTwiceAndNothingFromAGapWhileRangesAreOpened) {
  constexpr std::uint64_t kRanges = 3000, kSize = 700, kStride = 1000;  // [k*1000 + 1000, + 700)
  Counter counter;
  std::atomic<bool> done{false};
  std::vector<std::vector<std::uint64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < drawn.size(); ++t) {
    threads.emplace_back([&, t] {
      while (!done.load(std::memory_order_relaxed)) {
        std::uint64_t n;
        if (t % 2 == 0) {
          if (counter.draw(n)) drawn[t].push_back(n);
        } else if (const std::uint64_t count = counter.draw(3, n)) {
          for (std::uint64_t i = 0; i < count; ++i) drawn[t].push_back(n + i);
        }
      }
    });
  }
  for (std::uint64_t k = 0; k < kRanges; ++k) {
    const std::uint64_t first = (k + 1) * kStride;
    counter.open(first, first + kSize);
    while (counter.next() < first + kSize) std::this_thread::yield();
  }
  done = true;
  for (auto& thread : threads) thread.join();

  std::vector<std::uint64_t> all;
  for (const auto& part : drawn) {
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "a number was drawn twice";
  for (const std::uint64_t n : all) ASSERT_LT(n % kStride, kSize) << n << " lies between two ranges";
  EXPECT_GE(all.size(), kRanges * kSize * 9 / 10);  // overshoot may give up a few
}

}  // namespace
}  // namespace idgen
