// The files of an audit: dumps, which are read twice, and temporary files, which have no name and so vanish with the
// process, however it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace idgen_tool {

// A file descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const noexcept { return number_; }

 private:
  int number_;
};

// For reading and writing. `folder`: "" for $TMPDIR, else /tmp. Throws IoError.
Descriptor temporary_file(const std::string& folder);
// All of it, or IoError. `what` is named in the message.
void write_all(int file, const void* bytes, std::size_t size, const std::string& what);
// Waits until a pipe has something to read. A signal may reach another thread than the one that waits, so it looks
// again now and then. Throws Interrupted if we were asked to stop.
void wait_for_input(int file);
// Up to `size` bytes from the offset; fewer only at the file's end.
std::size_t read_at(int file, void* bytes, std::size_t size, std::uint64_t offset);

// The bytes of one dump, from its beginning to its end, and once more after rewind(). Standard input ("-") and pipes
// are copied to a temporary file while they are read. Throws IoError, and Interrupted if we were asked to stop.
class DumpFile {
 public:
  DumpFile(const std::string& path, const std::string& temporary_folder);
  // What the user knows it by: its path, or "standard input".
  const std::string& name() const noexcept { return name_; }
  const std::string& path() const noexcept { return path_; }
  bool is_regular() const noexcept { return is_regular_; }
  // In bytes; 0 if it is not known.
  std::uint64_t size() const noexcept { return size_; }
  // The first bytes, up to 64 KiB; they will be read again.
  std::string_view head();
  // 0 at the end.
  std::size_t read(char* to, std::size_t size);
  void rewind();

 private:
  std::size_t read_file(char* to, std::size_t size);

  std::string path_;
  std::string name_;
  bool is_regular_ = false;
  std::uint64_t size_ = 0;
  Descriptor file_;
  Descriptor copy_;  // of what is no regular file
  bool is_copied_ = false;
  std::vector<char> head_;
  std::size_t head_used_ = 0;
};

}  // namespace idgen_tool
