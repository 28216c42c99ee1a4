// What the store's tests share: temporary folders, errors as values, work done in another process.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include "idgen/store.hpp"
#include "temp_folder.hpp"

namespace idgen {

// The first number of a grant of `count`.
inline std::uint64_t draw_from(const std::shared_ptr<Store>& store, const std::string& name_space,
                               const std::string& tag, std::uint64_t count) {
  return store->segment_grant(name_space, tag, {.step = count}).first;
}

inline StoreOptions creating(std::int64_t timeout_ms = 60'000) {
  StoreOptions options;
  options.create = true;
  options.timeout_ms = timeout_ms;
  return options;
}

inline StoreOptions not_creating(std::int64_t timeout_ms = 60'000) {
  StoreOptions options;
  options.timeout_ms = timeout_ms;
  return options;
}

// What a call threw; Status::ok if nothing.
inline Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(Status::ok, "nothing was thrown");
}

// The message must fit idgen_error_t, or the advice at its end is cut off.
#define EXPECT_FAILS(call, wanted, text)                            \
  do {                                                              \
    const ::idgen::Error error_ = ::idgen::error_of([&] { call; }); \
    EXPECT_EQ(error_.status(), wanted) << error_.message();         \
    EXPECT_THAT(error_.message(), ::testing::HasSubstr(text));      \
    EXPECT_LT(error_.message().size(), 496u) << error_.message();   \
  } while (false)

inline std::string name_of(const Error& error) { return status_text(error.status()).name; }

// The status name of what a call threw, and its message: what a child reports.
inline std::string report_of(const std::function<void()>& call) {
  const Error error = error_of(call);
  return name_of(error) + ": " + error.message();
}

inline void write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(97);
    done += static_cast<std::size_t>(n);
  }
}

// Another process: runs `work` with a descriptor to write its report to, and ends.
class Child {
 public:
  explicit Child(const std::function<void(int)>& work) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
    pid_ = fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // a stopped test leaves no process behind
      close(ends[0]);
      try {
        work(ends[1]);
      } catch (const std::exception& error) {
        write_all(ends[1], std::string("exception: ") + error.what());
        _exit(99);
      }
      _exit(0);
    }
    close(ends[1]);
    report_fd_ = ends[0];
  }
  ~Child() {
    if (pid_ > 0) kill_now();
    close(report_fd_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  // The report up to and without the next newline; "" at its end.
  std::string line() {
    std::string text;
    char c = 0;
    for (;;) {
      const ssize_t n = read(report_fd_, &c, 1);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0 || c == '\n') return text;
      text += c;
    }
  }
  std::string rest() {
    std::string text;
    for (std::string part = line(); !part.empty(); part = line()) text += part + "\n";
    return text;
  }
  // Waits for its end. 0 = it ended well.
  int wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }
  void kill_now() {
    kill(pid_, SIGKILL);
    wait();
  }

 private:
  pid_t pid_ = -1;
  int report_fd_ = -1;
};

// Runs `work` in another process and returns its result.
inline std::string in_child(const std::function<std::string()>& work) {
  Child child([&](int report) { write_all(report, work() + "\n"); });
  std::string text = child.rest();
  if (!text.empty()) text.pop_back();
  const int status = child.wait();
  return status == 0 ? text : text + " (wait status " + std::to_string(status) + ")";
}

inline WindowRequest window_request(std::uint64_t worker, std::int64_t now_ms, std::uint8_t owner = 1) {
  WindowRequest request;
  request.name_space = "orders";
  request.worker = worker;
  request.owner.fill(owner);
  request.holder = "process " + std::to_string(getpid()) + " on here";
  request.format = "time:41ms worker:10 sequence:12 @0";
  request.now_ms = now_ms;
  request.width_ms = 10'000;
  request.min_ms = 1;
  request.max_start_ms = std::numeric_limits<std::int64_t>::max();
  request.max_lead_ms = std::int64_t{10} * 365 * 86'400'000;  // tests bring a clock of their own
  request.lease_ms = 60'000;
  return request;
}

// Of an owner that is gone with its handle, whatever the store.
inline WindowRequest with_no_lease(WindowRequest request) {
  request.lease_ms = 0;
  return request;
}

inline std::int64_t store_clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

inline WindowRequest renewal(WindowRequest request, const Window& window, std::int64_t now_ms) {
  request.fence = window.fence;
  request.now_ms = now_ms;
  return request;
}

#ifndef IDGEN_TEST_SERVERS
// Tests for every store of ours. For those over a network see every_server.hpp.
class EveryStore : public ::testing::TestWithParam<std::string> {
 protected:
  std::string url() const {
    if (GetParam() == "sqlite") return folder_.url();
    // A memory store lives as long as the process, so each test has its own name.
    return std::string("memory:") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::shared_ptr<Store> open(const StoreOptions& options = creating()) const { return open_store(url(), options); }

 private:
  TempFolder folder_;
};

#ifdef IDGEN_WITHOUT_SQLITE
#define IDGEN_EVERY_STORE ::testing::Values("memory")
#else
#define IDGEN_EVERY_STORE ::testing::Values("memory", "sqlite")
#endif
#define IDGEN_EVERY_STORE_WITH_WINDOWS IDGEN_EVERY_STORE
#endif

}  // namespace idgen
