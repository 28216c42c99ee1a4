// One gate for all store I/O of the process, so that fork() never cuts a transaction in half.
//
// SQLite keeps mutexes and a table of open files in this process's memory. A child made while another thread is inside SQLite inherits
// them in mid-change. So every store call passes this gate, and fork() waits at it (pthread_atfork). A raw clone() runs no fork
// handlers: the plain counter below, which a child inherits like all memory, tells it that it was born inside a transaction.
//
// Lock order: callers' locks first, this gate last. Fork handlers of others that take locks held across store calls must be
// registered after ours, because prepare handlers run in reverse order.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "idgen/status.hpp"

namespace idgen {

class StoreGate {
 public:
  // The right to do store I/O. While one exists, no other thread of this process does any, and fork() waits.
  class Pass {
   public:
    // Throws Error{store_unavailable} if another thread stays inside for longer than timeout_ms, Error{forked} in a child that was
    // made by a raw clone() while the parent was inside.
    explicit Pass(std::int64_t timeout_ms)
        : deadline_(std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms)) {
      enter();
      if (!lock_until(deadline_)) {
        inside_.fetch_sub(1);
        throw Error(
            Status::store_unavailable,
            "waited " + std::to_string(timeout_ms) +
                " ms (store_timeout) for another thread of this process that is using a store; try again, or raise "
                "store_timeout",
            kRetryNs);
      }
    }
    ~Pass() {
      mutex_.unlock();
      inside_.fetch_sub(1);
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    // What is left of the timeout; 0 when it is over.
    std::int64_t left_ms() const noexcept {
      const auto left = deadline_ - std::chrono::steady_clock::now();
      return std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(left).count());
    }

   private:
    std::chrono::steady_clock::time_point deadline_;
  };

  // Threads that are inside or waiting. 0 in a child right after fork().
  static int inside() noexcept { return inside_.load(); }

  static constexpr std::uint64_t kRetryNs = 10'000'000;  // a commit takes about a millisecond

 private:
  static bool cloned_inside() noexcept { return inside_.load() > 0 && process_.load() != getpid(); }

  // Counts before it locks: a clone made between the two steps must be found out too.
  static void enter() {
    if (registered_ != 0) throw std::bad_alloc();
    if (cloned_inside()) {
      throw Error(Status::forked,
                  "this process was made by a raw clone() while its parent was inside a store transaction, so it "
                  "cannot use stores; "
                  "make it with fork(), or call exec in it");
    }
    process_.store(getpid());
    inside_.fetch_add(1);
  }

  static bool lock_until(std::chrono::steady_clock::time_point deadline) {
#ifdef __SANITIZE_THREAD__
    // GCC's ThreadSanitizer does not know pthread_mutex_clocklock, so it would take every unlock for an error.
    while (!mutex_.try_lock()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
#else
    return mutex_.try_lock_until(deadline);
#endif
  }

  static void before_fork() {
    holds_for_fork_ = false;
    if (cloned_inside()) return;  // the lock belongs to a thread that does not exist here
    mutex_.lock();
    holds_for_fork_ = true;
  }
  static void after_fork_in_parent() {
    if (!holds_for_fork_) return;
    mutex_.unlock();
  }
  static void after_fork_in_child() {
    if (!holds_for_fork_) return;
    inside_.store(0);  // threads that were waiting in the parent
    process_.store(getpid());
    mutex_.unlock();
  }

  static inline std::timed_mutex mutex_;
  static inline std::atomic<int> inside_{0};
  static inline std::atomic<pid_t> process_{0};
  static inline thread_local bool holds_for_fork_ = false;
  // When the library is loaded: no fork can come in between.
  static inline const int registered_ = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
};

}  // namespace idgen
