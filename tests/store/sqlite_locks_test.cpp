// Two writers stay separate, and owners known, whatever the host does to SQLite's locks and to our descriptors.
#include <sys/syscall.h>

#include <chrono>
#include <vector>

#include "patience.hpp"
#include "store/lock_wait.hpp"
#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

using SqliteLocksDropped = InAFolder;
using SqliteLocks = InAFolder;
using HostThatClosesAllDescriptors = InAFolder;
using ForkedChild = InAFolder;
using RawClone = InAFolder;

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

std::shared_ptr<Store> store_with_tag_at_10(const TempFolder& folder) {
  draw_from(open_store(folder.url(), creating()), "ns", "t", 10);
  return open_store(folder.url(), not_creating());
}

// --------------------------------------------------------------------------------- SQLite's locks, dropped by the host

TEST_F(SqliteLocksDropped, InTheMiddleOfATransactionLetNoOtherProcessIn) {
  const auto store = store_with_tag_at_10(folder);
  WaitingProcess other(
      [&] { return report_of([&] { draw_from(open_store(folder.url(), not_creating(100)), "ns", "t", 10); }); });
  std::string report;
  {
    const AtCommit dropping([&](const char* journal) {
      open_and_close(folder.file("ids.db"));
      report = other.go();
      return unlink(journal);
    });
    EXPECT_EQ(draw_from(store, "ns", "t", 10), 11u);
  }
  EXPECT_THAT(report, StartsWith("STORE_UNAVAILABLE"));
  EXPECT_THAT(report, HasSubstr("locked by another process or thread; waited 100 ms"));
  EXPECT_EQ(draw_from(store, "ns", "t", 10), 21u);
}

// A foreign reader finds a journal and no lock, as after a crash, and rolls the commit back.
std::string read_with_sqlite(const TempFolder& folder) {
  return run_sql(folder.file("ids.db"), "SELECT max_id FROM idgen_segment");
}

TEST_F(SqliteLocksDropped, ACommitThatAReaderHasRolledBackIsNotUsed) {
  for (const bool journal_was_gone : {false, true}) {
    const TempFolder folder;
    const auto store = store_with_tag_at_10(folder);
    WaitingProcess reader([&] { return read_with_sqlite(folder); });
    Error error(Status::ok, "");
    std::string seen;
    {
      // Either we find the journal gone, or we were the first to delete it and the reader had opened it before.
      const AtCommit dropping([&](const char* journal) {
        open_and_close(folder.file("ids.db"));
        seen = reader.go();
        return journal_was_gone ? unlink(journal) : 0;
      });
      error = error_of([&] { draw_from(store, "ns", "t", 10); });
    }
    EXPECT_EQ(seen, "10") << "the reader rolled nothing back, so this shows nothing";
    EXPECT_EQ(error.status(), Status::store_unavailable) << error.message();
    if (!journal_was_gone) {
      EXPECT_THAT(error.message(), HasSubstr("rolled a commit back"));
      EXPECT_LT(error.message().size(), 496u);
    }
    EXPECT_EQ(draw_from(store, "ns", "t", 10), 11u);
  }
}

TEST_F(SqliteLocksDropped, WhileAReaderHasTheFileTheCommitIsNotConfirmed) {
  const auto store = store_with_tag_at_10(folder);
  auto reader = std::make_unique<WaitingProcess>([&] {
    static RawDatabase db(folder.file("ids.db"));
    db.run("BEGIN EXCLUSIVE");
    return std::string("locked");
  });
  Error error(Status::ok, "");
  {
    const AtCommit dropping([&](const char* journal) {
      const int result = unlink(journal);
      open_and_close(folder.file("ids.db"));
      return reader->go() == "locked" ? result : -1;
    });
    error = error_of([&] { draw_from(store, "ns", "t", 10); });
  }
  EXPECT_EQ(error.status(), Status::store_unavailable) << error.message();
  reader.reset();
  EXPECT_EQ(draw_from(store, "ns", "t", 10), 21u);  // it was made after all; the numbers are burned
}

TEST_F(SqliteLocks, AreTakenWhateverTheHostHasMadeTheDefault) {
  store_with_tag_at_10(folder);
  const std::string report = in_child([&] {
    sqlite3_vfs_register(sqlite3_vfs_find("unix-none"), 1);
    // A program that knows nothing of our lock file sees SQLite's.
    WaitingProcess writer([&]() -> std::string {
      sqlite3_vfs_register(sqlite3_vfs_find("unix"), 1);
      sqlite3* db = nullptr;
      sqlite3_open(folder.file("ids.db").c_str(), &db);
      const int result = sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
      sqlite3_close(db);
      return result == SQLITE_BUSY ? "busy" : "result " + std::to_string(result);
    });
    std::string seen;
    const AtCommit asking([&](const char* journal) {
      seen = writer.go();
      return unlink(journal);
    });
    return std::to_string(draw_from(open_store(folder.url(), not_creating()), "ns", "t", 10)) + " " + seen;
  });
  EXPECT_EQ(report, "11 busy");
}

