#include "runtime/fork_page.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>

namespace idgen {
namespace {

struct Page {
  std::uint64_t number;
  std::mutex mutex;
  std::condition_variable changed;
};

// Runs body in a child made by make_child; the child's answer is its exit status.
template <class Make, class Body>
int in_child(Make make_child, Body body) {
  const auto child = static_cast<pid_t>(make_child());
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkPage, IsZeroInAForkedChildAndKeptInTheParent) {
  ForkPage<Page> page;
  page->number = 42;
  EXPECT_EQ(in_child([] { return fork(); }, [&] { return static_cast<int>(page->number); }), 0);
  EXPECT_EQ(page->number, 42u);
}

TEST(ForkPage, IsZeroInAChildMadeByARawFork) {
  ForkPage<Page> page;
  page->number = 42;
  EXPECT_EQ(in_child([] { return syscall(SYS_fork); }, [&] { return static_cast<int>(page->number); }), 0);
}

TEST(ForkPage, IsZeroInAChildMadeByARawClone) {
  ForkPage<Page> page;
  page->number = 42;
  EXPECT_EQ(in_child([] { return syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); },
                     [&] { return static_cast<int>(page->number); }),
            0);
}

TEST(ForkPage, ALockThatTheParentHeldIsFreeInTheChild) {
  ForkPage<Page> page;
  std::lock_guard held(page->mutex);
  EXPECT_EQ(in_child([] { return fork(); }, [&] { return page->mutex.try_lock() ? 7 : 1; }), 7);
}

TEST(ForkPage, IsZeroAgainInAGrandchild) {
  ForkPage<Page> page;
  page->number = 42;
  const int answer = in_child([] { return fork(); },
                              [&] {
                                page->number = 5;
                                return in_child([] { return fork(); }, [&] { return page->number == 0 ? 9 : 1; });
                              });
  EXPECT_EQ(answer, 9);
}

}  // namespace
}  // namespace idgen
