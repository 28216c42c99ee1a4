// One connection for all threads of a store: opened when needed, closed when it fails or nobody needs it, and never
// used by a forked child, which the server would take for its parent.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "idgen/mutex.hpp"
#include "no_fork.hpp"
#include "no_sigpipe.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"
#include "socket.hpp"
#include "trial.hpp"

namespace idgen::module {

// Servers, firewalls and proxies cut idle connections. That is noticed before anything is sent, and a new connection is
// opened, so nothing can be done twice. A failed call is not repeated here: what was sent may have been done, and the
// caller burns it. The caller also decides how long to pause before the next attempt.
template <class Connection>
class ConnectionSlot {
 public:
  // connect_timeout_ms: how long a call waits for the first connection of a process that was forked
  // while its parent was connecting.
  explicit ConnectionSlot(std::int64_t connect_timeout_ms) : connect_timeout_ms_(connect_timeout_ms) {}
  ConnectionSlot(const ConnectionSlot&) = delete;
  ConnectionSlot& operator=(const ConnectionSlot&) = delete;
  ~ConnectionSlot() {
    const NoSigpipe no_sigpipe;  // some send a goodbye
    delete state_->made();       // null in a child that has not used the slot
  }

  // work(connection), one thread at a time. After an exception the connection is closed unless
  // Connection::is_usable(). connect() is copied and may outlive this. A Connection may have
  // socket(); without it the client library itself handles idle connections.
  template <class Connect, class Work>
  auto use(Connect connect, Work&& work) {
    State& state = state_->get();
    const CloseIfUnneeded afterwards{*this};
    const MutexLock lock(state.mutex);
    const NoSigpipe no_sigpipe;
    state.is_unneeded = false;
    if (state.connection && is_gone(*state.connection)) state.connection.reset();
    if (!state.connection) state.connection = connected(state, std::move(connect));
    try {
      return work(*state.connection);
    } catch (...) {
      if (!state.connection->is_usable()) state.connection.reset();
      throw;
    }
  }

  // Closes the connection; if a call is using it, after that call. The next call opens a new one.
  void disconnect() noexcept {
    State* const state = state_->made();
    if (state == nullptr) return;
    state->is_unneeded = true;
    close_if_unneeded();
  }

 private:
  struct State {
    Mutex mutex;
    std::unique_ptr<Connection> connection IDGEN_GUARDED_BY(mutex);
    Trial<Connection> trial IDGEN_GUARDED_BY(mutex);
    std::atomic<bool> is_unneeded = false;
  };

  template <class Connect>
  std::unique_ptr<Connection> connected(State& state, Connect connect) const IDGEN_REQUIRES(state.mutex) {
    const auto guarded = [connect = std::move(connect)] {
      const NoFork no_fork;
      return connect();
    };
    if (!NoFork::is_born_inside()) return guarded();
    std::unique_ptr<Connection> made = state.trial.run(guarded, connect_timeout_ms_);
    NoFork::has_connected();
    return made;
  }

  static bool is_gone(const Connection& connection) {
    if constexpr (requires { connection.socket(); }) return is_hung_up(connection.socket());
    return false;
  }

  // A thread that holds the mutex meanwhile checks again after releasing it.
  void close_if_unneeded() noexcept {
    State* const state = state_->made();
    if (state == nullptr || !state->is_unneeded) return;
    if (!state->mutex.try_lock()) return;
    const MutexLock lock(state->mutex, std::adopt_lock);
    if (!state->is_unneeded) return;
    const NoSigpipe no_sigpipe;
    state->connection.reset();
  }
  struct CloseIfUnneeded {
    ~CloseIfUnneeded() { slot.close_if_unneeded(); }
    ConnectionSlot& slot;
  };

  const std::int64_t connect_timeout_ms_;
  // A child leaves its parent's state as it is: closing the connection would send a goodbye on the parent's behalf, and
  // the mutex may be held by a thread that does not exist here. The process id is no way to recognise a child: the
  // first process of a container may have a child that is the first of another, and both are 1.
  ForkPage<MadeOnce<State>> state_;
};

}  // namespace idgen::module
