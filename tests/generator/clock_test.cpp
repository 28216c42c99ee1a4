// The clock goes back. No id is ever issued twice; the policy decides what else happens.
#include <set>

#include "generator/world.hpp"

namespace idgen::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ClockBack : public World {
 protected:
  std::unique_ptr<Handle> with(const std::string& policy) { return open({{"worker", "1"}, {"on_clock_back", policy}}); }
};

TEST_F(ClockBack, FailRefusesAtOnceAndNamesTheMilliseconds) {
  for (const std::int64_t back_ms : {1, 1'000, 3'600'000}) {
    disk = {};
    auto handle = with("fail");
    handle->next();
    handle->next();
    runtime->set_clock_by(-back_ms * kMs);
    const Error error = error_of([&] { handle->next(); });
    EXPECT_EQ(error.status(), Status::clock_back);
    EXPECT_THAT(error.message(), HasSubstr("for " + std::to_string(back_ms) + " ms"));
    EXPECT_EQ(error.retry_after_ns(), static_cast<std::uint64_t>(back_ms * kMs));
    EXPECT_EQ(runtime->slept(), 0);
    EXPECT_EQ(handle->stats().clock_back_events, 1u);
    runtime->pass(back_ms * kMs - 1);
    EXPECT_ERROR(CLOCK_BACK, HasSubstr("refusing to generate ids for 1 ms"), handle->next());
    runtime->pass(1);
    EXPECT_NO_THROW(handle->next()) << "and goes on when the clock has caught up";
  }
}

TEST_F(ClockBack, WaitWaitsUntilTheClockHasCaughtUp) {
  for (const std::int64_t back_ms : {1, 1'000}) {
    disk = {};
    auto handle = with("wait");
    handle->next();
    const std::uint64_t last = handle->next();
    runtime->set_clock_by(-back_ms * kMs);
    const std::int64_t before = runtime->mono_ns();
    EXPECT_GT(handle->next(), last);
    EXPECT_EQ(runtime->mono_ns() - before, back_ms * kMs);
  }
}

TEST_F(ClockBack, WaitDoesNotWaitForAnHourButSaysHowLongItWouldTake) {
  auto handle = with("wait");
  handle->next();
  runtime->set_clock_by(-3600 * kSecond);
  const std::int64_t before = runtime->mono_ns();
  EXPECT_ERROR(CLOCK_BACK, AllOf(HasSubstr("3600000 ms"), HasSubstr("wait_max")), handle->next());
  EXPECT_EQ(runtime->mono_ns(), before);
}

TEST_F(ClockBack, ContinueGoesOnFromTheLastIdAtOnceAndStaysUnique) {
  for (const std::int64_t back_ms : {1, 1'000, 3'600'000}) {
    disk = {};
    auto handle = with("continue");
    std::uint64_t last = 0;
    for (int i = 0; i < 10; ++i) last = handle->next();
    runtime->set_clock_by(-back_ms * kMs);
    EXPECT_GT(handle->next(), std::exchange(last, 0));
    EXPECT_EQ(handle->stats().lead_ms, static_cast<std::uint64_t>(back_ms));
    for (int i = 0; i < 100'000; ++i) {
      const std::uint64_t id = handle->next();
      ASSERT_GT(id, last);
      last = id;
      if (i % 100 == 0) runtime->pass(kMs);
      runtime->run_all();
    }
    EXPECT_EQ(handle->stats().clock_back_events, 1u);
    pass((back_ms + 30'000) * kMs);
    for (int i = 0; i < 100; ++i) many(*handle, 8192);
    EXPECT_LE(handle->stats().lead_ms, 1u) << "once the clock has caught up, nothing is left of it";
  }
}

TEST_F(ClockBack, ContinueKeepsTheFormatsCap) {
  auto handle = with("continue");
  handle->next();
  runtime->set_clock_by(-3600 * kSecond);
  const std::int64_t before = runtime->mono_ns();
  const auto ids = many(*handle, 4096 * 100);
  EXPECT_GE(runtime->mono_ns() - before, 97 * kMs) << "ids do not run further ahead than the step";
}

TEST_F(ClockBack, IsLoggedByACallThatMayWaitNotByTryNextWhichNeverWaits) {
  for (const char* policy : {"wait", "continue", "fail"}) {
    disk = {};
    Config settings = config({{"worker", "1"}, {"on_clock_back", policy}});
    int lines = 0;
    settings.log = std::make_shared<const Log>([&](LogLevel, const std::string&) { ++lines; });
    Handle handle(settings);
    handle.next();
    runtime->set_clock_by(-1000 * kMs);
    std::uint64_t id;
    const std::int64_t slept = runtime->slept();
    EXPECT_EQ(handle.try_next(id), Status::would_block) << policy;
    EXPECT_EQ(runtime->slept(), slept) << policy;
    EXPECT_EQ(lines, 0) << policy;
    try {
      handle.next();
    } catch (const Error&) {
    }
    EXPECT_EQ(lines, 1) << policy;
    EXPECT_EQ(handle.stats().clock_back_events, 1u) << policy;
  }
}

TEST_F(ClockBack, AcrossARestartIdsStayUniqueWhateverThePolicy) {
  for (const char* policy : {"wait", "continue", "fail"}) {
    for (const std::int64_t back_ms : {1, 1'000, 3'600'000}) {
      disk = {};
      runtime->set_clock(kStartNs);
      std::set<std::uint64_t> ids;
      for (int restart = 0; restart < 5; ++restart) {
        std::unique_ptr<Handle> handle;
        try {
          handle = with(policy);
        } catch (const Error& error) {
          EXPECT_EQ(error.status(), Status::clock_back) << error.message();
          EXPECT_NE(std::string(policy), "continue");
          runtime->pass(back_ms * kMs);
          continue;
        }
        for (int i = 0; i < 5000; ++i) ASSERT_TRUE(ids.insert(handle->next()).second) << "DUPLICATE with " << policy;
        kill(handle);
        runtime->set_clock_by(-back_ms * kMs);
      }
      EXPECT_GE(ids.size(), 10'000u);
    }
  }
}

TEST_F(ClockBack, ARestartTooFarBehindIsRefusedWithBothTimes) {
  auto handle = with("wait");
  handle->next();
  kill(handle);
  runtime->set_clock_by(-3600 * kSecond);
  EXPECT_ERROR(CLOCK_BACK, _, with("wait"));
}

TEST_F(ClockBack, AClockBeforeTheEpochIsAnErrorOfItsOwn) {
  auto handle = with("continue");
  handle->next();
  for (const std::int64_t ns : {0, -5}) {
    runtime->set_clock(ns);
    EXPECT_ERROR(CLOCK_BEFORE_EPOCH, HasSubstr("2025-01-01T00:00:00"), handle->next());
    std::uint64_t id;
    EXPECT_EQ(handle->try_next(id), Status::clock_before_epoch);
  }
  runtime->set_clock(kStartNs);
  EXPECT_NO_THROW(handle->next());
  runtime->set_clock(0);
  handle.reset();
  EXPECT_ERROR(LIFETIME, _, with("wait"));
}

TEST_F(ClockBack, AClockSetForwardALittleIsFollowedAtOnce) {
  auto handle = with("wait");
  const std::uint64_t before = handle->next();
  runtime->set_clock_by(600 * kSecond);
  const std::uint64_t after = handle->next();
  EXPECT_GT(after, before);
  EXPECT_EQ(ms_of(*handle, after), now_ms());
}

constexpr std::int64_t kTenYears = std::int64_t{3653} * 86'400 * kSecond;

class ClockLeap : public World {};

TEST_F(ClockLeap, OfTenYearsForAMomentCostsNothingDurable) {
  auto handle = open({{"worker", "1"}, {"wait_max", "1s"}});
  handle->next();
  runtime->set_clock_by(kTenYears);
  const Error error = error_of([&] { handle->next(); });
  EXPECT_EQ(error.status(), Status::clock_leap);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("leapt"), HasSubstr("2036-01-0")));
  EXPECT_GT(error.retry_after_ns(), 0u);
  EXPECT_LT(disk.workers[1].hw, kStartNs / kMs + 3'600'000) << "nothing is reserved there";
  runtime->set_clock_by(-kTenYears);
  EXPECT_NO_THROW(handle->next()) << "goes on at once";
  kill(handle);
  EXPECT_NO_THROW(open({{"worker", "1"}})->next()) << "and after a restart";
}

TEST_F(ClockLeap, EndsTheWaitOfWhoeverIsWaitingWhenItIsSetRight) {
  auto handle = open({{"worker", "1"}, {"wait_max", "5s"}});
  handle->next();
  runtime->set_clock_by(kTenYears);
  const std::int64_t start = runtime->mono_ns();
  std::vector<std::uint64_t> id(1);
  std::size_t written = 0;
  bool set_right = false;
  handle->fill(id, written, [&] {
    if (runtime->mono_ns() - start > 50 * kMs && !std::exchange(set_right, true)) runtime->set_clock_by(-kTenYears);
    return false;
  });
  EXPECT_EQ(written, 1u);
  EXPECT_LT(runtime->mono_ns() - start, 200 * kMs);
}

TEST_F(ClockLeap, ThatStaysIsBelieved) {
  auto handle = open({{"worker", "1"}, {"wait_max", "30s"}});
  handle->next();
  runtime->set_clock_by(kTenYears);
  const std::int64_t start = runtime->mono_ns();
  const std::uint64_t id = handle->next();
  EXPECT_EQ(ms_of(*handle, id), now_ms());
  EXPECT_GE(runtime->mono_ns() - start, 10 * kSecond);
}

TEST_F(ClockLeap, ThatLeapsOnIsNotSteady) {
  auto handle = open({{"worker", "1"}, {"wait_max", "0"}});
  handle->next();
  for (int i = 0; i < 60; ++i) {
    runtime->set_clock_by(kTenYears / 100);
    runtime->pass(kSecond);
    EXPECT_THROW(handle->next(), Error);
    runtime->run_all();
  }
  EXPECT_LT(disk.workers[1].hw, kStartNs / kMs + 3'600'000);
}

TEST_F(ClockLeap, OfAPausedMachineIsNone) {
  auto handle = open({{"worker", "1"}});
  handle->next();
  runtime->pass(kTenYears);  // suspended: both clocks have gone on
  EXPECT_EQ(ms_of(*handle, handle->next()), now_ms());
  runtime->set_clock_by(300 * kSecond);  // a virtual machine that was stopped for five minutes
  EXPECT_EQ(ms_of(*handle, handle->next()), now_ms());
}

// The simulation found it: ids were issued an hour ahead of the clock.
TEST_F(ClockBack, WhileTheStoreIsAskedItDoesNotLetIdsRunAhead) {
  store->after = [this] { runtime->set_clock_by(-3600 * kSecond); };
  const auto handle = open({{"worker", "1"}, {"on_clock_back", "fail"}});
  store->after = [] {};
  EXPECT_ERROR(CLOCK_BACK, _, handle->next());
}

}  // namespace
}  // namespace idgen::sim
