// What this host was granted of a tag and has not given back, in a small file, so that a store which was restored from
// a backup is noticed. Numbers are written there after they were granted, which a power loss may undo, and taken out on
// the disk before they are given back: so the store never has less than the file says, unless it went back.
#pragma once

#include <cstdint>
#include <string>

namespace idgen {

// Threads and processes: any. A child may use its parent's. Every call but path() throws Error{store_*}:
// store_permission, for example, if the file cannot be made, store_unavailable if another process has held it too long.
class HostMemory {
 public:
  // `tag` is shown in the file, which the first call makes, as accessible as its folder; `timeout_ms` is for another
  // process that holds it, in every call.
  HostMemory(std::string path, std::string tag, std::int64_t timeout_ms);

  const std::string& path() const noexcept { return path_; }

  struct Look {
    std::uint64_t highest;      // number that is there; 0: none
    std::uint64_t times_taken;  // until now, that take() has taken some out
  };
  Look look() const;
  // first to last. False: it has had some of them, which were not taken out; then none is added. Of more than 95 ranges
  // with gaps between them, which are other hosts', it keeps the highest.
  bool add(std::uint64_t first, std::uint64_t last) const;
  void take(std::uint64_t first, std::uint64_t last) const;

 private:
  class Locked;
  const std::string path_;
  const std::string tag_;
  const std::int64_t timeout_ms_;
};

}  // namespace idgen
