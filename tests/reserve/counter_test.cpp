#include "reserve/counter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
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

TEST(Counter, ANumberDrawnAtTheLimitIsDrawnByNobodyElse) {
  Counter counter;
  counter.open(1, 3);
  std::uint64_t n;
  ASSERT_TRUE(counter.draw(n));
  ASSERT_TRUE(counter.draw(n));
  ASSERT_FALSE(counter.draw(n));
  EXPECT_EQ(n, 3u);
  counter.open(3, 6);
  std::uint64_t other = 0;
  ASSERT_TRUE(counter.draw(other));
  EXPECT_EQ(other, 4u);
}

TEST(Counter, PollingAParkedCounterDoesNotEatTheNextRange) {
  Counter counter;
  counter.open(1, 4);
  std::uint64_t n;
  while (counter.draw(n)) {
  }
  counter.park(n);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(counter.draw(n));
    EXPECT_GE(n, Counter::kParked);
    EXPECT_EQ(counter.draw(5, n), 0u);
    counter.park();
  }
  EXPECT_EQ(counter.next(), 4u);
  counter.open(4, 6);
  ASSERT_TRUE(counter.draw(n));
  EXPECT_EQ(n, 4u);
}

TEST(Counter, ANumberIsGivenUpOnlyByWhoDrewLast) {
  Counter counter;
  counter.open(1, 2);
  std::uint64_t first, second, third;
  ASSERT_TRUE(counter.draw(first));
  ASSERT_FALSE(counter.draw(second));
  ASSERT_FALSE(counter.draw(third));
  counter.park(second);
  EXPECT_EQ(counter.next(), third + 1) << "the third may still be claimed";
  counter.park(third);
  EXPECT_EQ(counter.next(), third);
}

TEST(Counter, AParkedCounterGoesOnInsideARangeNoLowerThanItStood) {
  Counter counter;
  counter.open(1, 4);
  std::uint64_t n;
  while (counter.draw(n)) {
  }
  counter.draw(n);
  counter.park();
  counter.open(4, 10);  // 4 and 5 were drawn
  ASSERT_TRUE(counter.draw(n));
  EXPECT_EQ(n, 6u);
}

TEST(Counter, AParkedCounterIsSealedWhereItStood) {
  Counter counter;
  counter.open(10, 12);
  std::uint64_t n;
  while (counter.draw(n)) {
  }
  counter.park();
  EXPECT_EQ(counter.seal(), 13u);
  EXPECT_GE(counter.next(), Counter::kParked);
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

// As if a thread had been delayed between its addition and its check.
TEST(Counter, ANumberBelowTheOpenRangeIsRefused) {
  Counter counter;
  counter.open(0, 1);
  std::uint64_t n;
  ASSERT_TRUE(counter.draw(n));
  counter.open(1, 1);  // nothing in it: the counter is in what will be a gap
  ASSERT_FALSE(counter.draw(n));
  EXPECT_EQ(n, 1u);
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

TEST(Counter, TheLastRangeOfAllIsSealedAtItsEnd) {
  Counter counter;
  counter.open(Counter::kEnd - 3, Counter::kEnd);
  std::uint64_t n;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(counter.draw(n));
  EXPECT_EQ(n, Counter::kEnd - 1);
  EXPECT_EQ(counter.next(), Counter::kEnd);
  ASSERT_FALSE(counter.draw(n));
  counter.park();
  EXPECT_EQ(counter.next(), Counter::kEnd + 1);
  EXPECT_GE(counter.seal(), Counter::kEnd) << "all of it would be given back, and issued again";
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

// The race that the order of loads in counter.hpp prevents: drawing while ranges are opened, with gaps between them and
// without.
TEST(Counter, ThreadsDrawNothingTwiceAndNothingFromAGapWhileRangesAreOpened) {
  constexpr std::uint64_t kRanges = 6000, kSize = 700;
  // Every other range follows the one before without a gap.
  const auto first_of = [](std::uint64_t k) { return 1000 + k / 2 * 2000 + k % 2 * kSize; };
  Counter counter;
  std::mutex mutex;
  std::uint64_t open = 0;
  counter.open(first_of(0), first_of(0) + kSize);
  std::vector<std::vector<std::uint64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < drawn.size(); ++t) {
    threads.emplace_back([&, t] {
      for (;;) {
        std::uint64_t n = Counter::kParked;
        if (t % 2 == 0) {
          if (counter.draw(n)) {
            drawn[t].push_back(n);
            continue;
          }
        } else if (const std::uint64_t count = counter.draw(3, n)) {
          for (std::uint64_t i = 0; i < count; ++i) drawn[t].push_back(n + i);
          continue;
        }
        const std::lock_guard lock(mutex);
        const std::uint64_t first = first_of(open);
        if (t % 2 == 0 && n >= first && n < first + kSize) {
          drawn[t].push_back(n);
          continue;
        }
        if (counter.next() < first + kSize) continue;  // another thread was faster
        if (open + 1 == kRanges) return;
        counter.park();
        ++open;
        counter.open(first_of(open), first_of(open) + kSize);
      }
    });
  }
  for (auto& thread : threads) thread.join();

  std::vector<std::uint64_t> all;
  for (const auto& part : drawn) {
    EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "DUPLICATE: a number was drawn twice";
  for (const std::uint64_t n : all) {
    const std::uint64_t offset = n % 1000, pair = n / 1000 % 2;
    ASSERT_TRUE(pair == 1 || offset < 2 * kSize - 1000) << n << " lies between two ranges";
  }
  EXPECT_GE(all.size(), kRanges * kSize * 9 / 10);  // what is drawn and not claimed is given up
}

}  // namespace
}  // namespace idgen
