// PATH-lock, the file beside a database: who may enter, who is alive, and which store it was made with.
//
//  - Its one line is the store's witness: the identity of the store and the number of its last commit. There without
//    its database it says that the database is lost; beside another one, or an older copy, that somebody exchanged it.
//  - One byte is locked around every transaction, and one for each worker as long as its owner lives (owner_locks.hpp).
//    The bytes lie far beyond the line.
//
// The locks belong to the open file description (F_OFD_SETLK). A record lock would be dropped by any close() of the
// file in this process, and would not keep two copies of this library in one process apart.
// TRAP: a child inherits the description, and the lock lasts until the last copy of it is closed. So a fork handler
// closes it in the child.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "idgen/status.hpp"

namespace idgen {

// What the lock file knows of its store.
struct StoreWitness {
  std::string identity;       // 32 hexadecimal digits
  std::uint64_t commits = 0;  // of the database, when it was last written; the database may be one ahead, never behind
};

static_assert(sizeof(off_t) == 8, "compile with _FILE_OFFSET_BITS=64: the bytes that are locked lie beyond 2 GiB");

// The byte that is locked around a transaction. Those of the workers lie below it.
constexpr std::int64_t kTransactionByte = std::int64_t{1} << 62;

inline std::string lock_path_of(const std::string& database) { return database + "-lock"; }

// The file, opened: one description, of this process alone.
class LockFile {
 public:
  // Empty if there is no such file. or_read_only: for whoever may read the store and not write it; then locks are
  // shared.
  // Throws Error{store_permission, store_full, store_unsafe, store_unavailable}.
  static std::optional<LockFile> open(const std::string& path, bool or_read_only = false);
  // Makes it, complete or not at all, as accessible as the database. One that is there is left as it is. Throws as
  // open().
  static void make(const std::string& database, const StoreWitness& witness);
  // Empty if it cannot be read.
  static std::optional<StoreWitness> witness_at(const std::string& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile() { close(); }  // drops the locks

  // False: somebody else has it. Never waits. Throws Error{store_unavailable, unsupported}.
  bool try_lock(std::int64_t byte) const;
  // Also where a child has inherited the description: it is the description's lock that goes.
  void unlock(std::int64_t byte) const noexcept;

  // Whether the descriptor is still what we opened. A host that closes all descriptors, as daemons do, has closed ours
  // too and may have opened a file of its own under the same number.
  bool is_open() const noexcept;
  // Whether `path` still leads to this file: a lock on a file that nobody else can find proves nothing.
  bool is_at(const std::string& path) const noexcept;

  // Throws Error{store_damaged}.
  StoreWitness witness() const;
  // Throws Error{store_full, store_unavailable}.
  void note(const StoreWitness& witness) const;

 private:
  struct Descriptor;  // an entry of the list of all that are open, for the fork handler

  LockFile(std::string path, Descriptor* descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  static void close_inherited() noexcept;
  void close() noexcept;

  std::string path_;
  Descriptor* descriptor_;
  static const int registered_;
};

}  // namespace idgen
