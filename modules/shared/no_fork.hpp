// fork() and the locks of client libraries.
//
// A child never touches its parent's connections. What a fork() can break is what the libraries keep for the whole
// process: the lock of the C library's resolver, libmariadb's locks around its plugins and TLS settings, OpenSSL's
// tables. These locks are held during computation, never while waiting for a network. But the libraries connect in one
// call, and do not say which of the two they are doing.
//
// So fork() waits kForkWait for threads that connect: long enough for the computation, and for a server that answers. A
// thread still inside after that is almost certainly waiting for the network. In case it is not, the child knows when
// it was forked, and makes its first connection on a separate thread (trial.hpp), so that a lock that nobody releases
// cannot hang a caller. A raw clone() runs no handlers: it does not wait, and its child does not know.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

namespace idgen::module {

// Held while a connection is made.
class NoFork {
 public:
  static constexpr std::chrono::milliseconds kForkWait{100};

  NoFork() {
    if (registered_ != 0) throw std::bad_alloc();
    while (!entered()) pause();
  }
  ~NoFork() { inside_.fetch_sub(1); }
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;

  // True if this process was forked while its parent was connecting, and has not connected since.
  static bool is_born_inside() noexcept { return is_born_inside_.load(); }
  static void has_connected() noexcept { is_born_inside_.store(false); }

 private:
  static bool entered() {
    inside_.fetch_add(1);
    if (forking_.load() == 0) return true;
    inside_.fetch_sub(1);
    return false;
  }
  static void pause() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

  static void before() {
    forking_.fetch_add(1);
    const auto deadline = std::chrono::steady_clock::now() + kForkWait;
    while (inside_.load() > 0 && std::chrono::steady_clock::now() < deadline) pause();
    gave_up_ = inside_.load() > 0;
  }
  static void after_in_parent() { forking_.fetch_sub(1); }
  // Only this thread exists in the child.
  static void after_in_child() {
    if (gave_up_) is_born_inside_.store(true);
    inside_.store(0);
    forking_.store(0);
  }

  // Not a mutex: in a child, threads that it does not have could hold it or wait for it.
  static inline constinit std::atomic<int> inside_{0};
  static inline constinit std::atomic<int> forking_{0};
  static inline constinit std::atomic<bool> is_born_inside_{false};
  static inline thread_local bool gave_up_ = false;
  // When the module is loaded.
  static inline const int registered_ = pthread_atfork(before, after_in_parent, after_in_child);
};

}  // namespace idgen::module
