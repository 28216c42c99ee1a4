#include <set>

#include "generator/world.hpp"

namespace idgen::sim {
namespace {

class Segment : public World {
 protected:
  std::unique_ptr<Handle> with(Settings settings) {
    settings.insert(settings.begin(), {{"kind", "segment"}, {"tag", "orders"}});
    return open(settings);
  }
};

TEST_F(Segment, StartsAtOneAndHasNoGapsWhileItRuns) {
  auto handle = with({{"segment.step", "10"}});
  for (std::uint64_t expected = 1; expected <= 1000; ++expected) {
    ASSERT_EQ(handle->next(), expected);
    runtime->run_all();
  }
}

TEST_F(Segment, ClosingGivesTheTailBackSoThatTheNextOneGoesOnWithoutAGap) {
  auto handle = with({{"segment.step", "1000"}});
  draw(*handle, 150);
  runtime->run_all();
  handle->close();
  EXPECT_EQ(disk.tags["orders"], 150u);
}

TEST_F(Segment, TheTailStaysBurnedIfSomebodyElseHasDrawnSince) {
  auto first = with({{"segment.step", "100"}});
  auto second = with({{"segment.step", "100"}});
  first->next();
  first->close();
  EXPECT_EQ(disk.tags["orders"], 200u);
  EXPECT_EQ(second->next(), 101u);
}

TEST_F(Segment, ALostAcknowledgementBurnsTheGrant) {
  auto handle = with({{"segment.step", "10"}, {"segment.runway", "0"}});
  draw(*handle, 10);
  int lost = 0;
  store->after = [&] {
    if (++lost == 1) throw Error(Status::store_unavailable, "the answer was lost");
  };
  const std::uint64_t id = handle->next();
  EXPECT_EQ(id, 21u) << "11 to 20 were committed, and nobody may know that they are ours";
}

TEST_F(Segment, AStoreThatWentBackStopsIt) {
  auto handle = with({{"segment.step", "10"}});
  draw(*handle, 5);
  runtime->run_all();
  disk.tags["orders"] = 3;  // an old copy put in place
  Error error(Status::ok, "");
  for (int i = 0; i < 30 && error.status() == Status::ok; ++i) {
    try {
      handle->next();
    } catch (const Error& e) {
      error = e;
    }
    runtime->run_all();
  }
  EXPECT_EQ(error.status(), Status::store_regressed);
}

TEST_F(Segment, IdsNeverPassTwoToTheSixtyThird) {
  disk.tags["orders"] = static_cast<std::uint64_t>(INT64_MAX) - 5;
  store->before = [&] {
    if (disk.tags["orders"] > static_cast<std::uint64_t>(INT64_MAX) - 10) throw Error(Status::exhausted, "used up");
  };
  EXPECT_ERROR(EXHAUSTED, _, with({{"segment.step", "10"}}));
}

TEST_F(Segment, BatchesAndBlocksAndSinglesDrawFromOneCounter) {
  auto handle = with({{"segment.step", "100"}});
  EXPECT_EQ(handle->next(), 1u);
  const auto ids = many(*handle, 150);
  EXPECT_EQ(ids.front(), 2u);
  EXPECT_EQ(ids.back(), 151u);
  const Block block = handle->next_block(1000);
  EXPECT_EQ(block.first, 152u);
  EXPECT_LE(block.count, 100u);
  EXPECT_EQ(handle->next(), block.first + block.count);
}

TEST_F(Segment, TryNextTellsWhatNoWaitingCouldChange) {
  auto handle = with({{"segment.step", "10"}});
  handle->next();
  runtime->run_all();
  disk.tags["orders"] = 3;  // an old copy put in place
  std::uint64_t id;
  Status status = Status::ok;
  for (int i = 0; i < 100 && (status == Status::ok || status == Status::would_block); ++i) {
    status = handle->try_next(id);
    runtime->run_all();
  }
  EXPECT_EQ(status, Status::store_regressed);
}

TEST_F(Segment, AFailedBatchSaysHowManyIdsAreReal) {
  auto handle = with({{"segment.step", "10"}, {"wait_max", "100ms"}});
  store->before = [] { throw Error(Status::store_unavailable, "away"); };
  std::vector<std::uint64_t> ids(50);
  std::size_t written = 99;
  EXPECT_THROW(handle->fill(ids, written), Error);
  EXPECT_EQ(written, 10u);
  EXPECT_EQ(ids[9], 10u);
}

TEST_F(Segment, RelaxedOrderIssuesEveryNumberOnce) {
  auto handle = with({{"segment.step", "5000"}, {"order", "relaxed"}});
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 50'000; ++i) {
    ids.push_back(handle->next());
    runtime->run_all();
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end()) << "DUPLICATE";
}

TEST_F(Segment, TheLastNumbersOfAllAreNotGivenBack) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  disk.tags["orders"] = kMax - 5;
  auto handle = with({{"tag", "orders"}, {"segment.step", "5"}});
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(handle->next(), kMax - 4 + i);
  handle->close();
  EXPECT_EQ(disk.tags["orders"], kMax);
}

