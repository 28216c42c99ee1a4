// Five million calls per second, each of which is timed.
#pragma once

#include <string>

#include "harness.hpp"
#include "histogram.hpp"
#include "json.hpp"

namespace bench {

inline constexpr double kPaceNs = 200;  // 5 000 000 per second
inline constexpr double kMostBehindNs =
    50'000;  // after a stop longer than this it continues at the pace, without a burst

struct Tally {
  Histogram latency;
  double seconds = 0;
};

// Calls draw() at the pace for this long. Due times that a preempted thread has missed by far are skipped, not caught
// up with.
template <class Draw>
void paced(double seconds, Tally& tally, Draw draw) {
  const auto start = Clock::now();
  double due = 0;
  for (;;) {
    double now = ns_since(start);
    while (now < due) now = ns_since(start);
    if (now - due > kMostBehindNs) due = now;
    if (now > seconds * 1e9) break;
    draw();
    tally.latency.add(static_cast<std::uint64_t>(ns_since(start) - now));
    due += kPaceNs;
  }
  tally.seconds += ns_since(start) / 1e9;
}

inline void write(Json& json, const std::string& name, const Tally& tally) {
  json.open(name);
  json.number("calls", static_cast<double>(tally.latency.total()));
  json.number("ids_per_second", static_cast<double>(tally.latency.total()) / tally.seconds);
  json.number("p50", tally.latency.percentile(0.5));
  json.number("p99", tally.latency.percentile(0.99));
  json.number("p999", tally.latency.percentile(0.999));
  json.number("p9999", tally.latency.percentile(0.9999));
  json.number("max", tally.latency.max());
}

}  // namespace bench
