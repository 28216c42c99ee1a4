// The bytes of a connection that hiredis has opened. A command has one deadline, whatever happens meanwhile: each of
// the host's signals ends a call that waits for a socket, and a limit for each call would start over after it.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>
#include <string>
#include <system_error>

namespace idgen::module {

class Wire {
 public:
  // The socket does not block.
  Wire(int socket, std::int64_t timeout_ms) : socket_(socket), timeout_(timeout_ms) { begin(); }

  // What follows may take `timeout_ms` in all.
  void begin() {
    ends_ = Clock::now() + timeout_;
    error_ = 0;
  }
  // True once the server has accepted the connection. False, here and below: reason() says why.
  bool is_connected() {
    socklen_t size = sizeof error_;
    return is_ready(POLLOUT) && getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error_, &size) == 0 && error_ == 0;
  }
  bool send(const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t done = ::send(socket_, data, size, MSG_NOSIGNAL);
      if (done < 0 && !may_go_on(POLLOUT)) return false;
      const std::size_t sent = done < 0 ? 0 : static_cast<std::size_t>(done);
      data += sent;
      size -= sent;
    }
    return true;
  }
  // How many bytes were received, at least one; 0 as above.
  std::size_t receive(char* data, std::size_t size) {
    for (;;) {
      const ssize_t done = ::recv(socket_, data, size, 0);
      if (done > 0) return static_cast<std::size_t>(done);
      if (done == 0) error_ = 0;
      if (done == 0 || !may_go_on(POLLIN)) return 0;
    }
  }
  std::string reason() const {
    if (error_ == 0) return "the server has closed the connection";
    if (error_ == ETIMEDOUT) return "it took longer than " + std::to_string(timeout_.count()) + " ms (store_timeout)";
    return std::generic_category().message(error_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // After a call that has failed.
  bool may_go_on(short events) {
    error_ = errno;
    return error_ == EINTR || ((error_ == EAGAIN || error_ == EWOULDBLOCK) && is_ready(events));
  }
  bool is_ready(short events) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(ends_ - Clock::now()).count();
      error_ = left > 0 ? 0 : ETIMEDOUT;
      if (left <= 0) return false;
      pollfd wanted{socket_, events, 0};
      const int found =
          poll(&wanted, 1, static_cast<int>(std::min<std::int64_t>(left, std::numeric_limits<int>::max())));
      if (found > 0) return true;
      if (found < 0 && errno != EINTR) {
        error_ = errno;
        return false;
      }
    }
  }

  const int socket_;
  const std::chrono::milliseconds timeout_;
  Clock::time_point ends_;
  int error_ = 0;  // of the latest call; 0: none
};

}  // namespace idgen::module
