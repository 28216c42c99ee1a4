// Sleeps that end late, at the cap: what was slept through is used first, in order, and not for longer than allowed.
#include <functional>
#include <random>
#include <set>
#include <utility>

#include "generator/world.hpp"

namespace idgen::sim {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kPerTick = 4096;

class MissedTicks : public World {
 protected:
  std::unique_ptr<Handle> at_the_cap(Settings settings = {}) {
    settings.emplace_back("worker", "1");
    auto handle = open(settings);
    tick_ = now_ms();
    for (std::uint64_t i = 0; i < kPerTick; ++i) handle->next();
    EXPECT_EQ(now_ms(), tick_);
    return handle;
  }
  // The tick of the next id, counted from the one that at_the_cap() has used up, and that it is in turn.
  std::int64_t next_tick(Handle& handle) { return tick_of(handle, handle.next()); }
  std::int64_t tick_of(const Handle& handle, std::uint64_t id) {
    EXPECT_GT(id, last_);
    last_ = id;
    return ms_of(handle, id) - tick_;
  }

 private:
  std::int64_t tick_ = 0;
  std::uint64_t last_ = 0;
};

TEST_F(MissedTicks, ASleepThatEndsLateCostsNoId) {
  auto handle = at_the_cap();
  runtime->oversleep(3 * kMs + kMs / 2);  // it ends in tick 4
  for (std::int64_t tick = 1; tick <= 4; ++tick) {
    for (std::uint64_t i = 0; i < kPerTick; ++i) ASSERT_EQ(next_tick(*handle), tick) << i;
  }
  EXPECT_EQ(handle->stats().waits, 1u);
  EXPECT_EQ(next_tick(*handle), 5) << "and then the next one is waited for";
  EXPECT_EQ(handle->stats().waits, 2u);
}

TEST_F(MissedTicks, EveryWayOfDrawingUsesThem) {
  auto handle = at_the_cap();
  runtime->oversleep(3 * kMs);
  EXPECT_EQ(next_tick(*handle), 1);
  std::uint64_t id;
  ASSERT_EQ(handle->try_next(id), Status::ok);
  EXPECT_EQ(tick_of(*handle, id), 1);
  const Block block = handle->next_block(10 * kPerTick);
  EXPECT_EQ(tick_of(*handle, block.first), 1);
  EXPECT_EQ(block.count, kPerTick - 2) << "a block ends with its tick";
  tick_of(*handle, block.first + (block.count - 1) * block.stride);
  const auto ids = many(*handle, 2 * kPerTick + 10);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(tick_of(*handle, ids[i]), 2 + static_cast<std::int64_t>(i / kPerTick)) << i;
  }
  EXPECT_EQ(handle->stats().waits, 1u);
}

TEST_F(MissedTicks, TheyAreLostBeyondMaxBehind) {
  for (const char* most : {"3ms", "0ms"}) {
    disk = {};
    auto handle = at_the_cap({{"max_behind", most}, {"namespace", most}});
    runtime->oversleep(4 * kMs);
    EXPECT_EQ(next_tick(*handle), 5) << most;
    EXPECT_EQ(handle->stats().waits, 1u);
  }
}

TEST_F(MissedTicks, AfterAStandstillItGoesOnWithNow) {
  auto handle = at_the_cap();
  runtime->oversleep(kSecond);
  EXPECT_EQ(next_tick(*handle), 1001);
}

TEST_F(MissedTicks, WhenNobodyDrawsTheyAreForgotten) {
  auto handle = at_the_cap();
  runtime->oversleep(2 * kMs);
  EXPECT_EQ(next_tick(*handle), 1);
  runtime->pass(8 * kMs);
  EXPECT_EQ(next_tick(*handle), 1) << "10 ms behind, as allowed";
  runtime->pass(1 * kMs);
  EXPECT_EQ(next_tick(*handle), 12);
  EXPECT_EQ(next_tick(*handle), 12);
}

TEST_F(MissedTicks, AClockThatIsSetBackMeanwhileMakesNoIdTwice) {
  for (const char* policy : {"wait", "continue"}) {
    disk = {};
    auto handle = at_the_cap({{"on_clock_back", policy}, {"namespace", policy}});
    runtime->oversleep(4 * kMs);
    EXPECT_EQ(next_tick(*handle), 1);
    for (std::uint64_t i = 1; i < kPerTick; ++i) next_tick(*handle);
    EXPECT_EQ(next_tick(*handle), 2);
    runtime->set_clock_by(-4 * kMs);  // to tick 1
    for (std::uint64_t i = 0; i < 3 * kPerTick; ++i) {
      ASSERT_LE(next_tick(*handle), 6);
    }
    EXPECT_EQ(handle->stats().clock_back_events, 1u) << policy;
  }
}

