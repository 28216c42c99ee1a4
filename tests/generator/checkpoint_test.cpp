// A process that is quiesced for a checkpoint, and what its copies may do.
#include "idgen/checkpoint.hpp"

#include <atomic>
#include <thread>
#include <utility>

#include "generator/live_generators.hpp"
#include "generator/world.hpp"
#include "store/store_test_support.hpp"

namespace idgen::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Checkpoint : public World {
 protected:
  ~Checkpoint() override { reset(); }
};

TEST_F(Checkpoint, AQuiescedGeneratorHasGivenBackWhatItHeld) {
  auto segment = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}, {"segment.runway", "0"}});
  draw(*segment, 7);
  auto snowflake = open({{"worker", "1"}});
  snowflake->next();
  ASSERT_GT(disk.tags["t"], 7u);
  const std::int64_t reserved_to = disk.workers[1].hw;
  quiesce();
  EXPECT_EQ(disk.tags["t"], 7u);
  EXPECT_LT(disk.workers[1].hw, reserved_to);
  EXPECT_EQ(store->disconnects, 2);
  reset();
  EXPECT_EQ(segment->next(), 8u);
  EXPECT_EQ(segment->stats().issued, 8u) << "before and after";
}

TEST_F(Checkpoint, CallsWaitForTheResetAndThenGoOn) {
  auto handle = open({{"kind", "segment"}, {"tag", "t"}, {"wait_max", "100ms"}});
  const std::uint64_t first = handle->next();
  quiesce();
  EXPECT_ERROR(STORE_UNAVAILABLE,
               AllOf(HasSubstr("quiesced for a checkpoint"), HasSubstr("waited 100 ms"), HasSubstr("idgen_reset")),
               handle->next());
  std::uint64_t id = 0;
  EXPECT_EQ(handle->try_next(id), Status::would_block);
  EXPECT_ERROR(STORE_UNAVAILABLE, _, open({{"kind", "segment"}, {"tag", "other"}, {"wait_max", "0"}}));
  EXPECT_FALSE(disk.tags.contains("other"));
  reset();
  EXPECT_EQ(handle->next(), first + 1);
}

TEST_F(Checkpoint, ACopyMadeWithoutQuiescingGivesNothingBackAndDrawsItsOwn) {
  auto segment = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}, {"segment.runway", "0"}});
  auto relaxed = open({{"kind", "segment"}, {"tag", "r"}, {"segment.step", "1000"}, {"order", "relaxed"}});
  auto snowflake = open({{"worker", "1"}, {"namespace", "n"}});
  segment->next();
  relaxed->next();
  snowflake->next();
  const std::uint64_t granted = disk.tags["t"], of_relaxed = disk.tags["r"];
  const std::int64_t reserved_to = disk.workers[1].hw;
  const std::uint64_t fence = disk.workers[1].fence;
  reset();
  EXPECT_EQ(disk.tags["t"], granted);
  EXPECT_EQ(segment->next(), granted + 1);
  EXPECT_GT(relaxed->next(), of_relaxed) << "also what a thread had in its block";
  EXPECT_GE(ms_of(*snowflake, snowflake->next()), reserved_to);
  EXPECT_GT(disk.workers[1].fence, fence) << "as another owner";
}

TEST_F(Checkpoint, AStoreThatLosesWhatWasIssuedBeforeAResetIsNotUsedAnyMore) {
  for (const bool quiesces : {false, true}) {
    auto handle = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}, {"segment.runway", "0"}});
    const std::uint64_t first = handle->next();
    handle->next();
    if (quiesces) quiesce();
    disk.tags["t"] = first;  // restored from a backup: it has the first id, not the second
    reset();
    const auto asked = store->calls.load();
    for (int i = 0; i < 3; ++i) {
      const Error error = error_of([&] { handle->next(); });
      EXPECT_EQ(error.status(), Status::store_regressed) << i;
      EXPECT_THAT(error.message(), HasSubstr("it has lost a commit")) << i;
    }
    EXPECT_EQ(store->calls.load(), asked + 1) << "it is not asked until it grants something higher";
    reset();
    EXPECT_EQ(error_of([&] { handle->next(); }).status(), Status::store_regressed) << "after another reset, too";
    handle->close();
    disk.tags["t"] = 1000;
  }
}

// Another thread resets the process: its copies may receive the same answer.
TEST_F(Checkpoint, AGrantThatWasOnItsWayDuringAResetIsNotUsed) {
  bool is_on_its_way = true;
  store->after = [&] {
    if (std::exchange(is_on_its_way, false)) reset();
  };
  auto handle = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}, {"segment.runway", "0"}});
  EXPECT_EQ(handle->next(), 101u) << "the first, when it opens";
  is_on_its_way = true;
  std::uint64_t id = 101;
  while (is_on_its_way) id = handle->next();
  if (id <= 200) id = handle->next();
  EXPECT_EQ(id, 301u) << "the next one";
  reset();
  is_on_its_way = true;
  EXPECT_EQ(handle->next(), 501u) << "the first, when it starts over";
}

