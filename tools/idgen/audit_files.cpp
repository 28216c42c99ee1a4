#include "audit_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "failure.hpp"
#include "output.hpp"
#include "stop.hpp"

namespace idgen_tool {
namespace {

constexpr std::size_t kHead = 1 << 16;

[[noreturn]] void fail(const std::string& what, const std::string& name, int why) {
  throw IoError("cannot " + what + ' ' + name + ": " + std::strerror(why));
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Descriptor temporary_file(const std::string& folder) {
  const char* const from_environment = std::getenv("TMPDIR");
  const std::string where = !folder.empty()                         ? folder
                            : from_environment && *from_environment ? from_environment
                                                                    : "/tmp";
  std::string path = where + "/idgen-audit-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file < 0) fail("make a temporary file in", where, errno);
  unlink(path.c_str());
  return Descriptor(file);
}

void write_all(int file, const void* bytes, std::size_t size, const std::string& what) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t n = write(file, at, size);
    if (n < 0 && errno != EINTR) fail("write", what, errno);
    if (stop_signal()) throw Interrupted();
    if (n < 0) continue;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
}

void wait_for_input(int file) {
  constexpr int kMs = 100;
  for (;;) {
    if (stop_signal()) throw Interrupted();
    pollfd waited{file, POLLIN, 0};
    if (poll(&waited, 1, kMs) > 0) return;
  }
}

std::size_t read_at(int file, void* bytes, std::size_t size, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = pread(file, static_cast<char*>(bytes) + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno != EINTR) fail("read", "a temporary file", errno);
    if (stop_signal()) throw Interrupted();
    if (n == 0) break;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return done;
}

DumpFile::DumpFile(const std::string& path, const std::string& temporary_folder)
    : path_(path), name_(path == "-" ? "standard input" : path) {
  if (path == "-") {
    file_ = Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  } else {
    file_ = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (file_.get() < 0) fail("read", name_, errno);
  struct stat info {};
  if (fstat(file_.get(), &info) != 0) fail("read", name_, errno);
  if (S_ISDIR(info.st_mode)) fail("read", name_, EISDIR);
  is_regular_ = path != "-" && S_ISREG(info.st_mode);
  if (S_ISREG(info.st_mode)) size_ = static_cast<std::uint64_t>(info.st_size);
  if (!is_regular_) copy_ = temporary_file(temporary_folder);
}

std::string_view DumpFile::head() {
  if (head_.empty()) {
    head_.resize(kHead);
    std::size_t used = 0;
    while (used < kHead) {
      const std::size_t n = read_file(head_.data() + used, kHead - used);
      if (n == 0) break;
      used += n;
    }
    head_.resize(used);
  }
  return {head_.data(), head_.size()};
}

std::size_t DumpFile::read(char* to, std::size_t size) {
  if (head_used_ < head_.size()) {
    const std::size_t n = std::min(size, head_.size() - head_used_);
    std::copy_n(head_.data() + head_used_, n, to);
    head_used_ += n;
    return n;
  }
  return read_file(to, size);
}

std::size_t DumpFile::read_file(char* to, std::size_t size) {
  for (;;) {
    if (stop_signal()) throw Interrupted();
    if (!is_regular_ && !is_copied_) wait_for_input(file_.get());
    const ssize_t n = ::read(file_.get(), to, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read", name_, errno);
    if (!is_regular_ && !is_copied_) write_all(copy_.get(), to, static_cast<std::size_t>(n), "a temporary file");
    return static_cast<std::size_t>(n);
  }
}

void DumpFile::rewind() {
  if (!is_regular_ && !is_copied_) {
    file_ = std::move(copy_);
    is_copied_ = true;
  }
  if (lseek(file_.get(), 0, SEEK_SET) < 0) fail("read", name_, errno);
  head_.clear();
  head_used_ = 0;
}

}  // namespace idgen_tool
