// Store I/O and fork(): a process must not be copied while a thread is inside SQLite.
//
// SQLite keeps mutexes and a table of open files in this process's memory. A child made in the middle of a change would
// inherit them in that state. So store I/O is counted, and fork() first waits until no thread is inside
// (pthread_atfork). No thread inside waits for a lock, SQLite's or ours, so fork() waits only for the disk, and for a
// second at most: if a disk hangs, the child is made all the same and may not use stores.
//
// That child, and one made by a raw clone() that runs no fork handlers, finds a count above zero beside the number of
// another process image.
//
// Not a lock: any number of threads may be inside at once. What must not happen at once is decided by each file's
// locks.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <thread>

#include "idgen/status.hpp"
#include "idgen/time_units.hpp"
#include "runtime/process_image.hpp"

namespace idgen {

class ForkGate {
 public:
  // The right to do store I/O. Waits only for another thread's fork(): the thread that forks also has it in the host's
  // fork handlers.
  class Pass {
   public:
    // Throws Error{forked} in a child that was made while its parent was inside.
    Pass() { enter(); }
    ~Pass() { inside_.fetch_sub(1); }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
  };

  // Threads that are inside. 0 in a child right after fork().
  static int inside() noexcept { return inside_.load(); }

  static constexpr std::uint64_t kRetryNs = 10 * kNsPerMs;  // a commit takes about a millisecond
  static constexpr std::chrono::milliseconds kLongestForkWait{1000};

 private:
  static bool is_inherited() noexcept { return image_.load() != process_image_if_known(); }

  // In a child that ran no fork handlers: takes over the gate, if no thread was inside.
  static void take_over() {
    const std::uint64_t here = process_image();
    std::uint64_t before = image_.load();
    if (before == here) return;
    if (inside_.load() > 0) {
      throw Error(
          Status::forked,
          "this process was made while its parent was inside a store transaction, by a raw clone() or by a "
          "fork() that the disk kept waiting, so it cannot use stores; make it with fork(), or call exec in it");
    }
    forks_.store(0);  // before any thread of this process is counted
    image_.compare_exchange_strong(before, here);
  }

  static void enter() {
    if (registered_ != 0) throw std::bad_alloc();
    // A fork handler of the host's may wait for a lock that this thread holds.
    const auto deadline = std::chrono::steady_clock::now() + 2 * kLongestForkWait;
    for (;;) {
      take_over();
      // Counts first, then checks; fork() does the reverse, so one of the two sees the other.
      inside_.fetch_add(1);
      if (forks_.load() <= mine_) return;
      inside_.fetch_sub(1);
      if (std::chrono::steady_clock::now() >= deadline) {
        throw Error(Status::store_unavailable,
                    "another thread's fork() does not finish; a fork handler of the program may be waiting "
                    "for a lock that this thread holds. Try again",
                    kRetryNs);
      }
      std::this_thread::sleep_for(kPoll);
    }
  }

  static void before_fork() {
    ++mine_;
    forks_.fetch_add(1);
    const auto deadline = std::chrono::steady_clock::now() + kLongestForkWait;
    while (inside_.load() > 0 && !is_inherited() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kPoll);
    }
    drained_ = inside_.load() == 0;
  }
  static void after_fork_in_parent() {
    // A fork handler of the host may fork too: its child also returns from this fork(), and has nothing to count down.
    if (mine_ == 0) return;
    --mine_;
    forks_.fetch_sub(1);
  }
  static void after_fork_in_child() {
    mine_ = 0;
    if (!drained_) return;
    inside_.store(0);  // a thread may have counted itself for a moment, before it saw that it has to wait
    forks_.store(0);
    image_.store(process_image_if_known());
  }

  static constexpr std::chrono::microseconds kPoll{100};

  static inline std::atomic<int> inside_{0};
  static inline std::atomic<int> forks_{0};  // being made
  // Whose threads are counted. When the library is loaded, so that no thread is inside yet; 0 if that failed: then
  // nothing gets inside.
  static std::uint64_t image_at_load() noexcept {
    try {
      return process_image();
    } catch (...) {
      return 0;
    }
  }
  static inline std::atomic<std::uint64_t> image_{image_at_load()};
  static inline thread_local int mine_ = 0;  // of forks_, by this thread
  static inline thread_local bool drained_ = false;
  // When the library is loaded, so that no fork can come in between.
  static inline const int registered_ = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
};

}  // namespace idgen
