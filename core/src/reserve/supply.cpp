#include "reserve/supply.hpp"

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

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
      log_(std::move(log)) {
  chain_.highest_end = chain_.used_end = options_.used_end;
}

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

// A store that went back takes a range if its counter has come to that range's end again. What lies below is then
// others', and would be granted once more.
bool Supply::may_give_back() noexcept { return is_ours() && !was_copied() && !went_back_; }

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
    chain_.has_regressed = true;
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
  chain_.measured_at_ns = runtime_.mono_ns();
  try {
    accept(range);
  } catch (const Error& error) {
    if (!chain_.has_regressed) throw;
    load_failed(error);  // each call says so, and none asks the store again
    lock.unlock();
    say(LogLevel::warning, "no new reservation: ", error.message());
    return;
  }
  install(now);
  watch_renewal();
}

void Supply::drop() noexcept {
  if (!is_ours()) return;
  try {
    release_source();
  } catch (...) {  // the store tells the next owner who had it
  }
}

// A counter says less than it is for a moment while a thread skips numbers, and this must not fall.
[[gnu::cold]] std::uint64_t Supply::issued_ids() const {
  std::uint64_t sum = stripes_issued_;  // before the stripes: none is counted twice
  for (const Stripe& stripe : std::span(page_.stripes(), options_.stripes)) {
    if (const std::uint64_t next = stripe.counter.next(); next < Counter::kParked) sum += stripe.counter.drawn(next);
  }
  if (options_.stripes == 0)
    sum = options_.draws_first ? chain_.drawn(page_.counter.next())
                               : page_.counter.drawn(state_ == State::open ? page_.counter.next() : chain_.closed_at);
  return most_issued_ = std::max(most_issued_, sum);
}

bool Supply::is_more_wanted() const {
  return is_short(options_.sizing, chain_.pace(), chain_.held(page_.counter.next()), chain_.ready.size());
}

void Supply::accept(const Range& range) {
  switch (chain_.accept(range, runtime_.mono_ns(), page_.counter.next())) {
    case Grant::empty:
      throw Error(Status::store_damaged,
                  options_.subject + ": the store granted an empty range; check its step or window");
    case Grant::below:
      stop_drawing();
      throw Error(Status::store_regressed,
                  concat({options_.subject, ": the store granted ", source_->name_of(range.first), ", but all before ",
                          source_->name_of(chain_.highest_end),
                          " was granted before: it has lost a commit (restored from a backup, "
                          "failed over, or set by hand). Issuing has stopped. ",
                          source_->after_regress()}));
    case Grant::accepted:
      break;
  }
  watch_age();
  refill_.succeeded();
  ++stats_.refills;
  check_guarantees();
}

// Until a range is opened, even by threads that have read the limit before.
void Supply::stop_drawing() {
  page_.counter.set_limit(0);
  page_.counter.park();
}

