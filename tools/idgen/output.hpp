// Standard output in large pieces, with every failure seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace idgen_tool {

// The reader of our pipe is gone (`| head`): nothing to say, only to stop.
class ReaderGone {};
// We were asked to stop, and nobody takes what is left to write.
class Interrupted {};

// Owns a large buffer for file descriptor 1. Throws ReaderGone, Interrupted, IoError.
class Output {
 public:
  Output();
  // Room for at least `size` bytes; commit what was used.
  char* reserve(std::size_t size);
  void commit(std::size_t size) noexcept { used_ += size; }
  void write(std::string_view text);
  void line(std::string_view text);
  void flush();

 private:
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

}  // namespace idgen_tool
