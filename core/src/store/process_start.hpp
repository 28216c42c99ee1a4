// When a process of this machine began. Its number alone does not tell it from a later process.
#pragma once

#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

namespace idgen {

// In Unix ms, by the wall clock as it is set now; empty if the kernel does not say. From field 22 of proc(5),
// /proc/PID/stat: clock ticks since the machine booted.
inline std::optional<std::int64_t> process_began_ms(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  // The second field is the program's name in parentheses, which may hold anything.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  std::int64_t ticks = 0;
  const long per_second = sysconf(_SC_CLK_TCK);
  if (!(fields >> ticks) || per_second <= 0) return std::nullopt;
  timespec wall{}, since_boot{};
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const auto ms = [](const timespec& time) { return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000; };
  return ms(wall) - ms(since_boot) + ticks * 1000 / per_second;
}

}  // namespace idgen
