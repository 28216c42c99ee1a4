// A machine that was restored from a snapshot or cloned, where its hypervisor says so (Runtime::vm_generation).
//
// The generator of a test is the copy's: it holds what the original holds, and the store is the one that both use. So
// whatever was granted before the generation changed is the original's to issue.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "generator/draw.hpp"
#include "generator/world.hpp"
#include "idgen/checkpoint.hpp"
#include "patience.hpp"
#include "runtime/children.hpp"
#include "runtime/lane_threads.hpp"
#include "temp_folder.hpp"

namespace idgen::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kLookMs = 100;

class CopiedMachine : public World {
 protected:
  CopiedMachine() { runtime->generation = 7; }
  ~CopiedMachine() override { reset(); }

  void copy() { ++*runtime->generation; }
  // Until the timer has looked.
  void wait_for_look() { pass(kLookMs * kMs); }
  static Settings segment(const std::string& tag = "t") {
    return {{"kind", "segment"}, {"tag", tag}, {"segment.step", "100"}, {"segment.runway", "0"}};
  }
  // Of one call that may not wait, and the work that it asks for.
  std::uint64_t try_until_ok(Handle& handle) {
    std::uint64_t id = 0;
    Status status = Status::would_block;
    for (int i = 0; i < 100 && status == Status::would_block; ++i) {
      status = handle.try_next(id);
      runtime->run_all();
    }
    EXPECT_EQ(status, Status::ok);
    return id;
  }
};

TEST_F(CopiedMachine, DrawsNothingOfTheOriginalsOnceTheTimerHasLooked) {
  auto strict = open(segment());
  auto relaxed = open({{"kind", "segment"}, {"tag", "r"}, {"segment.step", "1000"}, {"order", "relaxed"}});
  auto snowflake = open({{"worker", "1"}, {"namespace", "n"}});
  draw(*strict, 7);
  draw(*relaxed, 7);
  draw(*snowflake, 7);
  const std::uint64_t granted = disk.tags["t"], of_relaxed = disk.tags["r"];
  const std::int64_t reserved_to = disk.workers[1].hw;
  const std::uint64_t fence = disk.workers[1].fence;
  copy();
  wait_for_look();
  EXPECT_GE(disk.tags["t"], granted) << "nothing is given back";
  EXPECT_GE(disk.tags["r"], of_relaxed);
  EXPECT_GE(disk.workers[1].hw, reserved_to);
  EXPECT_GT(strict->next(), granted);
  EXPECT_GT(relaxed->next(), of_relaxed) << "also what a thread had in its block";
  EXPECT_GE(ms_of(*snowflake, snowflake->next()), reserved_to);
  EXPECT_GT(disk.workers[1].fence, fence) << "as another owner";
}

// What remains: the fast path does not look. In a copy that is as busy as this, that is all that is drawn twice.
TEST_F(CopiedMachine, UntilThenDrawsWhatTheFastPathHolds) {
  auto handle = open(segment());
  draw(*handle, 7);
  copy();
  for (std::uint64_t id = 8; id <= 10; ++id) EXPECT_EQ(handle->next(), id) << "up to the mark";
  EXPECT_GT(handle->next(), 100u) << "there the slow path begins, and looks first";
}

TEST_F(CopiedMachine, WithoutADeviceIsNotNoticed) {
  runtime->generation.reset();
  auto handle = open(segment());
  draw(*handle, 7);
  wait_for_look();
  for (std::uint64_t id = 8; id <= 50; ++id) EXPECT_EQ(handle->next(), id);
}

TEST_F(CopiedMachine, LooksWithoutATimerWhereThereIsNoDeviceAndWithoutOneOnceAllAreClosed) {
  runtime->generation.reset();
  {
    auto handle = open(segment());
    EXPECT_EQ(runtime->timers(), 0u);
  }
  runtime->generation = 7;
  auto first = open(segment()), second = open(segment("other"));
  EXPECT_EQ(runtime->timers(), 2u);
  for (int i = 0; i < 5; ++i) {
    wait_for_look();
    EXPECT_EQ(runtime->timers(), 2u);
  }
  first->close();
  wait_for_look();
  EXPECT_EQ(runtime->timers(), 1u);
  second.reset();
  wait_for_look();
  EXPECT_EQ(runtime->timers(), 0u);
}

