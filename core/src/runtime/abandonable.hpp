// Work that may block for longer than its caller wants to wait: opening a store, or giving something back to it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "idgen/mutex.hpp"
#include "idgen/runtime.hpp"
#include "idgen/status.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/waiting.hpp"

namespace idgen {

// Asks the host.
inline bool says(const Cancelled& cancelled) IDGEN_RUNS_HOST_CODE { return cancelled(); }

// Runs work(cancelled) on a separate thread, and waits until cancelled() says yes. After that the work continues alone;
// the cancelled() it was given tells it so, and what it still makes goes to late(). Runs on this thread if no other can
// be started. Throws Error{cancelled}, or what the work throws.
template <class T>
T run_abandonably(Runtime& runtime, const std::string& subject, const Cancelled& cancelled,
                  std::function<T(const Cancelled&)> work, std::function<void(T)> late) {
  struct State {
    Mutex mutex;
    std::condition_variable changed;
    bool is_abandoned IDGEN_GUARDED_BY(mutex) = false;
    std::optional<T> made IDGEN_GUARDED_BY(mutex);
    std::exception_ptr failure IDGEN_GUARDED_BY(mutex);
  };
  const auto state = std::make_shared<State>();
  const ForkPage<std::atomic<bool>> here;  // false in a child: only the parent has the thread for this
  here->store(true);
  bool is_posted = true;
  try {
    runtime.make_lane()->post([state, work, late = std::move(late)] {
      std::optional<T> made;
      std::exception_ptr failure;
      try {
        made = work([&] {
          const MutexLock lock(state->mutex);
          return state->is_abandoned;
        });
      } catch (...) {
        failure = std::current_exception();
      }
      MutexLock lock(state->mutex);
      if (!state->is_abandoned) {
        state->made = std::move(made);
        state->failure = std::move(failure);
        state->changed.notify_all();
        return;
      }
      lock.unlock();
      if (made) late(std::move(*made));
    });
  } catch (const std::exception&) {
    is_posted = false;
  }
  if (!is_posted) return work(cancelled);
  for (;;) {
    MutexLock lock(state->mutex);
    if (!state->made && !state->failure) runtime.wait(lock, state->changed, kSliceNs);
    if (!here->load()) {
      throw Error(Status::forked, subject + ": this process was forked in the middle of this call; call again");
    }
    if (state->failure) std::rethrow_exception(std::exchange(state->failure, nullptr));
    if (state->made) return std::move(*state->made);
    lock.unlock();
    if (!says(cancelled)) continue;
    lock.lock();
    if (state->made || state->failure) continue;  // just in time
    state->is_abandoned = true;
    throw cancelled_error(subject);
  }
}

}  // namespace idgen