// -------------------------------------------------------------------------------------------- descriptors and children

// The files that a host opens after it has closed everything; they must stay untouched.
class HostsFiles {
 public:
  // keep: a descriptor that is not closed.
  HostsFiles(const TempFolder& folder, int keep) {
    for (int fd = 3; fd < 256; ++fd) {
      if (fd != keep) close(fd);
    }
    for (int i = 0; i < 12; ++i) {
      names_.push_back(folder.file("host" + std::to_string(i)));
      fds_.push_back(open(names_.back().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    }
  }
  std::string state() const {
    for (std::size_t i = 0; i < fds_.size(); ++i) {
      struct stat here {};
      struct stat there {};
      if (fstat(fds_[i], &here) != 0) return names_[i] + " was closed";
      if (stat(names_[i].c_str(), &there) != 0 || here.st_ino != there.st_ino) return names_[i] + " is another file";
      if (write(fds_[i], "x", 1) != 1 || lseek(fds_[i], 0, SEEK_CUR) != 1) return names_[i] + " cannot be written";
      if (lseek(fds_[i], 0, SEEK_SET) != 0) return names_[i] + " cannot be rewound";
    }
    return "untouched";
  }

 private:
  std::vector<std::string> names_;
  std::vector<int> fds_;
};

TEST_F(HostThatClosesAllDescriptors, KeepsThoseThatItOpensThenAndWeOurWorker) {
  Child host([&](int report) {
    const auto store = open_store(folder.url(), creating());
    const WindowRequest request = window_request(1, 1000);
    const Window window = store->windows()->window_take(request);
    const HostsFiles files(folder, report);
    store->windows()->window_take(renewal(request, window, 1000));
    write_all(report, files.state() + "\n" + acquire_elsewhere(folder, 1) + "\n");
    store->windows()->window_take(window_request(2, 1000));
    write_all(report, acquire_elsewhere(folder, 2) + "\n");
    const Window second = store->windows()->window_take(window_request(3, 1000));
    store->windows()->window_return("orders", 3, second.fence, second.end_ms, 1000);
    write_all(report, files.state() + "\n" + acquire_elsewhere(folder, 3) + "\n");
  });
  EXPECT_EQ(host.line(), "untouched");
  EXPECT_THAT(host.line(), StartsWith("WORKER_BUSY: worker 1"));
  EXPECT_THAT(host.line(), StartsWith("WORKER_BUSY: worker 2"));
  EXPECT_EQ(host.line(), "untouched");
  EXPECT_EQ(host.line(), "OK: nothing was thrown");
}

TEST_F(HostThatClosesAllDescriptors, InAChildKeepsThoseThatItOpensThen) {
  const auto store = open_store(folder.url(), creating());
  store->windows()->window_take(window_request(1, 1000));
  Child daemon([&](int report) {
    const HostsFiles files(folder, report);
    store->windows()->window_take(window_request(2, 1000));
    write_all(report, files.state() + "\n");
  });
  EXPECT_EQ(daemon.line(), "untouched");
}

// Like a daemon without standard streams that prints all the same.
TEST_F(HostThatClosesAllDescriptors, PrintsIntoNoFileOfTheStore) {
  store_with_tag_at_10(folder);
  Child daemon([&](int report) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) close(fd);
    const AtCommit looking([&](const char* journal) {
      for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        char file[4096] = "closed";
        if (readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), file, sizeof file - 1) < 0) errno = 0;
        write_all(report, std::string(file) + "\n");
      }
      return unlink(journal);
    });
    open_store(folder.url(), not_creating())->windows()->window_take(window_request(1, 1000));
  });
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    EXPECT_THAT(daemon.line(), testing::AnyOf("closed", "/dev/null")) << fd;
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(HostThatClosesAllDescriptors, LosesAWorkerThatSomebodyElseTookMeanwhileAndIssuesNothingTwice) {
  Child host([&](int report) {
    const auto store = open_store(folder.url(), creating());
    const WindowRequest request = window_request(1, 1000);
    const Window window = store->windows()->window_take(request);
    const HostsFiles files(folder, report);
    Child other([&](int other_report) {
      const auto mine = open_store(folder.url(), not_creating());
      write_all(other_report, std::to_string(mine->windows()->window_take(window_request(1, 1000, 2)).start_ms) + "\n");
      for (;;) pause();
    });
    const bool is_disjoint = other.line() == std::to_string(window.end_ms);
    const std::string again = report_of([&] { store->windows()->window_take(request); });
    const std::string renewed = report_of([&] { store->windows()->window_take(renewal(request, window, 1000)); });
    write_all(report, std::string(is_disjoint ? "disjoint\n" : "overlap\n") + again + "\n" + renewed + "\n" +
                          files.state() + "\n");
  });
  EXPECT_EQ(host.line(), "disjoint");
  EXPECT_THAT(host.line(), HasSubstr("(live)"));
  EXPECT_THAT(host.line(), StartsWith("WORKER_BUSY: worker 1 of namespace 'orders': grant 1 has ended"));
  EXPECT_EQ(host.line(), "untouched");
}

