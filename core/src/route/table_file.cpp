// Replacing a table's file: whole or not at all, durable, and only by somebody who has seen what it replaces.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "idgen/router.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"
#include "store/file_system.hpp"
#include "store/new_file.hpp"

#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37  // Linux 3.15; hidden by headers without _GNU_SOURCE
#endif

namespace idgen {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* doing, int error) {
  Status status = Status::store_unavailable;
  if (error == EACCES || error == EPERM || error == EROFS) status = Status::store_permission;
  if (error == ENOSPC || error == EDQUOT) status = Status::store_full;
  throw Error(status, concat({"cannot ", doing, " \"", path, "\": ", system_error_text(error)}));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(above_standard_streams(fd)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

// Held by one writer at a time, until the descriptor is closed; the kernel closes it for a writer that is killed. The
// file stays: removing it would let two writers lock two files of one name.
class WriterLock {
 public:
  explicit WriterLock(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    if (file_.get() < 0) refuse(path, "open", errno);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    constexpr int kTries = 500;
    constexpr std::int64_t kPauseNs = 10 * kNsPerMs;
    for (int tries = 0; fcntl(file_.get(), F_OFD_SETLK, &whole) != 0; ++tries) {
      if (errno != EAGAIN && errno != EACCES && errno != EINTR) refuse(path, "lock", errno);
      if (tries == kTries) {
        throw Error(Status::store_unavailable, concat({"another process has held the lock \"", path,
                                                       "\" for five seconds; wait until it is done, then plan again"}));
      }
      system_runtime().sleep_ns(kPauseNs);
    }
  }

  // Not only closed: a child that was forked meanwhile has the description too.
  ~WriterLock() {
    struct flock whole {};
    whole.l_type = F_UNLCK;
    whole.l_whence = SEEK_SET;
    fcntl(file_.get(), F_OFD_SETLK, &whole);
  }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  const Descriptor file_;
};

// Where the file is, if the path is a link to it: a rename would replace the link.
std::string behind_links(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), &free);
  return real ? real.get() : path;
}

void write_all(int fd, const std::string& path, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) refuse(path, "write", wrote < 0 ? errno : ENOSPC);
    done += static_cast<std::size_t>(wrote);
  }
  if (fsync(fd) != 0) refuse(path, "write", errno);
}

void check_version(const std::string& path, bool exists, std::uint64_t expected) {
  if (!exists && expected == 0) return;
  const std::string now = exists ? "has version " + std::to_string(read_route_table(path).version()) : "is gone";
  if (exists && expected != 0 && now == "has version " + std::to_string(expected)) return;
  throw Error(Status::stale, concat({path, ": ",
                                     (expected == 0 ? std::string("there should be no file yet")
                                                    : "version " + std::to_string(expected) + " was to be replaced"),
                                     ", and the file ", now,
                                     ": somebody else was faster. Nothing was written; start again from the file"}));
}

}  // namespace

void write_route_table(const std::string& path, const RouteTable& table, std::uint64_t expected_version) {
  if (table.version() <= expected_version) {
    throw Error(Status::value, concat({"version ", table.version(), " cannot replace version ", expected_version,
                                       "; a new table has a higher one"}));
  }
  const std::string target = behind_links(path);
  check_locks_work(target, "the table of routes \"" + target + "\"",
                   "so two operators could both drive; write it on a disk of this machine and copy it from there");
  const WriterLock lock(target + "-lock");
  struct stat info {};
  const bool exists = stat(target.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) refuse(target, "look at", errno);
  check_version(target, exists, expected_version);

  NewFile file(target);
  const Descriptor written(file.open(exists ? info.st_mode & 0666 : 0644));
  if (written.get() < 0) refuse(file.path(), "make", errno);
  if (exists) {  // as accessible as the one before, whatever our mask is
    if (fchmod(written.get(), info.st_mode & 0777) != 0) errno = 0;
    if (fchown(written.get(), info.st_uid, info.st_gid) != 0) errno = 0;
  }
  write_all(written.get(), file.path(), table.text());
  if (const int error = file.replace(target); error != 0) refuse(target, "replace", error);
  const Descriptor folder(open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || fsync(folder.get()) != 0) refuse(folder_of(target), "make durable", errno);
}

}  // namespace idgen
