// The proof of life: one byte of the file PATH-owners, locked for as long as this process owns a worker.
//
// The kernel drops the lock the moment the process is gone, kill -9 included, so a restart need not wait out a lease. It proves only
// that an owner lives. Uniqueness rests on the row in the database (I2); should a lock be lost, two owners still get disjoint windows.
//
// Record locks (F_SETLK), not those of open file descriptions: a child made by fork() must not inherit ownership.
// TRAP: closing any descriptor of the file drops all locks that the process has on it. So the file is opened here and nowhere else,
// once per process image, and stays open while a lock is held.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

#include "store/fork_gate.hpp"

namespace idgen {

class OwnerLockFile {
 public:
  // What this process knows of a worker that it owns.
  struct Owned {
    std::string name_space;
    std::uint64_t worker = 0;
    std::uint64_t epoch = 0;
    std::int64_t first_start_ms = 0;  // of the grant with this epoch
  };

  // The lock file beside a database. Valid while `pass` is. In a child it starts empty: what the parent owns is the parent's.
  static OwnerLockFile& beside(const StoreGate::Pass& pass, const std::string& database_path);

  // 0: the lock is ours now. Else the process that has it: this one, another, or -1 if the system does not tell.
  // Throws Error{store_permission, store_full, store_unavailable} if the file cannot be opened or locked.
  // id: the number of the worker's row, > 0; never used for another worker while the database lives.
  pid_t try_lock(std::int64_t id, const std::string& name_space, std::uint64_t worker);
  // Notes whose lock it is, once the grant is committed.
  void own(std::int64_t id, Owned owned) { owned_[id] = std::move(owned); }
  // Null if this process does not own the worker.
  const Owned* find(const std::string& name_space, std::uint64_t worker) const;
  void unlock(std::int64_t id);
  void unlock(const std::string& name_space, std::uint64_t worker, std::uint64_t epoch);

 private:
  explicit OwnerLockFile(std::string database_path);
  void open_file();
  bool lock_byte(std::int64_t id) const;

  const std::string database_path_;
  const std::string path_;
  int fd_ = -1;
  std::map<std::int64_t, Owned> owned_;
};

}  // namespace idgen
