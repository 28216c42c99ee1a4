// How a failed call ends a command: `check` throws, main reports and chooses the exit status.
#pragma once

#include <idgen/idgen.h>

#include <stdexcept>
#include <string>

namespace idgen_tool {

// What a shell script tests. 75 is EX_TEMPFAIL of sysexits.h: the same command can succeed later if nothing is changed.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTryAgain = 75;

// The library refused.
class Failure : public std::runtime_error {
 public:
  Failure(idgen_status_t status, const std::string& message, std::uint64_t retry_after_ns = 0)
      : std::runtime_error(message), status_(status), retry_after_ns_(retry_after_ns) {}
  idgen_status_t status() const noexcept { return status_; }
  std::uint64_t retry_after_ns() const noexcept { return retry_after_ns_; }
  int exit_status() const noexcept { return idgen_status_is_retryable(status_) ? kExitTryAgain : kExitFailure; }

 private:
  idgen_status_t status_;
  std::uint64_t retry_after_ns_;
};

// The command line was understood by the parser, but makes no sense.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Our own input or output failed: a file, a pipe, the terminal.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An idgen_error_t that is ready to be filled.
struct ErrorSlot {
  idgen_error_t raw = IDGEN_ERROR_INIT;
  operator idgen_error_t*() noexcept { return &raw; }  // NOLINT(google-explicit-constructor): that is what it is for
};

inline void check(idgen_status_t status, const ErrorSlot& error) {
  if (status == IDGEN_OK) return;
  throw Failure(status, error.raw.message[0] ? error.raw.message : idgen_status_message(status),
                error.raw.retry_after_ns);
}

inline void check(idgen_status_t status) {
  if (status != IDGEN_OK) throw Failure(status, idgen_status_message(status));
}

}  // namespace idgen_tool
