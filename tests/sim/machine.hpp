// A simulated machine: its clock, which is wrong, and the process that runs on it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "idgen/runtime.hpp"
#include "sim/scheduler.hpp"

namespace idgen::sim {

// 2026-01-01T00:00:00Z, when a simulation begins: after every preset's epoch.
inline constexpr std::int64_t kBeginsMs = std::int64_t{1'767'225'600} * 1'000;

// Runs at a rate of its own, and is set by somebody now and then.
class Clock {
 public:
  std::int64_t mono_ns(std::int64_t now) const noexcept {
    const std::int64_t passed = now - since_;
    return mono_ + passed + static_cast<std::int64_t>(static_cast<__int128>(passed) * drift_ppm_ / 1'000'000);
  }
  std::int64_t wall_ns(std::int64_t now) const noexcept { return mono_ns(now) + wall_ahead_; }

  void set_by(std::int64_t ns) noexcept { wall_ahead_ += ns; }
  void run_at(std::int64_t now, std::int64_t drift_ppm) noexcept {
    mono_ = mono_ns(now);
    since_ = now;
    drift_ppm_ = drift_ppm;
  }
  // So much time was not counted by the monotonic clock, which is only suspended with the machine.
  void forget(std::int64_t ns) noexcept {
    mono_ -= ns;
    wall_ahead_ += ns;
  }
  // True time from now on.
  void correct(std::int64_t now) noexcept {
    run_at(now, 0);
    wall_ahead_ = kBeginsMs * kMs + now - mono_;
  }

 private:
  std::int64_t mono_ = 0;  // when it was
  std::int64_t since_ = 0;
  std::int64_t drift_ppm_ = 0;
  std::int64_t wall_ahead_ = kBeginsMs * kMs;
};

struct Machine {
  Clock clock;
  std::uint64_t sets = 0;  // how often its clock was set
  // Changes when it is restored from a snapshot. Empty: nothing says so.
  std::optional<std::uint64_t> generation{};
};

// One process's view of its machine, for the core.
class MachineRuntime final : public Runtime {
 public:
  MachineRuntime(Scheduler& scheduler, Image& image, Machine& machine, std::uint64_t seed)
      : scheduler_(scheduler), image_(image), machine_(machine), random_(seed) {}

  bool has_no_threads = false;  // as with a full process table

  std::int64_t wall_ns() noexcept override {
    host_code_runs("its clock");
    scheduler_.step();
    return machine_.clock.wall_ns(scheduler_.now) + image_.ghosted;
  }
  std::int64_t mono_ns() noexcept override {
    scheduler_.step();
    return machine_.clock.mono_ns(scheduler_.now) + image_.ghosted;
  }
  void sleep_ns(std::int64_t ns) override {
    host_code_runs("its clock's sleep");
    if (!scheduler_.current()) image_.ghosted += ns;  // while it is taken down
    constexpr std::int64_t kMostLateNs = 15'000'000;
    const bool is_late = random_() % 16 == 0;  // as on a busy machine
    scheduler_.sleep(is_late ? ns + static_cast<std::int64_t>(random_() % kMostLateNs) : ns);
  }
  void nonce(std::span<std::uint8_t> out) override {
    scheduler_.step();
    for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(random_());
  }
  std::shared_ptr<Lane> make_lane() override { return std::make_shared<SimLane>(*this); }
  std::optional<std::uint64_t> vm_generation() noexcept override {
    if (machine_.generation) scheduler_.step();
    return machine_.generation;
  }
  // Kept: whoever lets it go may be its own thread.
  std::shared_ptr<Lane> process_lane() override {
    if (!process_lane_) process_lane_ = make_lane();
    return process_lane_;
  }
  // Clang does not know what a lock that was handed over holds.
  void wait(MutexLock& lock, std::condition_variable& changed, std::int64_t ns) override IDGEN_UNCHECKED_LOCKS {
    scheduler_.step();
    if (!scheduler_.current()) image_.ghosted += ns;
    scheduler_.listen(&changed, ns, [&]() IDGEN_UNCHECKED_LOCKS { lock.unlock(); });
    lock.lock();
  }

  // Code of the host runs: none of our locks may be held then.
  void host_code_runs(const char* what) noexcept {
    if (held_locks() != 0) scheduler_.fail(std::string("the host's code runs under a lock: ") + what);
  }

  // A forked child has none of the lanes' threads, and leaves alone what was posted.
  void forget_lanes() {
    for (SimLane* lane : lanes_) lane->forget();
  }
  // At the end: what was posted holds what holds the lane.
  void drop_lanes() {
    const std::vector<SimLane*> lanes = lanes_;
    for (SimLane* lane : lanes) lane->drop();
  }

 private:
  class SimLane final : public Lane {
   public:
    explicit SimLane(MachineRuntime& runtime) : runtime_(runtime) { runtime_.lanes_.push_back(this); }
    ~SimLane() override { std::erase(runtime_.lanes_, this); }
    void post(std::function<void()> task) override { add(0, std::move(task)); }
    void post_after(std::int64_t delay_ns, std::function<void()> task) override {
      add(std::max<std::int64_t>(delay_ns, 0), std::move(task));
    }
    bool is_here() const noexcept override { return runner_ != nullptr && runtime_.scheduler_.current() == runner_; }
    void forget() {
      forgotten_.push_back(std::move(tasks_));
      tasks_.clear();
      runner_ = nullptr;
    }
    void drop() {
      const auto tasks = std::exchange(tasks_, {});
      const auto forgotten = std::exchange(forgotten_, {});
    }

   private:
    std::int64_t mono() const { return runtime_.machine_.clock.mono_ns(runtime_.scheduler_.now); }
    void add(std::int64_t delay_ns, std::function<void()> task) {
      if (runtime_.has_no_threads && runner_ == nullptr) throw std::system_error(EAGAIN, std::generic_category());
      tasks_.emplace(mono() + delay_ns, std::move(task));
      if (runner_ == nullptr && !runtime_.image_.is_dead) {
        runner_ = &runtime_.scheduler_.start(runtime_.image_, "lane", [this] { run(); });
        runner_->stripe = 5;
      } else {
        runtime_.scheduler_.notify(this);
      }
    }
    void run() {
      Scheduler& scheduler = runtime_.scheduler_;
      while (!runtime_.image_.is_dead && !tasks_.empty()) {
        const std::int64_t left = tasks_.begin()->first - mono();
        if (left > 0) {
          scheduler.listen(this, left, [] {});
          continue;
        }
        auto task = std::move(tasks_.begin()->second);
        tasks_.erase(tasks_.begin());
        scheduler.step();
        task();
        task = nullptr;  // what it owns goes now
      }
      runner_ = nullptr;
    }

    MachineRuntime& runtime_;
    std::multimap<std::int64_t, std::function<void()>> tasks_;  // by due time
    std::vector<std::multimap<std::int64_t, std::function<void()>>> forgotten_;
    Task* runner_ = nullptr;
  };

  Scheduler& scheduler_;
  Image& image_;
  Machine& machine_;
  Random random_;
  std::vector<SimLane*> lanes_;
  std::shared_ptr<Lane> process_lane_;
};

}  // namespace idgen::sim
