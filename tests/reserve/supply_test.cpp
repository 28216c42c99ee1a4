#include "reserve/supply.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <thread>

#include "sim/sim_runtime.hpp"

namespace idgen {
namespace {

using sim::kMs;
using sim::kSecond;
using sim::SimRuntime;

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// What the source gives out, and what it is asked for and given back.
struct Script {
  std::deque<std::function<Range()>> script;
  Pairs returned;  // first and end
  int draws = 0;
  std::vector<Demand> demands;
};

class ScriptedSource final : public Source {
 public:
  explicit ScriptedSource(Script& script) : script_(script) {}
  Range draw(const Demand& demand) override {
    script_.demands.push_back(demand);
    ++script_.draws;
    if (script_.script.empty()) throw Error(Status::store_unavailable, "nothing scripted");
    auto next = script_.script.front();
    script_.script.pop_front();
    return next();
  }
  void give_back(const Range& unused) override { script_.returned.emplace_back(unused.first, unused.end); }
  std::string after_regress() const override { return "Advance it"; }

 private:
  Script& script_;
};

class SupplyTest : public ::testing::Test, public Script {
 protected:
  Supply::Options options() {
    return {.carry_mask = 0,
            .draws_first = true,
            .sizing = {.prefetch = 0.1, .stock_max = 1'000'000},
            .close_wait_ns = 5 * kSecond,
            .subject = "test",
            .lifted = [this](const Present&, std::uint64_t first) { lifted.push_back(first); }};
  }
  std::shared_ptr<Supply> make(const Supply::Options& options, std::shared_ptr<Runtime> on = nullptr) {
    return std::make_shared<Supply>(on ? on : runtime, page, std::make_unique<ScriptedSource>(*this), options, Log());
  }
  ~SupplyTest() override { runtime->drop_all(); }
  void grant(std::uint64_t first, std::uint64_t end) {
    script.push_back([=] { return Range{first, end}; });
  }
  void fail(Status status) {
    script.push_back([=]() -> Range { throw Error(status, "scripted"); });
  }
  void prime() { supply->prime(); }
  // With these grants, of which so many numbers are drawn.
  void begin(std::initializer_list<Range> grants, int count = 0) {
    for (const Range& range : grants) grant(range.first, range.end);
    prime();
    draw(count);
  }
  void draw(int count) {
    for (int i = 0; i < count; ++i) next();
  }
  // One number, with the given patience.
  std::uint64_t next(Patience patience) {
    Counter& counter = (*page)->counter;
    std::uint64_t n;
    if (counter.draw(n) || supply->claim(n, patience) == Claim::granted) return n;
    for (;;) {
      if (counter.draw(1, n)) return n;
      if (!supply->refill(patience)) throw Error(Status::would_block, "");
    }
  }
  std::uint64_t next() { return next(Patience(wait_max, closed, cancelled)); }
  Status status_of(Patience patience) {
    try {
      next(patience);
    } catch (const Error& error) {
      return error.status();
    }
    return Status::ok;
  }
  Status status() { return status_of(Patience(wait_max, closed, cancelled)); }

