// A connection made on a separate thread, in a process in which a client library may hang for ever: see no_fork.hpp. If
// it does, that thread is lost, and every caller gets an error in time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "idgen/mutex.hpp"
#include "idgen/status.hpp"

namespace idgen::module {

template <class Connection>
class Trial {
 public:
  // Returns or throws what make() does. make is copied, and owns everything it needs: it may outlive the caller.
  // Throws Error{store_unavailable} after timeout_ms; the next call waits for the same attempt.
  // One thread at a time.
  template <class Make>
  std::unique_ptr<Connection> run(Make make, std::int64_t timeout_ms) {
    if (!attempt_) attempt_ = start(std::move(make));
    Attempt& attempt = *attempt_;
    MutexLock lock(attempt.mutex);
    const auto is_over = [&]() IDGEN_REQUIRES(attempt.mutex) { return attempt.is_over; };
    if (!attempt.ended.wait_for(lock.to_wait_with(), std::chrono::milliseconds(timeout_ms), is_over)) {
      throw Error(Status::store_unavailable,
                  "this process was forked while its parent was connecting to a store, and its own first connection "
                  "was not made within " +
                      std::to_string(timeout_ms) +
                      " ms: the client library may hang in it. If this goes on, end this process and fork again");
    }
    lock.unlock();
    const std::shared_ptr<Attempt> over = std::exchange(attempt_, nullptr);
    if (over->failure) std::rethrow_exception(std::exchange(over->failure, nullptr));
    return std::move(over->made);
  }

 private:
  struct Attempt {
    Mutex mutex;
    std::condition_variable ended;
    bool is_over IDGEN_GUARDED_BY(mutex) = false;
    // Belongs to the attempt's thread until that is done, then to the caller.
    std::unique_ptr<Connection> made;
    std::exception_ptr failure;
  };

  template <class Make>
  static std::shared_ptr<Attempt> start(Make make) {
    auto attempt = std::make_shared<Attempt>();
    try {
      std::thread([attempt, make = std::move(make)] {
        try {
          attempt->made = make();
        } catch (...) {
          attempt->failure = std::current_exception();
        }
        const MutexLock lock(attempt->mutex);
        attempt->is_over = true;
        attempt->ended.notify_all();
      }).detach();
    } catch (const std::system_error&) {
      throw Error(Status::store_unavailable, "no thread could be started to connect to the store");
    }
    return attempt;
  }

  std::shared_ptr<Attempt> attempt_;
};

}  // namespace idgen::module
