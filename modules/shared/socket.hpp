// What applies to the socket of every connection, whichever client library has opened it.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace idgen::module {

// Programs that this process starts do not inherit it.
inline void close_on_exec(int socket) { fcntl(socket, F_SETFD, FD_CLOEXEC); }

// Firewalls and load balancers forget connections that are silent for minutes, and tell neither side. One probe per
// minute prevents that, and detects a dead server within two minutes. Has no effect on a Unix socket.
inline void keep_alive(int socket) {
  const int on = 1, idle_seconds = 60, seconds_between = 20, probes = 3;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds_between, sizeof seconds_between);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

// True if the server has hung up, or has sent something unasked, which is a goodbye.
inline bool is_hung_up(int socket) {
  pollfd seen{socket, POLLIN | POLLRDHUP, 0};
  return poll(&seen, 1, 0) > 0;
}

}  // namespace idgen::module
