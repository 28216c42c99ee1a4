// When a process of this machine began. Its number alone does not tell it from a later process.
#pragma once

#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "idgen/time_units.hpp"

namespace idgen {

// In Unix ms, by the wall clock as it is set now; empty if the kernel does not say. From field 22 of proc(5),
// /proc/PID/stat: clock ticks since the machine booted.
inline std::optional<std::int64_t> process_began_ms(int process) noexcept {
  char text[1024] = "";
  std::snprintf(text, sizeof text, "/proc/%d/stat", process);
  std::FILE* const file = std::fopen(text, "re");
  if (file == nullptr) return std::nullopt;
  text[std::fread(text, 1, sizeof text - 1, file)] = '\0';
  std::fclose(file);
  const char* at = std::strrchr(text, ')');  // of the program's name, field 2, which may hold anything
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  const long per_second = sysconf(_SC_CLK_TCK);
  if (at == nullptr || per_second <= 0) return std::nullopt;
  timespec wall{}, since_boot{};
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const auto ms = [](const timespec& time) { return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / kNsPerMs; };
  return ms(wall) - ms(since_boot) + std::strtoll(at, nullptr, 10) * 1000 / per_second;
}

}  // namespace idgen
