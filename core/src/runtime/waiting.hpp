// How a thread of ours waits: in slices, so that it looks again and again whether to stop.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <string>

#include "idgen/mutex.hpp"
#include "idgen/runtime.hpp"
#include "idgen/status.hpp"
#include "idgen/time_units.hpp"

namespace idgen {

inline constexpr std::int64_t kSliceNs = 20 * kNsPerMs;

inline Error cancelled_error(const std::string& subject) {
  return Error(Status::cancelled, subject + ": stopped waiting, as the caller asked");
}

// For a wait that nothing ends early: while (is_busy_ && deadline.wait(lock, changed_)) {}
class Deadline {
 public:
  Deadline(Runtime& runtime, std::int64_t wait_ns) : runtime_(runtime), end_ns_(runtime.mono_ns() + wait_ns) {}
  // Waits for `changed`, for one slice. False, and no wait: the time is over.
  bool wait(MutexLock& lock, std::condition_variable& changed) {
    const std::int64_t left_ns = end_ns_ - runtime_.mono_ns();
    if (left_ns <= 0) return false;
    runtime_.wait(lock, changed, std::min(left_ns, kSliceNs));
    return true;
  }

 private:
  Runtime& runtime_;
  const std::int64_t end_ns_;
};

}  // namespace idgen
