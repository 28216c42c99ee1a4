#include "foreign/claim_heartbeat.hpp"

#include <exception>
#include <utility>

#include "idgen/text.hpp"
#include "idgen/time_units.hpp"
#include "runtime/waiting.hpp"

namespace idgen {

NumberRows::NumberRows(std::shared_ptr<Store> own, std::string url, StoreOptions options)
    : url_(std::move(url)), options_(std::move(options)), store_(std::move(own)) {}

NumberRows::~NumberRows() {
  if (!url_.empty() && store_) store_->leave();
}

std::shared_ptr<Store> NumberRows::store() {
  {
    const MutexLock lock(mutex_);
    if (store_) return store_;
  }
  std::shared_ptr<Store> opened = shared_store(url_, options_);
  const MutexLock lock(mutex_);
  if (!store_) {
    store_ = std::move(opened);
    store_->enter();
  }
  return store_;
}

ClaimHeartbeat::ClaimHeartbeat(Options options, ClaimedNumber held)
    : options_(std::move(options)), held_(std::move(held)), reported_at_ns_(options_.runtime->mono_ns()) {}

std::string ClaimHeartbeat::name() const { return "worker_source = " + options_.request.kind; }

void ClaimHeartbeat::start() {
  if (!post(0)) report();
}

bool ClaimHeartbeat::is_known_until(std::int64_t until_ms) const {
  if (ahead_) return until_ms <= held_.reported_ms + options_.request.clock_limit_ms;
  const std::int64_t guard_ms = options_.request.guard_ms;
  return guard_ms == 0 || until_ms <= held_.reported_ms + guard_ms;
}

// What is reserved then must be reported first: the number's next owner may have the right time.
bool ClaimHeartbeat::has_leapt_since_report(std::int64_t now_ms) const {
  if (held_.reported_ms == 0) return false;  // there was none yet: a number from worker_cache
  const std::int64_t passed_ms = floor_div(options_.runtime->mono_ns() - reported_at_ns_, kNsPerMs);
  return now_ms > held_.reported_ms + passed_ms + options_.request.clock_limit_ms;
}

void ClaimHeartbeat::confirm(std::int64_t until_ms) {
  const auto is_ours = [&] {
    const std::int64_t now_ms = floor_div(options_.runtime->wall_ns(), kNsPerMs);  // the clock may be the host's
    const MutexLock lock(mutex_);
    if (lost_) throw *lost_;
    return is_known_until(until_ms) && (ahead_ || !has_leapt_since_report(now_ms));
  };
  if (is_ours()) return;
  if (!post(0) && report() == Report::made && is_ours()) return;
  {
    const MutexLock lock(mutex_);
    if (ahead_) throw *ahead_;
  }
  throw Error(Status::store_unavailable,
              name() +
                  ": the number was not reported for too long, so others may take it for free. It is used again "
                  "once a report has succeeded");
}

bool ClaimHeartbeat::post(std::int64_t delay_ns) noexcept {
  try {
    const auto task = [weak = weak_from_this()] {
      if (const std::shared_ptr<ClaimHeartbeat> self = weak.lock()) self->report();
    };
    if (delay_ns == 0) {
      options_.lane->post(task);
    } else {
      options_.lane->post_after(delay_ns, task);
    }
    return true;
  } catch (const std::exception&) {  // a window that needs a report makes it itself
    return false;
  }
}

ClaimHeartbeat::Report ClaimHeartbeat::report() {
  ClaimedNumber held;
  {
    const MutexLock lock(mutex_);
    if (is_stopped_ || is_reporting_ || lost_) return Report::not_now;
    is_reporting_ = true;
    held = held_;
  }
  NumberRequest request = options_.request;
  request.now_ms = floor_div(options_.runtime->wall_ns(), kNsPerMs);
  std::optional<ClaimedNumber> kept;
  std::optional<Error> failure;
  try {
    kept = numbers_of(*options_.rows->store(), request.kind).number_keep(request, held);
  } catch (const Error& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure = Error(Status::internal, error.what());
  }
  LogLevel level = LogLevel::warning;
  std::string line;
  {
    const MutexLock lock(mutex_);
    const bool had_failed = is_failing_;
    settle(std::move(kept), failure);
    if (lost_) {
      line = lost_->message();
    } else if (failure && !had_failed) {
      line = name() + ": the number could not be reported: " + failure->message();
    } else if (!failure && had_failed) {
      level = LogLevel::info;
      line = name() + ": the number is reported again";
    }
    if (!lost_ && !is_stopped_) post(failure ? options_.after_failure_ns : options_.every_ns);
    is_reporting_ = false;
    changed_.notify_all();
  }
  if (!line.empty() && options_.log) {
    try {
      options_.log(level, line);
    } catch (...) {  // a line of the log is not worth a failure
    }
  }
  return Report::made;
}

void ClaimHeartbeat::settle(std::optional<ClaimedNumber> kept, const std::optional<Error>& failure) {
  is_failing_ = failure.has_value();
  if (kept) {
    ahead_.reset();
    reported_at_ns_ = options_.runtime->mono_ns();
  }
  if (failure && failure->status() == Status::clock_leap) ahead_ = failure;
  if (kept && !kept->lost.empty()) {
    lost_ = Error(Status::worker_busy, concat({name(), ": the number is no longer this process's: ", kept->lost}),
                  Error::kEndsWaits);
  } else if (kept) {
    held_ = std::move(*kept);
  } else if (failure->status() == Status::value) {
    lost_ = failure;  // a wrong configuration, which no other number mends
  } else {
    held_.is_unknown = true;
  }
}

std::optional<ClaimedNumber> ClaimHeartbeat::stop(std::int64_t wait_ns) {
  MutexLock lock(mutex_);
  is_stopped_ = true;
  Deadline deadline(*options_.runtime, wait_ns);
  while (is_reporting_ && deadline.wait(lock, changed_)) {
  }
  if (is_reporting_ || lost_) return std::nullopt;
  return held_;
}

}  // namespace idgen
