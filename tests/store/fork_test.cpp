// Stores and children: fork(), and clone() that runs no fork handlers.
#include <pthread.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "store/fork_gate.hpp"
#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

using ForkedChild = InAFolder;
using HostsForkHandler = InAFolder;
using RawClone = InAFolder;
using TheForkGate = InAFolder;

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(ForkedChild, UsesTheSameStoreAndGetsNumbersOfItsOwn) {
  const auto store = open_store(folder.url(), creating());
  EXPECT_EQ(draw_from(store, "ns", "t", 10), 1u);
  EXPECT_EQ(in_child([&] { return std::to_string(draw_from(store, "ns", "t", 10)); }), "11");
  EXPECT_EQ(draw_from(store, "ns", "t", 10), 21u);
}

TEST_F(ForkedChild, DoesNotInheritTheParentsWorker) {
  const auto store = open_store(folder.url(), creating());
  const WindowRequest request = window_request(7, 1000);
  const Window window = store->windows()->window_take(request);
  const std::string report = in_child([&] {
    return report_of([&] { store->windows()->window_take(renewal(request, window, 1000)); }) + "\n" +
           report_of([&] { store->windows()->window_take(request); }) + "\n" + report_of([&] {
             store->windows()->window_return("orders", 7, window.fence, window.end_ms, window.start_ms);
           }) +
           "\n" + std::to_string(store->windows()->window_take(window_request(8, 1000)).fence);
  });
  EXPECT_THAT(report, StartsWith("WORKER_BUSY"));
  EXPECT_THAT(report, HasSubstr("\nWORKER_BUSY: worker 7 of namespace 'orders' is owned by process " +
                                std::to_string(getpid())));
  EXPECT_THAT(report,
              HasSubstr("\nOK: nothing was thrown\n1"));  // a return that does not belong to the child does nothing
  const Window next = store->windows()->window_take(renewal(request, window, 1000));
  EXPECT_EQ(next.start_ms, window.end_ms);
}

TEST_F(ForkedChild, ThatDestroysTheStoreLeavesTheParentsWorkerAlone) {
  auto store = open_store(folder.url(), creating());
  store->windows()->window_take(window_request(7, 1000));
  in_child([&] {
    store.reset();
    return std::string("done");
  });
  EXPECT_THAT(acquire_elsewhere(folder, 7), StartsWith("WORKER_BUSY"));
}

TEST_F(ForkedChild, KeepsItsOwnWorkerWhenItUsesTheStoreItInherited) {
  const auto store = open_store(folder.url(), creating());
  store->windows()->window_take(window_request(7, 1000));
  Child child([&](int report) {
    store->windows()->window_take(window_request(8, 1000));
    draw_from(store, "ns", "t", 1);
    write_all(report, "owns 8\n");
    for (;;) pause();
  });
  ASSERT_EQ(child.line(), "owns 8");
  EXPECT_FAILS(store->windows()->window_take(window_request(8, 1000)), Status::worker_busy,
               std::to_string(child.pid()));
}

TEST_F(ForkedChild, IsRefusedByTheParentsMemoryStoreAndCanOpenItsOwn) {
  const auto store = open_store("memory:forked", creating());
  EXPECT_EQ(draw_from(store, "ns", "t", 10), 1u);
  const WindowRequest request = window_request(7, 1000);
  store->windows()->window_take(request);
  const std::string report = in_child([&] {
    return report_of([&] { draw_from(store, "ns", "t", 10); }) + "\n" +
           report_of([&] { store->windows()->window_take(request); }) + "\n" +
           std::to_string(draw_from(open_store("memory:forked", creating()), "ns", "t", 10));
  });
  EXPECT_THAT(report,
              StartsWith("FORKED: the store memory:forked lives in the memory of process " + std::to_string(getpid())));
  EXPECT_THAT(report, HasSubstr("\nFORKED: "));
  EXPECT_THAT(report, testing::EndsWith("\n1"));
  EXPECT_EQ(draw_from(store, "ns", "t", 10), 11u);
}

