// One connection for all threads of a store, made when it is needed, given up when it fails, and never used by a forked child: the server would
// take the child for its parent.
#pragma once

#include <pthread.h>

#include <memory>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "no_sigpipe.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"

namespace idgen::backend {

// fork() waits while a connection is being made: the C library's name resolution has locks that a child would find held for ever. (A raw clone() does not
// wait.)
class NoFork {
 public:
  NoFork() : lock_(mutex_) {
    if (registered_ != 0) throw std::bad_alloc();
  }

 private:
  static void before() { mutex_.lock(); }
  static void after() { mutex_.unlock(); }

  static_assert(std::is_trivially_destructible_v<std::mutex>);  // fork() may come later than our last line
  static inline constinit std::mutex mutex_;
  static inline const int registered_ = pthread_atfork(before, after, after);  // when the module is loaded

  const std::lock_guard<std::mutex> lock_;
};

// A failed call is not repeated here: what was sent may have been done, and the caller burns it. The pause before the next attempt is the caller's.
template <class Connection>
class ConnectionSlot {
 public:
  ConnectionSlot() = default;
  ConnectionSlot(const ConnectionSlot&) = delete;
  ConnectionSlot& operator=(const ConnectionSlot&) = delete;
  ~ConnectionSlot() {
    const NoSigpipe no_sigpipe;  // some say goodbye
    delete state_->made();       // null in a child that has not used it
  }

  // work(connection), one thread at a time. After an exception the connection is closed unless Connection::is_usable().
  template <class Connect, class Work>
  auto use(Connect&& connect, Work&& work) {
    State& state = state_->get();
    const std::lock_guard lock(state.mutex);
    const NoSigpipe no_sigpipe;
    if (!state.connection) {
      const NoFork no_fork;
      state.connection = connect();
    }
    try {
      return work(*state.connection);
    } catch (...) {
      if (!state.connection->is_usable()) state.connection.reset();
      throw;
    }
  }

 private:
  struct State {
    std::mutex mutex;
    std::unique_ptr<Connection> connection;
  };

  // A child leaves its parent's state as it is: closing the connection would say goodbye on the parent's behalf, and the mutex may be held by a
  // thread that does not exist here.
  // Not told by the process id: the first process of a container may have a child that is the first one of another, and both are 1.
  ForkPage<MadeOnce<State>> state_;
};

}  // namespace idgen::backend
