#include "no_sigpipe.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace idgen::module {
namespace {

// SIGPIPE ends this process, which makes the tests fail.

void write_to_nobody() {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  close(ends[1]);
  EXPECT_EQ(write(ends[0], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[0]);
}

bool is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

TEST(NoSigpipe, AWriteToAClosedConnectionEndsNothing) {
  for (int i = 0; i < 3; ++i) {
    const NoSigpipe no_sigpipe;
    write_to_nobody();
    write_to_nobody();
  }
  EXPECT_FALSE(is_pending());
}

TEST(NoSigpipe, WithoutItTheProcessEnds) {
  EXPECT_EXIT(
      {
        signal(SIGPIPE, SIG_DFL);
        write_to_nobody();
        _exit(0);
      },
      testing::KilledBySignal(SIGPIPE), "");
}

TEST(NoSigpipe, WhatTheHostHasBlockedAndNotYetTakenStaysItsOwn) {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &pipe, nullptr), 0);
  ASSERT_EQ(pthread_kill(pthread_self(), SIGPIPE), 0);
  {
    const NoSigpipe no_sigpipe;
    write_to_nobody();
  }
  EXPECT_TRUE(is_pending());
  const timespec at_once{};
  EXPECT_EQ(sigtimedwait(&pipe, nullptr, &at_once), SIGPIPE);
  ASSERT_EQ(pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr), 0);
}

}  // namespace
}  // namespace idgen::module