// A thread that is inside a transaction whose disk does not answer.
class ThreadInsideTheStore {
 public:
  explicit ThreadInsideTheStore(const TempFolder& folder)
      : store_((open_store(folder.url(), creating())->segment_create("ns", "t"),
                open_store(folder.url(), not_creating()))),
        hanging_([this, path = folder.file("ids.db-journal")](const char* journal) {
          char c = 0;
          while (journal == path && read(go_[0], &c, 1) < 0 && errno == EINTR) {
          }
          return unlink(journal);
        }),
        thread_([this] {
          id_ = syscall(SYS_gettid);
          first = draw_from(store_, "ns", "t", 1);
        }) {
    // Not before it sleeps: a thread that is inside malloc() would leave a raw clone with a locked heap.
    while (ForkGate::inside() == 0 || !sleeps()) std::this_thread::yield();
  }
  ~ThreadInsideTheStore() {
    finish();
    close(go_[0]);
  }
  void let_go() {
    if (const int end = std::exchange(go_[1], -1); end >= 0) close(end);
  }
  void finish() {
    let_go();
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<std::uint64_t> first{0};

 private:
  static std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    return ends;
  }
  bool sleeps() const {
    std::ifstream stat("/proc/self/task/" + std::to_string(id_) + "/stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end != std::string::npos && text[name_end + 2] == 'S';
  }

  std::array<int, 2> go_ = make_pipe();
  std::shared_ptr<Store> store_;
  AtCommit hanging_;
  std::atomic<long> id_{0};
  std::thread thread_;
};

// A thread that waits for another process's lock.
class ThreadThatWaits {
 public:
  explicit ThreadThatWaits(const TempFolder& folder)
      : store_((open_store(folder.url(), creating())->segment_create("ns", "t"),
                open_store(folder.url(), not_creating()))),
        blocker_(folder.file("ids.db")),
        thread_([this] {
          started_ = true;
          error_ = error_of([&] { first = draw_from(store_, "ns", "t", 1); });
        }) {
    while (!started_) std::this_thread::yield();
  }
  ~ThreadThatWaits() { finish(); }
  std::string finish() {
    blocker_.let_go();
    if (thread_.joinable()) thread_.join();
    return error_.message();
  }

  std::atomic<std::uint64_t> first{0};

 private:
  std::shared_ptr<Store> store_;
  LockingProcess blocker_;
  std::atomic<bool> started_{false};
  Error error_{Status::ok, ""};
  std::thread thread_;
};

std::atomic<ThreadInsideTheStore*> let_go_at_fork{nullptr};

TEST_F(ForkedChild, IsNotMadeInTheMiddleOfATransaction) {
  {
    open_store(folder.url("first.db"), creating())->segment_create("ns", "t");
  }  // the gate's handlers are registered by now
  // Prepare handlers run in reverse order: this one just before the gate's. From here on fork() itself must do the
  // waiting.
  pthread_atfork(
      [] {
        if (auto* inside = let_go_at_fork.exchange(nullptr)) inside->let_go();
      },
      nullptr, nullptr);
  ThreadInsideTheStore inside(folder);
  let_go_at_fork = &inside;
  const std::string report = in_child([&] {
    return std::to_string(ForkGate::inside()) + " inside, drew " +
           std::to_string(draw_from(open_store(folder.url(), not_creating()), "ns", "t", 1));
  });
  inside.finish();
  EXPECT_EQ(inside.first, 1u);
  EXPECT_EQ(report, "0 inside, drew 2");
}

TEST_F(ForkedChild, IsMadeWhileAThreadWaitsForALockAndMayUseStores) {
  const auto other = open_store(folder.url("other.db"), creating());
  other->segment_create("ns", "t");
  ThreadThatWaits waiting(folder);
  EXPECT_EQ(in_child([&] { return std::to_string(draw_from(other, "ns", "t", 1)); }), "1");
  EXPECT_EQ(waiting.first, 0u) << "fork() has waited for the lock";
  EXPECT_EQ(waiting.finish(), "nothing was thrown");
  EXPECT_EQ(waiting.first, 1u);
}

TEST_F(ForkedChild, IsMadeThoughTheDiskHangsAndMayNotUseStores) {
  const auto other = open_store(folder.url("other.db"), creating());
  other->segment_create("ns", "t");
  ThreadInsideTheStore inside(folder);
  const std::string report = in_child([&] {
    return report_of([&] { draw_from(other, "ns", "t", 1); }) + " | " + in_child([] { return std::string("a child"); });
  });
  EXPECT_EQ(inside.first, 0u) << "fork() has waited for the disk";
  EXPECT_THAT(report, StartsWith("FORKED: "));
  EXPECT_THAT(report, HasSubstr("fork(), or call exec"));
  EXPECT_THAT(report, testing::EndsWith(" | a child"));
  inside.finish();
  EXPECT_EQ(inside.first, 1u);
  EXPECT_EQ(in_child([&] { return std::to_string(draw_from(other, "ns", "t", 1)); }), "1");
}

// Fork handlers of the host, from before the library was loaded: all of them run while the gate is closed.
struct HostsHandlers {
  std::function<void()> before = [] {}, in_parent = [] {}, in_child = [] {};