TEST_F(CopiedMachine, GoesOnLookingIfTheDeviceCouldNotBeReadOnce) {
  auto handle = open(segment());
  draw(*handle, 7);
  runtime->generation.reset();
  wait_for_look();
  runtime->generation = 7;
  wait_for_look();
  EXPECT_EQ(handle->next(), 8u) << "nothing has changed";
  copy();
  wait_for_look();
  EXPECT_GT(handle->next(), 100u);
}

TEST_F(CopiedMachine, LooksAgainAfterACheckpoint) {
  auto handle = open(segment());
  quiesce();
  wait_for_look();
  EXPECT_EQ(runtime->timers(), 0u);
  reset();
  draw(*handle, 3);
  const std::uint64_t granted = disk.tags["t"];
  copy();
  wait_for_look();
  EXPECT_GT(handle->next(), granted);
}

TEST_F(CopiedMachine, OneGeneratorThatNoticesSpeaksForAll) {
  auto one = open(segment("one")), other = open(segment("other"));
  draw(*one, 10);
  draw(*other, 3);
  const std::uint64_t granted = disk.tags["other"];
  copy();
  one->next();
  EXPECT_GT(other->next(), granted);
}

TEST_F(CopiedMachine, SaysSoOnceInTheLogOfEach) {
  std::vector<std::string> lines, of_other;
  Config with_log = config(segment()), other = config(segment("other"));
  with_log.log = log_to(lines);
  other.log = log_to(of_other);
  Handle handle(with_log), idle(other);
  handle.next();
  copy();
  wait_for_look();
  wait_for_look();
  EXPECT_THAT(lines,
              ElementsAre(AllOf(HasSubstr("segment tag 't': this process was copied"), HasSubstr("reserves anew"))));
  EXPECT_THAT(of_other, ElementsAre(HasSubstr("segment tag 'other'")));
}

TEST_F(CopiedMachine, ClosingTheCopyGivesNothingBackThoughNobodyHasLookedYet) {
  auto handle = open(segment());
  auto snowflake = open({{"worker", "1"}});
  draw(*handle, 7);
  snowflake->next();
  const std::uint64_t granted = disk.tags["t"];
  const std::int64_t reserved_to = disk.workers[1].hw;
  copy();
  handle->close();
  snowflake->close();
  EXPECT_EQ(disk.tags["t"], granted) << "or others would be granted what the original issues";
  EXPECT_EQ(disk.workers[1].hw, reserved_to);
}

TEST_F(CopiedMachine, QuiescingTheCopyGivesNothingBackThoughNobodyHasLookedYet) {
  auto handle = open(segment());
  draw(*handle, 7);
  const std::uint64_t granted = disk.tags["t"];
  copy();
  quiesce();
  EXPECT_EQ(disk.tags["t"], granted);
  reset();
  EXPECT_GT(handle->next(), granted);
}

TEST_F(CopiedMachine, AQuiescedProcessWaitsForItsResetAlsoInTheCopy) {
  auto handle = open({{"kind", "segment"}, {"tag", "t"}, {"wait_max", "50ms"}});
  handle->next();
  quiesce();
  copy();
  wait_for_look();
  EXPECT_ERROR(STORE_UNAVAILABLE, _, handle->next());
  reset();
  EXPECT_EQ(handle->next(), 2u) << "given back by the original before";
}

TEST_F(CopiedMachine, WhatIsTooOldIsNotGivenBackByTheCopy) {
  auto handle = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}, {"segment.max_age", "1s"}});
  draw(*handle, 7);
  pass(950 * kMs);
  const std::uint64_t granted = disk.tags["t"];
  copy();
  runtime->pass(50 * kMs);  // what has grown old is due before the next look, or with it
  runtime->run_all();
  EXPECT_EQ(disk.tags["t"], granted);
}

TEST_F(CopiedMachine, AGrantThatWasAskedForBeforeIsNotTheCopys) {
  auto handle = open(segment());
  draw(*handle, 9);
  std::uint64_t asked_for = 0;
  store->after = [&] {
    if (asked_for != 0) return;
    asked_for = disk.tags["t"];
    copy();
  };
  draw(*handle, 2);  // past the mark: the loader asks
  runtime->run_all();
  ASSERT_EQ(asked_for, 200u);
  EXPECT_GT(handle->next(), asked_for);
}

