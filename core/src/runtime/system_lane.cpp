#include "runtime/system_lane.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <thread>

#include "idgen/mutex.hpp"
#include "runtime/fork_page.hpp"

namespace idgen {
namespace {

using Clock = std::chrono::steady_clock;
using Tasks = std::multimap<Clock::time_point,
                            std::function<void()>>;  // by due time, then in the order of posting

// How long an idle thread stays: long enough for a store that is used every second to keep its thread.
constexpr std::chrono::seconds kIdle{2};

// The host's signals are not delivered to our threads. Signals raised by a thread's own instruction stay unblocked:
// blocked, they would end the process without a message, and a JVM relies on handling them when a store of the host
// runs there.
class NoSignals {
 public:
  NoSignals() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&blocked, own);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

class SystemLane final : public Lane, public std::enable_shared_from_this<SystemLane> {
 public:
  SystemLane() = default;
  SystemLane(const SystemLane&) = delete;
  SystemLane& operator=(const SystemLane&) = delete;
  ~SystemLane() override { delete state_->tasks; }  // the thread, if there is one, holds the lane

  // Due now, not before everything else: posting without a pause must not starve a timer.
  void post(std::function<void()> task) override { add(Clock::now(), std::move(task)); }
  void post_after(std::int64_t delay_ns, std::function<void()> task) override {
    add(Clock::now() + std::chrono::nanoseconds(std::max<std::int64_t>(delay_ns, 0)), std::move(task));
  }
  bool is_here() const noexcept override { return here_ == this; }

  // Nobody can post any more.
  void let_go() {
    const MutexLock lock(state_->mutex);
    has_owner_ = false;
    state_->added.notify_one();
  }

 private:
  // Zero in a child, which has no thread yet and starts its own. `tasks` is then the parent's, perhaps half changed:
  // left alone.
  struct State {
    Mutex mutex;
    std::condition_variable added;
    Tasks* tasks IDGEN_GUARDED_BY(mutex);
    bool has_thread IDGEN_GUARDED_BY(mutex);
  };

  void add(Clock::time_point due, std::function<void()> task) {
    const MutexLock lock(state_->mutex);
    if (!state_->tasks) state_->tasks = new Tasks;
    const auto added = state_->tasks->emplace(due, std::move(task));
    if (state_->has_thread) {
      state_->added.notify_one();
      return;
    }
    try {
      const NoSignals inherited;
      std::thread(&SystemLane::run, shared_from_this()).detach();
      state_->has_thread = true;
    } catch (...) {
      state_->tasks->erase(added);
      throw;
    }
  }

  void run() {
    pthread_setname_np(pthread_self(), "idgen");
    here_ = this;
    MutexLock lock(state_->mutex);
    while (wait_for_work(lock)) {
      std::function<void()> task = std::move(state_->tasks->begin()->second);
      state_->tasks->erase(state_->tasks->begin());
      lock.unlock();
      try {
        task();
      } catch (...) {  // a task reports its own errors; nothing may end the host's process
      }
      task = nullptr;  // what it owns goes before the lock is taken
      lock.lock();
    }
    state_->has_thread = false;
  }

  // True: the first task is due. False: there has been none for a while, or nobody is left to post one. The lane of a
  // single task (run_abandonably) ends at once; otherwise a program that opens and closes many generators would collect
  // threads.
  bool wait_for_work(MutexLock& lock) IDGEN_REQUIRES(state_->mutex) {
    const Clock::time_point idle_until = Clock::now() + kIdle;
    for (;;) {
      if (!state_->tasks) return false;  // a child that was forked by a task
      const bool empty = state_->tasks->empty();
      if (!has_owner_ && (empty || state_->tasks->begin()->first > Clock::now())) {
        state_->tasks->clear();  // timers hold a weak_ptr to their target, which is gone with the owner
        return false;
      }
      const Clock::time_point until = empty ? idle_until : state_->tasks->begin()->first;
      if (const bool over = until <= Clock::now()) return !empty && over;
      state_->added.wait_until(lock.to_wait_with(), until);
    }
  }

  static inline thread_local const SystemLane* here_ = nullptr;
  ForkPage<State> state_;
  std::atomic<bool> has_owner_{true};
};

}  // namespace

std::shared_ptr<Lane> make_system_lane() {
  const auto lane = std::make_shared<SystemLane>();  // its thread also holds it
  return {lane.get(), [lane](Lane*) { lane->let_go(); }};
}

}  // namespace idgen