TEST_F(Checkpoint, ACallThatComesWhileTheProcessIsBeingResetGivesNothingBack) {
  auto snowflake = open({{"worker", "1"}});
  auto segment = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}, {"segment.runway", "0"}});
  snowflake->next();
  segment->next();
  const std::uint64_t granted = disk.tags["t"];
  std::uint64_t id = 0;
  store->before = [&, is_first = true]() mutable {  // reset() gives up the worker, and the segment is next
    if (std::exchange(is_first, false)) id = segment->next();
  };
  reset();
  EXPECT_EQ(id, granted + 1);
}

// Counts how often a thread waits for another.
class CountedWaits final : public SystemOfATest {
 public:
  void wait(MutexLock& lock, std::condition_variable& changed, std::int64_t timeout_ns) override {
    ++waits;
    SystemOfATest::wait(lock, changed, timeout_ns);
  }
  std::atomic<int> waits{0};
};

// A segment that starts over in a thread of its own, which is at the store until `goes_on`.
class StartingOver : public ::testing::Test {
 protected:
  void begin(const char* wait_max) {
    Config config;
    config.store = store;
    config.runtime = runtime;
    for (const auto& [key, value] :
         Settings{{"kind", "segment"}, {"tag", "t"}, {"wait_max", wait_max}, {"segment.step", "100"}})
      config.set(key, value);
    handle = std::make_unique<Handle>(config);
    reset();
    store->after = [&] {
      if (is_asking.exchange(true)) return;
      while (!goes_on()) std::this_thread::yield();
    };
    caller = std::jthread([&] {
      try {
        id = handle->next();
      } catch (const Error& error) {
        status = error.status();
      }
    });
    while (!is_asking) std::this_thread::yield();
  }
  SimDisk disk;
  std::shared_ptr<SimStore> store = std::make_shared<SimStore>(disk);
  std::shared_ptr<CountedWaits> runtime = std::make_shared<CountedWaits>();
  std::unique_ptr<Handle> handle;
  std::atomic<bool> is_asking{false}, is_over{false};
  std::function<bool()> goes_on = [this] { return is_over.load(); };
  std::uint64_t id = 0;
  Status status = Status::ok;
  std::jthread caller;
};

TEST_F(StartingOver, IsWaitedForByQuiesce) {
  goes_on = [this] { return runtime->waits > 0 || is_over; };
  begin("1h");
  quiesce();
  EXPECT_EQ(disk.tags["t"], 100u) << "what the call was granted has been given back";
  is_over = true;
  reset();
  caller.join();
  EXPECT_EQ(id, 101u);
}

TEST_F(StartingOver, UsesAndGivesBackNothingIfQuiesceCouldNotWaitForIt) {
  begin("1ms");
  quiesce();
  is_over = true;
  caller.join();
  EXPECT_EQ(status, Status::store_unavailable);
  EXPECT_EQ(disk.tags["t"], 200u) << "a copy may receive the same answer";
  reset();
  EXPECT_EQ(handle->next(), 201u);
}

TEST(CheckpointWithThreads, NoCallSaysClosedWhileTheProcessIsResetAgainAndAgain) {
  for (const char* const kind : {"segment", "snowflake"}) {
    Config config;
    for (const auto& [key, value] : Settings{{"kind", kind},
                                             {"store", "memory:reset"},
                                             {"store_create", "true"},
                                             {"wait_max", "1h"},
                                             {"segment.step", "10"},
                                             {"segment.runway", "0"}})
      config.set(key, value);
    config.get("kind") == "segment" ? config.set("tag", "t") : config.set("worker", "1");
    Handle handle(config);
    std::atomic<bool> is_over{false};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        try {
          while (!is_over) handle.next();
        } catch (const Error& error) {
          ADD_FAILURE() << kind << ": " << error.message();
        }
      });
    }
    for (int i = 0; i < 300; ++i) {
      if (i % 2) quiesce();
      reset();
    }
    is_over = true;
  }
}

TEST_F(Checkpoint, AChildThatIsForkedMeanwhileNeedsNoReset) {
  const TempFolder folder;
  Config config;
  config.set("kind", "segment");
  config.set("tag", "t");
  config.set("store", folder.url());
  config.set("store_create", "true");
  Handle handle(config);
  const std::uint64_t first = handle.next();
  quiesce();
  EXPECT_EQ(in_child([&] { return std::to_string(handle.next() > first) + std::to_string(is_quiesced()); }), "10");
  EXPECT_TRUE(is_quiesced());
}

TEST_F(Checkpoint, AClosedGeneratorStaysClosed) {
  auto handle = open({{"kind", "segment"}, {"tag", "t"}});
  handle->close();
  quiesce();
  reset();
  EXPECT_ERROR(CLOSED, _, handle->next());
}

}  // namespace
}  // namespace idgen::sim
