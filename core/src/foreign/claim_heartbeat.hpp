// A number that another generator's rows gave us, while we use it: reported there again and again, until we stop or it
// is somebody else's.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "idgen/log.hpp"
#include "idgen/mutex.hpp"
#include "idgen/number_store.hpp"
#include "idgen/runtime.hpp"
#include "idgen/status.hpp"
#include "idgen/store.hpp"

namespace idgen {

// The store with those rows. It is opened when it is needed: a start from a cache must do without.
//
// Threads: any.
class NumberRows {
 public:
  // `own`: the generator's store, which has the rows too. Otherwise `url` is opened with these options.
  NumberRows(std::shared_ptr<Store> own, std::string url, StoreOptions options);
  NumberRows(const NumberRows&) = delete;
  NumberRows& operator=(const NumberRows&) = delete;
  ~NumberRows();

  // Throws what opening a store throws.
  std::shared_ptr<Store> store() IDGEN_RUNS_HOST_CODE;

 private:
  const std::string url_;
  const StoreOptions options_;
  Mutex mutex_;
  std::shared_ptr<Store> store_ IDGEN_GUARDED_BY(mutex_);
};

// Threads: any. No lock is held while the clock, the store or the log is called.
class ClaimHeartbeat final : public std::enable_shared_from_this<ClaimHeartbeat> {
 public:
  struct Options {
    NumberRequest request;
    std::shared_ptr<NumberRows> rows;
    std::shared_ptr<Runtime> runtime;
    std::shared_ptr<Lane> lane;  // where reports are made
    std::int64_t every_ns = 0;
    std::int64_t after_failure_ns = 0;  // the next report
    Log log;
  };
  ClaimHeartbeat(Options options, ClaimedNumber held);
  ClaimHeartbeat(const ClaimHeartbeat&) = delete;
  ClaimHeartbeat& operator=(const ClaimHeartbeat&) = delete;

  // Begins to report, at once.
  void start() IDGEN_RUNS_HOST_CODE;
  // As WorkerSource::confirm.
  void confirm(std::int64_t until_ms) IDGEN_RUNS_HOST_CODE;
  // No more reports; one on its way is waited for, up to wait_ns. What is held then; empty if it is lost, or that is
  // not known.
  std::optional<ClaimedNumber> stop(std::int64_t wait_ns);

 private:
  enum class Report { made, not_now };
  bool post(std::int64_t delay_ns) noexcept;  // false: no thread can be started
  Report report() IDGEN_RUNS_HOST_CODE;
  void settle(std::optional<ClaimedNumber> kept, const std::optional<Error>& failure) IDGEN_REQUIRES(mutex_);
  bool is_known_until(std::int64_t until_ms) const IDGEN_REQUIRES(mutex_);
  bool has_leapt_since_report(std::int64_t now_ms) const IDGEN_REQUIRES(mutex_);
  std::string name() const;

  const Options options_;
  Mutex mutex_;
  std::condition_variable changed_;
  ClaimedNumber held_ IDGEN_GUARDED_BY(mutex_);
  std::optional<Error> lost_ IDGEN_GUARDED_BY(mutex_);
  bool is_reporting_ IDGEN_GUARDED_BY(mutex_) = false;
  bool is_stopped_ IDGEN_GUARDED_BY(mutex_) = false;
  bool is_failing_ IDGEN_GUARDED_BY(mutex_) = false;
  std::int64_t reported_at_ns_ IDGEN_GUARDED_BY(mutex_);  // mono
  // Since the clock is too far ahead to be reported: nothing ahead of the latest report is known to the number's next
  // owner.
  std::optional<Error> ahead_ IDGEN_GUARDED_BY(mutex_);
};

}  // namespace idgen
