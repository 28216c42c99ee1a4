// close() while other threads draw, and what it leaves behind.
#include <thread>

#include "../draws.h"
#include "patience.hpp"
#include "runtime/lane_threads.hpp"
#include "support.hpp"

namespace idgen::faults {
namespace {

constexpr std::size_t kThreads = 8;
constexpr int kRounds = kSlower > 1 ? 40 : 120;

struct Drawer {
  std::vector<std::uint64_t> ids;
  idgen_status_t ended_with = IDGEN_OK;
  std::string message;

  // Until told that it is over.
  void draw(idgen_t* g, std::size_t number) {
    idgen_error_t err = IDGEN_ERROR_INIT;
    std::uint64_t id, many[64];
    for (;;) {
      std::size_t written = 0;
      idgen_draw_t block = IDGEN_DRAW_INIT;
      idgen_status_t status = IDGEN_OK;
      switch (number % 4) {
        case 0:
          status = idgen_next(g, many, &err), written = status == IDGEN_OK;
          break;
        case 1:
          status = idgen_next_batch(g, many, 64, &written, &err);
          break;  // what is written is ours even after a failure
        case 2:
          status = draw_block(g, 16, &block, &err);
          for (std::uint64_t i = 0; status == IDGEN_OK && i < block.written; ++i)
            ids.push_back(block.first + i * block.stride);
          break;
        default:
          status = idgen_try_next(g, &id);
          if (status == IDGEN_OK) ids.push_back(id);
          if (status == IDGEN_E_WOULD_BLOCK) continue;
      }
      ids.insert(ids.end(), many, many + written);
      if (status != IDGEN_OK) {
        ended_with = status;
        message = err.message;
        return;
      }
    }
  }
};

Settings with(const TempFolder& folder, Settings settings) {
  settings.insert(settings.end(), {{"store", folder.url()}, {"store_create", "true"}});
  return settings;
}

// The next generator may draw what close gives back, so nobody may have drawn it from this one.
void close_ends_all_calls_and_gives_back_only_what_is_unused(const Settings& of_the_kind) {
  TempFolder folder;
  const Settings settings = with(folder, of_the_kind);
  std::vector<std::vector<std::uint64_t>> lists;
  std::size_t total = 0;
  for (int round = 0; round < kRounds; ++round) {
    Ids ids(settings);
    ASSERT_TRUE(ids) << ids.outcome().message;
    std::vector<Drawer> drawers(kThreads);
    std::vector<std::thread> threads;
    std::atomic<std::size_t> started{0};
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        ++started;
        drawers[t].draw(ids.get(), t);
      });
    }
    while (started < kThreads) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(round % 7 * 150));
    EXPECT_EQ(ids.close().status, IDGEN_OK);
    for (std::thread& thread : threads) thread.join();
    for (Drawer& drawer : drawers) {
      ASSERT_EQ(drawer.ended_with, IDGEN_E_CLOSED) << idgen_status_name(drawer.ended_with) << ": " << drawer.message;
      ASSERT_TRUE(is_strictly_rising(drawer.ids));
      total += drawer.ids.size();
      lists.push_back(std::move(drawer.ids));
    }
    EXPECT_EQ(ids.stats().clock_back_events, 0u) << "a close is not a clock set back";
    EXPECT_EQ(ids.stats().remaining, 0u);
    EXPECT_EQ(ids.stats().lead_ms, 0);
  }
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
  report("%zu ids around %d closes under %zu threads, all different", total, kRounds, kThreads);
}

TEST(Close, EndsAllCallsOnASegment) {
  close_ends_all_calls_and_gives_back_only_what_is_unused(
      {{"kind", "segment"}, {"tag", "t"}, {"segment.step", "5000"}});
}
TEST(Close, EndsAllCallsOnASegmentWhoseOrderIsRelaxed) {
  close_ends_all_calls_and_gives_back_only_what_is_unused(
      {{"kind", "segment"}, {"tag", "t"}, {"segment.step", "5000"}, {"order", "relaxed"}});
}
TEST(Close, EndsAllCallsOnASnowflake) {
  close_ends_all_calls_and_gives_back_only_what_is_unused({{"worker", "1"}, {"on_clock_back", "fail"}});
}
TEST(Close, EndsAllCallsOnASnowflakeWhoseOrderIsRelaxed) {
  close_ends_all_calls_and_gives_back_only_what_is_unused({{"worker", "1"}, {"order", "relaxed"}});
}

// Two handles on one worker share its state: closing one must not end the other.
TEST(Close, OfOneOfTwoHandlesLeavesTheOtherDrawing) {
  TempFolder folder;
  const Settings settings = with(folder, {{"worker", "1"}});
  Ids stays(settings);
  ASSERT_TRUE(stays) << stays.outcome().message;
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> failed{0};
  std::vector<std::vector<std::uint64_t>> lists;
  std::vector<std::uint64_t> stayed;  // the drawer's alone until it is joined
  std::thread drawer([&] {
    while (!stop) {
      const std::uint64_t id = stays.next();
      failed += id == 0;
      stayed.push_back(id);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    Ids goes(settings);
    ASSERT_TRUE(goes) << goes.outcome().message;
    Drawer other;
    std::thread thread([&] { other.draw(goes.get(), static_cast<std::size_t>(round)); });
    EXPECT_EQ(goes.close().status, IDGEN_OK);
    thread.join();
    EXPECT_EQ(other.ended_with, IDGEN_E_CLOSED) << other.message;
    lists.push_back(std::move(other.ids));
  }
  stop = true;
  drawer.join();
  lists.push_back(std::move(stayed));
  EXPECT_EQ(failed, 0u);
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
}

// A thread that waits for the store or the clock is woken by close, long before its wait_max.
TEST(Close, WakesACallThatWaits) {
  TempFolder folder;
  Ids ids(with(folder, {{"worker", "1"},
                        {"layout", "time:26x3600000ms worker:8 sequence:4"},
                        {"window", "1h"},
                        {"max_ahead", "2h"},
                        {"wait_max", "1h"}}));
  ASSERT_TRUE(ids) << ids.outcome().message;
  std::atomic<int> ended{-1};
  std::thread waiter([&] {  // soon for the hour to end, which is longer than this test may take
    std::uint64_t id = 0;
    idgen_status_t status = IDGEN_OK;
    while (status == IDGEN_OK) status = idgen_next(ids.get(), &id, nullptr);
    ended = status;
  });
  EXPECT_TRUE(becomes_true([&] { return ids.stats().waits != 0; })) << "the call does not wait";
  EXPECT_EQ(ids.close().status, IDGEN_OK);
  waiter.join();
  EXPECT_EQ(ended, IDGEN_E_CLOSED);
}

TEST(Close, ManyGeneratorsThatWatchTheAgeOfTheirSegmentsLeaveNoThreadBehind) {
  for (int i = 0; i < 50; ++i) {
    Ids ids({{"kind", "segment"},
             {"tag", "t"},
             {"store", "memory:" + std::to_string(i)},
             {"store_create", "true"},
             {"segment.max_age", "1h"}});
    ASSERT_NE(ids.next(), 0u) << ids.outcome().message;
  }
  EXPECT_EQ(threads_once_there_are(0), 0u);
}

}  // namespace
}  // namespace idgen::faults