  std::shared_ptr<SimRuntime> runtime = std::make_shared<SimRuntime>();
  std::shared_ptr<ForkPage<HotPage>> page = std::make_shared<ForkPage<HotPage>>();
  std::vector<std::uint64_t> lifted;
  std::int64_t wait_max = 5 * kSecond;
  std::atomic<bool> closed{false};
  Cancelled cancelled;
  std::shared_ptr<Supply> supply = make(options());
};

// Grants begin where the last one ended, each as large as requested, or `step`.
class AdaptiveSupply : public SupplyTest {
 protected:
  // `numbers` per second, for this long.
  void draw_at(std::uint64_t numbers, std::int64_t ns) {
    for (std::int64_t done = 0; done < ns; done += 10 * kMs) {
      for (std::uint64_t i = 0; i < numbers / 100; ++i) next();
      runtime->pass(10 * kMs);
      runtime->run_all();
    }
  }
  void use(std::int64_t runway_ns, std::uint64_t stock_max = 1'000'000) {
    Supply::Options adaptive = options();
    adaptive.sizing.runway_ns = runway_ns;
    adaptive.sizing.stock_max = stock_max;
    supply = make(adaptive);
    answer(1'000'000);
    prime();
  }
  // This many times, then the script is over.
  void answer(int times) {
    script.clear();
    for (int i = 0; i < std::min(times, 5000); ++i)
      script.push_back([this] {
        const std::uint64_t count = std::max(step, demands.back().wanted);
        const Range range{mark, mark + count};
        mark = range.end;
        sizes.push_back(count);
        return range;
      });
  }
  std::uint64_t step = 100;
  std::uint64_t mark = 1;
  std::vector<std::uint64_t> sizes;
};

TEST_F(SupplyTest, WhereNoThreadCanBeHadACallThatMayWaitAsksTheStoreItself) {
  for (std::uint64_t first = 1; first < 2000; first += 100) grant(first, first + 100);
  prime();
  runtime->has_no_threads(true);
  for (std::uint64_t n = 1; n <= 1000; ++n) ASSERT_EQ(next(), n);
  EXPECT_EQ(runtime->tasks(), 0u);
  EXPECT_EQ(draws, 10);
}

TEST_F(SupplyTest, WhereNoThreadCanBeHadACallThatMayNotWaitIsToldToComeBack) {
  begin({{1, 101}, {101, 201}});
  runtime->has_no_threads(true);
  for (std::uint64_t n = 1; n <= 100; ++n) ASSERT_EQ(next(Patience()), n);
  EXPECT_EQ(status_of(Patience()), Status::would_block);
  EXPECT_EQ(draws, 1);
  EXPECT_EQ(next(), 101u) << "no number was lost by that";
  runtime->has_no_threads(false);
  for (std::uint64_t n = 102; n <= 200; ++n) ASSERT_EQ(next(Patience()), n);
}

// A store of the host that draws an id for an audit row, from another generator on the same store.
TEST_F(SupplyTest, OnTheStoresOwnThreadACallAsksTheStoreItself) {
  begin({{1, 101}, {101, 201}});
  runtime->has_no_threads(true);  // so that nothing is requested ahead of need
  while (next(Patience()) < 100) {
  }
  runtime->has_no_threads(false);
  runtime->pass(kSecond);
  std::uint64_t drawn = 0;
  const auto lane = runtime->make_lane();
  lane->post([&] { drawn = next(); });
  runtime->hold_back(true);  // what is posted now waits until this task is done
  runtime->run_one();
  EXPECT_EQ(drawn, 101u);
}

TEST_F(SupplyTest, AsksForTheNextRangeOnlyOnceTheMarkIsPassed) {
  begin({{1, 101}, {101, 201}}, 10);
  EXPECT_EQ(runtime->tasks(), 0u);
  next();  // the eleventh of a hundred, prefetch = 0.1
  EXPECT_EQ(runtime->tasks(), 1u);
}

TEST_F(SupplyTest, SaysWhenTheNumbersDoNotGoOnWhereTheyStood) {
  begin({{1, 101}, {101, 201}, {500, 600}});
  EXPECT_EQ(lifted, std::vector<std::uint64_t>{1});
  draw(250);
  EXPECT_EQ(lifted, (std::vector<std::uint64_t>{1, 500}));
}

TEST_F(SupplyTest, ExactlyOneLoaderRuns) {
  begin({{1, 101}}, 100);
  Patience none;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status_of(none), Status::would_block);
  EXPECT_EQ(runtime->tasks(), 1u);
}

TEST_F(SupplyTest, NobodyWaitsWhenTheNextRangeIsThereInTime) {
  begin({{1, 101}, {101, 201}}, 50);
  runtime->run_all();
  draw(100);
  EXPECT_EQ(supply->stats().waits, 0u);
}

TEST_F(SupplyTest, ACallerWaitsForTheLoaderWhenBothRangesAreUsedUp) {
  begin({{1, 3}, {10, 12}});
  EXPECT_EQ(next(), 1u);
  EXPECT_EQ(next(), 2u);
  EXPECT_EQ(next(), 10u);
  EXPECT_EQ(supply->stats().waits, 1u);
}

TEST_F(SupplyTest, WhileTheStoreIsAwayIdsGoOnUntilTheRangeIsUsedUp) {
  begin({{1, 1001}});
  for (int i = 0; i < 10; ++i) fail(Status::store_unavailable);
  for (int i = 0; i < 1000; ++i) {
    next();
    runtime->run_all();
    runtime->pass(kMs);
  }
  EXPECT_GT(draws, 2) << "it asked again on the way";
  EXPECT_LT(draws, 12) << "it did not ask at every id";
  EXPECT_EQ(supply->stats().waits, 0u);
}

TEST_F(SupplyTest, ThenACallerWaitsAndRetriesUpToWaitMax) {
  begin({{1, 2}});
  next();
  const std::int64_t before = runtime->mono_ns();
  EXPECT_EQ(status(), Status::store_unavailable);
  EXPECT_GE(runtime->mono_ns() - before, wait_max);
  EXPECT_LE(runtime->mono_ns() - before, wait_max + 100 * kMs);
  EXPECT_GT(draws, 5);
}

TEST_F(SupplyTest, AndGoesOnAsSoonAsTheStoreIsBack) {
  begin({{1, 2}});
  next();
  fail(Status::store_unavailable);
  fail(Status::store_unavailable);
  grant(2, 100);
  EXPECT_EQ(next(), 2u);
}

TEST_F(SupplyTest, AnErrorThatRetryingCannotHelpIsReportedWithoutWaitingWaitMax) {
  begin({{1, 2}});
  next();
  fail(Status::tag_unknown);
  const std::int64_t before = runtime->mono_ns();
  EXPECT_EQ(status(), Status::tag_unknown);
  EXPECT_LT(runtime->mono_ns() - before, 100 * kMs);
}

// I7
TEST_F(SupplyTest, AGrantBelowAnEarlierOneStopsIssuingForGood) {
  begin({{100, 200}, {150, 250}, {300, 400}}, 50);
  runtime->run_all();
  EXPECT_EQ(status(), Status::store_regressed);
  runtime->pass(60 * kSecond);
  EXPECT_EQ(status(), Status::store_regressed);
}

// The store went back to 1, and another process was granted 1 to 50.
TEST_F(SupplyTest, NothingIsGivenBackToAStoreThatWentBackEvenIfThatIsSeenOnlyOnceAllIsSealed) {
  grant(1, 101);
  script.push_back([&] {
    supply->seal();
    return Range{51, 101};
  });
  prime();
  draw(20);
  runtime->run_all();
  EXPECT_TRUE(supply->regressed());
  supply->close();
  EXPECT_TRUE(returned.empty()) << "the store's counter is at 101: the other's 21 to 50 would be granted again";
}

// By its `witness`: the grant lies above all that this process has had.
TEST_F(SupplyTest, NothingIsGivenBackToAStoreThatTheSourceSaysWentBack) {
  grant(1, 101);
  fail(Status::store_regressed);
  prime();
  draw(20);
  runtime->run_all();
  ASSERT_EQ(draws, 2);
  supply->close();
  EXPECT_TRUE(returned.empty());
}

// What is held was granted before the store went back, and may have been granted to others since.
TEST_F(SupplyTest, NothingThatIsHeldIsIssuedOnceTheSourceSaysThatTheStoreWentBack) {
  grant(1, 101);
  fail(Status::store_regressed);
  fail(Status::store_regressed);
  grant(201, 301);  // the tag was raised to 200
  prime();
  draw(20);
  runtime->run_all();  // the range that was requested ahead of need
  ASSERT_EQ(draws, 2);
  EXPECT_EQ(status(), Status::store_regressed);
  EXPECT_EQ(supply->stats().remaining, 0u);
  EXPECT_EQ(supply->stats().issued, 20u);
  EXPECT_FALSE(supply->regressed()) << "it continues as soon as the store grants numbers above all that it had granted";
  while (draws < 4) {
    runtime->pass(kSecond);
    if (status() == Status::ok) break;
    runtime->run_all();
  }
  for (std::uint64_t n = 202; n <= 300; ++n) ASSERT_EQ(next(), n);
}

TEST_F(SupplyTest, NorDoesAGrantAfterThatMakeWhatWasHeldBeforeGoodAgain) {
  grant(1, 101);
  fail(Status::store_regressed);
  grant(101, 201);  // the tag was raised to 100
  prime();
  draw(20);
  runtime->run_all();
  runtime->pass(kSecond);
  while (draws < 3) next(), runtime->run_all();
  supply->close();
  EXPECT_TRUE(returned.empty());
}

TEST_F(SupplyTest, OnceIssuingHasStoppedTheCounterStandsAboveAllLimitsThatWereRemembered) {
  begin({{100, 200}, {150, 250}}, 50);
  runtime->run_all();
  std::uint64_t drawn = 0;
  EXPECT_FALSE((*page)->counter.draw(drawn));
  EXPECT_GE(drawn, Counter::kParked);
}

TEST_F(SupplyTest, AnEmptyGrantIsAnErrorAndNotALoop) {
  begin({{1, 2}, {7, 7}});
  next();
  EXPECT_EQ(status(), Status::store_damaged);
}

TEST_F(SupplyTest, ClosingGivesBackWhatIsUnusedLatestFirst) {
  begin({{1, 101}, {101, 201}}, 20);
  runtime->run_all();
  supply->close();
  EXPECT_EQ(returned, (Pairs{{101, 201}, {21, 101}}));
  EXPECT_EQ(status(), Status::closed);
}

TEST_F(SupplyTest, ClosingWaitsForAGrantOnItsWayAndGivesItBackToo) {
  supply = make(options(), {std::shared_ptr<void>(), &system_runtime()});  // real threads
  std::promise<void> asked, answer;
  grant(1, 101);
  script.push_back([&] {
    asked.set_value();
    answer.get_future().wait();
    return Range{101, 201};
  });
  prime();
  draw(20);
  asked.get_future().wait();
  std::thread closing([&] { supply->close(); });
  answer.set_value();
  closing.join();
  EXPECT_EQ(returned, (Pairs{{101, 201}, {21, 101}}));
}

TEST_F(SupplyTest, ClosingDoesNotWaitForALoadThatTheLaneHasNotBegun) {
  begin({{1, 101}, {101, 201}}, 20);
  ASSERT_EQ(runtime->tasks(), 1u);
  runtime->hold_back(true);  // behind another generator's call
  const std::int64_t before = runtime->mono_ns();
  supply->close();
  EXPECT_EQ(runtime->mono_ns(), before);
  EXPECT_EQ(returned, (Pairs{{21, 101}}));
  runtime->run_all();
  EXPECT_EQ(draws, 1) << "nothing is drawn for a generator that is closed";
}

TEST_F(SupplyTest, AGrantThatArrivesAfterClosingIsBurned) {
  grant(1, 101);
  script.push_back([&] {
    supply->close();  // while the store is asked
    return Range{101, 201};
  });
  prime();
  draw(20);
  runtime->run_all();
  std::uint64_t n;
  EXPECT_FALSE((*page)->counter.draw(n));
  EXPECT_TRUE(returned.empty());
}

TEST_F(SupplyTest, ANumberDrawnAtTheEndOfARangeIsIssuedFromTheNextOneIfThatGoesOn) {
  begin({{1, 4}, {4, 8}, {100, 104}});
  std::vector<std::uint64_t> drawn;
  for (int i = 0; i < 9; ++i) drawn.push_back(next());
  EXPECT_EQ(drawn, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 100, 101}));
}

