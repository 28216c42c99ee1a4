// The proof of life: one byte of the lock file, locked for as long as this process owns a worker.
//
// The byte comes from namespace and worker, not from a row of the database, so an owner stays the owner of its worker
// whatever becomes of the database. The kernel drops the lock the moment the process is gone, kill -9 included, so a
// restart need not wait out a lease. It proves only that an owner lives. Uniqueness rests on the row (I2): should a
// lock be lost, because the host closed our descriptor or somebody deleted the file, two owners still get disjoint
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

// Where the lock of a worker lies: the same for every build of idgen. Two workers on one byte (once in 10^18 pairs)
// shut each other out.
constexpr std::int64_t owner_byte(const std::string& name_space, std::uint64_t worker) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char c : name_space) add(static_cast<std::uint8_t>(c));
  for (int shift = 0; shift < 64; shift += 8) add(static_cast<std::uint8_t>(worker >> shift));
  hash ^= hash >> 32;                                                  // the last byte has reached only the upper half
  return static_cast<std::int64_t>((hash * 0x9e3779b97f4a7c15) >> 2);  // below kTransactionByte
}

// What this process owns, by the locks of one lock file.
//
// Threads: any method from any thread. Nothing in here waits. Callers hold the lock of the transaction, except for
// release_all().
class OwnerLocks {
 public:
  struct Owned {
    std::uint64_t fence = 0;          // 0: being acquired
    std::int64_t first_start_ms = 0;  // of the grant with this fence
    const void* through = nullptr;    // the store object that acquired it
  };
  enum class Claim { granted, held_here, held_elsewhere };

  // Those of this process on a lock file, for ever. A child begins with none: what the parent owns is the parent's.
  static OwnerLocks& at(const std::string& lock_path);

  // REQUIRES: the lock file exists. Throws what LockFile::open() and try_lock() throw.
  Claim claim(const std::string& name_space, std::uint64_t worker, const void* through);
  // Notes the grant, once it is committed.
  void own(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t first_start_ms);
  // Empty if this process does not own the worker.
  std::optional<Owned> find(const std::string& name_space, std::uint64_t worker);
  // With another fence it does nothing.
  void release(const std::string& name_space, std::uint64_t worker, std::uint64_t fence) noexcept;
  void release_all(const void* through) noexcept;
  // Opens and locks anew what the host has closed, or somebody has deleted. What somebody else has taken meanwhile is
  // lost; the next renewal finds that out by its fence.
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
