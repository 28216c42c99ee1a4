// Any number of keys in order, in bounded memory: pieces of them are sorted and written to temporary files as the
// differences from key to key, and merged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audit_files.hpp"

namespace idgen_tool {

// A source of keys in order. read() writes up to `most` and returns how many; 0 at the end.
class SortedKeys {
 public:
  virtual ~SortedKeys() = default;
  virtual std::size_t read(std::uint64_t* keys, std::size_t most) = 0;
};

// A sorted run in a file.
struct SortedRun {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // in bytes
  std::uint64_t count = 0;
};

// A temporary file of runs, one behind the other.
class RunFile {
 public:
  explicit RunFile(const std::string& folder) : file_(temporary_file(folder)) {}
  // Sorted keys follow by append() until end_run().
  void begin_run();
  void append(const std::uint64_t* keys, std::size_t count);
  SortedRun end_run();
  int descriptor() const noexcept { return file_.get(); }

 private:
  void flush();

  Descriptor file_;
  std::vector<std::uint8_t> buffer_;
  std::size_t used_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t last_ = 0;
  SortedRun run_;
};

// Fills `keys` with up to `most` keys and returns how many, 0 at the end; then `from_bit` is as in sort_keys. Called by
// one thread at a time, in the order of the dump.
struct Filled {
  std::size_t count = 0;
  unsigned from_bit = 0;
};
using FillKeys = std::function<Filled(std::uint64_t* keys, std::size_t most)>;

// Sorts all keys that `fill` gives with about `memory` bytes, on up to two threads that fill in turns and sort side by
// side. The keys are what `folder` has space for, if they do not fit in memory.
std::unique_ptr<SortedKeys> sort_all(const FillKeys& fill, std::size_t memory, const std::string& folder);

}  // namespace idgen_tool
