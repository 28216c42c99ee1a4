// Children: by fork(), by a raw clone(), by the hundred, and while other threads draw.
#include <idgen/standard.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>

#include "../draws.h"
#include "support.hpp"

namespace idgen::faults {
namespace {

// A child for which no fork handler runs: neither the C library's nor ours.
pid_t spawn_raw(const std::function<int()>& body) {
  fflush(stdout);
  const pid_t child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child != 0) return child;
  alarm(60);
  _exit(body());
}

enum class By { fork, raw_clone };
pid_t spawn_by(By how, const std::function<int()>& body) { return how == By::fork ? spawn(body) : spawn_raw(body); }

class Forks : public testing::TestWithParam<By> {};
#if defined(__SANITIZE_THREAD__)
#define IDGEN_WAYS By::fork  // the run time of TSan does not survive a clone that it does not know of
#else
#define IDGEN_WAYS By::fork, By::raw_clone
#endif
INSTANTIATE_TEST_SUITE_P(By, Forks, testing::Values(IDGEN_WAYS),
                         [](const auto& info) { return info.param == By::fork ? "Fork" : "RawClone"; });

TEST_P(Forks, GiveAChildASegmentOfItsOwn) {
  StoreFolder folder;
  for (const char* order : {"strict", "relaxed"}) {
    Ids ids({{"kind", "segment"}, {"tag", "t"}, {"store", folder.url()}, {"order", order}});
    ASSERT_TRUE(ids) << ids.outcome().message;
    constexpr std::size_t kDraws = 30'000;
    std::vector<std::uint64_t> parents, childs;
    for (int i = 0; i < 100; ++i) parents.push_back(ids.next());
    Shared<std::uint64_t> drawn(kDraws);
    Shared<idgen_stats_t> stats(2);
    const pid_t child = spawn_by(GetParam(), [&] {
      std::uint64_t id = 0;
      stats[0] = ids.stats();
      if (idgen_try_next(ids.get(), &id) != IDGEN_E_WOULD_BLOCK) return 2;  // drawing a segment would block
      for (std::size_t i = 0; i < kDraws; ++i) drawn[i] = ids.next();
      stats[1] = ids.stats();
      return ids.close().status == IDGEN_OK ? 0 : 1;
    });
    for (std::size_t i = 0; i < kDraws; ++i) parents.push_back(ids.next());
    EXPECT_EQ(wait_for(child), 0);
    for (int i = 0; i < 100; ++i) parents.push_back(ids.next());
    EXPECT_EQ(stats[0].granted, 0u) << "the counts are of this process";
    EXPECT_EQ(stats[0].forks, 0u);
    EXPECT_EQ(stats[1].forks, 1u);
    EXPECT_EQ(ids.stats().forks, 0u);
    childs.assign(drawn.data(), drawn.data() + kDraws);
    EXPECT_TRUE(is_strictly_rising(parents));
    EXPECT_TRUE(is_strictly_rising(childs));
    EXPECT_NE(childs.front(), 0u);
    EXPECT_EQ(count_duplicates({parents, childs}), 0u);
  }
  report("%d ids of parent and child, all different", 2 * 2 * 30'200);
}

TEST_P(Forks, GiveAChildStandardIdsOfItsOwn) {
  constexpr std::size_t kDraws = 1000, kChildren = 8;
  using Id = std::array<std::uint8_t, 16>;
  for (std::int32_t standard = IDGEN_STANDARD_UUID4; standard <= IDGEN_STANDARD_OBJECT_ID; ++standard) {
    const auto draw = [standard] {
      Id id{};
      return idgen_standard_make(standard, id.data(), 1, nullptr) == IDGEN_OK ? id : Id{};
    };
    draw();  // what a child must not go on with is at hand
    Shared<Id> drawn((kChildren + 1) * kDraws);
    std::vector<pid_t> children;
    for (std::size_t c = 0; c < kChildren; ++c) {
      children.push_back(spawn_by(GetParam(), [&, c] {
        for (std::size_t i = 0; i < kDraws; ++i) drawn[c * kDraws + i] = draw();
        return 0;
      }));
    }
    for (std::size_t i = 0; i < kDraws; ++i) drawn[kChildren * kDraws + i] = draw();
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    const std::set<Id> all(drawn.data(), drawn.data() + (kChildren + 1) * kDraws);
    EXPECT_EQ(all.size(), (kChildren + 1) * kDraws);
    EXPECT_FALSE(all.contains(Id{}));
    if (standard != IDGEN_STANDARD_OBJECT_ID) continue;
    std::set<std::string> processes;  // of each process the same bytes, and of no two
    for (std::size_t c = 0; c <= kChildren; ++c)
      processes.emplace(drawn[c * kDraws].begin() + 4, drawn[c * kDraws].begin() + 9);
    EXPECT_EQ(processes.size(), kChildren + 1);
  }
  report("%zu UUIDs, ULIDs and ObjectIds of a parent and %zu children, all different", 4 * (kChildren + 1) * kDraws,
         kChildren);
}

TEST_P(Forks, RefuseAChildWhatOnlyTheParentCanHave) {
  StoreFolder folder;
  const std::string url = folder.url();
  const std::vector<std::pair<Settings, std::string>> cases = {
      {{{"worker", "1"}, {"store", url}}, "worker 1"},
      {{{"worker", "2"}, {"store", url}, {"order", "relaxed"}}, "worker 2"},
      {{{"kind", "segment"}, {"tag", "t"}, {"store", url}, {"on_fork", "error"}}, "on_fork"},
      {{{"kind", "segment"}, {"tag", "t"}, {"store", "memory"}, {"store_create", "true"}}, "memory"},
      {{{"worker", "3"}, {"store", "memory"}}, "worker 3"},
  };
  for (const auto& [settings, says] : cases) {
    Ids ids(settings);
    ASSERT_TRUE(ids) << ids.outcome().message;
    const std::uint64_t before = ids.next();
    const pid_t child = spawn_by(GetParam(), [&, says = says] {
      std::uint64_t id = 0, many[3];
      std::size_t written = 9;
      idgen_draw_t block = IDGEN_DRAW_INIT;
      if (idgen_try_next(ids.get(), &id) != IDGEN_E_FORKED) return 1;
      if (ids.next() != 0 || ids.outcome().status != IDGEN_E_FORKED) return 2;
      if (ids.outcome().message.find(says) == std::string::npos) return 3;
      if (idgen_next_batch(ids.get(), many, 3, &written, nullptr) != IDGEN_E_FORKED || written != 0) return 4;
      if (draw_block(ids.get(), 3, &block, nullptr) != IDGEN_E_FORKED) return 5;
      const idgen_stats_t stats = ids.stats();
      if (stats.granted != 0 || stats.lead_ms != 0) return 6;
      if (ids.close().status != IDGEN_OK) return 7;
      if (ids.next() != 0 || ids.outcome().status != IDGEN_E_CLOSED) return 8;
      return 0;
    });
    EXPECT_EQ(wait_for(child), 0) << says;
    EXPECT_GT(ids.next(), before) << "the parent goes on";
  }
}

// What a child does with its copy of the handle does not affect the parent's lease.
TEST_P(Forks, LeaveTheParentsWorkerAloneWhenTheChildClosesAndDestroys) {
  TempFolder folder;
  const Settings settings = {{"worker", "5"}, {"store", folder.url()}, {"store_create", "true"}};
  Ids ids(settings);
  ASSERT_TRUE(ids) << ids.outcome().message;
  const std::uint64_t before = ids.next();
  const auto third_process_is_refused = [&] {
    return wait_for(spawn([&] { return Ids(Settings(settings)).outcome().status == IDGEN_E_WORKER_BUSY ? 0 : 1; }));
  };
  // The third process is a child too, but its generator is made after the fork.
  EXPECT_EQ(third_process_is_refused(), 0);
  const pid_t child = spawn_by(GetParam(), [&] {
    if (ids.close().status != IDGEN_OK) return 1;
    ids = Ids();  // destroys
    Ids same(settings), other({{"worker", "6"}, {"store", folder.url()}});
    if (same.outcome().status != IDGEN_E_WORKER_BUSY) return 2;
    return other && other.next() ? 0 : 3;
  });
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(third_process_is_refused(), 0) << "the child has given the parent's worker away";
  EXPECT_GT(ids.next(), before);
  EXPECT_EQ(ids.close().status, IDGEN_OK);
  EXPECT_EQ(wait_for(spawn([&] { return Ids(Settings(settings)) ? 0 : 1; })), 0)
      << "after the parent's close it is free";
}

TEST_P(Forks, NestSoThatEveryGenerationDrawsItsOwn) {
  StoreFolder folder;
  constexpr std::size_t kGenerations = 5, kDraws = 2000;
  // A raw clone must not hit a store transaction (that has a test of its own): no refill is due before the mark of a
  // large segment.
  Ids ids({{"kind", "segment"},
           {"tag", "t"},
           {"segment.step", GetParam() == By::fork ? "700" : "100000"},
           {"store", folder.url()}});
  ASSERT_TRUE(ids) << ids.outcome().message;
  Shared<std::uint64_t> drawn(kGenerations * kDraws);
  std::function<int(std::size_t)> generation = [&](std::size_t n) {
    std::uint64_t* const mine = drawn.data() + n * kDraws;
    for (std::size_t i = 0; i < kDraws / 2; ++i) mine[i] = ids.next();
    int result = 0;
    if (n + 1 < kGenerations) {
      int how = 0;
      const pid_t child = spawn_by(GetParam(), [&] { return generation(n + 1); });
      for (std::size_t i = kDraws / 2; i < kDraws; ++i) mine[i] = ids.next();
      if (waitpid(child, &how, 0) != child || !WIFEXITED(how)) return 50;
      result = WEXITSTATUS(how);
    } else {
      for (std::size_t i = kDraws / 2; i < kDraws; ++i) mine[i] = ids.next();
    }
    return mine[kDraws - 1] == 0 ? 51 : result;
  };
  EXPECT_EQ(generation(0), 0);
  std::vector<std::vector<std::uint64_t>> lists;
  for (std::size_t n = 0; n < kGenerations; ++n) {
    lists.emplace_back(drawn.data() + n * kDraws, drawn.data() + (n + 1) * kDraws);
    EXPECT_TRUE(is_strictly_rising(lists.back())) << "generation " << n;
  }
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
  report("%zu ids of %zu generations, all different", kGenerations * kDraws, kGenerations);
}

// IDGEN_FORKS: how many children, about 100 if it is not set. Each leases a worker and draws a segment of its own, and
// ends without a close, as crashed processes do.
TEST_P(Forks, GiveEachOfManyChildrenAWorkerAndASegment) {
  const char* const wanted = std::getenv("IDGEN_FORKS");
  const std::size_t children = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 100 / kSlower + 1;
  constexpr std::size_t kDraws = 10;
  TempFolder folder;
  const std::string url = folder.url();
  make_store(url);
  Ids events({{"worker", "auto"}, {"store", url}});
  Ids orders({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "10"}, {"store", url}});
  ASSERT_TRUE(events && orders) << events.outcome().message << orders.outcome().message;
  Shared<std::uint64_t> mine(2 * kDraws);  // of the child that runs
  std::vector<std::vector<std::uint64_t>> all_events(1), all_orders(1);
  std::size_t refused = 0;
  for (std::size_t served = 0; served < children;) {
    all_events[0].push_back(events.next());
    all_orders[0].push_back(orders.next());
    std::fill_n(mine.data(), 2 * kDraws, 0);
    const pid_t child = spawn_by(GetParam(), [&] {
      for (std::size_t i = 0; i < kDraws; ++i) {
        if ((mine[i] = events.next()) != 0 && (mine[kDraws + i] = orders.next()) != 0) continue;
        const Outcome& failed = mine[i] == 0 ? events.outcome() : orders.outcome();
        if (failed.status == IDGEN_E_FORKED) return 3;
        return std::fprintf(stderr, "%s\n", failed.message.c_str()), 1;
      }
      return 0;
    });
    const int answer = wait_for(child);
    for (std::size_t i = 0; i < kDraws; ++i) {
      if (mine[i] != 0) all_events[0].push_back(mine[i]);
      if (mine[kDraws + i] != 0) all_orders[0].push_back(mine[kDraws + i]);
    }
    // A raw clone in the middle of a transaction of the parent's background thread may not use stores; another is made.
    if (GetParam() == By::raw_clone && answer == 3) {
      ASSERT_LT(++refused, 1000 + 10 * children);
    } else {
      ASSERT_EQ(answer, 0) << "child " << served;
      ++served;
    }
  }
  const std::size_t ids = all_events[0].size() + all_orders[0].size();
  EXPECT_EQ(count_duplicates(std::move(all_events)), 0u);
  EXPECT_EQ(count_duplicates(std::move(all_orders)), 0u);
  report("%zu ids of %zu children, all different; %zu more children were refused", ids, children, refused);
}

// Without the sanitizers: the allocator of ASan is copied with its locks held, and TSan lets no child start a thread
// where the parent's had been ("dup thread with used id").
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// The lock of the slow path, the store and the background thread are all in use at the moment of the fork.
TEST(ForkWhileThreadsDraw, GivesAHundredChildrenDifferentIds) {
  StoreFolder folder;
  constexpr std::size_t kChildren = 100, kDraws = 50, kThreads = 3;
  const std::string url = folder.url();
  Ids ids({{"kind", "segment"},
           {"tag", "t"},
           {"segment.step", "300"},
           {"store", url},
           {"store_timeout", "60s"},
           {"wait_max", "60s"}});
  Ids fixed({{"worker", "1"}, {"store", url}, {"store_timeout", "60s"}});
  ASSERT_TRUE(ids && fixed) << ids.outcome().message << fixed.outcome().message;
  std::atomic<bool> stop{false};
  std::vector<std::vector<std::uint64_t>> lists(kThreads);
  std::vector<std::thread> threads;
  std::atomic<std::size_t> failed{0};
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::uint64_t id = 0;
      while (!stop) {
        if (idgen_next(ids.get(), &id, nullptr) != IDGEN_OK) ++failed;
        lists[t].push_back(id);
        if (idgen_next(fixed.get(), &id, nullptr) != IDGEN_OK) ++failed;
      }
    });
  }
  Shared<std::uint64_t> drawn(kChildren * kDraws);
  std::vector<pid_t> children;
  for (std::size_t c = 0; c < kChildren; ++c) {
    children.push_back(spawn([&, c] {
      if (fixed.next() != 0 || fixed.outcome().status != IDGEN_E_FORKED) return 1;
      for (std::size_t i = 0; i < kDraws; ++i) {
        if ((drawn[c * kDraws + i] = ids.next()) == 0)
          return std::fprintf(stderr, "%s\n", ids.outcome().message.c_str()), 2;
      }
      ids = Ids();
      fixed = Ids();
      return 0;
    }));
    ASSERT_GT(children.back(), 0);
    if (c % 20 == 19) {
      for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
      children.clear();
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0u);
  std::size_t parents = 0;
  for (const auto& list : lists) parents += list.size();
  for (std::size_t c = 0; c < kChildren; ++c)
    lists.emplace_back(drawn.data() + c * kDraws, drawn.data() + (c + 1) * kDraws);
  EXPECT_GT(parents, 1000u);
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
  EXPECT_GT(ids.stats().refills, 5u) << "the store was to be in use while forking";
  report("%zu ids of %zu threads and %zu ids of %zu children, all different", parents, kThreads, kChildren * kDraws,
         kChildren);
}