void Supply::install(const Present& present) {
  const std::uint64_t first = chain_.ready.front().first;
  if (options_.lifted && page_.counter.next() < first) options_.lifted(present, first);
  const Range& range = chain_.open_next(page_.counter.next(), options_.leaves_rest);
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
    if (chain_.has_regressed) throw *refill_.failure();
    const std::uint64_t need = claimed ? *claimed : std::max(now.need, page_.counter.next());
    if (claimed && need < chain_.current.first) return Claim::given_up;
    if (claimed && need >= page_.counter.next()) return Claim::given_up;  // nobody has drawn it here
    if (need < page_.counter.limit()) return Claim::granted;              // another thread has done it
    if (need < chain_.current.end) {
      IDGEN_ASSERT("I1: what is claimed lies in the range that is open", chain_.current.first <= need);
      pass_mark(need);
      return Claim::granted;
    }
    if (!chain_.ready.empty()) {
      install(now);
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
      chain_.is_starved = true;
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
  const Range& range = chain_.current;
  chain_.measure(runtime_.mono_ns(), page_.counter.next());
  const bool provided = refill_.is_busy() || (!chain_.ready.empty() && !is_more_wanted());
  const bool too_soon = !refill_.may_ask(runtime_.mono_ns());
  const std::uint64_t left = range.end - need;
  page_.counter.set_limit(!provided && too_soon && left > kFewLeft ? need + left / 2 : range.end);
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
  chain_.measure(runtime_.mono_ns(), page_.counter.next());
  return {.wanted = next_size(options_.sizing, chain_.pace()), .rate = chain_.rate, .highest_end = chain_.highest_end};
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
    if (!refill_.is_busy() && state_ == State::open && !chain_.has_regressed) start_loader();
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
  if (is_abandoned) chain_.take_ready();
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

void Supply::watch_age() {
  if (options_.max_age_ns == 0 || watching_) return;
  const Range* const oldest = chain_.oldest(page_.counter.next());
  if (oldest == nullptr) return;
  try {
    lane_->post_after(oldest->granted_at_ns + options_.max_age_ns - runtime_.mono_ns(), [weak = weak_from_this()] {
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
  if (state_ != State::open || chain_.has_regressed) return;
  if (refill_.is_busy()) return;  // a loader that returns checks again
  const std::int64_t until = runtime_.mono_ns() - options_.max_age_ns;
  Ranges old;
  if (chain_.is_in_use(page_.counter.next()) && chain_.current.granted_at_ns <= until) {
    const std::uint64_t first = std::max(page_.counter.give_up(), chain_.current.first);
    chain_.give_up(first, old);
  }
  const bool none_in_use = !chain_.is_in_use(page_.counter.next());
  if (none_in_use) chain_.take_old(until, old);
  if (!none_in_use || !chain_.ready.empty()) {
    // Younger ranges are above, and the store cannot take back what is below them. They are drawn from at once, so
    // what is held would not help.
    if (none_in_use) install({});  // only untimed numbers age
    watch_age();
    return;
  }
  if (old.empty() || went_back_) return;
  // Nobody was given a number of these, or will be without another grant. What is between them and what was drawn here
  // may belong to others, who may give it back too.
  chain_.lower_witness();
  check_guarantees();
  refill_.take();
  lock.unlock();
  try {
    for (std::size_t left = old.size(); left > 0 && may_give_back(); --left) source_->give_back(old[left - 1]);
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
  const std::int64_t due_ns =
      std::max(chain_.granted_at_ns + options_.renew_ns, refill_.retry_at_ns()) - runtime_.mono_ns();
  const std::int64_t least_ns = refill_.is_busy() ? options_.renew_ns / 4 : kNsPerMs;  // a request is on its way
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
  if (state_ != State::open || chain_.has_regressed) return;
  chain_.drop_passed(now.need);
  const std::int64_t due_ns = std::max(chain_.granted_at_ns + options_.renew_ns, refill_.retry_at_ns());
  if (runtime_.mono_ns() >= due_ns && !refill_.is_busy()) {
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

void Supply::check_guarantees() const { chain_.check(page_.counter.next(), page_.counter.limit()); }

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
  if (error.status() == Status::store_regressed) {  // we noticed, or the source did (`witness`)
    went_back_ = true;
    if (state_ == State::open && chain_.oldest(page_.counter.next()) != nullptr) {
      chain_.forget(page_.counter.next());
      stop_drawing();
    }
  }
  // Request again when half of the rest is drawn, not when nothing is left.
  const std::uint64_t next = page_.counter.next(), end = chain_.current.end;
  if (next < end) page_.counter.set_limit(std::min(page_.counter.limit(), next + (end - next) / 2));
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
  chain_.seal(page_.counter.seal());
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
  const Ranges ready = chain_.take_ready();
  const Range rest = chain_.rest;
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
  return chain_.has_regressed ? refill_.failure() : std::nullopt;
}

std::uint64_t Supply::used_end() const {
  const MutexLock lock(page_.mutex);
  return chain_.used_end;
}

std::uint64_t Supply::closed_at() const {
  const MutexLock lock(page_.mutex);
  return chain_.closed_at;
}

// Latest first: the store takes back only what ends at its own counter. The owner is gone in any case.
void Supply::give_back(const Range& rest, const Ranges& ready) {
  std::exception_ptr failure;
  try {
    for (std::size_t left = ready.size(); left > 0 && may_give_back(); --left) source_->give_back(ready[left - 1]);
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
  const std::uint64_t next = page_.counter.next();
  stats.granted = chain_.granted;
  stats.remaining = chain_.held(next);
  stats.issued = chain_.drawn(next);
  stats.issued_ids = issued_ids();
  stats.rate = state_ == State::open ? chain_.rate_at(now, next) : 0;
  stats.highest_end = chain_.highest_end;
  stats.refill_failures = refill_.failures();
  stats.is_loading = refill_.is_busy();
  stats.is_failing = refill_.is_failing();
  stats.is_used_up = stats.is_failing && chain_.ready.empty() && std::max(next, refill_.needed()) >= chain_.current.end;
  stats.failure = refill_.failure();
  stats.failed_unix_ms = refill_.failed_unix_ms(now, wall_ns);
  return stats;
}

}  // namespace idgen