TEST_F(CopiedMachine, TheFirstGrantIsNotTheCopysEitherIfItWasAskedForBefore) {
  std::uint64_t asked_for = 0;
  int copies = 0;
  store->after = [&] {
    if (++copies > 2) return;
    asked_for = disk.tags["t"];
    copy();
  };
  auto handle = open(segment());
  EXPECT_EQ(asked_for, 200u) << "copied twice in a row";
  EXPECT_EQ(handle->next(), 201u);
}

// The simulation found that a child then began again with the same page, which was sealed for good.
TEST_F(CopiedMachine, OpeningThatFailsAfterACopyCanBeTriedAgain) {
  bool is_first = true;
  store->before = [&] {
    if (!is_first) throw Error(Status::store_unavailable, "down");
  };
  store->after = [&] {
    is_first = false;
    copy();
  };
  Settings settings = segment();
  settings.emplace_back("wait_max", "100ms");
  EXPECT_ERROR(STORE_UNAVAILABLE, _, open(settings));
  store->before = store->after = [] {};
  EXPECT_EQ(open(settings)->next(), 101u);
}

TEST_F(CopiedMachine, ChangesAgainWhileItStartsOver) {
  auto handle = open(segment());
  auto snowflake = open({{"worker", "1"}, {"namespace", "n"}});
  draw(*handle, 7);
  snowflake->next();
  copy();
  wait_for_look();
  int copies = 0;
  store->after = [&] {
    if (++copies <= 3) copy();
  };
  EXPECT_GT(handle->next(), 300u);
  const std::int64_t reserved_to = disk.workers[1].hw;
  EXPECT_GE(ms_of(*snowflake, snowflake->next()), reserved_to);
}

TEST_F(CopiedMachine, ACallThatWaitsForTheStoreGoesOn) {
  auto handle = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "10"}, {"wait_max", "10s"}});
  draw(*handle, 5);
  std::int64_t since = 0;
  store->before = [&] {
    if (since == 0) since = runtime->mono_ns();
    const std::int64_t passed = runtime->mono_ns() - since;
    if (passed > kSecond && *runtime->generation == 7) copy();
    if (passed < 3 * kSecond) throw Error(Status::store_unavailable, "down");
  };
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(ids.insert(handle->next()).second);
  EXPECT_EQ(*runtime->generation, 8u);
  EXPECT_GT(*ids.rbegin(), 10u);
}

TEST_F(CopiedMachine, ACallThatMayNotWaitGetsAnIdSoonAfter) {
  auto handle = open(segment());
  draw(*handle, 10);
  copy();
  std::uint64_t id = 0;
  EXPECT_EQ(handle->try_next(id), Status::would_block);
  EXPECT_GT(try_until_ok(*handle), 100u);
}

TEST_F(CopiedMachine, ANumberThatAThreadStillHoldsIsNotIssued) {
  auto handle = open(segment());
  draw(*handle, 10);
  std::uint64_t drawn = 0;
  ASSERT_FALSE(handle->draw_plain(drawn)) << "the mark";
  copy();
  EXPECT_GT(handle->next(drawn), 100u);
}

TEST_F(CopiedMachine, BatchesAndBlocksGoOnToo) {
  auto handle = open(segment());
  draw(*handle, 5);
  copy();
  wait_for_look();
  const auto ids = many(*handle, 150);
  EXPECT_GT(ids.front(), 100u);
  copy();
  wait_for_look();
  EXPECT_GT(handle->next_block(10).first, ids.back());
}

TEST_F(CopiedMachine, DescribeSaysWhetherTheMachineTells) {
  auto handle = open(segment()), snowflake = open({{"worker", "1"}});
  EXPECT_THAT(handle->describe(), HasSubstr("clone of the running machine, until it notices, within 100 ms"));
  EXPECT_THAT(snowflake->describe(), HasSubstr("has passed or it notices, within 100 ms"));
  runtime->generation.reset();
  EXPECT_THAT(handle->describe(), HasSubstr("until each copy has called idgen_reset"));
}

TEST_F(CopiedMachine, AClosedGeneratorStaysClosed) {
  auto handle = open(segment());
  handle->close();
  copy();
  wait_for_look();
  EXPECT_ERROR(CLOSED, _, handle->next());
}

