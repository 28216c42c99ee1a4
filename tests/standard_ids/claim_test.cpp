#include "standard_ids/claim.hpp"

#include <gtest/gtest.h>

#include <set>

namespace idgen {
namespace {

constexpr std::uint64_t kNow = 1735689600123;

struct ClaimTest : testing::Test {
  ClaimTest() { random.seed({1, 2, 3}); }
  std::uint64_t timed(std::uint64_t now_ms, std::uint64_t count = 1) {
    return claim_timed(claims, now_ms, random, count, [now_ms] { return now_ms; });
  }
  std::uint64_t object(std::uint64_t now_ms, std::uint64_t count = 1) {
    return claim_object(claims, now_ms, random, count, [now_ms] { return now_ms; });
  }
  Claims claims{};
  RandomStream random;
};
using TimedClaims = ClaimTest;
using ObjectClaims = ClaimTest;

std::uint64_t ms_of(std::uint64_t number) { return number >> kTimedCounterBits; }
std::uint64_t second_of(std::uint64_t number) { return number >> kObjectCounterBits & 0xFFFFFFFF; }

TEST_F(TimedClaims, HaveTheTimeOfTheClockAndBeginInTheLowerHalfOfTheCounterAtRandom) {
  std::set<std::uint64_t> starts;
  for (std::uint64_t ms = kNow; ms < kNow + 1000; ++ms) {
    const std::uint64_t number = timed(ms);
    EXPECT_EQ(ms_of(number), ms);
    const std::uint64_t counter = number & ((1u << kTimedCounterBits) - 1);
    EXPECT_LT(counter, 1u << (kTimedCounterBits - 1));
    starts.insert(counter);
  }
  EXPECT_GT(starts.size(), 990u);
  EXPECT_LT(*starts.begin(), 1u << 12);
  EXPECT_GT(*starts.rbegin(), (1u << (kTimedCounterBits - 1)) - (1u << 12));
}

TEST_F(TimedClaims, RiseByOneWithinAMillisecondAndByTheirCountInABatch) {
  const std::uint64_t first = timed(kNow);
  EXPECT_EQ(timed(kNow), first + 1);
  EXPECT_EQ(timed(kNow, 1000), first + 2);
  EXPECT_EQ(timed(kNow), first + 1002);
}

TEST_F(TimedClaims, RunAheadOfTheClockRatherThanWrapTheirCounter) {
  const std::uint64_t first = timed(kNow, std::uint64_t{3} << kTimedCounterBits);
  const std::uint64_t next = timed(kNow);
  EXPECT_EQ(next, first + (std::uint64_t{3} << kTimedCounterBits));
  EXPECT_EQ(ms_of(next), kNow + 3);
  EXPECT_GT(timed(kNow + 3), next);
  EXPECT_EQ(ms_of(timed(kNow + 4)), kNow + 4);
}

TEST_F(TimedClaims, RiseWhenTheClockIsSetBackALittleAndFollowItWhenItIsSetBackFurther) {
  const std::uint64_t before = timed(kNow);
  EXPECT_EQ(timed(kNow - 1), before + 1);
  EXPECT_EQ(timed(kNow - kMostBackMs + 1), before + 2);
  EXPECT_EQ(ms_of(timed(kNow - kMostBackMs - 1)), kNow - kMostBackMs - 1);
  // A clock that was a year ahead, and is set right.
  const std::uint64_t year = 365ull * 86'400'000;
  EXPECT_EQ(ms_of(timed(kNow + year)), kNow + year);
  EXPECT_EQ(ms_of(timed(kNow)), kNow);
}

TEST_F(ObjectClaims, HaveTheSecondOfTheClockAndRiseWithinIt) {
  const std::uint64_t first = object(kNow);
  EXPECT_EQ(second_of(first), kNow / 1000);
  EXPECT_LT(first & 0xFFFFFF, 0x800000u);
  EXPECT_EQ(object(kNow + 800), first + 1);
  EXPECT_EQ(object(kNow + 800, 100), first + 2);
  EXPECT_EQ(second_of(object(kNow + 1000)), kNow / 1000 + 1);
}

TEST_F(ObjectClaims, RunAheadOfTheClockRatherThanRepeatTheirCounter) {
  const std::uint64_t first = object(kNow, 1 << 24);
  EXPECT_EQ(object(kNow), first + (1 << 24));
  EXPECT_EQ(second_of(first + (1 << 24)), kNow / 1000 + 1);
}

TEST_F(ObjectClaims, OfASecondThatComesTwiceAreAnotherProcess) {
  const std::uint64_t before = object(kNow);
  EXPECT_EQ(object(kNow - 9000), before + 1);
  const std::uint64_t again = object(kNow - 3'600'000);
  EXPECT_EQ(second_of(again), (kNow - 3'600'000) / 1000);
  EXPECT_NE(process_of(7, again), process_of(7, before));
  EXPECT_EQ(process_of(7, object(kNow)), process_of(7, again)) << "from there on it goes forward as before";
  std::set<std::uint64_t> processes;
  for (int i = 0; i < 256; ++i) processes.insert(process_of(7, object(kNow + (i % 2 ? 0 : 60'000))));
  EXPECT_EQ(processes.size(), 128u + 1);
}

TEST_F(TimedClaims, AreNotTakenBackByALeadOfManyIds) {
  const std::uint64_t many = std::uint64_t{30'000} << kTimedCounterBits;  // of 30 s
  const std::uint64_t first = timed(kNow, many);
  EXPECT_EQ(timed(kNow + 1), first + many);
  EXPECT_EQ(timed(kNow + 15'000), first + many + 1);
  EXPECT_EQ(ms_of(timed(kNow + 40'000)), kNow + 40'000);
}

TEST_F(ObjectClaims, AreNotTakenBackByALeadOfManyIds) {
  const std::uint64_t many = std::uint64_t{30} << kObjectCounterBits;
  const std::uint64_t first = object(kNow, many);
  EXPECT_EQ(object(kNow + 1), first + many);
  EXPECT_EQ(process_of(7, object(kNow + 15'000)), process_of(7, first));
}

// Stopped after it had read the clock, while others went on.
TEST_F(TimedClaims, AreNotTakenBackByAThreadThatStoodStill) {
  const std::uint64_t latest = timed(kNow + 60'000);
  EXPECT_EQ(claim_timed(claims, kNow, random, 1, [] { return kNow + 60'001; }), latest + 1);
  EXPECT_EQ(ms_of(timed(kNow + 60'002)), kNow + 60'002);
}

TEST_F(ObjectClaims, AreNotTakenBackByAThreadThatStoodStill) {
  const std::uint64_t latest = object(kNow + 60'000);
  EXPECT_EQ(claim_object(claims, kNow, random, 1, [] { return kNow + 60'001; }), latest + 1);
}

}  // namespace
}  // namespace idgen
