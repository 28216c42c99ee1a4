// The store fails while a generator is running: callers use the reserve, then get errors, then continue when the store
// is up again.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "patience.hpp"
#include "support.hpp"

namespace idgen::faults {
namespace {

namespace fs = std::filesystem;

Settings segment(const std::string& url, const char* step = "1000") {
  return {{"kind", "segment"},
          {"tag", "t"},
          {"store", url},
          {"segment.step", step},
          {"segment.runway", "0ms"},
          {"wait_max", "300ms"},
          {"store_timeout", "100ms"}};
}

// Draws until a call fails, but not more than `most`. How many.
std::size_t draw_all(Ids& ids, std::vector<std::uint64_t>& out, std::size_t most = 100'000) {
  std::size_t count = 0;
  for (std::uint64_t id; count < most && (id = ids.next()) != 0; ++count) out.push_back(id);
  return count;
}

// The same after another file replaced the store's. A refill under way at that moment finds its own file missing; a
// later one opens the new file.
std::size_t draw_all_after_exchange(Ids& ids, std::vector<std::uint64_t>& out, std::size_t most = 100'000) {
  std::size_t count = 0;
  EXPECT_TRUE(becomes_true([&] {
    count += draw_all(ids, out, most - count);
    return count >= most || ids.outcome().status != IDGEN_E_STORE_MISSING;
  })) << "the file that replaced the store's is not found: "
      << ids.outcome().message;
  return count;
}

// Waits until the store is asked again: while it fails, attempts are some time apart.
bool recovers(Ids& ids, std::vector<std::uint64_t>& out) {
  std::uint64_t id = 0;
  const bool ended = becomes_true([&] {
    if ((id = ids.next()) != 0) return true;
    return !idgen_status_is_retryable(ids.outcome().status) && ids.outcome().status != IDGEN_E_STORE_MISSING &&
           ids.outcome().status != IDGEN_E_STORE_PERMISSION;
  });
  if (id != 0) out.push_back(id);
  return ended && id != 0;
}

// Waits until the store has granted that many ranges.
bool has_granted(Ids& ids, std::uint64_t ranges) {
  return becomes_true([&] { return ids.stats().refills >= ranges; }) && ids.stats().refills == ranges;
}

TEST(StoreLockedByAnother, IsServedFromStockThenRefusedThenRecovered) {
  StoreFolder folder;
  Ids ids(segment(folder.url()));
  ASSERT_TRUE(ids) << ids.outcome().message;
  std::vector<std::uint64_t> drawn;
  draw_all(ids, drawn, 1500);  // the second segment is in use, so the first of what follows is reserved already
  {
    Locker locker(folder.file("ids.db"));
    const std::uint64_t stock = ids.stats().remaining;
    const std::uint64_t waits = ids.stats().store_waits;
    const std::size_t served = draw_all(ids, drawn, stock);
    EXPECT_EQ(served, stock) << ids.outcome().message;
    EXPECT_EQ(ids.stats().store_waits, waits) << "nobody waits while there is stock";
    std::size_t more = draw_all(ids, drawn);  // one that was on its way may have been granted
    EXPECT_LE(more, 1000u);
    EXPECT_EQ(ids.outcome().status, IDGEN_E_STORE_UNAVAILABLE);
    EXPECT_EQ(idgen_status_is_retryable(ids.outcome().status), 1);
    EXPECT_NE(ids.outcome().message.find("wait_max"), std::string::npos) << ids.outcome().message;
    const std::int64_t again = mono_ns();
    EXPECT_EQ(ids.next(), 0u);
    const double waited_ms = static_cast<double>(mono_ns() - again) / 1e6;
    EXPECT_GE(waited_ms, 250) << "a retryable failure is waited for, up to wait_max";
    EXPECT_NE(ids.outcome().message.find("wait_max"), std::string::npos) << ids.outcome().message;
    EXPECT_GT(ids.stats().store_waits, waits);
    EXPECT_GE(ids.stats().refill_failures, 1u);
    usleep(2'000'000);  // an outage of a few seconds: the fault itself, not a wait for something
    EXPECT_EQ(ids.next(), 0u);
  }
  EXPECT_TRUE(recovers(ids, drawn)) << ids.outcome().message;
  draw_all(ids, drawn, 5000);
  EXPECT_TRUE(is_strictly_rising(drawn));
  report("%zu ids before, during and after a lock, rising", drawn.size());
}

TEST(StoreLockedByAnother, LetsASnowflakeGoOnInsideItsWindow) {
  TempFolder folder;
  Ids ids({{"worker", "1"},
           {"store", folder.url()},
           {"store_create", "true"},
           {"window", "1s"},
           {"wait_max", "300ms"},
           {"store_timeout", "100ms"}});
  ASSERT_TRUE(ids) << ids.outcome().message;
  std::vector<std::uint64_t> drawn;
  {
    Locker locker(folder.file("ids.db"));
    const std::int64_t start = mono_ns();
    while (const std::uint64_t id = ids.next()) {
      drawn.push_back(id);
      ASSERT_LT((id >> 22) - (drawn.front() >> 22), 5000u) << "a window of 1 s has ids of 5 s";
    }
    EXPECT_GT(mono_ns() - start, 800'000'000) << "what was reserved was not used";
    EXPECT_EQ(ids.outcome().status, IDGEN_E_STORE_UNAVAILABLE) << ids.outcome().message;
  }
  EXPECT_TRUE(recovers(ids, drawn)) << ids.outcome().message;
  EXPECT_TRUE(is_strictly_rising(drawn));
  report("%zu ids during and after a lock, rising", drawn.size());
}

TEST(StoreLockedByAnother, StillClosesAndFreesTheWorker) {
  TempFolder folder;
  const Settings settings = {
      {"worker", "1"}, {"store", folder.url()}, {"store_create", "true"}, {"store_timeout", "100ms"}};
  Ids ids(settings);
  const std::uint64_t before = ids.next();
  ASSERT_NE(before, 0u) << ids.outcome().message;
  {
    Locker locker(folder.file("ids.db"));
    const Outcome closed = ids.close();
    EXPECT_EQ(closed.status, IDGEN_OK) << "the work is done: a gap is no failure. " << closed.message;
    EXPECT_EQ(ids.next(), 0u);
    EXPECT_EQ(ids.outcome().status, IDGEN_E_CLOSED);
  }
  Ids again(settings);  // the first handle is closed, not yet destroyed
  ASSERT_TRUE(again) << again.outcome().message;
  EXPECT_GT(again.next(), before);
}

TEST(StoreFileDeleted, IsNoticedAndNeverBegunAnew) {
  for (const char* create : {"false", "true"}) {
    StoreFolder folder;
    Settings settings = segment(folder.url());
    settings.emplace_back("store_create", create);
    Ids ids(settings);
    ASSERT_TRUE(ids) << ids.outcome().message;
    std::vector<std::uint64_t> drawn;
    draw_all(ids, drawn, 1500);
    fs::remove(folder.file("ids.db"));
    const std::size_t served = draw_all(ids, drawn);
    EXPECT_GE(served, 500u);
    EXPECT_LE(served, 2500u);
    EXPECT_EQ(ids.outcome().status, IDGEN_E_STORE_MISSING) << ids.outcome().message;
    EXPECT_TRUE(is_strictly_rising(drawn));
    // Nor by a process that starts now: the lock file says that there was a store.
    Ids another(settings);
    EXPECT_FALSE(another);
    EXPECT_EQ(another.outcome().status, IDGEN_E_STORE_MISSING) << another.outcome().message;
    EXPECT_FALSE(fs::exists(folder.file("ids.db")));
  }
}

TEST(StoreFileDeleted, AndBroughtBackIsUsedAgain) {
  StoreFolder folder;
  Ids ids(segment(folder.url()));
  std::vector<std::uint64_t> drawn;
  draw_all(ids, drawn, 1500);
  usleep(50'000);  // let a refill on its way arrive: the copy must hold all grants
  fs::rename(folder.file("ids.db"), folder.file("away.db"));
  draw_all(ids, drawn);
  EXPECT_EQ(ids.outcome().status, IDGEN_E_STORE_MISSING) << ids.outcome().message;
  fs::rename(folder.file("away.db"), folder.file("ids.db"));
  EXPECT_TRUE(recovers(ids, drawn)) << ids.outcome().message;
  draw_all(ids, drawn, 3000);
  EXPECT_TRUE(is_strictly_rising(drawn));
}

TEST(StoreReplacedByAnOlderCopy, StopsSegments) {
  StoreFolder folder;
  Ids ids(segment(folder.url()));
  std::vector<std::uint64_t> drawn;
  draw_all(ids, drawn, 100);
  fs::copy_file(folder.file("ids.db"), folder.file("old.db"));
  draw_all(ids, drawn, 20'000);
  fs::rename(folder.file("old.db"), folder.file("ids.db"));
  const std::size_t served = draw_all_after_exchange(ids, drawn);
  EXPECT_LE(served, 3000u);
  EXPECT_EQ(ids.outcome().status, IDGEN_E_STORE_REGRESSED) << ids.outcome().message;
  EXPECT_EQ(idgen_status_is_retryable(ids.outcome().status), 0);
  EXPECT_EQ(ids.next(), 0u);
  EXPECT_EQ(ids.outcome().status, IDGEN_E_STORE_REGRESSED);
  EXPECT_TRUE(is_strictly_rising(drawn));
  report("%zu ids before the older copy stopped the tag, rising", drawn.size());
}

TEST(StoreReplacedByAnOlderCopy, NeverMakesASnowflakeRepeat) {
  TempFolder folder;
  Clock clock(kEpochMs + 1'000'000'000);
  Ids ids({{"worker", "1"}, {"store", folder.url()}, {"store_create", "true"}, {"wait_max", "300ms"}}, &clock);
  std::vector<std::uint64_t> drawn;
  draw_all(ids, drawn, 100);
  fs::copy_file(folder.file("ids.db"), folder.file("old.db"));
  for (int second = 0; second < 30; ++second) {  // several windows further
    clock.move_ms(1000);
    draw_all(ids, drawn, 10);
  }
  EXPECT_GE(ids.stats().refills, 3u);
  fs::rename(folder.file("old.db"), folder.file("ids.db"));
  for (int second = 0; second < 60; ++second) {
    clock.move_ms(1000);
    if (draw_all_after_exchange(ids, drawn, 10) < 10) break;
  }
  // Either the requested time is above all that was granted, or issuing has stopped.
  if (ids.outcome().status != IDGEN_OK) {
    EXPECT_EQ(ids.outcome().status, IDGEN_E_STORE_REGRESSED) << ids.outcome().message;
  }
  EXPECT_TRUE(is_strictly_rising(drawn));
}

TEST(StoreFolderMadeReadOnly, IsSaidAndRecoveredFrom) {
  // root may write anywhere, so the generator runs as nobody, in a child.
  TempFolder folder;
  ASSERT_EQ(mkdir(folder.file("data").c_str(), 0777), 0);
  ASSERT_EQ(chmod(folder.file("").c_str(), 0755), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder.file("data").c_str(), 65534, 65534), 0);
  }
  const pid_t child = spawn([&] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 1;
    make_store(folder.url("data/ids.db"));
    Ids ids(segment(folder.url("data/ids.db")));
    std::vector<std::uint64_t> drawn;
    if (draw_all(ids, drawn, 1500) != 1500) return 2;
    if (chmod(folder.file("data").c_str(), 0555) != 0) return 3;
    if (draw_all(ids, drawn) > 3000) return 4;
    if (ids.outcome().status != IDGEN_E_STORE_PERMISSION)
      return std::fprintf(stderr, "%s\n", ids.outcome().message.c_str()), 5;
    if (ids.outcome().message.find("folder") == std::string::npos) return 6;
    if (chmod(folder.file("data").c_str(), 0755) != 0) return 7;
    if (!recovers(ids, drawn)) return 8;
    return is_strictly_rising(drawn) ? 0 : 9;
  });
  EXPECT_EQ(wait_for(child), 0);
}

int runs_out_of_room(const std::string& url, const std::function<bool()>& fill, const std::function<bool()>& free) {
  Ids ids(segment(url));
  std::vector<std::uint64_t> drawn;
  if (draw_all(ids, drawn, 1700) != 1700) return 2;
  // A grant on its way uses space that it frees after `fill`, and then the store is not full.
  if (!has_granted(ids, 3)) return 10;
  if (!fill()) return 3;
  if (draw_all(ids, drawn) != 1300) return 4;  // what is left of the second range, and the third
  if (ids.outcome().status != IDGEN_E_STORE_FULL) return std::fprintf(stderr, "%s\n", ids.outcome().message.c_str()), 5;
  if (!idgen_status_is_retryable(IDGEN_E_STORE_FULL)) return 6;
  if (!free()) return 7;
  if (!recovers(ids, drawn)) return 8;
  draw_all(ids, drawn, 3000);
  return is_strictly_rising(drawn) ? 0 : 9;
}

// No file may grow, as with a full disk: SQLite cannot write its journal.
TEST(StoreWithoutRoom, BecauseOfALimitIsSaidAndRecoveredFrom) {
  TempFolder folder;
  const pid_t child = spawn([&] {
    signal(SIGXFSZ, SIG_IGN);
    make_store(folder.url());
    const auto limit = [](rlim_t bytes) {
      rlimit now{};
      getrlimit(RLIMIT_FSIZE, &now);
      now.rlim_cur = bytes;
      return setrlimit(RLIMIT_FSIZE, &now) == 0;
    };
    return runs_out_of_room(
        folder.url(), [&] { return limit(0); }, [&] { return limit(RLIM_INFINITY); });
  });
  EXPECT_EQ(wait_for(child), 0);
}

// A real full device: a small one in memory, if the system lets us mount it. Otherwise only the limit above tests this.
TEST(StoreWithoutRoom, BecauseTheDeviceIsFullIsSaidAndRecoveredFrom) {
  constexpr int kCannotMount = 77;
  TempFolder folder;
  ASSERT_EQ(mkdir(folder.file("disk").c_str(), 0755), 0);
  const pid_t child = spawn([&] {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.file("disk").c_str(), "tmpfs", 0, "size=512k") != 0) {
      return kCannotMount;
    }
    make_store(folder.url("disk/ids.db"));
    const std::string filler = folder.file("disk/filler");
    return runs_out_of_room(
        folder.url("disk/ids.db"),
        [&] {
          const int fd = open(filler.c_str(), O_WRONLY | O_CREAT, 0644);
          const std::string chunk(4096, 'x');
          while (write(fd, chunk.data(), chunk.size()) > 0) {
          }
          const bool full = errno == ENOSPC;
          close(fd);
          return full;
        },
        [&] { return unlink(filler.c_str()) == 0; });
  });
  const int result = wait_for(child);
  if (result == kCannotMount)
    GTEST_SKIP() << "this user may not mount a file system; the test with a limit on file sizes stands in";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace idgen::faults
