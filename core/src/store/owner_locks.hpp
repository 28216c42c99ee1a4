// Proof that an owner is alive: one byte of the lock file, locked for as long as this process owns a worker.
//
// The byte is derived from namespace and worker, not from a row of the database, so an owner keeps its worker whatever
// happens to the database. The kernel drops the lock as soon as the process is gone, kill -9 included, so a restart
// need not wait for a lease to end. The lock proves only that an owner is alive. Uniqueness depends on the row (I2): if
// a lock is lost because the host closed our descriptor or somebody deleted the file, two owners still get disjoint
// windows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "idgen/mutex.hpp"
#include "store/lock_file.hpp"

namespace idgen {

// The position of a worker's lock, the same for every build of idgen. Two workers on the same byte (one in 10^18 pairs)
// exclude each other.
constexpr std::int64_t owner_byte(const std::string& name_space, std::uint64_t worker) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char c : name_space) add(static_cast<std::uint8_t>(c));
  for (int shift = 0; shift < 64; shift += 8) add(static_cast<std::uint8_t>(worker >> shift));
  hash ^= hash >> 32;                                                  // the last byte has reached only the upper half
  return static_cast<std::int64_t>((hash * 0x9e3779b97f4a7c15) >> 2);  // below kTransactionByte
}

// What this process owns through the locks of one lock file.
//
// Threads: any method from any thread. Nothing here waits. Callers hold the transaction's lock, except for
// release_all().
class OwnerLocks {
 public:
  struct Owned {
    std::uint64_t fence = 0;          // 0: being acquired
    std::int64_t first_start_ms = 0;  // of the grant with this fence
    const void* through = nullptr;    // the store object that acquired it
  };
  enum class Claim { granted, held_here, held_elsewhere };

  // This process's locks on a lock file; never destroyed. A child begins with none: the parent's belong to the parent.
  static OwnerLocks& at(const std::string& lock_path);

  // REQUIRES: the lock file exists. Throws what LockFile::open() and try_lock() throw.
  Claim claim(const std::string& name_space, std::uint64_t worker, const void* through);
  // Records a grant after its commit.
  void own(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t first_start_ms);
  // Empty if this process does not own the worker.
  std::optional<Owned> find(const std::string& name_space, std::uint64_t worker);
  // Does nothing if the fence differs.
  void release(const std::string& name_space, std::uint64_t worker, std::uint64_t fence) noexcept;
  void release_all(const void* through) noexcept;
  // Reopens and relocks what the host has closed or somebody has deleted. What somebody else has taken meanwhile is
  // lost; the fence shows that at the next renewal.
  void restore();

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // namespace, worker

  explicit OwnerLocks(std::string path) : path_(std::move(path)) {}
  void open_locked() IDGEN_REQUIRES(mutex_);
  void unlock(const Key& key) const noexcept IDGEN_REQUIRES(mutex_);

  friend struct OwnerLocksOfProcess;
  const std::string path_;
  Mutex mutex_;
  std::optional<LockFile> file_ IDGEN_GUARDED_BY(mutex_);
  std::map<Key, Owned> owned_ IDGEN_GUARDED_BY(mutex_);
};

}  // namespace idgen
