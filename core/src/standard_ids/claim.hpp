// Claims what differs within a process: a time and a counter in one word.
//
// UUIDs of version 7 and ULIDs are 48 bits of time and 80 others, 6 of which say what a UUID is. The first 20 of these
// are a counter (RFC 9562, section 6.2, method 1), which begins in each ms at a random number in its lower half. With
// more than 2^19 ids in a ms, or a clock that is set back, the time in the ids is ahead of the clock's.
//
// A clock that is set back by kMostBackMs or more was wrong before: it is believed, and from there ids rise again. What
// counts is the clock's own highest reading, so that a lead by many ids is not taken for that; and a reading that is
// taken anew, so that neither is a thread that stood still between reading and claiming.
#pragma once

#include <atomic>
#include <cstdint>

#include "standard_ids/random.hpp"

namespace idgen {

constexpr std::uint64_t kMostBackMs = 10'000;
constexpr unsigned kTimedCounterBits = 20;
constexpr unsigned kObjectCounterBits = 24, kObjectBits = 32 + kObjectCounterBits;

struct Claims {
  std::atomic<std::uint64_t> latest;    // claimed number, time and counter
  std::atomic<std::uint64_t> clock_ms;  // the highest reading that began a time
};

// Whether the clock was set back far: `now_ms` is then its present reading.
template <class Clock>
[[gnu::cold]] bool is_set_back(Claims& claims, std::uint64_t& now_ms, Clock&& clock) {
  now_ms = clock();
  const std::uint64_t highest = claims.clock_ms.load(std::memory_order_relaxed);
  return now_ms < highest && highest - now_ms >= kMostBackMs;
}

// `count` numbers, ms and counter, that were not claimed before; returns the first. clock() reads it again.
template <class Clock>
[[gnu::always_inline]] inline std::uint64_t claim_timed(Claims& claims, std::uint64_t now_ms, RandomStream& random,
                                                        std::uint64_t count, Clock&& clock) {
  std::uint64_t seen = claims.latest.load(std::memory_order_relaxed);
  for (;;) {
    std::uint64_t first = seen + 1;
    const std::uint64_t now = now_ms << kTimedCounterBits;
    if (first - now >= kMostBackMs << kTimedCounterBits) [[unlikely]] {  // behind, or far ahead
      std::uint64_t again_ms = now_ms;
      if (first < now || is_set_back(claims, again_ms, clock)) {
        first = again_ms << kTimedCounterBits | random.next() >> (65 - kTimedCounterBits);
        claims.clock_ms.store(again_ms, std::memory_order_relaxed);
      }
    }
    if (claims.latest.compare_exchange_weak(seen, first + (count - 1), std::memory_order_relaxed)) [[likely]]
      return first;
  }
}

// The same for ObjectIds: seconds and counter. They have no random bits by which two ids of the same second could
// differ if it came twice. So the top 8 bits of the number count how often the clock was set back far, and change the
// bits of the process.
template <class Clock>
inline std::uint64_t claim_object(Claims& claims, std::uint64_t now_ms, RandomStream& random, std::uint64_t count,
                                  Clock&& clock) {
  constexpr std::uint64_t kTimeAndCounter = (std::uint64_t{1} << kObjectBits) - 1;
  std::uint64_t seen = claims.latest.load(std::memory_order_relaxed);
  for (;;) {
    std::uint64_t first = seen + 1;
    const std::uint64_t now = (now_ms / 1000 << kObjectCounterBits) & kTimeAndCounter;
    const bool is_behind = (first & kTimeAndCounter) < now;
    if (is_behind || (first & kTimeAndCounter) - now >= kMostBackMs / 1000 << kObjectCounterBits) {
      std::uint64_t again_ms = now_ms;
      if (is_behind || is_set_back(claims, again_ms, clock)) {
        first = ((first >> kObjectBits) + (is_behind ? 0 : 1)) << kObjectBits |
                ((again_ms / 1000 << kObjectCounterBits) & kTimeAndCounter) |
                random.next() >> (65 - kObjectCounterBits);
        claims.clock_ms.store(again_ms, std::memory_order_relaxed);
      }
    }
    if (claims.latest.compare_exchange_weak(seen, first + (count - 1), std::memory_order_relaxed)) return first;
  }
}

// 40 bits, from the 40 that this process drew.
inline std::uint64_t process_of(std::uint64_t drawn, std::uint64_t number) noexcept {
  return (drawn + (number >> kObjectBits) * 0x9E3779B97F) & 0xFFFFFFFFFF;
}

}  // namespace idgen
