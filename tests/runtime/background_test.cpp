#include "runtime/background.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <thread>

namespace idgen {
namespace {

TEST(Background, RunsTasksInOrderOnOneThreadOfItsOwn) {
  std::promise<std::thread::id> first, second;
  post_to_background([&] { first.set_value(std::this_thread::get_id()); });
  post_to_background([&] { second.set_value(std::this_thread::get_id()); });
  const auto one = first.get_future().get();
  EXPECT_EQ(one, second.get_future().get());
  EXPECT_NE(one, std::this_thread::get_id());
}

TEST(Background, TakesNoneOfTheHostsSignals) {
  std::promise<bool> blocked;
  post_to_background([&] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked.set_value(sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) && sigismember(&mask, SIGUSR1));
  });
  EXPECT_TRUE(blocked.get_future().get());
}

TEST(Background, AForkedChildHasAThreadOfItsOwn) {
  std::promise<void> started;
  post_to_background([&] { started.set_value(); });
  started.get_future().get();
  const pid_t child = fork();
  if (child == 0) {
    std::promise<pid_t> pid;
    post_to_background([&] { pid.set_value(getpid()); });
    auto answer = pid.get_future();
    if (answer.wait_for(std::chrono::seconds(20)) != std::future_status::ready) _exit(1);
    _exit(answer.get() == getpid() ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace idgen
