// How long one call may still wait, and what ends the wait early.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "idgen/mutex.hpp"
#include "idgen/status.hpp"

namespace idgen {

// Says whether a waiting caller should stop. Called with no lock held.
using Cancelled = std::function<bool()>;

class Patience {
 public:
  // How often a waiting call checks whether to stop.
  static constexpr std::int64_t kSliceNs = 20'000'000;

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
  std::int64_t waited_ns() const noexcept { return wait_max_ns_ - left_ns_; }
  std::int64_t wait_max_ns() const noexcept { return wait_max_ns_; }
  std::int64_t slice_ns() const noexcept { return std::min(left_ns_, kSliceNs); }

  void spend(std::int64_t ns) noexcept { left_ns_ -= std::max<std::int64_t>(ns, 0); }
  // After progress.
  void renew() noexcept { left_ns_ = wait_max_ns_; }

  // Throws Error{closed} or Error{cancelled}.
  void check(const std::string& subject) const IDGEN_RUNS_HOST_CODE {
    if (closed_ && closed_->load(std::memory_order_acquire)) {
      throw Error(Status::closed, subject + ": the generator is closed; open a new one");
    }
    if (cancelled_ && *cancelled_ && (*cancelled_)()) {
      throw Error(Status::cancelled, subject + ": stopped waiting, as the caller asked");
    }
  }

 private:
  bool may_wait_ = false;
  std::int64_t left_ns_ = 0;
  std::int64_t wait_max_ns_ = 0;
  const std::atomic<bool>* closed_ = nullptr;
  const Cancelled* cancelled_ = nullptr;
};

}  // namespace idgen
