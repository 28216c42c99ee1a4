#include "runtime/background.hpp"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/fork_page.hpp"

namespace idgen {
namespace {

// Zero in a child: it has no such thread, and starts one of its own. `tasks` is then the parent's, half changed perhaps: left alone.
struct Background {
  std::mutex mutex;
  std::condition_variable added;
  std::deque<std::function<void()>>* tasks;
};

Background& background() {
  static ForkPage<Background>* page = new ForkPage<Background>;  // outlives every static destructor
  return **page;
}

void run(Background& self) {
  std::unique_lock lock(self.mutex);
  for (;;) {
    self.added.wait(lock, [&] { return !self.tasks->empty(); });
    std::function<void()> task = std::move(self.tasks->front());
    self.tasks->pop_front();
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

void post_to_background(std::function<void()> task) {
  Background& self = background();
  std::lock_guard lock(self.mutex);
  if (!self.tasks) {
    auto tasks = std::make_unique<std::deque<std::function<void()>>>();
    start(self);
    self.tasks = tasks.release();
  }
  self.tasks->push_back(std::move(task));
  self.added.notify_one();
}

}  // namespace idgen