TEST_F(SupplyTest, PollingWhileNothingIsLeftCostsNoNumbers) {
  begin({{1, 4}, {4, 8}}, 3);
  runtime->hold_back(true);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(status_of(Patience()), Status::would_block);
  runtime->hold_back(false);
  runtime->run_all();
  EXPECT_EQ(next(), 4u);
}

TEST_F(SupplyTest, WhoMayNotWaitIsToldByTheFirstQuestionThatWaitingIsAllThatHelps) {
  begin({{1, 4}, {4, 8}}, 3);
  runtime->hold_back(true);
  Counter& counter = (*page)->counter;
  Patience none;
  std::uint64_t n = 0;
  EXPECT_FALSE(counter.draw(n));
  EXPECT_EQ(n, 4u);
  EXPECT_EQ(supply->claim(n, none), Claim::would_block);
  EXPECT_FALSE(counter.draw(n));
  EXPECT_EQ(supply->claim(n, none), Claim::given_up) << "the counter is parked: what is drawn there is no number";
  runtime->hold_back(false);
  runtime->run_all();
  EXPECT_EQ(next(), 4u);
}

TEST_F(SupplyTest, ANumberWhoseRangeHasPassedIsGivenUp) {
  begin({{1, 3}, {3, 6}}, 4);
  Patience patience(wait_max, closed, cancelled);
  EXPECT_EQ(supply->claim(2, patience), Claim::given_up);
}

