// Windows of a worker's time.
#include <algorithm>
#include <thread>
#include <vector>

#ifdef IDGEN_TEST_SERVERS
#include "store/every_server.hpp"
#else
#include "store/store_test_support.hpp"
#endif

namespace idgen {
namespace {

using WindowOfEveryStore = EveryStore;
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WindowOfEveryStore);
INSTANTIATE_TEST_SUITE_P(Stores, WindowOfEveryStore, IDGEN_EVERY_STORE_WITH_WINDOWS,
                         [](const auto& info) { return info.param; });

constexpr std::int64_t kNow = 1'795'000'000'000;  // 2026-11-18T11:06:40Z

TEST_P(WindowOfEveryStore, TheFirstWindowBeginsNow) {
  const Window window = open()->windows()->window_take(window_request(7, kNow));
  EXPECT_EQ(window.start_ms, kNow);
  EXPECT_EQ(window.end_ms, kNow + 10'000);
  EXPECT_EQ(window.fence, 1u);
}

TEST_P(WindowOfEveryStore, ARenewalGoesOnWhereTheWindowEnded) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window first = store->windows()->window_take(request);
  const Window second = store->windows()->window_take(renewal(request, first, kNow + 5'000));
  EXPECT_EQ(second.start_ms, first.end_ms);
  EXPECT_EQ(second.end_ms, kNow + 15'000);
  EXPECT_EQ(second.fence, first.fence);
}

TEST_P(WindowOfEveryStore, ARenewalThatComesLateBeginsNow) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window first = store->windows()->window_take(request);
  EXPECT_EQ(store->windows()->window_take(renewal(request, first, kNow + 60'000)).start_ms, kNow + 60'000);
}

TEST_P(WindowOfEveryStore, AWindowIsAtLeastAsLongAsAskedForHoweverFarAheadItBegins) {
  const auto store = open();
  WindowRequest request = window_request(7, kNow);
  const Window first = store->windows()->window_take(request);
  request = renewal(request, first, kNow - 3'600'000);
  request.min_ms = 250;
  const Window second = store->windows()->window_take(request);
  EXPECT_EQ(second.start_ms, first.end_ms);
  EXPECT_EQ(second.end_ms, first.end_ms + 250);
}

TEST_P(WindowOfEveryStore, TheNextOwnerBeginsAfterTheLastWindowEvenWithAClockSetBack) {
  const Window before = open()->windows()->window_take(with_no_lease(window_request(7, kNow)));
  const auto store = open();  // the first handle is gone: its owner is not alive
  const Window after = store->windows()->window_take(window_request(7, kNow - 3'600'000, 2));
  EXPECT_EQ(after.start_ms, before.end_ms);
  EXPECT_EQ(after.fence, before.fence + 1);
}

TEST_P(WindowOfEveryStore, AWindowThatWouldBeginTooFarAheadIsRefusedAndChangesNothing) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window first = store->windows()->window_take(request);
  WindowRequest set_back = renewal(request, first, kNow - 3'600'000);
  set_back.max_start_ms = kNow;
  const Error error = error_of([&] { store->windows()->window_take(set_back); });
  EXPECT_EQ(error.status(), Status::clock_back);
  EXPECT_THAT(error.message(), testing::HasSubstr("3610000 ms ahead"));
  EXPECT_THAT(error.message(), testing::HasSubstr("2026-11-18T11:06:50.000Z"));  // reserved up to
  EXPECT_THAT(error.message(), testing::HasSubstr("2026-11-18T10:06:40.000Z"));  // the clock
  EXPECT_LT(error.message().size(), 496u);
  EXPECT_EQ(error.retry_after_ns(), 10'000ull * 1'000'000);
  EXPECT_EQ(store->windows()->window_take(renewal(request, first, kNow)).start_ms, first.end_ms);
}

TEST_P(WindowOfEveryStore, ARefusedAcquireLeavesTheWorkerFree) {
  { EXPECT_EQ(open()->windows()->window_take(with_no_lease(window_request(7, kNow))).fence, 1u); }
  const auto store = open();
  WindowRequest set_back = window_request(7, kNow - 60'000, 2);
  set_back.max_start_ms = set_back.now_ms;
  EXPECT_FAILS(store->windows()->window_take(set_back), Status::clock_back, "70000 ms ahead");
  EXPECT_EQ(open()->windows()->window_take(window_request(7, kNow, 3)).fence, 2u);
}

TEST_P(WindowOfEveryStore, ASecondOwnerIsRefusedWhileTheFirstLivesInTheSameProcess) {
  const auto first = open();
  first->windows()->window_take(window_request(7, kNow));
  const auto second = open();
  const std::string holder = "is owned by process " + std::to_string(getpid()) + " on here";
  EXPECT_FAILS(second->windows()->window_take(window_request(7, kNow, 2)), Status::worker_busy,
               holder + (has_leases(*first) ? "; if that is gone, its lease ends in" : " (this process"));
  EXPECT_FAILS(second->windows()->window_take(window_request(7, kNow, 2)), Status::worker_busy,
               "worker 7 of namespace ");
  EXPECT_EQ(second->windows()->window_take(window_request(8, kNow, 2)).fence, 1u);
  WindowRequest elsewhere = window_request(7, kNow, 2);
  elsewhere.name_space = "users";
  EXPECT_EQ(second->windows()->window_take(elsewhere).fence, 1u);
}

TEST_P(WindowOfEveryStore, ARenewalByAnybodyElseIsRefused) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window window = store->windows()->window_take(request);
  WindowRequest stranger = renewal(window_request(7, kNow, 2), window, kNow);
  WindowRequest stale = renewal(request, window, kNow);
  stale.fence = window.fence + 1;
  EXPECT_FAILS(store->windows()->window_take(stranger), Status::worker_busy, "grant 1 has ended");
  EXPECT_FAILS(store->windows()->window_take(stale), Status::worker_busy, "grant 2 has ended, the store is at grant 1");
  EXPECT_FAILS(store->windows()->window_take(renewal(window_request(9, kNow), window, kNow)), Status::worker_busy,
               "worker 9");
  EXPECT_FAILS(store->windows()->window_take(stranger), Status::worker_busy, "grant 1 has ended");
}

TEST_P(WindowOfEveryStore, AWorkerIsShownAsItStands) {
  const auto store = open();
  store->windows()->window_take(window_request(8, kNow));
  EXPECT_EQ(store->windows()->window_show("orders", 7).fence, 0u);
  const Window window = store->windows()->window_take(window_request(7, kNow));
  const WindowInfo info = store->windows()->window_show("orders", 7);
  EXPECT_EQ(info.worker, 7u);
  EXPECT_EQ(info.fence, window.fence);
  EXPECT_EQ(info.hw_ms, window.end_ms);
  EXPECT_EQ(info.format, window_request(7, kNow).format);
  EXPECT_EQ(info.holder, window_request(7, kNow).holder);
  EXPECT_TRUE(info.is_live);
  store->windows()->window_return("orders", 7, window.fence, window.end_ms, window.end_ms);
  EXPECT_FALSE(store->windows()->window_show("orders", 7).is_live);
}

TEST_P(WindowOfEveryStore, AllWorkersOfANamespaceAreListedByNumber) {
  const auto store = open();
  for (const std::uint64_t worker : {10u, 9u, 700u}) store->windows()->window_take(window_request(worker, kNow));
  WindowRequest elsewhere = window_request(8, kNow);
  elsewhere.name_space = "other orders";
  store->windows()->window_take(elsewhere);
  for (const WindowStore::Detail detail : {WindowStore::Detail::numbers, WindowStore::Detail::owners}) {
    const std::vector<WindowInfo> rows = store->windows()->window_list("orders", detail);
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].worker, 9u);
    EXPECT_EQ(rows[1].worker, 10u);
    EXPECT_EQ(rows[2].worker, 700u);
    if (detail == WindowStore::Detail::numbers) continue;
    EXPECT_EQ(rows[0].fence, 1u);
    EXPECT_EQ(rows[0].hw_ms, kNow + 10'000);
    EXPECT_EQ(rows[0].holder, window_request(9, kNow).holder);
    EXPECT_TRUE(rows[0].is_live);
  }
  EXPECT_TRUE(store->windows()->window_list("users", WindowStore::Detail::owners).empty());
}

TEST_P(WindowOfEveryStore, AReturnedWorkerIsFreeAtOnceAndItsUnusedTimeIsNotLost) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window window = store->windows()->window_take(request);
  store->windows()->window_return("orders", 7, window.fence, window.end_ms, kNow + 123);
  EXPECT_FAILS(store->windows()->window_take(renewal(request, window, kNow)), Status::worker_busy, "has ended");
  const Window next = open()->windows()->window_take(window_request(7, kNow, 2));
  EXPECT_EQ(next.start_ms, kNow + 123);
  EXPECT_EQ(next.fence, window.fence + 1);
}

TEST_P(WindowOfEveryStore, AReturnAfterARenewalGivesBackToTheTimeUsed) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window first = store->windows()->window_take(request);
  const Window second = store->windows()->window_take(renewal(request, first, kNow + 5'000));
  store->windows()->window_return("orders", 7, second.fence, second.end_ms, kNow + 6'000);
  EXPECT_EQ(open()->windows()->window_take(window_request(7, kNow, 2)).start_ms, kNow + 6'000);
}

TEST_P(WindowOfEveryStore, AReturnWithAnotherEndFreesTheWorkerButGivesNoTimeBack) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window first = store->windows()->window_take(request);
  const Window second = store->windows()->window_take(renewal(request, first, kNow + 5'000));
  store->windows()->window_return("orders", 7, first.fence, first.end_ms, kNow + 1);
  EXPECT_EQ(open()->windows()->window_take(window_request(7, kNow, 2)).start_ms, second.end_ms);
}

TEST_P(WindowOfEveryStore, AReturnWithAnotherFenceDoesNothing) {
  const auto store = open();
  const Window window = store->windows()->window_take(window_request(7, kNow));
  store->windows()->window_return("orders", 7, window.fence + 1, window.end_ms, kNow);
  store->windows()->window_return("orders", 8, window.fence, window.end_ms, kNow);
  EXPECT_FAILS(open()->windows()->window_take(window_request(7, kNow, 2)), Status::worker_busy, "worker 7");
}

TEST_P(WindowOfEveryStore, AReturnNeverReachesIntoTimeOfAnEarlierOwner) {
  { EXPECT_EQ(open()->windows()->window_take(with_no_lease(window_request(7, kNow))).fence, 1u); }
  const auto store = open();
  const Window mine = store->windows()->window_take(window_request(7, kNow, 2));
  EXPECT_FAILS(store->windows()->window_return("orders", 7, mine.fence, mine.end_ms, mine.end_ms + 1), Status::argument,
               "cannot have been used");
  store->windows()->window_return("orders", 7, mine.fence, mine.end_ms, mine.start_ms - 5'000);
  EXPECT_EQ(open()->windows()->window_take(window_request(7, kNow, 3)).start_ms, mine.start_ms);
}

TEST_P(WindowOfEveryStore, AnotherFormatInTheSameNamespaceIsRefusedAndBothAreNamed) {
  const auto store = open();
  const WindowRequest request = window_request(7, kNow);
  const Window window = store->windows()->window_take(request);
  WindowRequest other = window_request(8, kNow);
  other.format = "time:32s worker:8 sequence:12 @0";
  EXPECT_FAILS(store->windows()->window_take(other), Status::format_mismatch, request.format);
  EXPECT_FAILS(store->windows()->window_take(other), Status::format_mismatch, other.format);
  WindowRequest renewed = renewal(request, window, kNow);
  renewed.format = other.format;
  EXPECT_FAILS(store->windows()->window_take(renewed), Status::format_mismatch, "another namespace");
  other.name_space = "users";
  EXPECT_EQ(store->windows()->window_take(other).fence, 1u);
}

TEST_P(WindowOfEveryStore, ANamespaceKeepsWhatItWasGivenFirst) {
  const auto store = open();
  const std::string name = "hidden ids of shop, 42 bits, key 1";
  EXPECT_EQ(store->namespace_format(name, ""), "");
  EXPECT_EQ(store->namespace_format(name, "ff1 0123456789abcdef"), "ff1 0123456789abcdef");
  EXPECT_EQ(store->namespace_format(name, "ff1 fedcba9876543210"), "ff1 0123456789abcdef");
  EXPECT_EQ(store->namespace_format(name, ""), "ff1 0123456789abcdef");
  EXPECT_EQ(store->namespace_format("hidden ids of shop, 42 bits, key 10", ""), "");
  // An archived key, and the next one of its number.
  const std::string archived = "16777214 chacha20 0123456789abcdef";
  for (const std::string end : {"", ", generation 1", ", generation 10"}) {
    const std::string next = "hidden ids of shop, 42 bits, key 16777214" + end;
    EXPECT_EQ(store->namespace_format(next, ""), "");
    EXPECT_EQ(store->namespace_format(next, "ff1 0123456789abcdef" + end), "ff1 0123456789abcdef" + end);
  }
  EXPECT_EQ(store->namespace_format("hidden ids of shop, 42 bits, archive 1", archived), archived);
  EXPECT_EQ(store->namespace_format("hidden ids of shop, 42 bits, archive 1", "1 ff1 0123456789abcdef"), archived);
  EXPECT_EQ(store->namespace_format("hidden ids of shop, 42 bits, archive 2", ""), "");
  // It is the one that windows compare with.
  const WindowRequest request = window_request(7, kNow);
  store->windows()->window_take(request);
  EXPECT_EQ(store->namespace_format(request.name_space, "another"), request.format);
}

TEST_P(WindowOfEveryStore, OfManyWhoGiveANamespaceSomethingAtOnceAllGetTheSame) {
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  const auto store = open();
  for (std::size_t i = 0; i < found.size(); ++i)
    threads.emplace_back([&, i] { found[i] = store->namespace_format("raced", "key " + std::to_string(i)); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : found) {
    EXPECT_EQ(each, found[0]);
    EXPECT_FALSE(each.empty());
  }
}

TEST_P(WindowOfEveryStore, NumbersThatCannotBeMeantAreRefused) {
  const auto store = open();
  WindowRequest request = window_request(std::uint64_t{1} << 63, kNow);
  EXPECT_FAILS(store->windows()->window_take(request), Status::argument, "2^63 - 1");
  request = window_request(7, kNow);
  request.width_ms = -1;
  EXPECT_FAILS(store->windows()->window_take(request), Status::argument, "-1 ms");
  request = window_request(7, std::numeric_limits<std::int64_t>::max());
  EXPECT_FAILS(store->windows()->window_take(request), Status::argument, "2^63 - 1");
  request = window_request(7, -5);
  request.width_ms = 2;
  request.min_ms = 0;
  EXPECT_FAILS(store->windows()->window_take(request), Status::argument, "empty");
  EXPECT_EQ(store->windows()->window_take(window_request(7, kNow)).fence, 1u);
}

TEST_P(WindowOfEveryStore, DescribeSaysWhatARestartMeans) {
  EXPECT_THAT(open()->describe(), testing::HasSubstr(GetParam() == "memory" ? "restart of the process is not protected"
                                                     : GetParam() == "sqlite" ? "kill -9"
                                                                              : "worker"));
  EXPECT_EQ(open()->survives_fork(), GetParam() != "memory");
}

#ifdef IDGEN_TEST_SERVERS
// What only a server can do: lose an answer, and have a clock of its own.
using WindowOfEveryServer = EveryStore;
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WindowOfEveryServer);
INSTANTIATE_TEST_SUITE_P(Stores, WindowOfEveryServer, IDGEN_EVERY_STORE_WITH_WINDOWS,
                         [](const auto& info) { return info.param; });

// The answer to the first acquire was lost: who asks again is who has it.
TEST_P(WindowOfEveryServer, AnOwnerThatLosesAnAnswerAcquiresAgainAboveWhatItMayHaveBeenGranted) {
  const auto store = open();
  const Window lost = store->windows()->window_take(window_request(7, kNow));
  const Window found = store->windows()->window_take(window_request(7, kNow));
  EXPECT_EQ(found.start_ms, lost.end_ms);
  EXPECT_EQ(found.fence, lost.fence + 1);
}

TEST_P(WindowOfEveryServer, AClockThatIsAheadOfTheStoresReservesNothing) {
  const auto store = open();
  const std::int64_t now = store_clock_ms();
  WindowRequest request = window_request(7, now);
  const Window first = store->windows()->window_take(request);
  request = renewal(request, first, now + 3'600'000);
  request.max_lead_ms = 20'000;
  EXPECT_FAILS(store->windows()->window_take(request), Status::clock_leap, "ms ahead of the store's");
  request.max_lead_ms = 3'700'000;
  EXPECT_EQ(store->windows()->window_take(request).start_ms, now + 3'600'000);
  WindowRequest other = window_request(8, now + 3'600'000);
  other.max_lead_ms = 20'000;
  EXPECT_FAILS(store->windows()->window_take(other), Status::clock_leap, "allowed: 20000 ms");
  EXPECT_EQ(store->windows()->window_show("orders", 8).fence, 0u);
}

TEST_P(WindowOfEveryServer, AnOwnerWhoseLeaseHasEndedGoesOnUnlessSomebodyHasTakenTheWorker) {
  const auto store = open();
  const WindowRequest request = with_no_lease(window_request(7, kNow));
  const Window first = store->windows()->window_take(request);
  const Window second = store->windows()->window_take(renewal(request, first, kNow + 60'000));
  EXPECT_EQ(second.fence, first.fence);
  store->disconnect();  // where the lease is a session, that ends it
  const Window others = open()->windows()->window_take(window_request(7, kNow + 60'000, 2));
  EXPECT_EQ(others.fence, first.fence + 1);
  EXPECT_GE(others.start_ms, second.end_ms);
  EXPECT_FAILS(store->windows()->window_take(renewal(request, second, kNow + 61'000)), Status::worker_busy,
               "has ended");
}

TEST_P(WindowOfEveryServer, ProcessesThatAcquireOneWorkerAtOnceGetWindowsThatDoNotOverlap) {
  constexpr int kThreads = 8, kRounds = 10;
  std::vector<Window> windows(kThreads * kRounds);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto store = open();
      for (int round = 0; round < kRounds; ++round)
        for (;;) {
          const Error error = error_of([&] {
            windows[static_cast<std::size_t>(i * kRounds + round)] =
                store->windows()->window_take(with_no_lease(window_request(7, kNow, static_cast<std::uint8_t>(1 + i))));
          });
          if (error.status() == Status::ok) break;
          EXPECT_THAT(error.status(), testing::AnyOf(Status::worker_busy, Status::store_unavailable))
              << error.message();
        }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) { return a.start_ms < b.start_ms; });
  for (std::size_t i = 1; i < windows.size(); ++i) {
    EXPECT_LE(windows[i - 1].end_ms, windows[i].start_ms);
    EXPECT_LT(windows[i - 1].fence, windows[i].fence);
  }
}
#endif

TEST_P(WindowOfEveryStore, AReleasedWorkerIsTheNextOnesAtOnceAboveWhatWasReserved) {
  const auto owners = open();
  const WindowRequest request = window_request(7, kNow);
  const Window before = owners->windows()->window_take(request);
  const WindowInfo seen = owners->windows()->window_show(request.name_space, 7);
  ASSERT_TRUE(seen.is_live);
  EXPECT_FAILS(owners->windows()->window_release(request.name_space, 7, seen, false), Status::worker_busy,
               "nothing was changed");
  WindowInfo outdated = seen;
  --outdated.fence;
  EXPECT_FAILS(owners->windows()->window_release(request.name_space, 7, outdated, true), Status::worker_busy,
               "was acquired meanwhile");
  owners->windows()->window_release(request.name_space, 7, seen, true);
  EXPECT_EQ(owners->windows()->window_show(request.name_space, 7).fence, before.fence + 1);
  EXPECT_EQ(owners->windows()->window_show(request.name_space, 7).hw_ms, before.end_ms);
  EXPECT_FAILS(owners->windows()->window_release(request.name_space, 7,
                                                 owners->windows()->window_show(request.name_space, 7), true),
               Status::value, "there is nothing to release");
  EXPECT_FAILS(owners->windows()->window_take(renewal(request, before, kNow + 5'000)), Status::worker_busy,
               "has ended");
  const Window after = open()->windows()->window_take(window_request(7, kNow, 2));
  EXPECT_EQ(after.start_ms, before.end_ms);
  EXPECT_EQ(after.fence, before.fence + 2);
}

}  // namespace
}  // namespace idgen
