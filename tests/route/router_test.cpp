#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "patience.hpp"
#include "route/tables.hpp"
#include "sim/sim_runtime.hpp"
#include "store/store_test_support.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Router, SwapsOnlyWhatItsCallerHasSeen) {
  const auto router = Router::make(RouteTable(two_shards(7)), {});
  EXPECT_ERROR(STALE, AllOf(HasSubstr("version 6 was to be replaced"), HasSubstr("version 7 is in force")),
               router->swap(RouteTable(two_shards(8)), 6));
  EXPECT_ERROR(VALUE, HasSubstr("version 7 cannot replace version 7"), router->swap(RouteTable(two_shards(7)), 7));
  EXPECT_ERROR(VALUE, HasSubstr("a ring keeps its size"), router->swap(RouteTable(two_shards(8, 5)), 7));
  EXPECT_EQ(router->map().version(), 7u);
  router->swap(RouteTable(two_shards(9)), 7);
  EXPECT_EQ(router->map().version(), 9u);
  EXPECT_EQ(router->stats().swaps, 1u);
}

TEST(Router, AShardKeepsItsIndexAsLongAsTheRouterLives) {
  const auto router = Router::make(RouteTable({1, 4, {"a", "b"}, {{7, 0}, {15, 1}}, {}}), {});
  router->swap(RouteTable({2, 4, {"c", "b"}, {{7, 0}, {15, 1}}, {{8, 9, 0, 1}}}), 1);
  EXPECT_THAT(router->map().names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(router->route_node(0).shard, 2u);
  EXPECT_EQ(router->route_node(8).shard, 1u);
  EXPECT_EQ(router->route_node(8).second, 2u);
  router->swap(RouteTable({3, 4, {"a"}, {{15, 0}}, {}}), 2);
  EXPECT_THAT(router->map().names(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(router->route_node(15).shard, 0u);
}

TEST(Router, OfTwoThatSwapOneWins) {
  const auto router = Router::make(RouteTable(two_shards(1)), {});
  std::atomic<int> won{0}, lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t version = 1; version <= 200; ++version) {
        while (router->map().version() < version) std::this_thread::yield();
        try {
          router->swap(RouteTable(two_shards(version + 1)), version);
          ++won;
        } catch (const Error& error) {
          ASSERT_EQ(error.status(), Status::stale) << error.message();
          ++lost;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 200);
  EXPECT_EQ(lost, 600);
}

// Odd versions give all to the first shard, even ones to the second: a lookup that mixed two tables would show.
TEST(Router, EveryLookupUnderSwapsIsOfOneTable) {
  const auto all_to = [](std::uint64_t version) {
    RouteData data{version, 6, {"odd", "even"}, {{63, version % 2 == 1 ? 0u : 1u}}, {}};
    if (version % 3 == 0) data.moves = {{5, 20, version % 2 == 1 ? 1u : 0u, 5'000}};
    return RouteTable(data);
  };
  RouterOptions options;
  options.layout = Layout::parse("time:41ms sequence:16 gene:6");
  const auto router = Router::make(all_to(1), options);
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> looked{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      std::mt19937_64 random(static_cast<std::uint64_t>(t));
      std::uint32_t shards[64], seconds[64];
      std::uint64_t ids[64];
      std::uint64_t latest = 0;
      do {
        const Route route = router->route(random() >> 2);
        ASSERT_GE(route.version, latest) << "a router never goes back";
        latest = route.version;
        const std::uint32_t owner = route.version % 2 == 1 ? 0 : 1;
        ASSERT_EQ(route.state == RouteState::new_first ? route.second : route.shard, owner);
        ASSERT_TRUE(route.state == RouteState::settled || route.version % 3 == 0);
        for (std::uint64_t& id : ids) id = random() >> 2 & ~std::uint64_t{63};  // all of node 0: no cut-over
        router->route_batch(ids, 64, shards, seconds);
        for (const std::uint32_t shard : shards) ASSERT_EQ(shard, shards[0]) << "a batch is of one table";
        ++looked;
      } while (!over);
    });
  }
  for (std::uint64_t version = 2; version <= 3'000; ++version) router->swap(all_to(version), version - 1);
  over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GE(looked, 3u);
}

// ------------------------------------------------------------------------------------------------- a router of a file

class RouterOfAFile : public ::testing::Test {
 protected:
  ~RouterOfAFile() override { runtime.drop_all(); }

  void write(const std::string& text) { std::ofstream(path) << text; }
  void write(const RouteData& data) { write(RouteTable(data).text()); }
  std::shared_ptr<Router> open() {
    RouterOptions options;
    options.runtime = &runtime;
    options.log = std::make_shared<const Log>([this](LogLevel level, const std::string& line) {
      log.push_back((level == LogLevel::warning ? "warning " : "info ") + line);
    });
    return Router::open(path, options);
  }
  void a_second_passes() {
    runtime.pass(sim::kSecond);
    runtime.run_all();
  }

  TempFolder folder;
  const std::string path = folder.file("routes.toml");
  sim::SimRuntime runtime;
  std::vector<std::string> log;
};

TEST_F(RouterOfAFile, TakesANewTableWithinASecond) {
  write(two_shards(1));
  const auto router = open();
  a_second_passes();
  EXPECT_THAT(log, IsEmpty());
  write_route_table(path, RouteTable(two_shards(2)), 1);
  EXPECT_EQ(router->map().version(), 1u);
  a_second_passes();
  EXPECT_EQ(router->map().version(), 2u);
  EXPECT_THAT(log, ElementsAre(AllOf(HasSubstr("info"), HasSubstr("version 2 of "), HasSubstr("replaces version 1"))));
}

TEST_F(RouterOfAFile, KeepsItsTableWhileTheFileIsWrongAndSaysSoOnce) {
  write(two_shards(5));
  const auto router = open();
  const std::string good = RouteTable(two_shards(6)).text();
  write(good.substr(0, good.size() / 2));
  for (int i = 0; i < 5; ++i) a_second_passes();
  EXPECT_EQ(router->map().version(), 5u);
  const RouterStats half = router->stats();
  EXPECT_EQ(half.last_status, Status::config_file);
  EXPECT_THAT(half.last_error, HasSubstr(path));
  EXPECT_GE(half.failures, 1u);
  EXPECT_THAT(log, ElementsAre(AllOf(HasSubstr("warning"), HasSubstr("version 5 stays in force"))));

  std::filesystem::remove(path);
  a_second_passes();
  EXPECT_THAT(router->stats().last_error, HasSubstr("cannot be read"));

  write(two_shards(4));
  a_second_passes();
  EXPECT_EQ(router->stats().last_status, Status::stale);
  EXPECT_THAT(router->stats().last_error, AllOf(HasSubstr("version 4"), HasSubstr("version 5")));

  RouteData other = two_shards(5);
  other.shards[0] = "dbX";
  write(other);
  a_second_passes();
  EXPECT_THAT(router->stats().last_error, HasSubstr("another content"));

  write(good);
  a_second_passes();
  EXPECT_EQ(router->map().version(), 6u);
  EXPECT_EQ(router->stats().last_error, "");
  EXPECT_EQ(log.size(), 5u);
}

TEST_F(RouterOfAFile, AnExplicitReloadThrowsWhatTheTimerOnlyNotes) {
  write(two_shards(1));
  const auto router = open();
  router->reload();  // unchanged
  write("version = ");
  EXPECT_ERROR(CONFIG_FILE, HasSubstr(path), router->reload());
  EXPECT_EQ(router->stats().failures, 1u);
  write(two_shards(3));
  router->reload();
  EXPECT_EQ(router->map().version(), 3u);
  EXPECT_ERROR(UNSUPPORTED, HasSubstr("from data"), Router::make(RouteTable(two_shards()), {})->reload());
}

TEST_F(RouterOfAFile, ItsFileIsTheSameOneAfterTheProgramHasGoneToAnotherFolder) {
  write(two_shards(1));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(path).parent_path());
  RouterOptions options;
  options.reload_ms = 0;
  const auto router = Router::open(std::filesystem::path(path).filename(), options);
  std::filesystem::current_path(before);
  write(two_shards(2));
  router->reload();
  EXPECT_EQ(router->map().version(), 2u);
}

TEST_F(RouterOfAFile, TheTimerEndsWithItsRouter) {
  write(two_shards(1));
  auto router = open();
  std::weak_ptr<Router> gone = router;
  router.reset();
  EXPECT_TRUE(gone.expired()) << "a timer that held it would keep it for ever";
  a_second_passes();
  EXPECT_EQ(runtime.timers(), 0u);
}

TEST_F(RouterOfAFile, CannotBeOpenedOnWhatIsNoTable) {
  EXPECT_ERROR(CONFIG_FILE, HasSubstr("cannot be read"), open());
  write("");
  EXPECT_ERROR(CONFIG_FILE, HasSubstr("has no 'version'"), open());
}

// The parent's timer waits in the log during the fork: it must not be inside the allocator then, whose locks the
// sanitizers of GCC 12 leave locked in a child.
TEST(RouterInAChild, GoesOnWithItsTableAndLooksAtTheFileAgainAfterACall) {
  const TempFolder folder;
  const std::string path = folder.file("routes.toml");
  std::ofstream(path) << RouteTable(two_shards(1)).text();
  struct Timer {
    std::atomic<bool> has_logged{false}, is_forked{false};
  };
  const auto timer = std::make_shared<Timer>();  // the timer's thread may outlive this test by a moment
  RouterOptions options;
  options.reload_ms = 5;
  options.log = std::make_shared<const Log>([timer](LogLevel, const std::string&) {
    timer->has_logged = true;
    while (!timer->is_forked) usleep(1'000);
  });
  const auto router = Router::open(path, options);
  write_route_table(path, RouteTable(two_shards(2)), 1);
  ASSERT_TRUE(becomes_true([&] { return timer->has_logged.load(); }));
  EXPECT_EQ(in_child([&]() -> std::string {
              timer->is_forked = true;
              if (router->route_node(0).version != 2) return "the table is gone";
              write_route_table(path, RouteTable(two_shards(3)), 2);
              (void)router->stats();  // the timer starts over
              (void)becomes_true([&] { return router->route_node(0).version == 3; });
              return "version " + std::to_string(router->route_node(0).version);
            }),
            "version 3");
  timer->is_forked = true;
}

}  // namespace
}  // namespace idgen
