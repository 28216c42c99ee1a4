#include "generator/generator.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "generator/fast_path.hpp"

namespace idgen {

unsigned thread_stripe() noexcept {
  static std::atomic<unsigned> threads{0};
  // initial-exec: one load, instead of a call, in a shared library.
  static thread_local __attribute__((tls_model("initial-exec"))) unsigned mine = ~0u;
  if (mine == ~0u) mine = threads.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return mine;
}

std::string holder_text() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return "process " + std::to_string(getpid()) + " on " + host;
}

std::shared_ptr<Store> configured_store(const Config& config) {
  if (config.store) {
    refuse_schema_of_host(config.get("segment.schema"));
    return config.store;
  }
  return open_store(config.get("store"), config.store_options());
}

Generator::Generator(const Config& config, Layout layout, std::string subject)
    : config_(config),
      layout_(std::move(layout)),
      subject_(std::move(subject)),
      runtime_(config.runtime ? config.runtime : std::shared_ptr<Runtime>(std::shared_ptr<void>(), &system_runtime())),
      store_(configured_store(config)),
      wait_max_ns_(config.duration_ms("wait_max") * 1'000'000),
      page_(std::make_shared<ForkPage<HotPage>>()) {
  shape_.striped = config.get("order") == "relaxed";
}

void Generator::log(LogLevel level, const std::string& message) const {
  if (config_.log) config_.log(level, subject_ + ": " + message);
}

void Generator::begin() {
  Supply::Options options{.carry_mask = shape_.random_start ? 0 : shape_.start_mask,
                          .draws_first = !shape_.timed,
                          .close_wait_ns = wait_max_ns_,
                          .subject = subject_,
                          .lifted = [this](std::uint64_t first) { lifted(first); }};
  set_limits(options);
  // Not make_shared: its memory must not wait for a timer that knows it weakly.
  std::shared_ptr<Supply> supply(new Supply(runtime_, page_, make_source(), std::move(options), config_.log));
  std::int64_t patience_ns = config_.get("on_clock_back") == "wait" ? wait_max_ns_ : 0;
  for (;;) {
    try {
      supply->prime();
      break;
    } catch (const Error& error) {
      // Start after start without a close in between moves a worker's time up to max_ahead; from there on a start waits for the clock.
      const auto wait_ns = static_cast<std::int64_t>(error.retry_after_ns());
      if (error.status() != Status::clock_back || wait_ns <= 0 || wait_ns > patience_ns) throw;
      runtime_->sleep_ns(wait_ns);
      patience_ns -= wait_ns;
    }
  }
  supply_ = std::move(supply);
  page().alive.store(true, std::memory_order_release);
}

bool Generator::ensure_alive(Patience& patience) {
  if (page().alive.load(std::memory_order_acquire)) [[likely]]
    return true;
  if (const std::string obstacle = fork_obstacle(); !obstacle.empty()) {
    throw Error(Status::forked, subject_ + ": this is a forked child, and " + obstacle);
  }
  if (!patience.may_wait()) return false;
  // One thread of the child begins anew, the others wait for it.
  std::unique_lock lock(page().mutex);
  while (page().beginning) {
    if (patience.left_ns() <= 0) {
      throw Error(Status::store_unavailable,
                  subject_ + ": waited " + std::to_string(patience.waited_ns() / 1'000'000) +
                      " ms (wait_max) for another thread of this forked child, which draws its first reservation");
    }
    const std::int64_t before = runtime_->mono_ns();
    runtime_->wait(lock, page().changed, patience.slice_ns());
    patience.spend(runtime_->mono_ns() - before);
    lock.unlock();
    patience.check(subject_);
    lock.lock();
  }
  if (page().alive.load(std::memory_order_acquire)) return true;
  page().beginning = true;
  lock.unlock();
  const auto ended = [&] {
    lock.lock();
    page().beginning = false;
    page().changed.notify_all();
  };
  try {
    // The parent's supply may have been caught in the middle of a change: it is left as it is, not destroyed.
    new std::shared_ptr<Supply>(std::move(supply_));  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks)
    begin();
  } catch (...) {
    ended();
    throw;
  }
  ended();
  ++forks_;
  log(LogLevel::info, "forked child: drew a reservation of its own");
  return true;
}

bool Generator::claim(std::uint64_t drawn, Patience& patience) {
  return ensure_alive(patience) && supply_->claim(drawn, patience);
}

void Generator::close() {
  if (page().alive.load(std::memory_order_acquire)) supply_->close();
}

Generator::Fed Generator::feed_stripe(std::uint64_t want, bool may_wait) noexcept {
  Stripe& stripe = page().stripes[thread_stripe()];
  std::unique_lock lock(stripe.mutex, std::defer_lock);
  if (may_wait) {
    lock.lock();
  } else if (!lock.try_lock()) {
    return Fed::by_another;
  }
  if (stripe.counter.next() < stripe.counter.limit() && is_current(stripe, shape_))
    return Fed::yes;  // another thread was faster
  std::uint64_t first;
  const std::uint64_t count = draw_numbers(page(), shape_, std::max(want, shape_.stripe_block), first);
  if (count) stripe.counter.open(first, first + count);
  return count ? Fed::yes : Fed::no;
}

Stats Generator::stats() const {
  Stats stats;
  stats.handles = handles.load();
  stats.forks = forks_.load();
  stats.buffer = store_->buffer_stats();
  if (!page().alive.load(std::memory_order_acquire)) return stats;
  const SupplyStats supply = supply_->stats();
  stats.granted = supply.granted;
  stats.remaining = supply.remaining;
  stats.refills = supply.refills;
  stats.refill_failures = supply.refill_failures;
  stats.refill_ns_max = supply.refill_ns_max;
  stats.waits = stats.store_waits = supply.waits;
  stats.wait_ns = supply.wait_ns;
  stats.issued = supply.issued;
  stats.rate = supply.rate;
  return stats;
}

}  // namespace idgen
