// Several processes on one store: real processes, real kills.
#include <ctime>
#include <set>
#include <vector>

#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

using Processes = InAFolder;

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(Processes, SixteenThatDrawAtOnceGetDisjointRanges) {
  constexpr int kProcesses = 16;
  constexpr int kGrants = 8;
  constexpr std::uint64_t kCount = 7;
  const TempFolder folder;
  open_store(folder.url(), creating())->segment_create("ns", "t");
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>([&](int report) {
      const auto store = open_store(folder.url(), not_creating());
      for (int grant = 0; grant < kGrants; ++grant) {
        write_all(report, std::to_string(draw_from(store, "ns", "t", kCount)) + "\n");
      }
    }));
  }
  std::set<std::uint64_t> firsts;
  for (const auto& child : children) {
    for (int grant = 0; grant < kGrants; ++grant) {
      const std::string line = child->line();
      ASSERT_THAT(line, testing::MatchesRegex("[0-9]+"));
      EXPECT_TRUE(firsts.insert(std::stoull(line)).second) << line << " was granted twice";
    }
    EXPECT_EQ(child->wait(), 0);
  }
  std::uint64_t expected = 1;
  for (const std::uint64_t first : firsts) {
    EXPECT_EQ(first, expected);
    expected += kCount;
  }
  EXPECT_EQ(open_store(folder.url(), not_creating())->segment_show("ns", "t").max_id, kProcesses * kGrants * kCount);
}

// In a container the first process is always process 1, so the next one has the name of the one that was killed.
TEST_F(Processes, OneThatHasTheNameOfAnOwnerThatIsGoneIsNotTakenForIt) {
  const Child another([](int) { pause(); });
  const std::int64_t now_ms = std::time(nullptr) * 1000;
  const auto row_is_live = [&](std::uint64_t worker, pid_t process, std::int64_t at_ms) {
    WindowRequest request = window_request(worker, at_ms);
    char here[256] = "";
    gethostname(here, sizeof here - 1);
    request.holder = "process " + std::to_string(process) + " on " + here;
    EXPECT_EQ(in_child([&] {
                open_store(folder.url(), creating())->windows()->window_take(request);
                _exit(0);  // as if it was killed
                return std::string();
              }),
              "");
    const WindowInfo row = open_store(folder.url(), not_creating())->windows()->window_show(request.name_space, worker);
    EXPECT_EQ(row.holder, request.holder);
    EXPECT_EQ(row.is_by_name, row.is_live) << "nobody has its lock";
    return row.is_live;
  };
  EXPECT_FALSE(row_is_live(1, getpid(), now_ms)) << "it is this process, which would have a lock";
  EXPECT_FALSE(row_is_live(2, another.pid(), now_ms - 3'600'000)) << "it had not begun when that time was reserved";
  EXPECT_TRUE(row_is_live(3, another.pid(), now_ms)) << "it may have lost its lock";
}

TEST_F(Processes, SeveralThatRaceToCreateTheStoreMakeOne) {
  constexpr int kProcesses = 8;
  const TempFolder folder;
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(std::make_unique<Child>([&](int report) {
      write_all(report, std::to_string(draw_from(open_store(folder.url(), creating()), "ns", "t", 1)) + "\n");
    }));
  }
  std::set<std::string> numbers;
  for (const auto& child : children) numbers.insert(child->line());
  EXPECT_EQ(numbers, (std::set<std::string>{"1", "2", "3", "4", "5", "6", "7", "8"}));
  for (const auto& child : children) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2)
      << "a file was left over beside the database and its lock file";
}

// A process that owns worker 7 until it is killed or told to go.
std::unique_ptr<Child> owner_process(const std::string& url, std::int64_t now_ms) {
  return std::make_unique<Child>([=](int report) {
    const auto store = open_store(url, creating());
    const Window window = store->windows()->window_take(window_request(7, now_ms, 9));
    write_all(report, std::to_string(window.end_ms) + "\n");
    for (;;) pause();
  });
}

TEST_F(Processes, AnOwnerThatIsKilledIsReplacedAtOnceAndItsTimeIsNotUsedAgain) {
  std::int64_t last_end = 0;
  for (int round = 0; round < 5; ++round) {
    const auto owner = owner_process(folder.url(), 1000);
    const std::string line = owner->line();
    ASSERT_THAT(line, testing::MatchesRegex("[0-9]+"));
    const std::int64_t end = std::stoll(line);
    EXPECT_GT(end, last_end);
    const auto store = open_store(folder.url(), not_creating());
    EXPECT_FAILS(store->windows()->window_take(window_request(7, 1000)), Status::worker_busy,
                 "process " + std::to_string(owner->pid()) +
                     " on here (live); stop it, or give this process another worker number");
    owner->kill_now();
    const Window window = store->windows()->window_take(window_request(7, 1000));
    EXPECT_GE(window.start_ms, end);
    last_end = window.end_ms;
  }
}

