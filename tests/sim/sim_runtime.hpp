// A runtime that owns time. One thread; nothing happens unless the test, or a wait, makes it happen.
#pragma once

#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <system_error>
#include <utility>

#include "idgen/runtime.hpp"

namespace idgen::sim {

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000 * kMs;
// 2026-01-01T00:00:00Z: after every preset's epoch.
inline constexpr std::int64_t kStartNs = 1'767'225'600 * kSecond;

class SimRuntime : public Runtime {
 public:
  // Of the machine; empty: it has no device that says so.
  std::optional<std::uint64_t> generation;

  explicit SimRuntime(std::uint64_t seed = 1, std::int64_t wall = kStartNs) : random_(seed), wall_(wall) {}

  std::int64_t wall_ns() noexcept override { return wall_; }
  std::int64_t mono_ns() noexcept override { return mono_; }
  void sleep_ns(std::int64_t ns) override {
    slept_ += ns;
    pass(ns + std::exchange(late_, 0));
  }
  void nonce(std::span<std::uint8_t> out) override {
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random_());
  }
  // All lanes are one: a simulated process has one thread.
  std::shared_ptr<Lane> make_lane() override { return std::make_shared<SimLane>(*this); }
  std::optional<std::uint64_t> vm_generation() noexcept override { return generation; }
  std::shared_ptr<Lane> process_lane() override { return make_lane(); }
  // Posted work happens while somebody waits; when there is none, time passes.
  // Clang does not know what a lock that was handed over holds.
  void wait(MutexLock& lock, std::condition_variable&, std::int64_t timeout_ns) override IDGEN_UNCHECKED_LOCKS {
    if (tasks_.empty() || held_back_) {
      pass(timeout_ns);
      return;
    }
    lock.unlock();
    run_one();
    lock.lock();
  }

  void pass(std::int64_t ns) {
    wall_ += ns;
    mono_ += ns;
    while (!timers_.empty() && timers_.begin()->first <= mono_) {
      tasks_.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
  }
  // Somebody sets the clock: no time passes.
  void set_clock_by(std::int64_t ns) { wall_ += ns; }
  void set_clock(std::int64_t ns) { wall_ = ns; }

  bool run_one() {
    if (tasks_.empty()) return false;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    pass(work_takes_);
    const bool before = std::exchange(in_task_, true);
    task();
    in_task_ = before;
    return true;
  }
  void run_all() {
    while (run_one()) {
    }
  }
  // At the end of a test: posted work refers to the runtime that holds it.
  void drop_all() {
    std::exchange(tasks_, {}).clear();
    std::exchange(timers_, {}).clear();
  }
  // Background work stays undone, as behind a store that does not answer.
  void hold_back(bool on) { held_back_ = on; }
  // As with a full process table: nothing can be posted.
  void has_no_threads(bool on) { has_no_threads_ = on; }
  // The next sleep ends that much too late, as on a busy machine.
  void oversleep(std::int64_t ns) { late_ = ns; }
  void work_takes(std::int64_t ns) { work_takes_ = ns; }
  std::size_t tasks() const { return tasks_.size(); }
  std::size_t timers() const { return timers_.size(); }
  std::int64_t slept() const { return slept_; }

 private:
  class SimLane final : public Lane {
   public:
    explicit SimLane(SimRuntime& runtime) : runtime_(runtime) {}
    void post(std::function<void()> task) override {
      if (runtime_.has_no_threads_) throw std::system_error(EAGAIN, std::generic_category());
      runtime_.tasks_.push_back(std::move(task));
    }
    void post_after(std::int64_t delay_ns, std::function<void()> task) override {
      runtime_.timers_.emplace(runtime_.mono_ + delay_ns, std::move(task));
    }
    bool is_here() const noexcept override { return runtime_.in_task_; }

   private:
    SimRuntime& runtime_;
  };

  std::mt19937_64 random_;
  std::int64_t wall_;
  std::int64_t mono_ = 0;
  std::int64_t slept_ = 0;
  std::int64_t late_ = 0;
  std::int64_t work_takes_ = 0;
  bool held_back_ = false;
  bool has_no_threads_ = false;
  bool in_task_ = false;
  std::deque<std::function<void()>> tasks_;
  std::multimap<std::int64_t, std::function<void()>> timers_;  // by due time
};

}  // namespace idgen::sim
