// The work that every generator must do, as loops of the same shape as the subjects'.
#pragma once

#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "harness.hpp"

namespace bench {

struct alignas(64) Shared {
  std::atomic<std::uint64_t> number{0};
};

inline std::uint64_t realtime_ms() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

// One increment of a shared counter.
inline void fetch_add(Shared& shared, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t number = shared.number.fetch_add(1, std::memory_order_relaxed);
    keep(number);
  }
}

// The same behind a call with a pointer for the result: the cost of the C ABI's shape.
[[gnu::noinline]] inline int fetch_add_called(Shared* shared, std::uint64_t* number) {
  *number = shared->number.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

inline void call_fetch_add(Shared& shared, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t number;
    if (fetch_add_called(&shared, &number)) [[unlikely]]
      return;
    keep(number);
  }
}

inline void read_clock(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    keep(now.tv_nsec);
  }
}

inline void compare_and_set(Shared& shared, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t seen = shared.number.load(std::memory_order_relaxed);
    shared.number.compare_exchange_strong(seen, seen + 1, std::memory_order_acq_rel);
    keep(seen);
  }
}

// The bare pair, without using the clock's value.
inline void clock_and_compare_and_set(Shared& shared, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    std::uint64_t seen = shared.number.load(std::memory_order_relaxed);
    shared.number.compare_exchange_strong(seen, static_cast<std::uint64_t>(now.tv_nsec), std::memory_order_acq_rel);
    keep(seen);
  }
}

// A time-ordered counter of 22 bits per millisecond and nothing else, repeated until the step succeeds, because there
// may be several threads.
inline void time_ordered_counter(Shared& shared, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t now = realtime_ms() << 22;
    std::uint64_t seen = shared.number.load(std::memory_order_relaxed);
    std::uint64_t number;
    do {
      number = seen < now ? now : seen + 1;
    } while (!shared.number.compare_exchange_weak(seen, number, std::memory_order_acq_rel));
    keep(number);
  }
}

// An array of ids filled by a loop.
inline void store_numbers(std::uint64_t* ids, std::size_t batch, std::size_t count) {
  for (std::size_t i = 0; i < count; i += batch) {
    std::uint64_t first = i;
    keep(first);
    for (std::size_t j = 0; j < batch; ++j) ids[j] = first + j;
    keep(ids);
  }
}

}  // namespace bench
