// How long one call may still wait, and what ends the wait early.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <string>
#include <string_view>

#include "idgen/concat.hpp"
#include "idgen/mutex.hpp"
#include "idgen/runtime.hpp"
#include "idgen/status.hpp"
#include "idgen/time_units.hpp"
#include "runtime/waiting.hpp"

namespace idgen {

inline Error closed_error(const std::string& subject) {
  return Error(Status::closed, subject + ": the generator is closed; open a new one");
}

class Patience {
 public:
  // For try_next: no waiting at all.
  Patience() = default;
  Patience(std::int64_t wait_max_ns, const std::atomic<bool>& closed, const Cancelled& cancelled)
      : may_wait_(true), left_ns_(wait_max_ns), wait_max_ns_(wait_max_ns), closed_(&closed), cancelled_(&cancelled) {}
  // For opening a generator, when there is nothing to close yet.
  Patience(std::int64_t wait_max_ns, const Cancelled& cancelled)
      : may_wait_(true), left_ns_(wait_max_ns), wait_max_ns_(wait_max_ns), cancelled_(&cancelled) {}
  // All are kept by reference.
  Patience(std::int64_t, const std::atomic<bool>&, Cancelled&&) = delete;
  Patience(std::int64_t, Cancelled&&) = delete;

  bool may_wait() const noexcept { return may_wait_; }
  std::int64_t left_ns() const noexcept { return left_ns_; }
  std::int64_t wait_max_ns() const noexcept { return wait_max_ns_; }
  std::int64_t slice_ns() const noexcept { return std::min(left_ns_, kSliceNs); }

  void spend(std::int64_t ns) noexcept { left_ns_ -= std::max<std::int64_t>(ns, 0); }
  // What has passed since then (mono), which it returns; a host's clock may stand still, so it counts as `least_ns`.
  std::int64_t spend_since(Runtime& runtime, std::int64_t before_ns, std::int64_t least_ns = 0) noexcept {
    const std::int64_t waited_ns = std::max<std::int64_t>(runtime.mono_ns() - before_ns, 0);
    spend(std::max(waited_ns, least_ns));
    return waited_ns;
  }
  // After progress.
  void renew() noexcept { left_ns_ = wait_max_ns_; }

  // Throws Error{closed} or Error{cancelled}.
  void check(const std::string& subject) const IDGEN_RUNS_HOST_CODE {
    if (closed_ && closed_->load(std::memory_order_acquire)) throw closed_error(subject);
    if (cancelled_ && *cancelled_ && (*cancelled_)()) throw cancelled_error(subject);
  }

  // Waits for `changed`, for one slice, and then checks with the lock released. The lock is held again when it returns,
  // and not when it throws. Clang cannot see that it is held here.
  void wait(Runtime& runtime, MutexLock& lock, std::condition_variable& changed,
            const std::string& subject) IDGEN_UNCHECKED_LOCKS {
    const std::int64_t before_ns = runtime.mono_ns();
    runtime.wait(lock, changed, slice_ns());
    spend_since(runtime, before_ns);
    lock.unlock();
    check(subject);
    lock.lock();
  }
  // Sleeps for one slice of `ns`, which counts as at least `least_ns`. Returns how long it took.
  std::int64_t sleep(Runtime& runtime, std::int64_t ns, std::int64_t least_ns = 1) IDGEN_RUNS_HOST_CODE {
    const std::int64_t before_ns = runtime.mono_ns();
    runtime.sleep_ns(std::min(ns, kSliceNs));
    return spend_since(runtime, before_ns, least_ns);
  }

  // For messages.
  std::string waited_for(std::string_view what) const {
    return concat({"waited ", (wait_max_ns_ - left_ns_) / kNsPerMs, " ms (wait_max) for ", what});
  }

 private:
  bool may_wait_ = false;
  std::int64_t left_ns_ = 0;
  std::int64_t wait_max_ns_ = 0;
  const std::atomic<bool>* closed_ = nullptr;
  const Cancelled* cancelled_ = nullptr;
};

}  // namespace idgen
