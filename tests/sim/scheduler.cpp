#include "sim/scheduler.hpp"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "runtime/fork_page.hpp"
#include "sim/stepped_atomic.hpp"

namespace idgen::sim {
namespace {

constexpr std::uint64_t kMostAlone = 1'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
Scheduler* the_scheduler = nullptr;
thread_local std::size_t held_outside = 0;  // by who is no simulated thread

}  // namespace

bool Image::has_page(const void* address) const noexcept {
  for (const auto& [page, bytes] : pages)
    if (address >= page && address < page + bytes) return true;
  return false;
}

Scheduler::Scheduler(std::uint64_t seed) : random(seed) { the_scheduler = this; }
Scheduler::~Scheduler() { the_scheduler = nullptr; }
Scheduler* Scheduler::active() noexcept { return the_scheduler; }

Task& Scheduler::start(Image& image, const std::string& name, std::function<void()> body) {
  tasks_.push_back(std::make_unique<Task>(image, name, std::move(body)));
  return *tasks_.back();
}

bool Scheduler::may_run(const Task& task) const noexcept {
  return std::max(task.wakes, task.held_until) <= now && task.wants == nullptr && task.image->thaws <= now;
}

void Scheduler::run(const std::function<bool()>& done, const std::function<void()>& between) {
  std::vector<Task*> ready;
  while (!violation_ && !done()) {
    between();
    if (violation_) return;
    now += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_passes) + 1));
    for (;;) {
      while (!events_.empty() && events_.begin()->first <= now) {
        const auto what = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        what();
      }
      ready.clear();
      for (const auto& task : tasks_)
        if (may_run(*task)) ready.push_back(task.get());
      if (!ready.empty()) break;
      // Nobody can go on before this.
      std::int64_t next = events_.empty() ? kNever : events_.begin()->first;
      for (const auto& task : tasks_)
        if (task->wants == nullptr)
          next = std::min(next, std::max({task->wakes, task->held_until, task->image->thaws}));
      if (next == kNever) break;
      now = next;
    }
    if (ready.empty()) {
      if (tasks_.empty()) continue;
      return fail("all threads wait for each other");
    }
    resume(*ready[random.below(ready.size())]);
    reap();
  }
}

void Scheduler::resume(Task& task) {
  current_ = &task;
  left_ = 1 + random.below(2 * run_length);
  alone_ = 0;
  task.fiber.resume();
  current_ = nullptr;
}

void Scheduler::reap() {
  std::erase_if(tasks_, [](const auto& task) { return task->fiber.has_ended(); });
}

void Scheduler::finish(Image& image) {
  // After a violation some may hold what others wait for, for ever.
  const int most = violation_ ? 2'000 : 100'000;
  for (int round = 0; round < most; ++round) {
    bool is_any = false;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {  // they may start others
      Task& task = *tasks_[i];
      if (task.image != &image || task.fiber.has_ended()) continue;
      is_any = true;
      if (task.wants == nullptr) resume(task);
    }
    reap();
    if (!is_any) return;
  }
  std::string who;
  for (const auto& task : tasks_)
    if (task->image == &image)
      who += " " + task->name +
             (task->wants          ? " (wants a lock)"
              : task->listens      ? " (waits)"
              : task->held.empty() ? ""
                                   : " (holds a lock)");
  fail("the threads of a process that is ending do not end:" + who);
  drop(image, nullptr);
}

bool Scheduler::is_any_unseen(const Image& image) const noexcept {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [&](const auto& task) { return task->image == &image && task->is_unseen; });
}
bool Scheduler::is_empty(const Image& image) const noexcept {
  return std::none_of(tasks_.begin(), tasks_.end(), [&](const auto& task) { return task->image == &image; });
}

void Scheduler::drop(Image& image, const Task* except) {
  for (auto& task : tasks_)
    if (task->image == &image && task.get() != except) gone_.push_back(std::move(task));
  std::erase_if(tasks_, [](const auto& task) { return task == nullptr; });
}

void Scheduler::leave() { Fiber::leave(); }

void Scheduler::step() noexcept {
  ++steps;
  if (current_ == nullptr) return;
  if (current_->is_unseen || current_->image->is_dead) {  // nobody else runs, and no time passes
    if (++alone_ > kMostAlone) fail_here("a thread goes round and round, waiting for another one");
    return;
  }
  if (holds_one_in != 0 && random.below(holds_one_in) == 0) {
    current_->held_until = now + random.between(0, 20 * kSecond);
    ++holds;
  } else if (--left_ > 0) {
    return;
  }
  leave();
}

void Scheduler::sleep(std::int64_t ns) {
  if (current_ == nullptr) return;
  if (current_->image->is_dead) {
    current_->image->ghosted += std::max<std::int64_t>(ns, 1);
  } else {
    current_->wakes = now + ns;
  }
  leave();
}

