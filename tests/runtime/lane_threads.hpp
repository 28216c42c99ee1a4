// How many threads of this process belong to a lane: by their name, since a sanitizer has its own threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace idgen {

// A thread that has just been started has no name yet, and does not count.
inline std::size_t threads_of_lanes() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name == "idgen";
  }
  return count;
}

// Waits for the wanted number, 20 s at most, and returns the number there is.
inline std::size_t threads_once_there_are(std::size_t wanted) {
  for (int i = 0; i < 2000 && threads_of_lanes() != wanted; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return threads_of_lanes();
}

}  // namespace idgen
