#include "runtime/background.hpp"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"

namespace idgen {
namespace {

using Clock = std::chrono::steady_clock;
using Tasks = std::multimap<Clock::time_point,
                            std::function<void()>>;  // by when they are due; of one time, in the order of their posting

// Zero in a child: it has no such thread, and starts one of its own. `tasks` is then the parent's, half changed perhaps: left alone.
struct Background {
  std::mutex mutex;
  std::condition_variable added;
  Tasks* tasks;
};

Background& background() {
  static constinit MadeOnce<ForkPage<Background>> page;
  return *page.get();
}

void run(Background& self) {
  std::unique_lock lock(self.mutex);
  for (;;) {
    if (self.tasks->empty()) {
      self.added.wait(lock);
      continue;
    }
    const auto first = self.tasks->begin();
    if (const Clock::time_point due = first->first; due > Clock::now()) {
      self.added.wait_until(lock, due);
      continue;
    }
    std::function<void()> task = std::move(first->second);
    self.tasks->erase(first);
    lock.unlock();
    try {
      task();
    } catch (...) {  // a task says itself what went wrong; nothing may end the host's process
    }
    task = nullptr;  // what it owns goes before the lock is taken
    lock.lock();
  }
}

void start(Background& self) {
  // The host's signals are the host's: none is delivered to this thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(run, std::ref(self));
    pthread_setname_np(thread.native_handle(), "idgen");
    thread.detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void post_to_background(std::function<void()> task, std::chrono::nanoseconds delay) {
  const Clock::time_point due = delay.count() > 0 ? Clock::now() + delay : Clock::time_point::min();
  Background& self = background();
  std::lock_guard lock(self.mutex);
  if (!self.tasks) {
    auto tasks = std::make_unique<Tasks>();
    start(self);
    self.tasks = tasks.release();
  }
  self.tasks->emplace(due, std::move(task));
  self.added.notify_one();
}

}  // namespace idgen
