#include "reserve/supply.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "idgen/time_units.hpp"
#include "runtime/assert.hpp"
#include "runtime/waiting.hpp"

namespace idgen {
namespace {

// So little of a range that another request half way is not worth it.
constexpr std::uint64_t kFewLeft = 64;

bool is_retryable(const Error& error) { return status_text(error.status()).retryable && !error.ends_waits(); }

}  // namespace

Supply::Supply(std::shared_ptr<Runtime> runtime, std::shared_ptr<ForkPage<HotPage>> page,
               std::unique_ptr<Source> source, Options options, Log log)
    : shared_runtime_(std::move(runtime)),
      shared_page_(std::move(page)),
      runtime_(*shared_runtime_),
      page_(**shared_page_),
      source_(std::move(source)),
      options_(std::move(options)),
      lane_(options_.lane ? options_.lane : runtime_.make_lane()),
      log_(std::move(log)),
      highest_end_(options_.used_end),
      used_end_(options_.used_end) {}

[[gnu::cold]] void SupplyStats::add_ended(const SupplyStats& other) {
  granted += other.granted;
  refills += other.refills;
  refill_failures += other.refill_failures;
  refill_ns_max = std::max(refill_ns_max, other.refill_ns_max);
  waits += other.waits;
  wait_ns += other.wait_ns;
  issued += other.issued;
  issued_ids += other.issued_ids;
  highest_end = std::max(highest_end, other.highest_end);
  if (failure || !other.failure) return;
  failure = other.failure;
  failed_unix_ms = other.failed_unix_ms;
}

bool Supply::is_ours() const noexcept { return page_.supply.load(std::memory_order_relaxed) == this; }

void Supply::check_process() const {
  if (is_ours()) return;
  throw Error(Status::forked, options_.subject + ": this process was forked in the middle of this call; call again");
}

bool Supply::may_give_back() noexcept { return is_ours() && !was_copied(); }

bool Supply::was_copied() noexcept {
  if (is_copy_.load(std::memory_order_relaxed)) return true;
  if (!options_.is_copied || !options_.is_copied()) return false;
  seal();  // first: whoever knows of the copy finds nothing to draw
  is_copy_ = true;
  return true;
}

void Supply::prime() {
  page_.supply.store(this, std::memory_order_relaxed);
  if (options_.regressed) {
    const MutexLock lock(page_.mutex);
    failed_for_good_ = true;
    load_failed(*options_.regressed);
    return;
  }
  const Range range = source_->draw({.highest_end = options_.used_end});
  if (was_copied()) {
    throw Error(Status::store_unavailable,
                options_.subject + ": this machine was copied while the store was asked; try again", Error::kEndsWaits);
  }
  const Present now = present();
  MutexLock lock(page_.mutex);
  check_process();
  measured_at_ns_ = runtime_.mono_ns();
  try {
    accept(range);
  } catch (const Error& error) {
    if (!failed_for_good_) throw;
    load_failed(error);  // each call says so, and none asks the store again
    lock.unlock();
    say(LogLevel::warning, "no new reservation: ", error.message());
    return;
  }
  install(ready_.front(), now);
  watch_renewal();
}

void Supply::drop() noexcept {
  if (!is_ours()) return;
  try {
    release_source();
  } catch (...) {  // the store tells the next owner who had it
  }
}

std::uint64_t Supply::held() const {
  const std::uint64_t next = page_.counter.next();
  std::uint64_t sum = next < current_.end ? current_.end - std::max(next, current_.first) : 0;
  for (const Range& range : ready_) sum += range.size();
  return sum;
}

std::uint64_t Supply::drawn() const { return stats_.granted - unused_ - held(); }

// A counter says less than it is for a moment while a thread skips numbers, and this must not fall.
[[gnu::cold]] std::uint64_t Supply::issued_ids() const {
  std::uint64_t sum = stripes_issued_;  // before the stripes: none is counted twice
  for (const Stripe& stripe : std::span(page_.stripes(), options_.stripes)) {
    if (const std::uint64_t next = stripe.counter.next(); next < Counter::kParked) sum += stripe.counter.drawn(next);
  }
  if (options_.stripes == 0)
    sum =
        options_.draws_first ? drawn() : page_.counter.drawn(state_ == State::open ? page_.counter.next() : closed_at_);
  return most_issued_ = std::max(most_issued_, sum);
}

std::uint64_t Supply::rate_over(std::int64_t ns) const { return rate_of(drawn() - measured_, ns); }

void Supply::measure() {
  const std::int64_t now = runtime_.mono_ns();
  const std::int64_t passed = now - measured_at_ns_;
  if (passed < kMeasureNs) {
    rate_ = std::max(rate_, rate_over(kMeasureNs));  // at least that
    return;
  }
  rate_ = rate_over(passed);
  measured_ = drawn();
  measured_at_ns_ = now;
  measured_over_ns_ = passed;
}

Pace Supply::pace() const { return {.rate = rate_, .last_size = last_size_, .is_starved = starved_}; }

bool Supply::is_more_wanted() const { return is_short(options_.sizing, pace(), held(), ready_.size()); }

void Supply::accept(const Range& range) {
  if (range.first >= range.end) {
    throw Error(Status::store_damaged,
                options_.subject + ": the store granted an empty range; check its step or window");
  }
  if (range.first < highest_end_) {
    // What we hold may also have been granted to others.
    failed_for_good_ = true;
    unused_ += held();
    page_.counter.set_limit(0);
    page_.counter.park();  // also for who draws by a limit that was remembered
    current_ = {};
    ready_.clear();
    throw Error(Status::store_regressed,
                concat({options_.subject, ": the store granted ", source_->name_of(range.first), ", but all before ",
                        source_->name_of(highest_end_),
                        " was granted before: it has lost a commit (restored from a backup, "
                        "failed over, or set by hand). Issuing has stopped. ",
                        source_->after_regress()}));
  }
  IDGEN_ASSERT("I7: a grant lies above all earlier ones", highest_end_ <= range.first && range.first < range.end);
  highest_end_ = range.end;
  last_size_ = range.size();
  starved_ = false;
  ready_.push_back(range);
  granted_at_ns_ = ready_.back().granted_at_ns = runtime_.mono_ns();
  watch_age();
  refill_.succeeded();
  stats_.granted += range.size();
  ++stats_.refills;
  check_guarantees();
}

void Supply::install(Range range, const Present& present) {
  IDGEN_ASSERT("I1: only what was granted is opened", range.end == ready_.front().end && range.end <= highest_end_);
  if (options_.lifted && page_.counter.next() < range.first) options_.lifted(present, range.first);
  if (const std::uint64_t next = page_.counter.next(); options_.leaves_rest && next < current_.end)
    unused_ += current_.end - std::max(next, current_.first);
  used_end_ = std::max(used_end_, current_.end);
  current_ = range;
  ready_.pop_front();
  page_.counter.open(range.first, range.first + mark_of(options_.sizing, range.size()), options_.carry_mask);
  check_guarantees();
}

bool Supply::refill(Patience& patience) { return open_range({}, patience) == Claim::granted; }

Claim Supply::claim(std::uint64_t number, Patience& patience) {
  // In no range, or in none of ours: nothing to take the lock for.
  if (number >= Counter::kParked || number < options_.claims_from) return Claim::given_up;
  return open_range(number, patience);
}

Claim Supply::open_range(std::optional<std::uint64_t> claimed, Patience& patience) {
  Present now = present();
  MutexLock lock(page_.mutex);
  bool counted = false;
  for (;;) {
    check_process();
    if (state_ != State::open) throw closed_error(options_.subject);
    if (failed_for_good_) throw *refill_.failure();
    const std::uint64_t need = claimed ? *claimed : std::max(now.need, page_.counter.next());
    if (claimed && need < current_.first) return Claim::given_up;
    if (claimed && need >= page_.counter.next()) return Claim::given_up;  // nobody has drawn it here
    if (need < page_.counter.limit()) return Claim::granted;              // another thread has done it
    if (need < current_.end) {
      IDGEN_ASSERT("I1: what is claimed lies in the range that is open", current_.first <= need);
      pass_mark(need);
      return Claim::granted;
    }
    if (!ready_.empty()) {
      install(ready_.front(), now);
      continue;
    }
    page_.counter.set_limit(0);
    if (options_.draws_first) page_.counter.park();
    refill_.need(now.need, options_.leaves_rest);
    bool is_mine = false;
    if (!refill_.is_busy()) {
      if (refill_.may_ask(runtime_.mono_ns())) {
        is_mine = patience.may_wait() && (lane_->is_here() || !post_load());
        if (!patience.may_wait()) post_load();
      } else if (refill_.is_failing() && !is_retryable(*refill_.failure())) {
        throw *refill_.failure();
      }
    } else {
      // It was requested ahead of need, and waits for this thread.
      is_mine = refill_.is_posted() && patience.may_wait() && lane_->is_here();
    }
    if (!patience.may_wait()) {
      if (claimed) page_.counter.park(need);
      return Claim::would_block;
    }
    if (patience.left_ns() <= 0 && !is_mine) fail_waiting(patience);
    if (!counted) {
      counted = true;
      starved_ = true;
      ++stats_.waits;
    }
    const std::int64_t before = runtime_.mono_ns();
    if (is_mine) {
      refill_.take();
      const Demand mine = demand();
      lock.unlock();
      load(mine);
    } else {
      runtime_.wait(lock, page_.changed, patience.slice_ns());
      lock.unlock();
    }
    const std::int64_t waited = patience.spend_since(runtime_, before);
    patience.check(options_.subject);
    was_copied();     // then it is closed
    now = present();  // it may have been set meanwhile
    lock.lock();
    stats_.wait_ns += static_cast<std::uint64_t>(waited);
  }
}

// Raises the limit to the end of the range and requests the next. While the store fails, it raises the limit half way,
// and requests again there.
void Supply::pass_mark(std::uint64_t need) {
  measure();
  const bool provided = refill_.is_busy() || (!ready_.empty() && !is_more_wanted());
  const bool too_soon = !refill_.may_ask(runtime_.mono_ns());
  const std::uint64_t left = current_.end - need;
  page_.counter.set_limit(!provided && too_soon && left > kFewLeft ? need + left / 2 : current_.end);
  if (!provided && !too_soon) start_loader();
  check_guarantees();
}

void Supply::fail_waiting(const Patience& patience) const {
  const std::string waited = concat({options_.subject, ": ", patience.waited_for("the store")});
  const auto retry_in =
      static_cast<std::uint64_t>(std::max<std::int64_t>(refill_.retry_at_ns() - runtime_.mono_ns(), 0));
  if (refill_.is_failing()) {
    const Error& failure = *refill_.failure();
    throw Error(failure.status(), concat({waited, "; its latest answer: ", failure.message()}), retry_in,
                failure.cause());
  }
  throw Error(Status::store_unavailable, waited + "; it has not answered yet. Try again, or raise wait_max", retry_in);
}

Demand Supply::demand() {
  measure();
  return {.wanted = next_size(options_.sizing, pace()), .rate = rate_, .highest_end = highest_end_};
}

bool Supply::post_load() {
  try {
    const std::uint64_t ticket = refill_.new_ticket();
    lane_->post([self = shared_from_this(), ticket, asked = demand()] { self->load_posted(ticket, asked); });
    refill_.post(ticket);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Ahead of need: if this fails, there is time for another request.
void Supply::start_loader() {
  if (!post_load())
    load_failed(Error(Status::store_unavailable,
                      "no thread could be started for background work; a call that may wait asks the store itself"));
}

void Supply::load_posted(std::uint64_t ticket, const Demand& demand) {
  {
    const MutexLock lock(page_.mutex);
    if (!refill_.begin(ticket)) return;
  }
  load(demand);
}

void Supply::load(const Demand& demand) {
  const std::int64_t started = runtime_.mono_ns();
  std::optional<Range> range;
  std::optional<Error> failure;
  try {
    if (!was_copied()) range = source_->draw(demand);
    if (was_copied()) range.reset();  // the original may have asked for it
  } catch (const Error& error) {
    failure = error;
  } catch (const std::exception&) {
    failure = unexpected();
  }
  if (!is_ours()) return;
  const auto took = static_cast<std::uint64_t>(runtime_.mono_ns() - started);

  MutexLock lock(page_.mutex);
  stats_.refill_ns_max = std::max(stats_.refill_ns_max, took);
  const bool had_failed = refill_.is_failing();
  if (range) {
    try {
      accept(*range);
    } catch (const Error& error) {
      failure = error;
    } catch (const std::exception&) {
      failure = unexpected();
    }
  }
  if (failure) {
    load_failed(*failure);
    watch_age();
  }
  const bool goes_on = range && !failure && state_ == State::open && is_more_wanted();
  const bool is_abandoned = leave_source();
  lock.unlock();
  if (is_abandoned) let_source_go();
  if (goes_on) {
    lock.lock();
    if (!refill_.is_busy() && state_ == State::open && !failed_for_good_) start_loader();
    lock.unlock();
  }
  if (failure && !had_failed) say(LogLevel::warning, "no new reservation: ", failure->message());
  if (range && !failure && had_failed) say(LogLevel::info, "the store grants reservations again");
}

void Supply::say(LogLevel level, std::string_view what, std::string_view detail) const noexcept {
  if (!log_) return;
  try {
    log_(level, (options_.subject + ": ").append(what).append(detail));
  } catch (...) {  // a line of the log is not worth a failure
  }
}

bool Supply::leave_source() {
  refill_.end();
  const bool is_abandoned = state_ == State::ended;
  if (is_abandoned) take_ready();
  check_guarantees();
  page_.changed.notify_all();
  return is_abandoned;
}

void Supply::let_source_go() {
  try {
    release_source();
  } catch (...) {  // nobody is left to tell
  }
}

void Supply::release_source() {
  if (was_copied()) {
    source_->abandon();
  } else {
    source_->release();
  }
}

std::vector<Range> Supply::take_ready() {
  for (const Range& range : ready_) unused_ += range.size();
  std::vector<Range> taken;
  try {
    taken.assign(ready_.begin(), ready_.end());
  } catch (const std::bad_alloc&) {  // burned: closing does not fail
  }
  ready_.clear();
  return taken;
}

void Supply::watch_age() {
  if (options_.max_age_ns == 0 || watching_) return;
  const bool in_use = page_.counter.next() < current_.end;  // checked once: callers draw meanwhile
  if (!in_use && ready_.empty()) return;
  const Range& oldest = in_use ? current_ : ready_.front();
  try {
    lane_->post_after(oldest.granted_at_ns + options_.max_age_ns - runtime_.mono_ns(), [weak = weak_from_this()] {
      if (const std::shared_ptr<Supply> self = weak.lock()) self->retire();
    });
    watching_ = true;
  } catch (const std::exception&) {  // the thread could not be started: the next range tries again
  }
}

void Supply::retire() {
  was_copied();  // then it is closed
  MutexLock lock(page_.mutex);
  watching_ = false;
  if (state_ != State::open || failed_for_good_) return;
  if (refill_.is_busy()) return;  // a loader that returns checks again
  const std::int64_t now = runtime_.mono_ns();
  const auto is_old = [&](const Range& range) { return now - range.granted_at_ns >= options_.max_age_ns; };
  std::vector<Range> old;
  old.reserve(ready_.size() + 1);  // nothing may throw once the counter has left its range
  if (page_.counter.next() < current_.end && is_old(current_)) {
    const std::uint64_t first = std::max(page_.counter.give_up(), current_.first);
    if (first < current_.end) old.push_back({first, current_.end});
    if (first <= current_.end) ++unused_;  // one number is burned, unless callers have drawn all meanwhile
    current_.first = current_.end = std::min(first, current_.end);  // what is below was drawn here, and stays so
  }
  const bool none_in_use = page_.counter.next() >= current_.end;
  while (none_in_use && !ready_.empty() && is_old(ready_.front())) {
    old.push_back(ready_.front());
    ready_.pop_front();
  }
  for (const Range& range : old) unused_ += range.size();
  if (!none_in_use || !ready_.empty()) {
    // Younger ranges are above, and the store cannot take back what is below them. They are drawn from at once, so
    // held() would not help.
    if (none_in_use) install(ready_.front(), {});  // only untimed numbers age
    watch_age();
    return;
  }
  if (old.empty()) return;
  // Nobody was given a number of these, or will be without another grant. What is between them and what was drawn here
  // may belong to others, who may give it back too.
  highest_end_ = current_.end;
  used_end_ = std::max(used_end_, current_.end);
  check_guarantees();
  refill_.take();
  lock.unlock();
  try {
    for (auto range = old.rbegin(); range != old.rend() && may_give_back(); ++range) source_->give_back(*range);
  } catch (...) {  // burned
  }
  if (!is_ours()) return;
  lock.lock();
  const bool is_abandoned = leave_source();
  lock.unlock();
  if (is_abandoned) let_source_go();
}

// Whoever owns a worker by a lease renews it while nobody draws, too.
void Supply::watch_renewal() {
  if (options_.renew_ns == 0) return;
  const std::int64_t due_ns = std::max(granted_at_ns_ + options_.renew_ns, refill_.retry_at_ns()) - runtime_.mono_ns();
  const std::int64_t least_ns = refill_.is_busy() ? options_.renew_ns / 4 : kNsPerMs;  // somebody is on the way
  try {
    lane_->post_after(std::max(due_ns, least_ns), [weak = weak_from_this()] {
      if (const std::shared_ptr<Supply> self = weak.lock()) self->renew();
    });
  } catch (const std::exception&) {  // no thread can be had: calls renew it, as they draw
  }
}

void Supply::renew() {
  const Present now = present();
  was_copied();  // then it is closed
  MutexLock lock(page_.mutex);
  if (state_ != State::open || failed_for_good_) return;
  // What nobody drew while it was time is not kept.
  while (ready_.size() > 1 && ready_.front().end <= now.need) {
    unused_ += ready_.front().size();
    ready_.pop_front();
  }
  const bool is_due = runtime_.mono_ns() >= std::max(granted_at_ns_ + options_.renew_ns, refill_.retry_at_ns());
  if (is_due && !refill_.is_busy()) {
    refill_.take();
    const Demand asked = demand();
    lock.unlock();
    load(asked);
    if (!is_ours()) return;
    lock.lock();
    if (state_ != State::open) return;
  }
  watch_renewal();
}

void Supply::check_guarantees() const {
#if IDGEN_ASSERTIONS
  IDGEN_ASSERT("I1: the limit lies within what was granted", page_.counter.limit() <= current_.end);
  std::uint64_t end = current_.end;
  for (const Range& range : ready_) {
    IDGEN_ASSERT("I7: what is ready lies above what is in use", end <= range.first && range.first < range.end);
    end = range.end;
  }
  IDGEN_ASSERT("I7: the witness is no lower than what is held", end <= highest_end_);
  IDGEN_ASSERT("I7: a store that went back stops issuing", !failed_for_good_ || end == 0);
  IDGEN_ASSERT("I4: no more is drawn than was granted", unused_ + held() <= stats_.granted);
#endif
}

Error Supply::unexpected() const noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory_;
  } catch (const std::exception& error) {
    try {
      return Error(Status::internal, error.what());
    } catch (...) {
      return out_of_memory_;
    }
  }
}

void Supply::load_failed(const Error& error) {
  refill_.failed(error, runtime_.mono_ns());
  // Request again when half of the rest is drawn, not when nothing is left.
  const std::uint64_t next = page_.counter.next();
  if (next < current_.end) page_.counter.set_limit(std::min(page_.counter.limit(), next + (current_.end - next) / 2));
}

// When it returns all is sealed, also if another thread began to.
void Supply::seal() noexcept {
  seal_counter();
  for (Stripe& stripe : std::span(page_.stripes(), options_.stripes)) {
    const MutexLock fed(stripe.mutex);  // by who drew from the counter before it was sealed
    const std::uint64_t end = stripe.counter.seal();
    if (end < Counter::kParked) stripes_issued_ += stripe.counter.drawn(end);
  }
}

void Supply::seal_counter() noexcept {
  const MutexLock lock(page_.mutex);
  if (state_ != State::open) return;
  state_ = State::sealed;
  refill_.withdraw();
  page_.changed.notify_all();
  closed_at_ = page_.counter.seal();
  rest_ = {std::max(closed_at_, current_.first), current_.end};
  if (rest_.first < rest_.end) unused_ += rest_.size();
  if (closed_at_ > current_.first) used_end_ = std::max(used_end_, std::min(closed_at_, current_.end));
  current_ = {};
  check_guarantees();
}

void Supply::close() noexcept {
  seal();
  MutexLock lock(page_.mutex);
  if (state_ != State::sealed) return;
  state_ = State::ending;
  // A grant on its way would be lost: wait for it, up to a limit, to give it back too.
  Deadline deadline(runtime_, options_.close_wait_ns);
  while (refill_.is_busy() && deadline.wait(lock, page_.changed)) {
  }
  state_ = State::ended;
  const std::vector<Range> ready = take_ready();
  const Range rest = rest_;
  check_guarantees();
  if (refill_.is_busy()) return;  // everything is burned; the loader releases the source when it returns
  lock.unlock();
  try {
    if (was_copied()) {
      source_->abandon();
    } else {
      give_back(rest, ready);
    }
  } catch (const std::exception& error) {
    say(LogLevel::warning,
        "closed; what was reserved and not used could not be given back, and is a gap: ", error.what());
  }
  source_.reset();  // release the host's objects now, not when the loader's task is destroyed
}

bool Supply::is_sealed() const {
  const MutexLock lock(page_.mutex);
  return state_ != State::open;
}

std::optional<Error> Supply::regressed() const {
  const MutexLock lock(page_.mutex);
  return failed_for_good_ ? refill_.failure() : std::nullopt;
}

std::uint64_t Supply::used_end() const {
  const MutexLock lock(page_.mutex);
  return used_end_;
}

std::uint64_t Supply::closed_at() const {
  const MutexLock lock(page_.mutex);
  return closed_at_;
}

// Latest first: the store takes back only what ends at its own counter. The owner is gone in any case.
void Supply::give_back(const Range& rest, std::span<const Range> ready) {
  std::exception_ptr failure;
  try {
    for (auto range = ready.rbegin(); range != ready.rend() && may_give_back(); ++range) source_->give_back(*range);
    if (rest.first < rest.end && may_give_back()) source_->give_back(rest);
  } catch (...) {
    failure = std::current_exception();
  }
  if (is_ours()) release_source();
  if (failure) std::rethrow_exception(failure);
}

[[gnu::cold]] SupplyStats Supply::stats() const {
  const std::int64_t wall_ns = runtime_.wall_ns();
  MutexLock lock(page_.mutex);
  check_guarantees();
  SupplyStats stats = stats_;
  const std::int64_t now = runtime_.mono_ns();
  stats.remaining = held();
  stats.issued = drawn();
  stats.issued_ids = issued_ids();
  // The loader measures the rate. If it has been idle for longer than before, the rate has fallen since.
  const std::int64_t passed = now - measured_at_ns_;
  stats.rate = state_ != State::open ? 0 : passed > measured_over_ns_ ? rate_over(passed) : rate_;
  stats.highest_end = highest_end_;
  stats.refill_failures = refill_.failures();
  stats.is_loading = refill_.is_busy();
  stats.is_failing = refill_.is_failing();
  stats.is_used_up =
      stats.is_failing && ready_.empty() && std::max(page_.counter.next(), refill_.needed()) >= current_.end;
  stats.failure = refill_.failure();
  stats.failed_unix_ms = refill_.failed_unix_ms(now, wall_ns);
  return stats;
}

}  // namespace idgen