TEST_F(ForkedChild, ThatOutlivesItsParentDoesNotKeepTheParentsWorker) {
  Child parent([&](int report) {
    const auto store = open_store(folder.url(), creating());
    store->windows()->window_take(window_request(7, 1000));
    const pid_t child = fork();
    if (child == 0) {
      write_all(report, std::to_string(getpid()) + "\n");
      for (;;) pause();
    }
    for (;;) pause();
  });
  const pid_t orphan = std::stoi(parent.line());
  EXPECT_THAT(acquire_elsewhere(folder, 7), StartsWith("WORKER_BUSY"));
  parent.kill_now();
  EXPECT_EQ(acquire_elsewhere(folder, 7), "OK: nothing was thrown");
  kill(orphan, SIGKILL);
}

TEST_F(RawClone, MadeInTheMiddleOfATransactionDoesNotKeepTheStoreLocked) {
  const auto store = store_with_tag_at_10(folder);
  pid_t clone = -1;
  {
    const AtCommit cloning([&](const char* journal) {
      clone = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
      if (clone == 0) {
        for (;;) syscall(SYS_pause);
      }
      return unlink(journal);
    });
    EXPECT_EQ(draw_from(store, "ns", "t", 10), 11u);
  }
  ASSERT_GT(clone, 0);
  const std::string report =
      in_child([&] { return std::to_string(draw_from(open_store(folder.url(), not_creating(2000)), "ns", "t", 10)); });
  kill(clone, SIGKILL);
  waitpid(clone, nullptr, 0);
  EXPECT_EQ(report, "21");
}

TEST_F(RawClone, ThatOutlivesItsParentKeepsTheWorkerUntilItEnds) {
  Child parent([&](int report) {
    const auto store = open_store(folder.url(), creating());
    store->windows()->window_take(window_request(7, 1000));
    const long clone = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (clone == 0) {
      for (;;) syscall(SYS_pause);
    }
    write_all(report, std::to_string(clone) + "\n");
    for (;;) pause();
  });
  const pid_t orphan = std::stoi(parent.line());
  parent.kill_now();
  EXPECT_THAT(acquire_elsewhere(folder, 7), StartsWith("WORKER_BUSY"));  // fails closed
  kill(orphan, SIGKILL);
  std::string report;
  EXPECT_TRUE(becomes_true([&] { return (report = acquire_elsewhere(folder, 7)) == "OK: nothing was thrown"; }))
      << report;
}

// -------------------------------------------------------------------------------------------------- who is next

// Stands where it is set.
struct SetClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using time_point = std::chrono::time_point<SetClock>;
  static time_point now() { return time_point(at); }
  static inline duration at{0};
};

class TheTurnIsTaken : public ::testing::Test {
 protected:
  TheTurnIsTaken() { EXPECT_TRUE(has_turn->try_lock(kTurnByte, 6)); }
  std::optional<LockFile> open() { return LockFile::open(path); }
  bool asks(std::chrono::milliseconds after) {
    SetClock::at += after;
    return wait.try_lock(*file, path);
  }

  TempFolder folder;
  const std::string path = folder.file("ids.db-lock");
  std::optional<LockFile> has_turn = (store_with_tag_at_10(folder), open());
  std::optional<LockFile> file = open();
  LockWait<SetClock> wait{60'000};
};

TEST_F(TheTurnIsTaken, ByAProcessThatIsStoppedIfTheLockStaysFree) {
  EXPECT_FALSE(asks(std::chrono::milliseconds(0)));
  for (int look = 0; look < 19; ++look) EXPECT_FALSE(asks(std::chrono::milliseconds(1)));
  EXPECT_TRUE(asks(std::chrono::milliseconds(1)));
}

TEST_F(TheTurnIsTaken, ByAProcessThatGoesFirstIfTheLockIsTakenAgainAndAgain) {
  const std::optional<LockFile> other = open();
  for (int look = 0; look < 999; ++look) {
    if (look % 10 == 0) {
      ASSERT_TRUE(other->try_lock(kTransactionByte));
    }
    EXPECT_FALSE(asks(std::chrono::milliseconds(1)));
    if (look % 10 == 0) other->unlock(kTransactionByte);
  }
  EXPECT_TRUE(asks(std::chrono::milliseconds(1))) << "who has waited for a second asks all the same";
}

}  // namespace
}  // namespace idgen
