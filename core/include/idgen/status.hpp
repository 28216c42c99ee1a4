// What can go wrong, and how it travels inside the library.
//
// Cold code throws Error; the fast path returns a Status and throws nothing. capi/ turns both into idgen_status_t.
// statuses.def has the table; capi/ asserts that the header for C agrees.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "idgen/concat.hpp"

namespace idgen {

enum class Status : std::int32_t {  // from `host` on: the host's own
#define STATUS(name, NAME, number, retryable, sentence, comment) name = (number),
#include "idgen/statuses.def"
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