TEST_F(SupplyTest, NothingIsClaimedFromAClosedSupply) {
  begin({{1, 101}});
  std::uint64_t n = 0;
  while ((*page)->counter.draw(n)) {
  }
  supply->close();
  Patience patience(wait_max, closed, cancelled);
  try {
    supply->claim(n, patience);
    FAIL() << n << " was claimed";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::closed);
  }
  EXPECT_EQ(returned, (Pairs{{n + 1, 101}})) << "what was drawn is not given back";
}

TEST_F(SupplyTest, ACancelledCallerStopsWaiting) {
  begin({{1, 2}});
  next();
  runtime->hold_back(true);
  int looks = 0;
  cancelled = [&] { return ++looks == 3; };
  EXPECT_EQ(status(), Status::cancelled);
  EXPECT_EQ(looks, 3);
}

TEST_F(AdaptiveSupply, WithoutARunwayEveryRangeIsAsTheSourceSeesFit) {
  use(0);
  draw_at(10'000, 5 * kSecond);
  for (const Demand& demand : demands) EXPECT_EQ(demand.wanted, 0u);
}

TEST_F(AdaptiveSupply, WhatIsLeftAtTheMarkLastsForTheRunway) {
  use(10 * kSecond);
  draw_at(10'000, 60 * kSecond);
  // 10 s at 10 000 per second are left when nine tenths of a range are.
  EXPECT_NEAR(static_cast<double>(sizes.back()), 100'000 / 0.9, 2'000);
  EXPECT_NEAR(static_cast<double>(demands.back().rate), 10'000, 200);
}

TEST_F(AdaptiveSupply, ASteadyRateMeetsNoWaitThroughAnOutageOfTheRunway) {
  use(10 * kSecond);
  draw_at(10'000, 60 * kSecond);
  const std::uint64_t waits = supply->stats().waits;
  answer(0);
  draw_at(10'000, 10 * kSecond);
  EXPECT_EQ(supply->stats().waits, waits);
  EXPECT_GT(supply->stats().refill_failures, 0u) << "the store was to be away";
}

TEST_F(AdaptiveSupply, ABurstIsNotTakenForARate) {
  use(10 * kSecond);
  draw_at(10'000'000, 10 * kMs);
  EXPECT_EQ(supply->stats().issued, 100'000u);
  for (const Demand& demand : demands) EXPECT_LE(demand.rate, 100'000u);
}

TEST_F(AdaptiveSupply, NoRangeIsMoreThanTwiceOrLessThanHalfTheOneBefore) {
  use(10 * kSecond);
  draw_at(10'000, 60 * kSecond);
  draw_at(100, 3600 * kSecond);
  ASSERT_GT(sizes.size(), 10u);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    EXPECT_LE(sizes[i], 2 * sizes[i - 1]);
    EXPECT_GE(sizes[i], sizes[i - 1] / 2);
  }
  EXPECT_LT(sizes.back(), 2'000u) << "it has shrunk again";
}

TEST_F(AdaptiveSupply, NoMoreIsHeldThanAllowed) {
  use(10 * kSecond, 20'000);
  for (int i = 0; i < 3000; ++i) {
    draw_at(10'000, 10 * kMs);
    EXPECT_LE(supply->stats().remaining, 20'000u);
  }
  EXPECT_GT(supply->stats().remaining, 9'000u);
}

TEST_F(AdaptiveSupply, WhenTheSourceGivesSmallRangesTheyAreChained) {
  use(10 * kSecond);
  script.clear();
  for (int i = 0; i < 5000; ++i)
    script.push_back([this] {
      mark += 1000;
      return Range{mark - 1000, mark};
    });
  draw_at(4'000, 30 * kSecond);
  EXPECT_GE(supply->stats().remaining, 39'000u) << "ten seconds of it";
  EXPECT_EQ(supply->stats().issued, 30u * 4'000);
  supply->close();
  EXPECT_GT(returned.size(), 30u) << "each is given back";
  for (std::size_t i = 1; i < returned.size(); ++i)
    EXPECT_EQ(returned[i].second, returned[i - 1].first) << "latest first";
}

TEST_F(AdaptiveSupply, AnIdleOneAsksForNothing) {
  use(10 * kSecond);
  draw_at(10'000, 60 * kSecond);
  const int before = draws;
  for (int i = 0; i < 1000; ++i) {
    runtime->pass(kSecond);
    runtime->run_all();
  }
  EXPECT_EQ(draws, before);
  EXPECT_EQ(runtime->tasks() + runtime->timers(), 0u);
  EXPECT_LT(supply->stats().rate, 1'000u) << "the rate that is shown falls";
}

class AgeingSupply : public SupplyTest {
 protected:
  AgeingSupply() {
    Supply::Options ageing = options();
    ageing.max_age_ns = 60 * kSecond;
    supply = make(ageing);
  }
  void pass(std::int64_t ns) {
    runtime->pass(ns);
    runtime->run_all();
  }
};

TEST_F(AgeingSupply, WhatHasBecomeTooOldIsGivenBackLatestFirst) {
  begin({{1, 101}, {101, 201}}, 20);
  runtime->run_all();
  pass(59 * kSecond);
  EXPECT_EQ(supply->stats().remaining, 180u);
  pass(kSecond);
  EXPECT_EQ(supply->stats().remaining, 0u);
  EXPECT_EQ(supply->stats().issued, 20u);
  EXPECT_EQ(returned, (Pairs{{101, 201}, {22, 101}})) << "one above what was drawn: see Counter::give_up";
  EXPECT_EQ(runtime->timers(), 0u) << "nothing is watched any more";
}

TEST_F(AgeingSupply, AndTheNextCallDrawsAFreshRangeWhichMayGoOnWhereTheOldOneStood) {
  begin({{1, 101}});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(next(), static_cast<std::uint64_t>(i + 1));
  pass(60 * kSecond);
  ASSERT_EQ(returned.size(), 1u);
  grant(returned[0].first, returned[0].first + 100);
  EXPECT_EQ(next(), 7u);
  EXPECT_EQ(next(), 8u);
}

TEST_F(AgeingSupply, AStoreThatGoesBackFurtherThanWhatWasGivenBackIsStillNoticed) {
  begin({{1, 101}}, 5);
  pass(60 * kSecond);
  grant(5, 105);
  EXPECT_EQ(status(), Status::store_regressed);
}

TEST_F(AgeingSupply, NothingIsGivenBackToAStoreThatWentBack) {
  grant(1, 101);
  fail(Status::store_regressed);
  prime();
  draw(20);
  runtime->run_all();
  ASSERT_EQ(draws, 2);
  pass(60 * kSecond);
  EXPECT_EQ(supply->stats().remaining, 0u);
  EXPECT_TRUE(returned.empty());
}

TEST_F(AgeingSupply, AYoungRangeStaysWhenAnOldOneGoes) {
  begin({{1, 101}});
  pass(50 * kSecond);
  grant(101, 201);
  draw(20);
  runtime->run_all();
  pass(10 * kSecond);
  EXPECT_TRUE(returned.empty()) << "the store cannot take back what lies below a later grant";
  EXPECT_EQ(supply->stats().remaining, 100u);
  EXPECT_EQ(next(), 101u);
  pass(50 * kSecond);
  EXPECT_EQ(supply->stats().remaining, 0u);
}

TEST_F(AgeingSupply, WhatOthersGiveBackBelowWhatWasGivenBackHereMayBeGranted) {
  grant(1, 101);
  grant(201, 301);  // 101 to 200 are somebody else's
  prime();
  draw(20);
  runtime->run_all();
  pass(60 * kSecond);
  ASSERT_EQ(returned.size(), 2u);
  grant(151, 251);  // somebody else has closed, and given 151 to 200 back
  EXPECT_EQ(next(), 151u);
}

TEST_F(AgeingSupply, WhatWasDrawnBelowARangeThatWasGivenBackIsStillWatched) {
  begin({{1, 101}, {201, 301}}, 20);
  runtime->run_all();
  pass(60 * kSecond);
  grant(21, 121);  // 21 was burned: see Counter::give_up
  EXPECT_EQ(status(), Status::store_regressed);
}

TEST_F(AgeingSupply, AYoungRangeThatIsUsedUpAtOnceIsStillWatched) {
  begin({{1, 11}, {11, 21}});
  next();
  next();
  runtime->run_all();  // 11 to 20 are ready
  draw(8);
  pass(30 * kSecond);
  grant(21, 31);
  next();
  next();  // 11, 12: asks for the next
  runtime->run_all();
  pass(30 * kSecond);  // 13 to 20 go, 21 to 30 stay
  EXPECT_EQ(next(), 21u);
  draw(9);
  grant(21, 31);
  EXPECT_EQ(status(), Status::store_regressed);
}

TEST_F(AgeingSupply, ANumberDrawnAtTheEndOfWhatWasGivenUpIsNotIssued) {
  begin({{1, 101}}, 10);
  std::uint64_t n = 0;
  EXPECT_FALSE((*page)->counter.draw(n));  // stopped at the mark, and has not yet claimed it
  EXPECT_EQ(n, 11u);
  pass(60 * kSecond);
  EXPECT_EQ(returned, (Pairs{{13, 101}}));
  grant(13, 113);
  Patience patience(wait_max, closed, cancelled);
  EXPECT_EQ(supply->claim(n, patience), Claim::given_up);
  EXPECT_EQ(next(), 13u);
}

// A lease is renewed while the clock stands still, and its time cannot be used yet.
class RenewedSupply : public SupplyTest {
 protected:
  RenewedSupply() {
    Supply::Options renewed = options();
    renewed.sizing = {.prefetch = 0.5};
    renewed.renew_ns = 3 * kSecond;
    supply = make(renewed);
  }
  void renew(int times) {
    for (int i = 0; i < times; ++i) {
      runtime->pass(3 * kSecond);
      runtime->run_all();
    }
  }
};

TEST_F(RenewedSupply, AllThatAHundredRenewalsGrantedIsDrawnOnceInOrder) {
  for (std::uint64_t first = 1; first < 1'001; first += 10) grant(first, first + 10);
  prime();
  renew(99);
  EXPECT_EQ(draws, 100);
  EXPECT_EQ(supply->stats().remaining, 1'000u);
  for (std::uint64_t n = 1; n <= 1'000; ++n) ASSERT_EQ(next(), n);
  EXPECT_EQ(supply->stats().issued, 1'000u);
}

TEST_F(RenewedSupply, WhatTheyGrantedIsGivenBackWithoutGaps) {
  for (std::uint64_t first = 1; first < 1'001; first += 10) grant(first, first + 10);
  grant(2'001, 2'011);  // the worker was another's in between, and the chain is full: burned
  begin({{2'011, 2'021}});
  renew(101);
  EXPECT_EQ(draws, 102);
  EXPECT_EQ(supply->stats().remaining, 1'000u);
  for (std::uint64_t n = 1; n <= 5; ++n) ASSERT_EQ(next(), n);
  supply->close();
  std::uint64_t end = 1'001;
  for (const auto& [first, range_end] : returned) {
    EXPECT_EQ(range_end, end);
    end = first;
  }
  EXPECT_EQ(end, 6u);
  EXPECT_EQ(supply->stats().issued, 5u);
  EXPECT_EQ(supply->stats().highest_end, 2'021u);
}

TEST_F(AgeingSupply, AClosedOneIsForgottenByItsTimer) {
  begin({{1, 101}});
  supply->close();
  std::weak_ptr<Supply> weak = supply;
  supply.reset();
  EXPECT_TRUE(weak.expired());
  pass(60 * kSecond);
  EXPECT_EQ(returned.size(), 1u);
}

}  // namespace
}  // namespace idgen
