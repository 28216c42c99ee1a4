// A file that is completed under another name and then renamed: nobody ever sees half of it, and if several processes
// race, one wins.
#pragma once

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "idgen/concat.hpp"
#include "idgen/system_calls.hpp"

namespace idgen {

inline std::string system_error_text(int error) { return std::generic_category().message(error); }

inline std::string folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A host that has closed descriptors 0 to 2 still prints to them, so these become another number; -1 with errno if
// there is none.
inline int above_standard_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

// Removes the unfinished file unless it was moved.
class NewFile {
 public:
  explicit NewFile(const std::string& final_path)
      : path_(final_path + "-new-" + std::to_string(getpid()) + "-" +
              std::to_string(std::chrono::steady_clock::now().time_since_epoch().count())) {}
  ~NewFile() {
    if (!made_) return;
    unlink(path_.c_str());
    unlink((path_ + "-journal").c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }

  // A descriptor of the new, empty file, or -1 with errno.
  int open(mode_t mode) {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    made_ = fd >= 0;
    return above_standard_streams(fd);
  }

  // Renames it to `to` unless that exists. 0 or an errno.
  int move_to(const std::string& to) {
    const int error = move_without_replacing(to);
    if (error == 0) made_ = false;
    return error;
  }
  // Renames it to `to`, in place of what is there. 0 or an errno.
  int replace(const std::string& to) {
    if (rename(path_.c_str(), to.c_str()) != 0) return errno;
    made_ = false;
    return 0;
  }

 private:
  int move_without_replacing(const std::string& to) const {
    const int error = rename_without_replacing(path_.c_str(), to.c_str());
    if (error != EINVAL && error != ENOSYS) return error;
    if (link(path_.c_str(), to.c_str()) != 0) return errno;
    unlink(path_.c_str());
    return 0;
  }

  const std::string path_;
  bool made_ = false;
};

}  // namespace idgen
