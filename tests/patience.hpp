// What tests wait with: for a condition, never for a time, and on a slow machine longer.
#pragma once

#include <chrono>
#include <cstdlib>
#include <thread>

namespace idgen {

// A deadline of so many seconds on the reference machine. The runner (scripts/test) measures once per run how slow the
// machine is, and sets IDGEN_PATIENCE to that factor.
inline std::chrono::milliseconds patience(std::chrono::milliseconds time) {
  static const double factor = [] {
    const char* text = std::getenv("IDGEN_PATIENCE");
    return text != nullptr ? std::strtod(text, nullptr) : 1.0;
  }();
  return std::chrono::milliseconds(static_cast<long>(static_cast<double>(time.count()) * factor));
}

// Waits until condition() is true; false if it is not after a minute.
template <class Condition>
[[nodiscard]] bool becomes_true(Condition condition, std::chrono::milliseconds within = std::chrono::minutes(1)) {
  const auto deadline = std::chrono::steady_clock::now() + patience(within);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace idgen
