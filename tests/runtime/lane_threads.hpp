// How many threads of this process belong to a lane: by their name, since a sanitizer has its own threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "patience.hpp"

namespace idgen {

inline std::size_t threads_of_lanes() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "idgen";
  }
  return count;
}

// Waits until the wanted number has been seen for 100 ms, and returns the number last seen. Once is not enough: a
// thread that has just been started has no name yet.
inline std::size_t threads_once_there_are(std::size_t wanted) {
  std::size_t count = 0;
  int in_a_row = 0;
  (void)becomes_true([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    count = threads_of_lanes();
    in_a_row = count == wanted ? in_a_row + 1 : 0;
    return in_a_row == 10;
  });
  return count;
}

}  // namespace idgen
