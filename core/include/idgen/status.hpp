// What can go wrong, and how it travels inside the library.
//
// Cold code throws Error; the fast path returns a Status and throws nothing. capi/ turns both into idgen_status_t.
// idgen.h defines the numbers; capi/ asserts that the two agree.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "idgen/concat.hpp"

namespace idgen {

enum class Status : std::int32_t {
  ok = 0,
  argument = 1,
  handle = 2,
  buffer = 3,
  unknown_key = 4,
  value = 5,
  layout = 6,
  lifetime = 7,
  config_file = 8,
  text = 9,
  unsupported = 10,
  closed = 20,
  forked = 21,
  would_block = 22,
  worker_busy = 23,
  exhausted = 24,
  cancelled = 25,
  overloaded = 26,
  stale = 27,
  clock_back = 40,
  clock_before_epoch = 41,
  clock_leap = 42,
  store_unavailable = 60,
  store_missing = 61,
  store_permission = 62,
  store_full = 63,
  store_damaged = 64,
  store_version = 65,
  tag_unknown = 66,
  tag_exists = 67,
  store_regressed = 68,
  format_mismatch = 69,
  store_unsafe = 70,
  no_memory = 80,
  internal = 90,
  host = 1000,  // and above: the host's own
};

struct StatusText {
  Status status;
  const char* name;
  const char* message;
  bool retryable;
};

// All statuses but the host's own, in the order of their numbers.
std::span<const StatusText> status_texts() noexcept;

// Never null: "HOST" for numbers from 1000 on, "UNKNOWN" for others that are no status.
const StatusText& status_text(Status status) noexcept;

// The message says what was asked, what was found, what is allowed and what to do. It is always one line without
// control characters, because it carries names, paths and servers' texts to terminals and logs. Copying an Error never
// fails: it is kept and thrown again where memory may be short.
class Error : public std::exception {
 public:
  // As retry_after_ns: no caller may wait for a retry, because it may hold what the store waits for. Applies to
  // retryable statuses too.
  static constexpr std::uint64_t kEndsWaits = ~std::uint64_t{0};

  Error(Status status, std::string_view message, std::uint64_t retry_after_ns = 0, std::uint64_t cause = 0);

  Status status() const noexcept { return status_; }
  const std::string& message() const noexcept { return *message_; }
  std::uint64_t retry_after_ns() const noexcept { return retry_after_ns_; }
  bool ends_waits() const noexcept { return ends_waits_; }
  // The number by which a host's store finds its own exception; 0: none.
  std::uint64_t cause() const noexcept { return cause_; }
  const char* what() const noexcept override { return message_->c_str(); }

 private:
  Status status_;
  std::shared_ptr<const std::string> message_;
  std::uint64_t retry_after_ns_;
  bool ends_waits_;
  std::uint64_t cause_;
};

}  // namespace idgen
