// A worker's row that a wrong clock has pushed far ahead, and its repair.
#include "idgen/worker.hpp"

#include "idgen/handle.hpp"
#include "sim/sim_runtime.hpp"
#include "sim/sim_store.hpp"
#include "store/store_test_support.hpp"

namespace idgen {
namespace {

constexpr std::int64_t kYearMs = 365 * 86'400'000LL;

class WorkerRowOfEveryStore : public EveryStore {
 protected:
  Config config(std::uint64_t worker = 7) const {
    Config config;
    config.runtime = clock_;
    config.set("kind", "snowflake");
    config.set("store", url());
    config.set("worker", std::to_string(worker));
    return config;
  }
  std::int64_t now_ms() const { return clock_->wall_ns() / 1'000'000; }

  // As with a clock that is this far ahead: an owner takes a window, and dies.
  void take_window_ahead(std::int64_t ms) const {
    const std::shared_ptr<Store> store = open();
    WindowRequest request = window_request(7, now_ms() + ms);
    request.name_space = "default";
    request.format = Layout::parse("default").fingerprint();
    store->windows()->window_take(request);
  }
  std::uint64_t id_of(std::int64_t unix_ms, std::uint64_t worker = 7) const {
    const Layout layout = Layout::parse("default");
    return layout.encode({.time = static_cast<std::uint64_t>(unix_ms - layout.epoch_unix_ms()), .worker = worker});
  }