// The fork page needs no handler: whatever the parent's threads are doing, the child finds none of their numbers.
TEST(RawCloneWhileThreadsDraw, LeavesTheChildNoNumberOfItsParent) {
  StoreFolder folder;
  constexpr std::size_t kChildren = 100, kDraws = 20;
  Ids ids({{"kind", "segment"},
           {"tag", "t"},
           {"segment.step", "2000"},
           {"store", folder.url()},
           {"wait_max", "60s"},
           {"store_timeout", "60s"}});
  ASSERT_TRUE(ids) << ids.outcome().message;
  std::atomic<bool> stop{false};
  std::vector<std::vector<std::uint64_t>> lists(1);
  std::thread drawer([&] {
    // No memory is allocated here: a raw clone would copy the allocator's lock in whatever state it is.
    lists[0].reserve(50'000'000);
    std::uint64_t id = 0;
    while (!stop && lists[0].size() < 50'000'000) {
      if (idgen_next(ids.get(), &id, nullptr) == IDGEN_OK) lists[0].push_back(id);
    }
  });
  Shared<std::uint64_t> drawn(kChildren * kDraws);
  Shared<int> outcomes(kChildren);
  for (std::size_t c = 0; c < kChildren; ++c) {
    const pid_t child = spawn_raw([&, c] {
      std::uint64_t id = 0;
      const idgen_status_t tried = idgen_try_next(ids.get(), &id);  // needs no memory
      outcomes[c] = tried;
      return tried == IDGEN_E_WOULD_BLOCK ? 0 : 1;
    });
    ASSERT_GT(child, 0);
    EXPECT_EQ(wait_for(child), 0) << "the parent's numbers are not a child's: got " << outcomes[c];
  }
  stop = true;
  drawer.join();
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
  report("%zu raw clones beside a thread that draws; none found a number of its parent", kChildren);
}
#endif

}  // namespace
}  // namespace idgen::faults