TEST_F(Segment, TheRowsStepStandsInPlaceOfItsOwn) {
  disk.step = 7;
  auto handle = with({{"segment.step", "1000"}});
  EXPECT_EQ(disk.tags["orders"], 7u);
  disk.step = 50;  // the operator changes it while we run
  for (int i = 0; i < 20; ++i) {
    handle->next();
    runtime->run_all();
  }
  EXPECT_EQ(disk.tags["orders"] % 50, 7u);
}

TEST_F(Segment, TellsTheStoreWhoDraws) {
  auto handle = with({{"segment.step", "1000"}});
  ASSERT_EQ(store->grants.size(), 1u);
  EXPECT_THAT(store->grants[0].holder, testing::StartsWith("process "));
}

TEST_F(Segment, WithAStrideItIssuesOnlyItsShareOfTheNumbers) {
  auto handle = with({{"segment.step", "10"}, {"segment.stride", "3"}, {"segment.offset", "2"}});
  EXPECT_EQ(disk.tags["orders"], 30u) << "ten numbers of its own";
  for (std::uint64_t expected = 2; expected < 300; expected += 3) {
    ASSERT_EQ(handle->next(), expected);
    runtime->run_all();
  }
  const auto ids = many(*handle, 20);
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(ids[i], 302 + 3 * i);
  const Block block = handle->next_block(5);
  EXPECT_EQ(block.first, 362u);
  EXPECT_EQ(block.stride, 3u);
  std::uint64_t id = 0;
  EXPECT_EQ(handle->try_next(id), Status::ok);
  EXPECT_EQ(id, 362 + block.count * 3);
}

TEST_F(Segment, GivesBackNoNumberOfAnotherStridesGrant) {
  auto three = with({{"segment.step", "10"}, {"segment.stride", "3"}, {"segment.offset", "2"}});
  three->next();
  runtime->run_all();
  auto one = with({{"segment.step", "1"}});  // 31, in between
  EXPECT_EQ(one->next(), 31u);
  draw(*three, 9);
  runtime->run_all();
  three->close();
  EXPECT_GE(disk.tags["orders"], 31u);
}

TEST_F(Segment, ClosingGivesTheTailOfAStrideBack) {
  auto handle =
      with({{"segment.step", "10"}, {"segment.stride", "3"}, {"segment.offset", "1"}, {"segment.prefetch", "1"}});
  EXPECT_EQ(handle->next(), 1u);
  EXPECT_EQ(handle->next(), 4u);
  handle->close();
  EXPECT_EQ(disk.tags["orders"], 6u);
  EXPECT_EQ(with({{"segment.step", "10"}, {"segment.stride", "3"}, {"segment.offset", "1"}})->next(), 7u);
}

TEST_F(Segment, TakesTheStrideFromTheRow) {
  disk.stride = 10;
  disk.offset = 3;
  auto handle = with({{"segment.step", "100"}});
  EXPECT_EQ(handle->next(), 3u);
  EXPECT_EQ(handle->next(), 13u);
}

