// Who goes on: simulated threads of simulated processes, on one real thread. One runs until it stops at a step, and the
// next one is drawn at random; so one seed decides everything.
//
// Steps are: each call of the runtime and of the store, each lock, each wait, and each atomic of the hot page
// (stepped_atomic.hpp). The program is linked so that pthread's locks and condition variables are the scheduler's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/fiber.hpp"

namespace idgen::sim {

inline constexpr std::int64_t kUs = 1'000;
inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000 * kMs;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() noexcept {  // splitmix64
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  std::uint64_t below(std::uint64_t n) noexcept { return (*this)() % n; }
  bool chance(unsigned percent) noexcept { return below(100) < percent; }
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

 private:
  std::uint64_t state_;
};

class Scheduler;

// What a process's threads have in common.
class Image {
 public:
  virtual ~Image() = default;
  std::string name;          // "P2"
  bool is_dead = false;      // its threads run to their end, and nobody sees what they do
  std::int64_t thaws = 0;    // paused until then
  std::int64_t ghosted = 0;  // time that passed for a dead process alone
  // Memory that its forked child finds zeroed.
  std::map<char*, std::size_t> pages;
  bool has_page(const void* address) const noexcept;
};

struct Task {
  Task(Image& of, std::string named, std::function<void()> body)
      : image(&of), name(std::move(named)), fiber(std::move(body)) {}
  Image* image;
  std::string name;
  Fiber fiber;
  unsigned stripe = 0;
  std::int64_t wakes = 0;           // not before
  std::int64_t held_until = 0;      // nor before this, whatever wakes it; others run until then
  const void* wants = nullptr;      // a lock that another one holds
  const void* listens = nullptr;    // to a condition variable
  std::vector<const void*> held{};  // locks
  bool is_unseen = false;           // holds one outside its process's pages: nobody else runs meanwhile
};

class Scheduler {
 public:
  explicit Scheduler(std::uint64_t seed);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The one that runs, or null.
  static Scheduler* active() noexcept;

  Random random;
  std::int64_t now = 0;  // true time, ns
  std::uint64_t steps = 0;
  std::uint64_t run_length = 8;         // steps until somebody else may go on, on average
  std::int64_t most_passes = 50 * kUs;  // of time, between two who run
  std::uint64_t holds_one_in = 0;       // steps, in which a thread stands still while others run; 0: never
  std::uint64_t holds = 0;

  Task& start(Image& image, const std::string& name, std::function<void()> body);
  Task* current() const noexcept { return current_; }
  // After a delay, outside of all threads.
  void later(std::int64_t delay, std::function<void()> what) { events_.emplace(now + delay, std::move(what)); }

  // Until `done` says so. between: called before each choice.
  void run(const std::function<bool()>& done, const std::function<void()>& between);
  // All of a process's threads run to their end, as after kill -9: their image is dead already.
  void finish(Image& image);
  // One of them holds a lock that is not its process's alone.
  bool is_any_unseen(const Image& image) const noexcept;
  // It has no threads.
  bool is_empty(const Image& image) const noexcept;
  // They are gone, wherever they were.
  void drop(Image& image, const Task* except);

  // --- within a thread
  void step() noexcept;
  // Others run for so long, at least.
  void sleep(std::int64_t ns);
  // Until notified, or for so long.
  void listen(const void* variable, std::int64_t ns, const std::function<void()>& release);
  void notify(const void* variable) noexcept;
  void taken(const void* lock) noexcept;
  void released(const void* lock) noexcept;
  void want(const void* lock);

  // --- what is found
  void fail(const std::string& what);
  // The same, for a thread that cannot go on.
  [[noreturn]] void fail_here(const std::string& what);
  const std::optional<std::string>& violation() const noexcept { return violation_; }

  // A line of the trace, if there is one.
  bool is_traced = false;
  void trace(const std::string& what) const;

 private:
  bool may_run(const Task& task) const noexcept;
  void resume(Task& task);
  void leave();
  void reap();

  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::unique_ptr<Task>> gone_;  // dropped: what their stacks hold is never destroyed
  std::multimap<std::int64_t, std::function<void()>> events_;
  Task* current_ = nullptr;
  std::uint64_t left_ = 1;   // steps until the next choice
  std::uint64_t alone_ = 0;  // steps of a thread that nobody may interrupt
  std::optional<std::string> violation_;
};

// How many locks the thread that calls this holds.
std::size_t held_locks() noexcept;
// Of a simulated thread.
unsigned& stripe_of_thread() noexcept;
// An IDGEN_ASSERT did not hold: ends the run, if there is one.
void note_failed_assertion(const char* guarantee, const char* condition) noexcept;

}  // namespace idgen::sim