TEST_F(Processes, DestroyingOneStoreKeepsTheWorkersOfAnother) {
  const auto keeper = open_store(folder.url(), creating());
  keeper->windows()->window_take(window_request(7, 1000));
  {
    const auto other = open_store(folder.url(), creating());
    const Window window = other->windows()->window_take(window_request(8, 1000));
    other->windows()->window_return("orders", 8, window.fence, window.end_ms, window.start_ms);
    draw_from(other, "ns", "t", 1);
  }
  EXPECT_THAT(acquire_elsewhere(folder, 7),
              HasSubstr("WORKER_BUSY: worker 7 of namespace 'orders' is owned by process " + std::to_string(getpid())));
}

TEST_F(Processes, TheHolderIsNamedAsItsRowNamesIt) {
  const auto owner = owner_process(folder.url(), 1000);
  owner->line();
  run_sql(folder.file("ids.db"), "UPDATE idgen_worker SET holder = 'a service'");
  EXPECT_FAILS(open_store(folder.url(), not_creating())->windows()->window_take(window_request(7, 1000)),
               Status::worker_busy, "is owned by a service (live)");
}

TEST_F(Processes, WithTheLockFileDeletedTwoOwnersStillGetDisjointWindows) {
  const auto store = open_store(folder.url(), creating());
  const WindowRequest request = window_request(7, 1000);
  const Window mine = store->windows()->window_take(request);
  fs::remove(folder.file("ids.db-lock"));
  const auto other = owner_process(folder.url(), 1000);
  const std::int64_t other_end = std::stoll(other->line());
  EXPECT_GT(other_end, mine.end_ms);
  EXPECT_FAILS(store->windows()->window_take(renewal(request, mine, 1000)), Status::worker_busy,
               "grant 1 has ended, the store is at grant 2");
  EXPECT_FAILS(store->windows()->window_take(request), Status::worker_busy, std::to_string(other->pid()));
  other->kill_now();
  EXPECT_EQ(store->windows()->window_take(request).start_ms, other_end);
}

TEST_F(Processes, WithTheLockFileDeletedLocksAreTakenAnewByTheNextAcquire) {
  const auto store = open_store(folder.url(), creating());
  const WindowRequest request = window_request(7, 1000);
  const Window mine = store->windows()->window_take(request);
  fs::remove(folder.file("ids.db-lock"));
  store->windows()->window_take(window_request(8, 1000));
  EXPECT_THAT(acquire_elsewhere(folder, 7), HasSubstr("WORKER_BUSY"));
  EXPECT_EQ(store->windows()->window_take(renewal(request, mine, 1000)).start_ms, mine.end_ms);
}

TEST_F(Processes, WorkersOfDifferentProcessesDoNotDisturbEachOther) {
  const auto owner = owner_process(folder.url(), 1000);
  owner->line();
  const auto store = open_store(folder.url(), not_creating());
  const WindowRequest request = window_request(8, 1000);
  const Window window = store->windows()->window_take(request);
  store->windows()->window_take(renewal(request, window, 6000));
  store->windows()->window_return("orders", 8, window.fence, window.end_ms, 1000);
  EXPECT_FAILS(store->windows()->window_take(window_request(7, 1000)), Status::worker_busy,
               std::to_string(owner->pid()));
}

TEST_F(Processes, AKillInTheMiddleOfACommitLosesNothingThatWasAcknowledged) {
  open_store(folder.url(), creating())->segment_create("ns", "t");
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 10; ++round) {
    Child child([&](int report) {
      const auto store = open_store(folder.url(), not_creating());
      for (;;) write_all(report, std::to_string(draw_from(store, "ns", "t", 1)) + "\n");
    });
    for (int i = 0; i <= round % 3; ++i) {
      const std::string line = child.line();
      ASSERT_THAT(line, testing::MatchesRegex("[0-9]+"));
      EXPECT_GT(std::stoull(line), acknowledged);
      acknowledged = std::stoull(line);
    }
    kill(child.pid(), SIGKILL);  // wherever it is by now
    for (std::string line = child.line(); !line.empty(); line = child.line()) {
      EXPECT_GT(std::stoull(line), acknowledged);
      acknowledged = std::stoull(line);
    }
    child.wait();
  }
  EXPECT_GT(draw_from(open_store(folder.url(), not_creating()), "ns", "t", 1), acknowledged);
  EXPECT_EQ(run_sql(folder.file("ids.db"), "PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace idgen