TEST_F(MissedTicks, WhoBorrowsTimeGoesOnWithNow) {
  auto handle = open(
      {{"worker", "1"}, {"on_overflow", "borrow"}, {"window", "100ms"}, {"max_ahead", "100ms"}, {"max_behind", "1s"}});
  while (ms_of(*handle, handle->next()) < now_ms() + 100) {  // all that may be borrowed
  }
  for (std::uint64_t i = 1; i < kPerTick; ++i) handle->next();
  EXPECT_EQ(runtime->slept(), 0);
  runtime->oversleep(150 * kMs);
  const std::uint64_t id = handle->next();
  EXPECT_EQ(ms_of(*handle, id), now_ms());
  EXPECT_GT(runtime->slept(), 0);
}

TEST_F(MissedTicks, WhateverHappensIdsRiseAndAreNoOlderThanAllowed) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  auto handle = at_the_cap({{"window", "100ms"}, {"max_ahead", "200ms"}, {"wait_max", "1m"}});
  std::vector<std::uint64_t> ids(3 * kPerTick);
  int behind = 0;
  for (int step = 0; step < 4'000; ++step) {
    if (below(8) == 0) runtime->oversleep(below(15 * kMs));
    if (below(50) == 0) runtime->pass(below(30 * kMs));
    if (below(200) == 0) runtime->set_clock_by(below(20 * kMs) - 10 * kMs);
    const std::int64_t begun = now_ms();
    std::size_t written = 0;
    const std::span<std::uint64_t> some(ids.data(), static_cast<std::size_t>(1 + below(below(2) ? 3 : 3 * kPerTick)));
    handle->fill(some, written);
    for (const std::uint64_t id : some) tick_of(*handle, id);
    const std::int64_t age = begun - (ms_of(*handle, some.front()) + 1);  // since the end of its tick
    ASSERT_LE(age, 10) << step;
    behind += age > 0;
    runtime->run_all();
  }
  EXPECT_GT(behind, 100);
}

// A clock at each of whose readings another thread may run.
class Crossed : public SimRuntime {
 public:
  std::function<void()> other;

  std::int64_t wall_ns() noexcept override {
    if (other && !std::exchange(is_inside_, true)) {
      other();
      is_inside_ = false;
    }
    return SimRuntime::wall_ns();
  }

 private:
  bool is_inside_ = false;
};

TEST_F(MissedTicks, AnotherThreadInTheMiddleOfACallMakesNoIdTwiceAndNoneOfATimeThatIsNot) {
  const auto clock = std::make_shared<Crossed>();
  runtime = clock;
  auto handle = open({{"worker", "1"}, {"window", "100ms"}, {"max_ahead", "200ms"}, {"wait_max", "50ms"}});
  std::mt19937_64 random(11);
  const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
  std::set<std::uint64_t> issued;
  const auto draw = [&](std::size_t count) {
    const std::int64_t begun = now_ms();
    const auto ids = many(*handle, count);
    for (const std::uint64_t id : ids) EXPECT_TRUE(issued.insert(id).second) << id;
    for (const std::uint64_t id : {ids.front(), ids.back()}) {
      EXPECT_LE(ms_of(*handle, id), now_ms()) << "ahead of the clock, with on_overflow = wait";
      EXPECT_LE(begun - (ms_of(*handle, id) + 1), 10);
    }
  };
  clock->other = [&] {
    if (below(6) != 0) return;
    if (below(4) == 0) runtime->pass(below(90) * kMs);
    try {
      draw(kPerTick);
      runtime->oversleep(9 * kMs);
      draw(static_cast<std::size_t>(1 + below(kPerTick)));
    } catch (const Error&) {  // it waits for the store, which the thread that it has interrupted was asking
    }
  };
  for (int step = 0; step < 300 && !HasFailure(); ++step) {
    if (below(2) == 0) runtime->pass(below(60) * kMs);  // to the next window
    draw(static_cast<std::size_t>(1 + below(100)));
    runtime->run_all();
  }
  clock->other = nullptr;
}

TEST_F(MissedTicks, DescribeSaysHowOldTheyMayBe) {
  EXPECT_THAT(open({{"worker", "1"}})->describe(), HasSubstr("slept through, up to max_behind = 10ms ago"));
  EXPECT_THAT(open({{"worker", "2"}, {"max_behind", "0ms"}})->describe(), Not(HasSubstr("max_behind")));
}

}  // namespace
}  // namespace idgen::sim
