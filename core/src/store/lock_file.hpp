// PATH-lock, the file beside a database: who may write, who is alive, and which store it belongs to.
//
//  - Its one line is the store's witness: the identity of the store and the number of its last commit. If it exists
//    without its database, the database is lost. Beside another database, or an older copy, it shows that somebody
//    exchanged it.
//  - One byte is locked around every transaction, one for each worker as long as its owner is alive (owner_locks.hpp),
//    and some by the one whose turn it is (LockWait). These bytes are far beyond the line.
//
// The locks belong to the open file description (F_OFD_SETLK). Any close() of the file in this process would drop a
// record lock, and it would not separate two copies of this library in one process. TRAP: a child inherits the
// description, and the lock lasts until its last copy is closed. So a fork handler closes it in the child.
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

// The byte that is locked around a transaction. The workers' bytes are below it.
constexpr std::int64_t kTransactionByte = std::int64_t{1} << 62;
// The first byte of the one who asks for it next, while several wait; how many it locks says how long the others pause.
constexpr std::int64_t kTurnByte = kTransactionByte + 1;

inline std::string lock_path_of(const std::string& database) { return database + "-lock"; }

// The open file: one description, which only this process has.
class LockFile {
 public:
  // Empty if the file does not exist. or_read_only: for a user who may read the store but not write it; then locks are
  // shared.
  // Throws Error{store_permission, store_full, store_unsafe, store_unavailable}.
  static std::optional<LockFile> open(const std::string& path, bool or_read_only = false);
  // Makes it, complete or not at all, as accessible as the database. An existing one is left as it is. Throws as
  // open().
  static void make(const std::string& database, const StoreWitness& witness);
  // Empty if it cannot be read.
  static std::optional<StoreWitness> witness_at(const std::string& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile() { close(); }  // drops the locks

  // False: somebody else has it. Never waits. Throws Error{store_unavailable, unsupported}.
  bool try_lock(std::int64_t byte, std::int64_t length = 1) const;
  // How many bytes somebody else has locked there. 0: nobody has it.
  std::int64_t locked_length(std::int64_t byte) const noexcept;
  // Works even if a child has inherited the description: the lock belongs to the description.
  void unlock(std::int64_t byte, std::int64_t length = 1) const noexcept;

  // True if the descriptor is still the one we opened. A host that closes all descriptors, as daemons do, has closed
  // ours too, and may have opened its own file under the same number.
  bool is_open() const noexcept;
  // True if `path` still leads to this file: a lock on a file that nobody else can find proves nothing.
  bool is_at(const std::string& path) const noexcept;

  // Throws Error{store_damaged}.
  StoreWitness witness() const;
  // Throws Error{store_full, store_unavailable}.
  void note(const StoreWitness& witness) const;

 private:
  struct Descriptor;  // our entry in the list of open files, for the fork handler

  LockFile(std::string path, Descriptor* descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  static void close_inherited() noexcept;
  void close() noexcept;

  std::string path_;
  Descriptor* descriptor_;
  static const int registered_;
};

}  // namespace idgen
