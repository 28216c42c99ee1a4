// A circuit breaker: after several failures in a row a side is left alone for a while; then one request tries it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "idgen/store.hpp"

namespace idgen {

// All bytes zero: closed. Not safe for threads.
class Breaker {
 public:
  // True: make the request, and report the result afterwards.
  bool allows(std::uint32_t errors, std::int64_t now_ns) {
    if (failures_ < errors) return true;
    if (probing_ || now_ns < open_until_ns_) return false;
    probing_ = true;
    return true;
  }
  void succeeded() {
    failures_ = 0;
    probing_ = false;
  }
  void failed(std::uint32_t errors, std::int64_t pause_ns, std::int64_t now_ns) {
    probing_ = false;
    ++all_failures_;
    failures_ = std::min(failures_ + 1, errors);
    if (failures_ == errors) open_until_ns_ = now_ns + pause_ns;
  }
  BreakerState state(std::uint32_t errors, std::int64_t now_ns) const {
    if (failures_ < errors) return BreakerState::closed;
    return probing_ || now_ns >= open_until_ns_ ? BreakerState::half_open : BreakerState::open;
  }
  std::int64_t open_until_ns() const { return open_until_ns_; }
  std::uint64_t all_failures() const { return all_failures_; }

 private:
  std::uint32_t failures_ = 0;  // in a row
  bool probing_ = false;
  std::int64_t open_until_ns_ = 0;
  std::uint64_t all_failures_ = 0;
};

}  // namespace idgen
