// An input as a file, for readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "fuzz.hpp"

namespace idgen::fuzz {

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content) : file_(memfd_create("input", MFD_CLOEXEC)) {
    expect(file_ >= 0 && write(file_, content.data(), content.size()) == static_cast<ssize_t>(content.size()),
           "a file in memory");
  }
  ~TemporaryFile() { close(file_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  const int file_;
};

}  // namespace idgen::fuzz