  std::shared_ptr<sim::SimRuntime> clock_ = std::make_shared<sim::SimRuntime>();
};
INSTANTIATE_TEST_SUITE_P(Stores, WorkerRowOfEveryStore, IDGEN_EVERY_STORE, [](const auto& info) { return info.param; });

TEST_P(WorkerRowOfEveryStore, SaysHowFarAheadTheWorkersTimeIsReservedAndWhoHadIt) {
  take_window_ahead(0);
  const WorkerInfo info = show_worker(config());
  EXPECT_EQ(info.worker, 7u);
  EXPECT_EQ(info.fence, 1u);
  EXPECT_EQ(info.ahead_ms, 10'000);
  EXPECT_FALSE(info.is_live);
  EXPECT_THAT(info.holder, ::testing::HasSubstr("process "));
  EXPECT_EQ(show_worker(config(8)).fence, 0u);
}

TEST_P(WorkerRowOfEveryStore, GoesBackToJustAboveTheHighestIdInUseButNeverBelowNow) {
  for (const std::int64_t of : {-5'000, 3'000}) {
    take_window_ahead(10 * kYearMs);
    const std::int64_t made = now_ms() + of;
    const WorkerInfo plan = plan_worker_repair(config(), id_of(made));
    EXPECT_EQ(plan.hw_ms, std::max(made + 1, now_ms()));
    EXPECT_GT(show_worker(config()).ahead_ms, 9 * kYearMs) << "a plan changes nothing";
    const WorkerInfo repaired = repair_worker(config(), id_of(made));
    EXPECT_EQ(repaired.hw_ms, plan.hw_ms);
    Handle generator(config());
    std::uint64_t id = 0;
    ASSERT_EQ(generator.try_next(id), Status::ok);
    EXPECT_GT(id, id_of(made));
    generator.close();
  }
}

TEST_P(WorkerRowOfEveryStore, GrantsOfBeforeTheRepairAreNotRenewed) {
  const std::shared_ptr<Store> store = open();
  WindowRequest request = window_request(7, now_ms() + kYearMs);
  request.name_space = "default";
  request.format = Layout::parse("default").fingerprint();
  request.fence = store->windows()->window_take(request).fence;
  store->windows()->window_return("default", 7, request.fence, now_ms() + kYearMs + 10'000,
                                  now_ms() + kYearMs + 10'000);
  repair_worker(config(), id_of(now_ms() - 1));
  EXPECT_FAILS(store->windows()->window_take(request), Status::worker_busy, "has ended");
}

TEST_P(WorkerRowOfEveryStore, IsLeftAloneWhileItsOwnerLives) {
  const std::shared_ptr<Store> store = open();
  WindowRequest request = window_request(7, now_ms() + kYearMs);
  request.name_space = "default";
  request.format = Layout::parse("default").fingerprint();
  store->windows()->window_take(request);
  EXPECT_TRUE(show_worker(config()).is_live);
  EXPECT_FAILS(repair_worker(config(), id_of(now_ms())), Status::worker_busy, "live owner");
  EXPECT_TRUE(show_worker(config()).is_live) << "looking has not taken its lock away";
}

// Another generator keeps the store open, so that it is not the closing of the store that frees the worker.
TEST_P(WorkerRowOfEveryStore, IsFreeAfterACreationThatFailedWhenTheStoreHadGrantedIt) {
  take_window_ahead(Layout::parse("default").last_unix_ms() - now_ms());
  const Handle other(config(8));
  Config beyond_the_layouts_time = config();
  beyond_the_layouts_time.set("on_clock_back", "continue");
  EXPECT_FAILS(Handle{beyond_the_layouts_time}, Status::exhausted, "its last tick ended");
  const WorkerInfo worker = show_worker(config());
  EXPECT_EQ(worker.fence, 2u);
  EXPECT_FALSE(worker.is_live);
}

TEST_P(WorkerRowOfEveryStore, IsLeftAloneIfSomebodyAcquiredItSinceItWasSeen) {
  take_window_ahead(kYearMs);
  const std::shared_ptr<Store> store = open();
  const WindowInfo seen = store->windows()->window_show("default", 7);
  take_window_ahead(kYearMs);
  EXPECT_FAILS(store->windows()->window_repair("default", 7, seen, now_ms()), Status::worker_busy,
               "nothing was changed");
}

TEST_P(WorkerRowOfEveryStore, IsRefusedWhereARepairIsOfNoUseOrNotSafe) {
  take_window_ahead(0);
  EXPECT_FAILS(repair_worker(config(), id_of(now_ms())), Status::value, "Nothing to repair");
  take_window_ahead(10 * kYearMs);
  EXPECT_FAILS(repair_worker(config(), id_of(now_ms(), 8)), Status::value, "not of worker 7");
  EXPECT_FAILS(repair_worker(config(), id_of(now_ms() + kYearMs)), Status::value, "use another worker number");
  EXPECT_FAILS(repair_worker(config(), id_of(now_ms() + 11 * kYearMs)), Status::value, "not made through this store");
  EXPECT_FAILS(repair_worker(config(8), id_of(now_ms(), 8)), Status::value, "nobody has had it yet");
  Config other = config();
  other.set("epoch", "2020-01-01T00:00:00Z");
  EXPECT_FAILS(repair_worker(other, id_of(now_ms())), Status::format_mismatch, "layout and epoch in use");
  other = config();
  other.set("kind", "segment");
  EXPECT_FAILS(show_worker(other), Status::unsupported, "only a snowflake generator has a worker");
  EXPECT_GT(show_worker(config()).ahead_ms, 9 * kYearMs);
}

TEST(WorkerRow, AStoreWithoutWindowsSaysSo) {
  Config config;
  config.set("worker", "7");
  struct Segments final : sim::SimStore {
    using SimStore::SimStore;
    WindowStore* windows() noexcept override { return nullptr; }
  };
  sim::SimDisk disk;
  config.store = std::make_shared<Segments>(disk);
  EXPECT_FAILS(show_worker(config), Status::unsupported, "sqlite:PATH and the servers do");
}

TEST_P(WorkerRowOfEveryStore, ADescriptionReservesNothing) {
  Config segment = config();
  segment.set("kind", "segment");
  segment.set("worker", "");
  open()->segment_create("default", "idgen");
  EXPECT_THAT(describe_generator(segment), ::testing::HasSubstr("10000 numbers at a time"));
  EXPECT_EQ(open()->segment_show("default", "idgen").max_id, 0u);
  EXPECT_THAT(describe_generator(config()), ::testing::HasSubstr("worker 7"));
  EXPECT_EQ(show_worker(config()).fence, 0u);
}

}  // namespace
}  // namespace idgen
