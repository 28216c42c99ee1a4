// The request for the next range: there is at most one, it is made by the store's lane or by a caller, and a failure
// puts the next one off. It knows no lock, no clock and no thread: its owner says what time it is.
#pragma once

#include <cstdint>
#include <optional>

#include "idgen/status.hpp"

namespace idgen {

class Refill {
 public:
  // True while a thread asks the source for a range, or gives some back. No other thread may use the source then.
  bool is_busy() const noexcept { return is_busy_; }
  // True while the lane has not begun what was posted.
  bool is_posted() const noexcept { return posted_ != 0; }

  // For the next request that is posted.
  std::uint64_t new_ticket() noexcept { return ++tickets_; }
  void post(std::uint64_t ticket) noexcept {
    posted_ = ticket;
    is_busy_ = true;
  }
  // The lane has come to it. False: it was withdrawn, or a caller could not wait for that.
  bool begin(std::uint64_t ticket) noexcept {
    if (posted_ != ticket) return false;
    posted_ = 0;
    return true;
  }
  // The calling thread uses the source, in place of the lane if that has not begun.
  void take() noexcept {
    posted_ = 0;
    is_busy_ = true;
  }
  void end() noexcept { is_busy_ = false; }
  // What the lane has not begun is not made.
  void withdraw() noexcept {
    if (is_posted()) end();
    posted_ = 0;
  }

  // The number that is wanted next. `in_order`: a failure that was about a lower one says nothing of it.
  void need(std::uint64_t number, bool in_order) noexcept {
    needed_ = number;
    if (in_order && needed_ > failed_for_) retry_at_ns_ = 0;
  }
  std::uint64_t needed() const noexcept { return needed_; }

  void succeeded() noexcept { failures_in_a_row_ = 0; }
  void failed(const Error& error, std::int64_t now_ns);
  bool is_failing() const noexcept { return failures_in_a_row_ > 0; }  // the latest attempt failed
  // The latest failure; that of the latest attempt if is_failing().
  const std::optional<Error>& failure() const noexcept { return failure_; }
  std::uint64_t failures() const noexcept { return failures_; }
  // When the latest one was, by the clock as it is now: 0 if there was none.
  std::int64_t failed_unix_ms(std::int64_t now_ns, std::int64_t wall_ns) const noexcept;
  // No attempt before this, by the clock of `now_ns`.
  std::int64_t retry_at_ns() const noexcept { return retry_at_ns_; }
  bool may_ask(std::int64_t now_ns) const noexcept { return now_ns >= retry_at_ns_; }

 private:
  bool is_busy_ = false;
  std::uint64_t posted_ = 0;  // a ticket; 0: none
  std::uint64_t tickets_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t failures_in_a_row_ = 0;
  std::int64_t retry_at_ns_ = 0;
  std::uint64_t needed_ = 0;
  std::uint64_t failed_for_ = 0;  // what was needed at the latest failure
  std::optional<Error> failure_;
  std::int64_t failed_at_ns_ = 0;            // mono: the wall clock may be the host's
  mutable std::int64_t failed_unix_ms_ = 0;  // the same; 0: not known yet
};

}  // namespace idgen