void Scheduler::listen(const void* variable, std::int64_t ns, const std::function<void()>& release) {
  if (current_ == nullptr) return release();
  Task& me = *current_;
  me.listens = variable;
  // Nobody may notify between the release and the wait unseen: `listens` is set before.
  me.wakes = me.image->is_dead ? 0 : now + ns;
  const std::int64_t until = me.wakes;
  me.wakes = 0;
  release();
  if (me.image->is_dead) {
    me.image->ghosted += std::max<std::int64_t>(ns, 1);
  } else if (me.listens == variable) {
    me.wakes = until;
  }
  leave();
  me.listens = nullptr;
  me.wakes = 0;
}

void Scheduler::notify(const void* variable) noexcept {
  for (const auto& task : tasks_) {
    if (task->listens != variable) continue;
    task->listens = nullptr;
    task->wakes = 0;
  }
}

void Scheduler::taken(const void* lock) noexcept {
  current_->held.push_back(lock);
  current_->is_unseen = current_->is_unseen || !current_->image->has_page(lock);
}
void Scheduler::released(const void* lock) noexcept {
  std::erase(current_->held, lock);
  current_->is_unseen = std::any_of(current_->held.begin(), current_->held.end(),
                                    [this](const void* held) { return !current_->image->has_page(held); });
  for (const auto& task : tasks_)
    if (task->wants == lock) task->wants = nullptr;
}
void Scheduler::want(const void* lock) {
  current_->wants = lock;
  leave();
}

void Scheduler::fail(const std::string& what) {
  if (violation_) return;
  violation_ = what;
  trace("VIOLATION: " + what);
}
void Scheduler::fail_here(const std::string& what) {
  fail(what);
  current_->wakes = kNever;
  current_->image->thaws = kNever;
  for (;;) {
    current_->wants = this;  // for ever
    leave();
  }
}

void Scheduler::trace(const std::string& what) const {
  if (!is_traced) return;
  const std::int64_t us = now / kUs;
  std::printf("%8lld.%06lld  %-4s %-8s %s\n", static_cast<long long>(us / 1'000'000),
              static_cast<long long>(us % 1'000'000), current_ ? current_->image->name.c_str() : "",
              current_ ? current_->name.c_str() : "", what.c_str());
}

std::size_t held_locks() noexcept {
  Scheduler* const active = Scheduler::active();
  return active && active->current() ? active->current()->held.size() : held_outside;
}

unsigned& stripe_of_thread() noexcept {
  static unsigned outside = 0;
  Scheduler* const active = Scheduler::active();
  return active && active->current() ? active->current()->stripe : outside;
}

void note_failed_assertion(const char* guarantee, const char* condition) noexcept {
  Scheduler* const active = Scheduler::active();
  if (active && active->current()) active->fail_here(std::string("assertion: ") + guarantee + ": " + condition);
  if (active && active->violation()) active->fail("");  // on the way out of a run that has failed: no more to be said
}

void step_of_atomic() noexcept {
  if (Scheduler* const active = Scheduler::active()) active->step();
}

// A simulated thread that takes a lock.
static int take_lock(pthread_mutex_t* mutex, int (*try_it)(pthread_mutex_t*)) {
  Scheduler& scheduler = *Scheduler::active();
  scheduler.step();
  while (try_it(mutex) != 0) scheduler.want(mutex);
  scheduler.taken(mutex);
  return 0;
}
static bool is_simulated() noexcept { return Scheduler::active() && Scheduler::active()->current(); }

}  // namespace idgen::sim

namespace idgen {

// In place of runtime/fork_page.cpp: the simulator wipes it, when it forks a process.
void* map_fork_page(std::size_t bytes) {
  void* const page = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (page == nullptr) throw std::bad_alloc();
  std::memset(page, 0, bytes);
  if (sim::is_simulated()) sim::Scheduler::active()->current()->image->pages.emplace(static_cast<char*>(page), bytes);
  return page;
}
void unmap_fork_page(void* page, std::size_t) noexcept {
  if (sim::is_simulated()) sim::Scheduler::active()->current()->image->pages.erase(static_cast<char*>(page));
  std::free(page);
}

}  // namespace idgen

// The linker puts these in place of pthread's (--wrap).
extern "C" {

using idgen::sim::Scheduler;

int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);
void __real__ZNSt18condition_variable10notify_allEv(std::condition_variable* variable);

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (idgen::sim::is_simulated()) return idgen::sim::take_lock(mutex, __real_pthread_mutex_trylock);
  ++idgen::sim::held_outside;
  return __real_pthread_mutex_lock(mutex);
}
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  const bool simulated = idgen::sim::is_simulated();
  if (simulated) Scheduler::active()->step();
  const int result = __real_pthread_mutex_trylock(mutex);
  if (result != 0) return result;
  if (simulated) {
    Scheduler::active()->taken(mutex);
  } else {
    ++idgen::sim::held_outside;
  }
  return 0;
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  const int result = __real_pthread_mutex_unlock(mutex);
  if (idgen::sim::is_simulated()) {
    Scheduler::active()->released(mutex);
    Scheduler::active()->step();
  } else {
    --idgen::sim::held_outside;
  }
  return result;
}
void __wrap__ZNSt18condition_variable10notify_allEv(std::condition_variable* variable) {
  if (idgen::sim::is_simulated()) {
    Scheduler::active()->notify(variable);
  } else {
    __real__ZNSt18condition_variable10notify_allEv(variable);
  }
}
}
