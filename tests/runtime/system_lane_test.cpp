#include "runtime/system_lane.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "runtime/children.hpp"
#include "runtime/lane_threads.hpp"

namespace idgen {
namespace {

TEST(SystemLane, RunsTasksInOrderOnOneThreadOfItsOwn) {
  const auto lane = make_system_lane();
  std::promise<std::thread::id> first, second;
  lane->post([&] { first.set_value(std::this_thread::get_id()); });
  lane->post([&] { second.set_value(std::this_thread::get_id()); });
  const auto one = first.get_future().get();
  EXPECT_EQ(one, second.get_future().get());
  EXPECT_NE(one, std::this_thread::get_id());
}

TEST(SystemLane, ATaskThatHangsDelaysNoOtherLane) {
  const auto hanging = make_system_lane(), healthy = make_system_lane();
  std::promise<void> go_on, done, ran;
  hanging->post([&, wait = go_on.get_future().share()] {
    wait.wait();
    done.set_value();
  });
  healthy->post([&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  go_on.set_value();
  done.get_future().wait();
}

TEST(SystemLane, ATimerHasItsTurnOnALaneThatIsNeverIdle) {
  const auto lane = make_system_lane();
  std::promise<void> rang;
  std::promise<bool> over;
  const auto ringing = rang.get_future().share();
  std::function<void(int)> go_on = [&](int left) {
    const bool has_rung = ringing.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    if (has_rung || left == 0) return over.set_value(has_rung);
    lane->post([&go_on, left] { go_on(left - 1); });
  };
  lane->post_after(1'000'000, [&] { rang.set_value(); });
  lane->post([&] { go_on(2'000'000); });
  EXPECT_TRUE(over.get_future().get());
  ringing.wait();
}

TEST(SystemLane, KnowsItsOwnThread) {
  const auto lane = make_system_lane(), other = make_system_lane();
  EXPECT_FALSE(lane->is_here());
  std::promise<std::pair<bool, bool>> here;
  lane->post([&] { here.set_value({lane->is_here(), other->is_here()}); });
  EXPECT_EQ(here.get_future().get(), std::pair(true, false));
}

TEST(SystemLane, HasNoThreadBeforeThereIsWorkAndSomeTimeAfterIt) {
  ASSERT_EQ(threads_once_there_are(0), 0u) << "of the tests before";
  const auto lane = make_system_lane();
  EXPECT_EQ(threads_of_lanes(), 0u);
  std::promise<void> ran;
  lane->post([&] { ran.set_value(); });
  ran.get_future().wait();
  EXPECT_EQ(threads_of_lanes(), 1u);
  EXPECT_EQ(threads_once_there_are(0), 0u);
  std::promise<void> again;
  lane->post([&] { again.set_value(); });
  again.get_future().wait();
}

TEST(SystemLane, WhoseOwnerHasGoneHasNoThreadForLongerThanItsTask) {
  ASSERT_EQ(threads_once_there_are(0), 0u) << "of the tests before";
  std::promise<void> go_on;
  const std::shared_future<void> wait = go_on.get_future().share();
  for (int i = 0; i < 10; ++i) make_system_lane()->post([wait] { wait.wait(); });
  EXPECT_EQ(threads_once_there_are(10), 10u);
  go_on.set_value();
  EXPECT_EQ(threads_once_there_are(0), 0u);
  for (int i = 0; i < 300; ++i) {
    std::promise<void> ran;
    make_system_lane()->post([&] { ran.set_value(); });
    ran.get_future().wait();
  }
  EXPECT_LT(threads_of_lanes(), 150u) << "they stay until they have been idle for a while";
}

TEST(SystemLane, TakesNoneOfTheHostsSignalsButThoseOfItsOwnInstructions) {
  const auto lane = make_system_lane();
  std::promise<sigset_t> mask;
  lane->post([&] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    mask.set_value(blocked);
  });
  const sigset_t blocked = mask.get_future().get();
  for (const int hosts : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGPROF, SIGPIPE, SIGCHLD})
    EXPECT_TRUE(sigismember(&blocked, hosts)) << hosts;
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    EXPECT_FALSE(sigismember(&blocked, own)) << own;
}

TEST(SystemLane, AForkedChildHasAThreadOfItsOwn) {
  const auto lane = make_system_lane();
  std::promise<void> started;
  lane->post([&] { started.set_value(); });
  started.get_future().get();
  EXPECT_EQ(answer_of([&] {
              std::promise<pid_t> pid;
              lane->post([&] { pid.set_value(getpid()); });
              auto answer = pid.get_future();
              if (answer.wait_for(std::chrono::seconds(20)) != std::future_status::ready) return 1;
              return answer.get() == getpid() ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace idgen
