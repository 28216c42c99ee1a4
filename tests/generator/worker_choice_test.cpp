#include "workers/worker_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <set>

#include "idgen/status.hpp"

namespace idgen {
namespace {

constexpr std::int64_t kNow = 1'795'000'000'000;
const LeasedField kTen{.base = 0, .shift = 0, .bits = 10, .name = "worker"};

WindowInfo row(std::uint64_t worker, std::int64_t hw_ms, bool is_live = false) {
  return {.worker = worker, .fence = 1, .hw_ms = hw_ms, .holder = "process 1 on a", .is_live = is_live};
}

std::uint64_t choose(const std::vector<WindowInfo>& rows, std::uint64_t random = 0, const LeasedField& field = kTen) {
  return choose_worker("orders", field, rows, {.now_ms = kNow, .max_ahead_ms = 20'000, .random = random});
}

TEST(WorkerChoice, TakesNumbersThatNobodyHasHadFirst) {
  EXPECT_EQ(choose_new_worker(kTen, {}, {}), 0u);
  EXPECT_EQ(choose_new_worker(kTen, {row(0, kNow, true)}, {}), 1u);
  EXPECT_EQ(choose_new_worker(kTen, {row(0, kNow), row(1, kNow), row(3, kNow)}, {}), 2u);
  EXPECT_EQ(choose_new_worker(kTen, {row(0, kNow), row(1, kNow), row(2, kNow)}, {}), 3u);
  const LeasedField one{.base = 0, .shift = 0, .bits = 1, .name = "worker"};
  EXPECT_EQ(choose_new_worker(one, {row(0, kNow), row(1, kNow)}, {}), std::nullopt);
}

TEST(WorkerChoice, SpreadsProcessesThatChooseAtOnceAndWiderWhereTheyMeet) {
  const std::vector<WindowInfo> rows{row(2, kNow, true), row(5, kNow)};
  for (const auto& [is_crowded, spread] : {std::pair(false, 16u), std::pair(true, 1022u)}) {
    std::set<std::uint64_t> chosen;
    for (std::uint64_t random = 0; random < 1022; ++random)
      chosen.insert(*choose_new_worker(kTen, rows, {.random = random, .is_crowded = is_crowded}));
    EXPECT_EQ(chosen.size(), spread);
    EXPECT_EQ(chosen.count(2), 0u);
    EXPECT_EQ(chosen.count(5), 0u);
  }
}

TEST(WorkerChoice, OfThoseThatWereUsedTakesTheLeastRecentlyUsedOne) {
  const LeasedField two{.base = 0, .shift = 0, .bits = 2, .name = "worker"};
  const std::vector<WindowInfo> rows{row(0, kNow - 10), row(1, kNow - 30), row(2, kNow - 40, true), row(3, kNow - 20)};
  EXPECT_EQ(choose(rows, 0, two), 1u);
  EXPECT_EQ(choose(rows, 1, two), 3u);
  EXPECT_EQ(choose(rows, 2, two), 0u);
  EXPECT_EQ(choose(rows, 3, two), 1u);
}

TEST(WorkerChoice, LeavesRowsAloneWhoseTimeIsFarAhead) {
  const LeasedField one{.base = 0, .shift = 0, .bits = 1, .name = "worker"};
  EXPECT_EQ(choose({row(0, kNow + 31'536'000'000), row(1, kNow + 20'000)}, 0, one), 1u);
  EXPECT_EQ(choose({row(0, std::numeric_limits<std::int64_t>::max()), row(1, kNow)}, 0, one), 1u);
}

TEST(WorkerChoice, OfAWideFieldUsesNumbersAgainOnceEnoughAreKnown) {
  const LeasedField wide{.base = 0, .shift = 0, .bits = 22, .name = "worker"};
  std::vector<WindowInfo> rows;
  for (std::uint64_t i = 0; i < 1024; ++i) rows.push_back(row(i, kNow - static_cast<std::int64_t>(i), i % 2 == 0));
  EXPECT_EQ(choose_new_worker(wide, rows, {}), std::nullopt);
  EXPECT_EQ(choose(rows, 0, wide), 1023u);
  for (WindowInfo& each : rows) each.is_live = true;
  EXPECT_EQ(choose(rows, 0, wide), 1024u);
}

// Containers with one host name on one file: each row's holder is "process 1", and a process 1 runs here.
TEST(WorkerChoice, TakesOneThatOnlyANameHoldsBeforeItGivesUp) {
  const LeasedField two{.base = 0, .shift = 0, .bits = 1, .name = "worker"};
  std::vector<WindowInfo> rows{row(0, kNow, true), row(1, kNow - 1, true)};
  EXPECT_THROW(choose(rows, 0, two), Error);
  rows[0].is_by_name = true;
  EXPECT_EQ(choose(rows, 0, two), 0u);
  rows[1].is_by_name = true;
  EXPECT_EQ(choose(rows, 0, two), 1u) << "the least recently used";
  rows[0].is_live = rows[0].is_by_name = false;
  EXPECT_EQ(choose(rows, 0, two), 0u) << "one that is free comes first";
  rows = {row(0, kNow + 86'400'000, true), row(1, kNow, true)};
  rows[0].is_by_name = true;
  EXPECT_THROW(choose(rows, 0, two), Error) << "its time is far ahead";
}

TEST(WorkerChoice, KeepsTheFieldsThatAreTyped) {
  // datacenter 3, worker auto, process 1: of 5, 5 and 2 bits.
  const LeasedField middle{.base = 3 << 7 | 1, .shift = 2, .bits = 5, .name = "worker"};
  EXPECT_EQ(choose_new_worker(middle, {}, {}), 3u << 7 | 0u << 2 | 1u);
  EXPECT_EQ(choose_new_worker(middle, {row(3 << 7 | 0 << 2 | 1, kNow), row(4 << 7 | 1 << 2 | 1, kNow)}, {}),
            3u << 7 | 1u << 2 | 1u);
}

TEST(WorkerChoice, SaysWhoHoldsThemAllAndWhenTheNextOneIsFree) {
  const LeasedField one{.base = 0, .shift = 0, .bits = 2, .name = "worker"};
  std::vector<WindowInfo> rows{row(0, kNow, true), row(1, kNow, true), row(2, kNow, true), row(3, kNow + 86'400'000)};
  rows[1].lease_left_ms = 4'000;
  rows[2].lease_left_ms = 3'000;
  try {
    choose(rows, 0, one);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::worker_busy);
    EXPECT_EQ(error.retry_after_ns(), 3'000'000'000u);
    EXPECT_THAT(error.message(), testing::HasSubstr("of 4, 3 have a live owner (process 1 on a, process 1 on a"));
    EXPECT_THAT(error.message(), testing::HasSubstr("1 are reserved more than 20000 ms ahead"));
    EXPECT_THAT(error.message(), testing::HasSubstr("The next lease ends in 3000 ms"));
    EXPECT_LT(error.message().size(), 496u) << error.message();
  }
}

}  // namespace
}  // namespace idgen