TEST_F(Segment, AStoreThatAnswersAfterAllHasBeenDestroyedHarmsNobody) {
  disk.stride = 10;
  disk.offset = 3;
  auto handle = with({{"segment.step", "100"}, {"wait_max", "10ms"}, {"segment.prefetch", "0.01"}});
  handle->next();
  handle->next();  // asks for the next range
  runtime->hold_back(true);
  handle.reset();
  runtime->run_all();  // the answer: under the address sanitizer, nothing that was freed is read
  EXPECT_GE(store->calls, 2);
}

TEST_F(Segment, ARowsStepBelowTheStrideGrantsAtLeastOneId) {
  disk.stride = 10;
  disk.step = 3;
  auto handle = with({{"segment.step", "100"}});
  for (std::uint64_t expected = 10; expected <= 100; expected += 10) EXPECT_EQ(handle->next(), expected);
}

TEST_F(Segment, AStrideThatChangesInTheRowStopsIt) {
  disk.stride = 10;
  auto handle = with({{"segment.step", "100"}});
  EXPECT_EQ(handle->next(), 10u);
  disk.offset = 3;
  Error error(Status::ok, "");
  for (int i = 0; i < 50 && error.status() == Status::ok; ++i) {
    try {
      EXPECT_EQ(handle->next() % 10, 0u);
    } catch (const Error& e) {
      error = e;
    }
    runtime->run_all();
  }
  EXPECT_EQ(error.status(), Status::format_mismatch);
  EXPECT_THAT(error.what(), testing::HasSubstr("offset 3"));
}

TEST_F(Segment, ARowsStrideAndAnotherInTheConfigurationAreRefused) {
  disk.stride = 10;
  EXPECT_ERROR(FORMAT_MISMATCH, _, with({{"segment.stride", "5"}}));
}

TEST_F(Segment, AnOffsetBeyondTheStrideIsRefused) {
  EXPECT_ERROR(VALUE, _, with({{"segment.stride", "5"}, {"segment.offset", "5"}}));
}

TEST_F(Segment, AStepAboveTheStockAllowedIsTakenAsItIs) {
  const auto handle = with({{"segment.step", "1000"}, {"segment.stock_max", "1500"}});
  EXPECT_EQ(disk.tags["orders"], 1000u);
}

TEST_F(Segment, RelaxedOrderWithAStrideIssuesEveryNumberOfItsShareOnce) {
  auto handle = with({{"segment.step", "500"}, {"order", "relaxed"}, {"segment.stride", "4"}, {"segment.offset", "3"}});
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 5'000; ++i) {
    ids.push_back(handle->next());
    runtime->run_all();
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end()) << "DUPLICATE";
  for (const std::uint64_t id : ids) ASSERT_EQ(id % 4, 3u);
}

TEST_F(Segment, WhatHasBecomeTooOldGoesBackToTheStore) {
  auto handle = with({{"segment.step", "1000"}, {"segment.max_age", "1m"}});
  EXPECT_EQ(handle->next(), 1u);
  EXPECT_EQ(disk.tags["orders"], 1000u);
  pass(61 * kSecond);
  EXPECT_EQ(disk.tags["orders"], 2u);
  EXPECT_EQ(handle->next(), 3u);
}

TEST_F(Segment, TheTagDefaultsToTheGeneratorsName) {
  auto handle = open({{"kind", "segment"}, {"name", "invoices"}});
  handle->next();
  EXPECT_EQ(disk.tags.count("invoices"), 1u);
}

// As when a tinyid service goes from one database to two.
TEST_F(Segment, StopsWhenTheRowTakesAStrideWhileItRuns) {
  auto a = with({{"segment.step", "100"}, {"segment.runway", "0"}});
  auto b = with({{"segment.step", "100"}, {"segment.runway", "0"}});
  std::set<std::uint64_t> ids{a->next()};
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(ids.insert(b->next()).second);
  disk.stride = 2;
  const Error error = error_of([&] {
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(ids.insert(a->next()).second);
  });
  EXPECT_EQ(error.status(), Status::format_mismatch);
}

}  // namespace
}  // namespace idgen::sim
