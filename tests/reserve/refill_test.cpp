#include "reserve/refill.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "idgen/time_units.hpp"

namespace idgen {
namespace {

constexpr std::int64_t kNow = 1'000 * kNsPerSecond;
const Error kAway(Status::store_unavailable, "away");

TEST(Refill, ARequestIsMadeOnceByTheLaneOrByACaller) {
  Refill refill;
  const std::uint64_t first = refill.new_ticket();
  refill.post(first);
  EXPECT_TRUE(refill.is_busy());
  EXPECT_TRUE(refill.begin(first));
  EXPECT_TRUE(refill.is_busy());
  EXPECT_FALSE(refill.is_posted());
  refill.end();
  const std::uint64_t second = refill.new_ticket();
  refill.post(second);
  refill.take();  // by a caller on the lane's own thread
  EXPECT_FALSE(refill.begin(second));
  EXPECT_TRUE(refill.is_busy());
  refill.end();
  EXPECT_FALSE(refill.begin(first)) << "nor later";
}

TEST(Refill, WhatTheLaneHasNotBegunIsWithdrawnAndWhatItHasGoesOn) {
  Refill refill;
  const std::uint64_t ticket = refill.new_ticket();
  refill.post(ticket);
  refill.withdraw();
  EXPECT_FALSE(refill.is_busy());
  EXPECT_FALSE(refill.begin(ticket));
  refill.take();
  refill.withdraw();
  EXPECT_TRUE(refill.is_busy());
}

TEST(Refill, EachFailureInARowPutsTheNextRequestOffForLongerUpToFiveSeconds) {
  Refill refill;
  std::int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    refill.failed(kAway, kNow);
    const std::int64_t wait = refill.retry_at_ns() - kNow;
    const std::int64_t most = std::min(20 * kNsPerMs << std::min(i, 8), 5 * kNsPerSecond);
    EXPECT_LE(wait, most);
    EXPECT_GE(wait, most - most / 4 - 1) << "up to a quarter less";
    EXPECT_GE(wait, last);
    EXPECT_FALSE(refill.may_ask(kNow + wait - 1));
    EXPECT_TRUE(refill.may_ask(kNow + wait));
    last = wait;
  }
  EXPECT_TRUE(refill.is_failing());
  EXPECT_EQ(refill.failures(), 20u);
  refill.succeeded();
  EXPECT_FALSE(refill.is_failing());
  EXPECT_TRUE(refill.failure()) << "the latest is still known";
  refill.failed(kAway, kNow);
  EXPECT_LE(refill.retry_at_ns() - kNow, 20 * kNsPerMs) << "it begins again";
}

TEST(Refill, TheStoresOwnHintIsAdded) {
  Refill refill;
  refill.failed(Error(Status::store_unavailable, "away", 2 * kNsPerSecond), kNow);
  EXPECT_GE(refill.retry_at_ns() - kNow, 2 * kNsPerSecond);
}

TEST(Refill, AFailureForAPeriodThatHasPassedPutsNothingOff) {
  Refill refill;
  refill.need(100, true);
  refill.failed(kAway, kNow);
  refill.need(100, true);
  EXPECT_FALSE(refill.may_ask(kNow));
  refill.need(101, false);
  EXPECT_FALSE(refill.may_ask(kNow)) << "numbers that have no periods";
  refill.need(101, true);
  EXPECT_TRUE(refill.may_ask(kNow));
}

TEST(Refill, TheTimeOfAFailureStaysWhateverTheClockSaysLater) {
  Refill refill;
  EXPECT_EQ(refill.failed_unix_ms(kNow, 5'000 * kNsPerSecond), 0);
  refill.failed(kAway, kNow);
  EXPECT_EQ(refill.failed_unix_ms(kNow + 3 * kNsPerSecond, 5'000 * kNsPerSecond), 4'997'000);
  EXPECT_EQ(refill.failed_unix_ms(kNow + 9 * kNsPerSecond, 9'000 * kNsPerSecond), 4'997'000);
}

}  // namespace
}  // namespace idgen
