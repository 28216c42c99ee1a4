#include "output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "failure.hpp"
#include "stop.hpp"

namespace idgen_tool {
namespace {
constexpr std::size_t kSize = 1 << 18;
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
    const ssize_t n = ::write(STDOUT_FILENO, buffer_.data() + done, used_ - done);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    const int why = errno;
    if (why == EINTR && !stop_signal()) continue;
    std::memmove(buffer_.data(), buffer_.data() + done, used_ - done);
    used_ -= done;
    if (why == EINTR) throw Interrupted();
    used_ = 0;
    if (why == EPIPE) throw ReaderGone();
    throw IoError(std::string("cannot write to standard output: ") + std::strerror(why));
  }
  used_ = 0;
}

}  // namespace idgen_tool
