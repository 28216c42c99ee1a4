#include <gmock/gmock.h>

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
  for (int i = 0; i < 150; ++i) handle->next();
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
  auto handle = with({{"segment.step", "10"}});
  for (int i = 0; i < 10; ++i) handle->next();
  int lost = 0;
  store->after = [&] {
    if (++lost == 1) throw Error(Status::store_unavailable, "the answer was lost");
  };
  const std::uint64_t id = handle->next();
  EXPECT_EQ(id, 21u) << "11 to 20 were committed, and nobody may know that they are ours";
}

TEST_F(Segment, AStoreThatWentBackStopsIt) {
  auto handle = with({{"segment.step", "10"}});
  for (int i = 0; i < 5; ++i) handle->next();
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
  EXPECT_EQ(error_of([&] { with({{"segment.step", "10"}}); }).status(), Status::exhausted);
}

TEST_F(Segment, BatchesAndBlocksAndSinglesDrawFromOneCounter) {
  auto handle = with({{"segment.step", "100"}});
  EXPECT_EQ(handle->next(), 1u);
  std::vector<std::uint64_t> ids(150);
  std::size_t written = 0;
  handle->fill(ids, written);
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
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST_F(Segment, TheLastNumbersOfAllAreNotGivenBack) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  disk.tags["orders"] = kMax - 5;
  auto handle = with({{"tag", "orders"}, {"segment.step", "5"}});
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(handle->next(), kMax - 4 + i);
  handle->close();
  EXPECT_EQ(disk.tags["orders"], kMax);
}

TEST_F(Segment, ALayoutIsRefused) {
  EXPECT_EQ(error_of([&] { with({{"layout", "twitter"}}); }).status(), Status::unsupported);
}

TEST_F(Segment, TheTagDefaultsToTheGeneratorsName) {
  auto handle = open({{"kind", "segment"}, {"name", "invoices"}});
  handle->next();
  EXPECT_EQ(disk.tags.count("invoices"), 1u);
}

}  // namespace
}  // namespace idgen::sim
