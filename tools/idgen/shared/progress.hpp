// A progress bar on stderr for long runs.
#pragma once

#include <chrono>
#include <cstdint>

#include "shared/terminal.hpp"

namespace idgen_tool {

// Draws only if stderr is a terminal and stdout is not, and only after half a second; erased at the end.
class Progress {
 public:
  explicit Progress(std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(std::uint64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t total_;
  Terminal terminal_;
  bool wanted_;
  bool drawn_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_ + std::chrono::milliseconds(500);
};

}  // namespace idgen_tool