  static inline std::atomic<const HostsHandlers*> all{nullptr};
  static void run(const std::function<void()> HostsHandlers::*handler) {
    if (const HostsHandlers* const handlers = all) (handlers->*handler)();
  }
  [[gnu::constructor(101)]] static void install() {
    pthread_atfork([] { run(&HostsHandlers::before); }, [] { run(&HostsHandlers::in_parent); },
                   [] { run(&HostsHandlers::in_child); });
  }

  // A child made while they are registered.
  std::string in_child_of_fork(const std::function<std::string()>& work) const {
    all = this;
    const std::string report = idgen::in_child([&] {
      all = nullptr;
      return work();
    });
    all = nullptr;
    return report;
  }
};

TEST_F(HostsForkHandler, MayWaitForAThreadThatDraws) {
  const auto store = open_store(folder.url(), creating());
  store->segment_create("ns", "t");
  std::mutex of_the_host;
  std::promise<void> locked;
  Error error(Status::ok, "");
  std::thread drawing([&] {
    const std::lock_guard lock(of_the_host);
    locked.set_value();
    while (error.status() == Status::ok) error = error_of([&] { draw_from(store, "ns", "t", 1); });
  });
  locked.get_future().wait();
  HostsHandlers handlers;
  handlers.before = [&] { const std::lock_guard lock(of_the_host); };
  EXPECT_EQ(handlers.in_child_of_fork([&] { return report_of([&] { draw_from(store, "ns", "t", 1); }); }),
            "OK: nothing was thrown");
  drawing.join();
  EXPECT_EQ(error.status(), Status::store_unavailable);
  EXPECT_THAT(error.message(), HasSubstr("fork() does not finish"));
  EXPECT_NE(draw_from(store, "ns", "t", 1), 0u);
}

TEST_F(HostsForkHandler, MayDraw) {
  const auto store = open_store(folder.url(), creating());
  store->segment_create("ns", "t");
  const auto draw = [&] { return report_of([&] { draw_from(store, "ns", "t", 1); }); };
  std::string before, in_parent, in_child;
  HostsHandlers handlers;
  handlers.before = [&] { before = draw(); };
  handlers.in_parent = [&] { in_parent = draw(); };
  handlers.in_child = [&] { in_child = draw(); };
  EXPECT_EQ(handlers.in_child_of_fork([&] { return in_child + ", " + draw(); }),
            "OK: nothing was thrown, OK: nothing was thrown");
  EXPECT_EQ(before, "OK: nothing was thrown");
  EXPECT_EQ(in_parent, "OK: nothing was thrown");
  EXPECT_EQ(draw(), "OK: nothing was thrown");
}

TEST_F(HostsForkHandler, MayFork) {
  const auto store = open_store(folder.url(), creating());
  store->segment_create("ns", "t");
  const auto draw = [&] { return report_of([&] { draw_from(store, "ns", "t", 1); }); };
  // The report of each child of a handler, which returns from the fork() under way like its parent.
  std::array<int, 2> reports{};
  ASSERT_EQ(pipe2(reports.data(), O_CLOEXEC), 0);
  for (const auto handler : {&HostsHandlers::before, &HostsHandlers::in_parent, &HostsHandlers::in_child}) {
    HostsHandlers handlers;
    const pid_t parent = getpid();
    handlers.*handler = [&] {
      HostsHandlers::all = nullptr;
      if (fork() < 0) std::abort();
    };
    HostsHandlers::all = &handlers;
    const pid_t child = fork();
    HostsHandlers::all = nullptr;
    if (getpid() != parent) {
      write_all(reports[1], draw() + "\n");
      while (wait(nullptr) > 0) {
      }
      _exit(0);
    }
    EXPECT_EQ(draw(), "OK: nothing was thrown");
    waitpid(child, nullptr, 0);
    while (wait(nullptr) > 0) {
    }
  }
  close(reports[1]);
  std::string said;
  char c = 0;
  while (read(reports[0], &c, 1) == 1) said += c;
  close(reports[0]);
  EXPECT_THAT(said, StartsWith("OK: nothing was thrown\n"));
  EXPECT_THAT(said, testing::Not(HasSubstr("STORE_UNAVAILABLE")));
}

// Like in_child, but with a clone() that the C library does not know of. `work` should allocate as little as possible.
std::string in_raw_clone(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "pipe2";
  const long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid < 0) return std::string("clone: ") + std::strerror(errno);
  if (pid == 0) {
    write_all(ends[1], work());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char c = 0;
  while (read(ends[0], &c, 1) == 1) text += c;
  close(ends[0]);
  int status = 0;
  waitpid(static_cast<pid_t>(pid), &status, 0);
  return status == 0 ? text : text + " (wait status " + std::to_string(status) + ")";
}

TEST_F(RawClone, MadeInTheMiddleOfATransactionIsRefusedAndDoesNotHang) {
  const auto other = open_store(folder.url("other.db"), creating());
  other->segment_create("ns", "t");
  ThreadInsideTheStore inside(folder);
  const std::string report = in_raw_clone([&] {
    std::string text = report_of([&] { draw_from(other, "ns", "t", 1); });
    const pid_t grandchild = fork();  // the gate's fork handlers must not wait for a thread that is not here
    if (grandchild == 0) _exit(0);
    int status = -1;
    waitpid(grandchild, &status, 0);
    return text + " grandchild " + std::to_string(status);
  });
  inside.finish();
  EXPECT_THAT(
      report,
      StartsWith("FORKED: this process was made while its parent was inside a store transaction, by a raw clone()"));
  EXPECT_THAT(report, HasSubstr("fork(), or call exec"));
  EXPECT_THAT(report, testing::EndsWith("grandchild 0"));
  EXPECT_EQ(inside.first, 1u);
}

TEST_F(RawClone, MadeOutsideOfATransactionGetsNumbersOfItsOwn) {
  const auto store = open_store(folder.url(), creating());
  const WindowRequest request = window_request(7, 1000);
  store->windows()->window_take(request);
  EXPECT_EQ(draw_from(store, "ns", "t", 10), 1u);
  const std::string report = in_raw_clone([&] {
    return std::to_string(draw_from(store, "ns", "t", 10)) + " " +
           name_of(error_of([&] { store->windows()->window_take(request); }));
  });
  EXPECT_EQ(report, "11 WORKER_BUSY");
}

TEST_F(TheForkGate, AStoreThatIsLockedKeepsNoOtherWaiting) {
  ThreadThatWaits waiting(folder);
  EXPECT_EQ(draw_from(open_store(folder.url("other.db"), creating(1)), "ns", "t", 1), 1u);
  EXPECT_EQ(waiting.first, 0u);
}

TEST_F(TheForkGate, AStoreWhoseDiskHangsKeepsNoOtherWaitingAndCanBeDestroyed) {
  auto owner = open_store(folder.url(), creating());
  owner->windows()->window_take(window_request(7, 1000));
  ThreadInsideTheStore inside(folder);
  EXPECT_EQ(draw_from(open_store(folder.url("other.db"), creating(1)), "ns", "t", 1), 1u);
  owner.reset();
  EXPECT_EQ(inside.first, 0u);
  inside.finish();
  EXPECT_EQ(open_store(folder.url(), not_creating())->windows()->window_take(window_request(7, 1000, 2)).fence, 2u);
}

}  // namespace
}  // namespace idgen