TEST_F(CopiedMachine, OrderAndUniquenessHoldAcrossManyOfThemAndManyCheckpoints) {
  auto segment = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "10"}, {"segment.runway", "0"}});
  auto snowflake = open({{"worker", "1"}, {"layout", "time:41ms worker:10 sequence:4"}});
  std::uint64_t last_number = 0, last_id = 0;
  for (int i = 0; i < 500; ++i) {
    if (i % 7 == 3) copy();
    if (i % 9 == 4) quiesce();
    if (i % 9 == 4 || i % 11 == 5) reset();
    const std::uint64_t number = segment->next(), id = snowflake->next();
    ASSERT_GT(number, last_number);
    ASSERT_GT(id, last_id);
    last_number = number;
    last_id = id;
    pass(i % 5 * 50 * kMs);
  }
}

// --- With threads.

// That the test copies.
class Machine final : public SystemOfATest {
 public:
  std::optional<std::uint64_t> vm_generation() noexcept override { return generation.load(); }
  std::atomic<std::uint64_t> generation{0};
};

class CopiedWithThreads : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Handle> open(Settings settings) {
    Config config;
    config.runtime = machine;
    settings.insert(settings.begin(), {{"store", "memory:copied"}, {"wait_max", "30s"}, {"store_create", "true"}});
    for (const auto& [key, value] : settings) config.set(key, value);
    return std::make_unique<Handle>(config);
  }
  std::shared_ptr<Machine> machine = std::make_shared<Machine>();
};
INSTANTIATE_TEST_SUITE_P(Order, CopiedWithThreads, testing::Values("strict", "relaxed"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CopiedWithThreads, EachIdIsDrawnOnceWhileTheGenerationKeepsChanging) {
  auto segment = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "64"}, {"order", GetParam()}});
  auto snowflake = open({{"worker", "1"}, {"order", GetParam()}});
  constexpr int kThreads = 4, kDraws = 20'000;
  std::vector<std::vector<std::uint64_t>> ids(2 * kThreads);
  std::atomic<int> drawing{2 * kThreads};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 2 * kThreads; ++t) {
      threads.emplace_back([&, t] {
        try {
          for (int i = 0; i < kDraws || machine->generation <= 3; ++i)
            ids[t].push_back((t % 2 ? snowflake : segment)->next());
        } catch (const Error& error) {
          ADD_FAILURE() << error.message();
        }
        --drawing;
      });
    }
    while (drawing > 0) {
      ++machine->generation;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  }
  for (const int kind : {0, 1}) {
    std::vector<std::uint64_t> all;
    for (int t = kind; t < 2 * kThreads; t += 2) {
      EXPECT_TRUE(std::is_sorted(ids[t].begin(), ids[t].end()));
      all.insert(all.end(), ids[t].begin(), ids[t].end());
    }
    EXPECT_GE(all.size(), std::size_t{kThreads} * kDraws);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "DUPLICATE";
  }
}

TEST_P(CopiedWithThreads, OneThreadLooksForAllGeneratorsAndNoneOnceTheyAreGone) {
  ASSERT_EQ(threads_once_there_are(0), 0u);
  std::vector<std::unique_ptr<Handle>> handles;
  for (const char* const tag : {"a", "b", "c"})
    handles.push_back(open({{"kind", "segment"}, {"tag", tag}, {"order", GetParam()}}));
  EXPECT_EQ(threads_once_there_are(1), 1u);
  handles[0]->close();
  handles[1].reset();
  EXPECT_EQ(threads_once_there_are(1), 1u);
  handles[2]->close();
  EXPECT_EQ(threads_once_there_are(0), 0u) << "closed, though the handle is still there";
}

// Without the sanitizers: the allocator of ASan is copied with its locks held, and TSan lets no child start a thread.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// The parent's thread is not the child's.
TEST_P(CopiedWithThreads, AChildLooksForItself) {
  const TempFolder folder;
  auto handle = open({{"kind", "segment"}, {"tag", "t"}, {"store", folder.url()}, {"order", GetParam()}});
  handle->next();
  EXPECT_EQ(answer_of([&] {
              const std::uint64_t mine = handle->next();
              ++machine->generation;
              const bool is_noticed = becomes_true([&] { return handle->stats().remaining == 0; });
              return !is_noticed ? 1 : handle->next() > mine + 1 ? 0 : 2;
            }),
            0);
}
#endif

}  // namespace
}  // namespace idgen::sim
