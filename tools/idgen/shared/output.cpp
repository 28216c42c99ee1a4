#include "shared/output.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>

#include "shared/failure.hpp"
#include "shared/stop.hpp"

namespace idgen_tool {
namespace {
constexpr std::size_t kSize = 1 << 18;
constexpr int kPatienceMs = 1000;

IoError cannot_write(int why) { return IoError(std::string("cannot write to standard output: ") + std::strerror(why)); }
}  // namespace

void hold_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is this one. Reading from a file opened for writing fails with EBADF, and vice versa.
    const int held = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (held < 0) return;  // no /dev: nothing can be done about it
  }
}

void close_standard_output() {
  if (close(STDOUT_FILENO) != 0 && errno != EINTR) throw cannot_write(errno);
}

void print(std::string_view text) {
  Output out;
  out.write(text);
  out.flush();
}

void write_file(const std::string& path, std::string_view text) {
  const auto fail = [&](int why) { throw IoError("cannot write " + path + ": " + std::strerror(why)); };
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) fail(errno);
  while (!text.empty()) {
    const ssize_t n = ::write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int why = errno;
      close(file);
      fail(why);
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (close(file) != 0 && errno != EINTR) fail(errno);
}

Output::Output() : buffer_(kSize) {}

char* Output::reserve(std::size_t size) {
  if (buffer_.size() - used_ < size) flush();
  if (buffer_.size() < size) buffer_.resize(size);
  return buffer_.data() + used_;
}

void Output::write(std::string_view text) {
  std::memcpy(reserve(text.size()), text.data(), text.size());
  commit(text.size());
}

void Output::line(std::string_view text) {
  write(text);
  write("\n");
}

void Output::flush() {
  std::size_t done = 0;
  while (done < used_) {
    std::size_t size = used_ - done;
    if (stop_signal()) {
      // Asked to stop: the last lines are written if somebody reads them, but we do not wait for a full pipe. poll
      // promises space for PIPE_BUF bytes, so the write does not block.
      pollfd out{STDOUT_FILENO, POLLOUT, 0};
      const int ready = poll(&out, 1, kPatienceMs);
      if (ready == 0) throw Interrupted();
      if (ready < 0) continue;  // another signal: its second one kills
      size = std::min<std::size_t>(size, PIPE_BUF);
    }
    const ssize_t n = ::write(STDOUT_FILENO, buffer_.data() + done, size);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    const int why = errno;
    if (why == EINTR) continue;
    used_ = 0;
    if (why == EPIPE) throw ReaderGone();
    throw cannot_write(why);
  }
  used_ = 0;
}

}  // namespace idgen_tool
