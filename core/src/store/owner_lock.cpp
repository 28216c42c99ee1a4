#include "store/owner_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

namespace idgen {

static Error owner_lock_error(const std::string& path, const char* doing, int error) {
  Status status = Status::store_unavailable;
  if (error == EACCES || error == EPERM || error == EROFS) status = Status::store_permission;
  if (error == ENOSPC || error == EDQUOT) status = Status::store_full;
  return Error(
      status, std::string("cannot ") + doing + " \"" + path +
                  "\", the file that shows which worker numbers are in use: " + std::generic_category().message(error) +
                  ". Every user of the store must be able to read and write it");
}

static struct flock owner_lock_byte(short type, std::int64_t id) {
  struct flock byte {};
  byte.l_type = type;
  byte.l_whence = SEEK_SET;
  byte.l_start = id;
  byte.l_len = 1;
  return byte;
}

OwnerLockFile::OwnerLockFile(std::string database_path)
    : database_path_(std::move(database_path)), path_(database_path_ + "-owners") {}

OwnerLockFile& OwnerLockFile::beside(const StoreGate::Pass&, const std::string& database_path) {
  struct Files {
    pid_t process = getpid();
    std::map<std::string, std::unique_ptr<OwnerLockFile>> by_path;
  };
  static constinit Files* files =
      nullptr;  // never freed: stores may be destroyed late, by the host's own static objects
  if (files == nullptr) files = new Files;
  if (files->process != getpid()) {
    // A child. Locks are not inherited, descriptors are: close them now, for a later close would drop the locks of our own.
    for (auto& [path, file] : files->by_path) {
      if (file->fd_ >= 0) close(file->fd_);
    }
    files->by_path.clear();
    files->process = getpid();
  }
  std::unique_ptr<OwnerLockFile>& file = files->by_path[database_path];
  if (file == nullptr) file.reset(new OwnerLockFile(database_path));
  return *file;
}

// Opens the file, or opens it anew if somebody has deleted or replaced it: locks on a file that nobody else can find prove nothing.
void OwnerLockFile::open_file() {
  struct stat at_path {};
  if (fd_ >= 0) {
    struct stat ours {};
    if (fstat(fd_, &ours) == 0 && stat(path_.c_str(), &at_path) == 0 && ours.st_ino == at_path.st_ino &&
        ours.st_dev == at_path.st_dev) {
      return;
    }
  }
  // As accessible as the database itself, so that whoever may use the one may use the other.
  struct stat database {};
  const bool known = stat(database_path_.c_str(), &database) == 0;
  const mode_t mode = known ? database.st_mode & 0666 : 0644;
  int fd = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, mode);
  if (fd >= 0) {
    if (known && geteuid() == 0 && fchown(fd, database.st_uid, database.st_gid) != 0) {
      // A file system without owners: whoever is refused later is told the file's name.
    }
    if (fchmod(fd, mode) != 0) {
      // Likewise.
    }
  } else if (errno == EEXIST) {
    fd = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (fd < 0) throw owner_lock_error(path_, "open", errno);
  const int old = fd_;
  fd_ = fd;
  // One that somebody else has locked by now is lost; our next renewal finds that out by its epoch.
  for (const auto& [id, owned] : owned_) lock_byte(id);
  if (old >= 0) close(old);
}

bool OwnerLockFile::lock_byte(std::int64_t id) const {
  struct flock byte = owner_lock_byte(F_WRLCK, id);
  while (fcntl(fd_, F_SETLK, &byte) != 0) {
    if (errno == EINTR) continue;
    if (errno == EACCES || errno == EAGAIN) return false;
    throw owner_lock_error(path_, "lock a byte of", errno);
  }
  return true;
}

pid_t OwnerLockFile::try_lock(std::int64_t id, const std::string& name_space, std::uint64_t worker) {
  const auto known = owned_.find(id);
  const bool locked_by_us = known != owned_.end();
  if (locked_by_us) {
    // Record locks do not see this: a process never blocks itself.
    if (known->second.worker == worker && known->second.name_space == name_space) return getpid();
    owned_.erase(known);  // the number of a row in a database that has been replaced since
  }
  open_file();
#ifdef F_OFD_GETLK
  // Record locks belong to the process, so ours would be granted over the lock of another copy of this library in this process (another
  // class loader's, a plugin's). A lock of an open file would not: asked for one, the kernel names the holder.
  struct flock seen = owner_lock_byte(F_WRLCK, id);
  if (!locked_by_us && fcntl(fd_, F_OFD_GETLK, &seen) == 0 && seen.l_type != F_UNLCK && seen.l_pid == getpid())
    return seen.l_pid;
#endif
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (lock_byte(id)) return 0;
    struct flock byte = owner_lock_byte(F_WRLCK, id);
    if (fcntl(fd_, F_GETLK, &byte) != 0) break;
    if (byte.l_type == F_UNLCK) continue;  // let go in between
    return byte.l_pid > 0 ? byte.l_pid : -1;
  }
  return -1;
}

const OwnerLockFile::Owned* OwnerLockFile::find(const std::string& name_space, std::uint64_t worker) const {
  for (const auto& [id, owned] : owned_) {
    if (owned.worker == worker && owned.name_space == name_space) return &owned;
  }
  return nullptr;
}

void OwnerLockFile::unlock(std::int64_t id) {
  owned_.erase(id);
  if (fd_ < 0) return;
  struct flock byte = owner_lock_byte(F_UNLCK, id);
  while (fcntl(fd_, F_SETLK, &byte) != 0 && errno == EINTR) {
  }
}

void OwnerLockFile::unlock(const std::string& name_space, std::uint64_t worker, std::uint64_t epoch) {
  for (const auto& [id, owned] : owned_) {
    if (owned.worker == worker && owned.name_space == name_space && owned.epoch == epoch) return unlock(id);
  }
}

}  // namespace idgen
