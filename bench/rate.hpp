// How much several threads do at once.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "harness.hpp"

namespace bench {

inline constexpr std::size_t kStride = 256;  // ids between two checks of the stop flag
inline constexpr auto kSlice = std::chrono::milliseconds(100);

// ids per second of n threads that all run work(thread, kStride) until the slice ends. Only whole strides inside the
// slice count.
inline double rate(unsigned n, const std::function<void(unsigned, std::size_t)>& work) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      work(i, kStride);
      ++ready;
      while (!go.load(std::memory_order_acquire)) std::this_thread::yield();
      std::uint64_t mine = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        work(i, kStride);
        mine += kStride;
      }
      done += mine;
    });
  }
  while (ready < n) std::this_thread::yield();
  const auto start = Clock::now();
  go.store(true, std::memory_order_release);
  std::this_thread::sleep_for(kSlice);
  stop.store(true, std::memory_order_relaxed);
  const double ns = ns_since(start);
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(done) / ns * 1e9;
}

}  // namespace bench
