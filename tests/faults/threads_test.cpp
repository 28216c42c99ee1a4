// Many threads on one generator, with every call that makes ids.
#include <thread>

#include "../draws.h"
#include "support.hpp"

namespace idgen::faults {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kPerThread = 2'500'000 / kSlower;

// Draws n ids by all four calls in turn.
bool draw_mixed(idgen_t* g, std::size_t n, std::vector<std::uint64_t>& out) {
  out.reserve(n + 4096);
  std::uint64_t chunk[700];
  std::uint64_t id;
  for (std::size_t round = 0; out.size() < n; ++round) {
    switch (round % 4) {
      case 0:
        for (int i = 0; i < 500; ++i) {
          if (idgen_next(g, &id, nullptr) != IDGEN_OK) return false;
          out.push_back(id);
        }
        break;
      case 1:
        for (int i = 0; i < 500; ++i) {
          const idgen_status_t status = idgen_try_next(g, &id);
          if (status == IDGEN_OK)
            out.push_back(id);
          else if (status != IDGEN_E_WOULD_BLOCK)
            return false;
        }
        break;
      case 2: {
        std::size_t written = 0;
        const std::size_t want = 1 + round * 37 % 700;
        if (idgen_next_batch(g, chunk, want, &written, nullptr) != IDGEN_OK || written != want) return false;
        out.insert(out.end(), chunk, chunk + written);
        break;
      }
      default: {
        idgen_draw_t block = IDGEN_DRAW_INIT;
        if (draw_block(g, 300, &block, nullptr) != IDGEN_OK || block.written < 1 || block.written > 300) return false;
        for (std::uint64_t i = 0; i < block.written; ++i) out.push_back(block.first + i * block.stride);
      }
    }
  }
  return true;
}

void threads_draw_no_id_twice(Settings settings, std::size_t per_thread = kPerThread) {
  TempFolder folder;
  settings.insert(settings.end(), {{"store", folder.url()}, {"store_create", "true"}});
  Ids ids(settings);
  ASSERT_TRUE(ids) << ids.outcome().message;
  std::vector<std::vector<std::uint64_t>> lists(kThreads);
  std::atomic<std::size_t> failed{0};
  {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] { failed += !draw_mixed(ids.get(), per_thread, lists[t]); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(failed, 0u);
  std::size_t total = 0;
  for (const auto& list : lists) {
    EXPECT_TRUE(is_strictly_rising(list)) << "the ids of one thread must rise, whatever calls it mixes";
    total += list.size();
  }
  EXPECT_GE(total, kThreads * per_thread);
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
  idgen_stats_t stats = IDGEN_STATS_INIT;
  ASSERT_EQ(idgen_stats(ids.get(), &stats, nullptr), IDGEN_OK);
  if (stats.issued_ids != stats.issued) {
    EXPECT_EQ(stats.issued_ids, total);
  } else {
    EXPECT_GE(stats.issued_ids, total) << "a thread that comes to a range's end late draws anew, and leaves a gap";
  }
  report("%zu ids of %zu threads, all different", total, kThreads);
}

const Settings kSegment = {{"kind", "segment"}, {"tag", "t"}, {"segment.step", "1000000"}};
const Settings kSmallSegment = {{"kind", "segment"}, {"tag", "t"}, {"segment.step", "20000"}};
const Settings kSnowflake = {{"layout", "time:41ms worker:4 sequence:18"}, {"worker", "9"}};
const Settings kBorrowing = {{"worker", "9"}, {"on_overflow", "borrow"}};

Settings relaxed(Settings settings) {
  settings.emplace_back("order", "relaxed");
  return settings;
}

TEST(Threads, DrawNoSegmentIdTwice) { threads_draw_no_id_twice(kSegment); }
TEST(Threads, DrawNoSegmentIdTwiceWhenOrderIsRelaxed) { threads_draw_no_id_twice(relaxed(kSegment)); }
TEST(Threads, DrawNoSegmentIdTwiceWhenSegmentsAreSmall) { threads_draw_no_id_twice(kSmallSegment); }
TEST(Threads, DrawNoSnowflakeTwice) { threads_draw_no_id_twice(kSnowflake); }
TEST(Threads, DrawNoSnowflakeTwiceWhenOrderIsRelaxed) { threads_draw_no_id_twice(relaxed(kSnowflake)); }
// At 4096 ids per ms, a second of them.
TEST(Threads, DrawNoSnowflakeTwiceAtTheCapOfTheDefaultLayout) {
  threads_draw_no_id_twice({{"worker", "9"}}, kPerThread / 5);
}
TEST(Threads, DrawNoSnowflakeTwiceWhileBorrowing) { threads_draw_no_id_twice(kBorrowing); }

// "strict" is a promise across threads: a later draw, in any order of events, gives a higher id.
TEST(Threads, PassIdsOnInRisingOrderWhenOrderIsStrict) {
  for (const Settings& kind : {kSmallSegment, kSnowflake}) {
    TempFolder folder;
    Settings settings = kind;
    // A busy machine may take seconds for a commit; here it is the order that is tested.
    settings.insert(settings.end(), {{"store", folder.url()}, {"store_create", "true"}, {"wait_max", "60s"}});
    Ids ids(settings);
    ASSERT_TRUE(ids) << ids.outcome().message;
    std::atomic<std::uint64_t> highest{0};
    std::atomic<std::size_t> wrong{0}, failed{0};
    std::vector<std::thread> threads;
    constexpr std::size_t kDraws = 500'000 / kSlower;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < kDraws; ++i) {
          const std::uint64_t known = highest.load();
          std::uint64_t id = 0;
          if (idgen_next(ids.get(), &id, nullptr) != IDGEN_OK) {
            ++failed;
          } else if (id <= known) {
            ++wrong;
          }
          for (std::uint64_t seen = known; seen < id && !highest.compare_exchange_weak(seen, id);) {
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed, 0u);
    EXPECT_EQ(wrong, 0u);
    report("%zu ids, each above all that were known when it was asked for", 4 * kDraws);
  }
}

// A clock set back an hour is made up for once, not once for each thread that notices.
TEST(Threads, DoNotAddUpTheLeadWhenTheClockIsSetBack) {
  constexpr std::int64_t kHourMs = 3'600'000;
  Clock clock(kEpochMs + 10 * kHourMs);
  Ids ids({{"store", "memory"}, {"worker", "1"}, {"on_clock_back", "continue"}}, &clock);
  ASSERT_TRUE(ids) << ids.outcome().message;
  for (int round = 0; round < 20; ++round) {
    std::uint64_t last = ids.next();
    ASSERT_NE(last, 0u);
    clock.move_ms(-1000);
    const std::uint64_t events = ids.stats().clock_back_events;
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    std::atomic<std::size_t> failed{0};
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < 8) {
        }
        std::uint64_t id;
        for (int i = 0; i < 2000; ++i) failed += idgen_next(ids.get(), &id, nullptr) != IDGEN_OK;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed, 0u);
    EXPECT_GT(ids.stats().clock_back_events, events);
    EXPECT_LE(ids.stats().lead_ms, 1001 + 1000 * round);
  }
}

}  // namespace
}  // namespace idgen::faults
