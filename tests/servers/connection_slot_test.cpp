// When a connection is opened and closed: the part that needs no server.
#include "connection_slot.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>

namespace idgen::module {
namespace {

using namespace std::chrono_literals;

// One end of a socket; the other is the server's.
class Line {
 public:
  Line() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::bad_alloc();
    own_ = ends[0];
    server = ends[1];
    ++open;
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    close(own_);
    close(server);
    --open;
  }
  int socket() const { return own_; }
  bool is_usable() const { return true; }

  int server;
  static inline std::atomic<int> open{0};

 private:
  int own_;
};

class Slot : public testing::Test {
 protected:
  template <class Work>
  auto use(Work&& work) {
    return slot_.use(
        [this] {
          ++made_;
          return std::make_unique<Line>();
        },
        work);
  }

  std::atomic<int> made_{0};
  ConnectionSlot<Line> slot_{1000};
};

TEST_F(Slot, OneConnectionServesAllCalls) {
  for (int i = 0; i < 3; ++i) use([](Line&) {});
  EXPECT_EQ(made_, 1);
}

TEST_F(Slot, AConnectionThatTheServerHasClosedIsReplacedBeforeTheNextCallUsesIt) {
  use([](Line& line) { shutdown(line.server, SHUT_RDWR); });
  use([](Line& line) { EXPECT_FALSE(is_hung_up(line.socket())); });
  EXPECT_EQ(made_, 2);
  EXPECT_EQ(Line::open, 1);
}

TEST_F(Slot, AGoodbyeOfTheServerIsNotTakenForAnAnswer) {
  use([](Line& line) { EXPECT_EQ(write(line.server, "bye", 3), 3); });
  use([](Line&) {});
  EXPECT_EQ(made_, 2);
}

TEST_F(Slot, ADisconnectedSlotIsClosedAtOnceAndOpenedByTheNextCall) {
  slot_.disconnect();
  use([](Line&) {});
  slot_.disconnect();
  EXPECT_EQ(Line::open, 0);
  use([](Line&) {});
  EXPECT_EQ(made_, 2);
}

TEST_F(Slot, ADisconnectDuringACallTakesEffectAfterIt) {
  use([&](Line&) {
    slot_.disconnect();
    EXPECT_EQ(Line::open, 1);
  });
  EXPECT_EQ(Line::open, 0);
}

// A child's result: an exit status.
int in_a_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(NoFork, ForkWaitsForAConnectionThatIsMadeAtOnce) {
  std::promise<void> inside;
  std::thread connecting([&] {
    const NoFork no_fork;
    inside.set_value();
    std::this_thread::sleep_for(5ms);
  });
  inside.get_future().wait();
  EXPECT_EQ(in_a_child([] { return NoFork::is_born_inside() ? 1 : 0; }), 0);
  connecting.join();
}

// Its run time mistakes a child's thread for one of the parent's at the same address, and ends.
#if !defined(__SANITIZE_THREAD__)
TEST(NoFork, ForkDoesNotWaitForOneThatTakesLongAndItsChildKnows) {
  std::promise<void> inside, done;
  std::thread connecting([&] {
    const NoFork no_fork;
    inside.set_value();
    done.get_future().wait();
  });
  inside.get_future().wait();
  const int found = in_a_child([] {
    if (!NoFork::is_born_inside()) return 1;
    // It connects all the same, on another thread, and is then like any process.
    ConnectionSlot<Line> slot(1000);
    const std::thread::id here = std::this_thread::get_id();
    bool is_elsewhere = false;
    const auto connect = [&] {
      is_elsewhere = std::this_thread::get_id() != here;
      return std::make_unique<Line>();
    };
    slot.use(connect, [](Line&) {});
    if (!is_elsewhere || NoFork::is_born_inside()) return 2;
    // Its own forks do not wait for the parent's threads either.
    return in_a_child([] { return NoFork::is_born_inside() ? 3 : 0; });
  });
  EXPECT_EQ(found, 0);
  EXPECT_FALSE(NoFork::is_born_inside());
  done.set_value();
  connecting.join();
}
#endif

TEST(Trial, AConnectionThatHangsIsAnErrorInTimeForEveryCallerAndIsWaitedForAgain) {
  auto released = std::make_shared<std::promise<void>>();
  auto begun = std::make_shared<std::atomic<int>>(0);
  const auto hanging = [released, begun] {
    ++*begun;
    released->get_future().wait();
    return std::make_unique<Line>();
  };
  Trial<Line> trial;
  for (int i = 0; i < 2; ++i) {
    try {
      trial.run(hanging, 10);
      FAIL() << "it hangs";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::store_unavailable);
    }
  }
  released->set_value();
  EXPECT_NE(trial.run(hanging, 60'000), nullptr);
  EXPECT_EQ(*begun, 1) << "no more than one thread is lost";
}

TEST(Trial, WhatAConnectionFailsWithReachesTheCaller) {
  Trial<Line> trial;
  const auto failing = []() -> std::unique_ptr<Line> { throw Error(Status::store_permission, "wrong password"); };
  try {
    trial.run(failing, 60'000);
    FAIL() << "it fails";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::store_permission);
  }
  EXPECT_NE(trial.run([] { return std::make_unique<Line>(); }, 60'000), nullptr) << "it is made again";
}

}  // namespace
}  // namespace idgen::module
