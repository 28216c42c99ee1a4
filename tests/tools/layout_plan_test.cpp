#include "layout/layout_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "idgen/layout.hpp"

namespace idgen_tool {
namespace {

constexpr std::int64_t kEpoch = idgen::Layout::kDefaultEpochUnixMs;
constexpr std::int64_t kYearMs = 31'557'600'000;

LayoutRequest request(std::uint64_t busiest, std::uint64_t hosts, std::int64_t years, unsigned bits = 63) {
  return {.busiest = busiest,
          .hosts = hosts,
          .epoch_unix_ms = kEpoch,
          .end_unix_ms = kEpoch + years * kYearMs,
          .bits = bits};
}

TEST(LayoutPlan, NeedsTheBitsThatTheNumbersSay) {
  const LayoutPlan plan = plan_layout(request(4'096'000, 512, 34), 1);
  EXPECT_EQ(plan.needed.time, 40U);      // 2^40 ms are 34.8 years
  EXPECT_EQ(plan.needed.worker, 10U);    // 512, and 512 successors
  EXPECT_EQ(plan.needed.sequence, 12U);  // 4096 in a ms
  EXPECT_EQ(plan_layout(request(4'096'001, 513, 35), 1).needed.sum(), 13U + 11U + 41U);
}

TEST(LayoutPlan, OneBitTooManyIsSaidAndNothingIsGivenAway) {
  const LayoutPlan plan = plan_layout(request(4'096'000, 512, 34, 61), 1);
  EXPECT_EQ(plan.missing(61), 1U);
  EXPECT_EQ(plan.missing(62), 0U);
  EXPECT_EQ(plan.text(), "time:40ms worker:10 sequence:12");
}

TEST(LayoutPlan, ACoarserTickMovesBitsFromTheTimeToTheSequence) {
  for (const LayoutPlan& plan : plan_layouts(request(100'000, 20, 30))) {
    EXPECT_EQ(plan.bits.sum(), 63U) << plan.text();
    EXPECT_EQ(idgen::Layout::parse(plan.text()).tick_ms(), plan.tick_ms);
  }
}

TEST(LayoutPlan, WhateverIsAskedTheLayoutDoesItOrSaysByHowMuchItDoesNot) {
  std::mt19937_64 random(1);
  int fit = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto any = [&](std::uint64_t most) { return 1 + random() % (most >> random() % 20); };
    const LayoutRequest asked = request(any(100'000'000), any(10'000'000),
                                        static_cast<std::int64_t>(1 + random() % 1000), random() % 2 ? 53 : 63);
    for (const LayoutPlan& plan : plan_layouts(asked)) {
      if (plan.missing(asked.bits) > 0) {
        EXPECT_GT(plan.needed.sum(), asked.bits);
        continue;
      }
      ++fit;
      ASSERT_EQ(plan.bits.sum(), asked.bits) << "nothing is left over: " << plan.text();
      const idgen::Layout layout = idgen::Layout::parse(plan.text());
      ASSERT_GE(layout.last_unix_ms(), asked.end_unix_ms) << plan.text();
      ASSERT_GE(layout.workers(), 2 * asked.hosts) << plan.text();
      ASSERT_GE(layout.ids_per_second(), static_cast<double>(asked.busiest)) << plan.text();
      // One bit less of any field would not do.
      ASSERT_EQ(plan.needed.worker, plan.needed.worker == 1 ? 1U : std::bit_width(2 * asked.hosts - 1));
      const LayoutRequest tight = {asked.busiest, asked.hosts, asked.epoch_unix_ms, asked.end_unix_ms,
                                   plan.needed.sum()};
      ASSERT_EQ(plan_layout(tight, plan.tick_ms).bits.sum(), plan.needed.sum());
    }
  }
  EXPECT_GT(fit, 1000);
}

}  // namespace
}  // namespace idgen_tool
