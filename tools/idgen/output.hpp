// Standard output in large pieces, with every failure seen. Nothing else in this program writes to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace idgen_tool {

// The reader of our pipe is gone (`| head`): nothing to say, only to stop.
class ReaderGone {};
// We were asked to stop, and nobody takes what is left to write.
class Interrupted {};

// Before anything is opened: descriptors 0 to 2 that our parent closed are held by a null device, on which the unwanted
// direction fails. Else the next file to be opened, a store perhaps, would get number 1, and ids would be written into
// it.
void hold_standard_descriptors() noexcept;

// After the last Output: what a file system says only when a file is closed (NFS, quotas). Throws IoError.
void close_standard_output();

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

// All of it, at once.
void print(std::string_view text);

// Makes the file, or puts the text in place of what is in it. Throws IoError.
void write_file(const std::string& path, std::string_view text);

}  // namespace idgen_tool
