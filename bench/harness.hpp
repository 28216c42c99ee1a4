// Measures in turns. A machine is never quiet, and its other work must affect a floor and its subject alike. So each
// round runs every subject for a few milliseconds, one after the other, and the report compares within a round. The
// programs only print samples; report.py computes ratios and medians.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// CPU time of this thread: the cost of a call even if the scheduler gives the core to others now and then. It would
// hide calls that wait, so its users also report the waits that the generators have counted.
inline double thread_cpu_ns() {
  timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

// Makes the compiler believe that the value is used.
template <class T>
void keep(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

struct Subject {
  std::string name;
  std::function<void(std::size_t)> run;  // does its work this many times
  std::size_t multiple = 1;              // the number of times is a multiple of this
  std::size_t count = 0;
  std::vector<double> ns{};  // of this thread's CPU time, per repetition; one sample per round
};

// Runs all subjects in turns, slice_ms each, and records their samples.
inline void take_turns(std::vector<Subject>& subjects, int rounds, double slice_ms) {
  for (Subject& subject : subjects) {
    for (std::size_t count = 1024;; count *= 4) {
      const std::size_t rounded = (count + subject.multiple - 1) / subject.multiple * subject.multiple;
      const double start = thread_cpu_ns();
      subject.run(rounded);
      const double ns = thread_cpu_ns() - start;
      if (ns < 1e6 * slice_ms / 8) continue;
      const double wanted = static_cast<double>(rounded) * slice_ms * 1e6 / ns / static_cast<double>(subject.multiple);
      subject.count = (static_cast<std::size_t>(wanted) + 1) * subject.multiple;
      break;
    }
  }
  for (int round = 0; round < rounds; ++round) {
    for (Subject& subject : subjects) {
      const double start = thread_cpu_ns();
      subject.run(subject.count);
      subject.ns.push_back((thread_cpu_ns() - start) / static_cast<double>(subject.count));
    }
  }
}

}  // namespace bench
