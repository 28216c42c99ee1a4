// Standard output in large pieces, with every failure seen. Nothing else in this program writes to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace idgen_tool {

// The reader of our pipe is gone (`| head`): stop without a message.
class ReaderGone {};
// We were asked to stop, and nobody reads the rest.
class Interrupted {};

// Call it before opening anything. Opens a null device for each of the descriptors 0 to 2 that our parent closed, on
// which the wrong direction fails. Otherwise the next file, perhaps a store, would get number 1, and ids would be
// written into it.
void hold_standard_descriptors() noexcept;

// After the last Output: finds errors that a file system reports only on close (NFS, quotas). Throws IoError.
void close_standard_output();

// Owns a large buffer for file descriptor 1. Throws ReaderGone, Interrupted, IoError.
class Output {
 public:
  Output();
  // Space for at least `size` bytes; commit what was used.
  char* reserve(std::size_t size);
  void commit(std::size_t size) noexcept { used_ += size; }
  void write(std::string_view text);
  void line(std::string_view text);
  void flush();

 private:
  std::vector<char> buffer_;
  std::size_t used_ = 0;
};

// All of it, at once.
void print(std::string_view text);

// Creates the file, or replaces its content. Throws IoError.
void write_file(const std::string& path, std::string_view text);

}  // namespace idgen_tool
