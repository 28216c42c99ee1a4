// Children of a test, however they are made.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace idgen {

inline long raw_clone() { return syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); }

// What a child answers as its exit status; 99 = an exception, -1 if it does not end by itself within a minute.
inline int answer_of(const std::function<int()>& body, const std::function<long()>& make_child = fork) {
  const auto child = static_cast<pid_t>(make_child());
  if (child == 0) {
    alarm(60);
    int answer = 99;
    try {
      answer = body();
    } catch (...) {
    }
    _exit(answer);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace idgen
