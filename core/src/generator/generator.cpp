#include "generator/generator.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "generator/fast_path.hpp"
#include "generator/live_generators.hpp"
#include "idgen/time_units.hpp"
#include "runtime/process_image.hpp"
#include "runtime/waiting.hpp"

namespace idgen {

std::string holder_text() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return "process " + std::to_string(getpid()) + " on " + host;
}

namespace {

constexpr std::int64_t kFirstPauseNs = 20 * kNsPerMs;
constexpr std::int64_t kLastPauseNs = 1'000 * kNsPerMs;

// The store is down or full, and may recover soon.
bool is_away(const Error& error) {
  const Status status = error.status();
  return status_text(status).retryable && !error.ends_waits() && status >= Status::store_unavailable &&
         status < Status::no_memory;
}

// How long a worker that somebody else holds may keep us waiting.
std::int64_t worker_wait_ns(const Config& config, Store& store) {
  if (!config.get("worker_wait").empty()) return config.duration_ms("worker_wait") * kNsPerMs;
  return has_leases(store) ? (config.duration_ms("worker_lease") + 1'000) * kNsPerMs : 0;
}

// Waits while opening a generator: for a store that is down, for a worker that another process holds, and for a clock
// if `clock_back` allows that.
class Opening {
 public:
  Opening(Runtime& runtime, const std::string& subject, Patience& patience, bool waits_for_clock = false,
          std::int64_t worker_wait_ns = 0)
      : runtime_(runtime),
        subject_(subject),
        patience_(patience),
        waits_for_clock_(waits_for_clock),
        worker_wait_ns_(worker_wait_ns) {}

  template <class Work>
  auto attempt(Work&& work) -> decltype(work()) {
    for (;;) {
      const std::int64_t before = runtime_.mono_ns();
      try {
        return work();
      } catch (const Error& error) {
        if (error.status() == Status::worker_busy && patience_.may_wait()) {
          wait_for_worker(error);
          continue;
        }
        patience_.spend_since(runtime_, before);
        if (!wait_after(error)) throw;
      }
    }
  }

 private:
  // Throws `error` when the time is over. That is a time of its own: a process that is being replaced takes longer to
  // stop than a call may wait.
  void wait_for_worker(const Error& error) {
    const std::int64_t left_ns = worker_wait_ns_ - waited_for_worker_ns_;
    if (left_ns <= 0) {
      if (worker_wait_ns_ == 0) throw error;
      throw Error(error.status(), concat({subject_, ": waited ", waited_for_worker_ns_ / kNsPerMs,
                                          " ms (worker_wait); ", error.message()}));
    }
    const std::int64_t hint_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(error.retry_after_ns(), INT64_MAX));
    const std::int64_t pause_ns = std::min({left_ns, kLastPauseNs, hint_ns > 0 ? hint_ns : kLastPauseNs});
    const std::int64_t before = runtime_.mono_ns();
    for (std::int64_t slept = 0; slept < pause_ns; slept = runtime_.mono_ns() - before) {
      runtime_.sleep_ns(std::min(pause_ns - slept, kSliceNs));
      patience_.check(subject_);
    }
    waited_for_worker_ns_ += runtime_.mono_ns() - before;
  }

  // False: there is nothing to wait for, or no time.
  bool wait_after(const Error& error) {
    const auto hint_ns = static_cast<std::int64_t>(error.retry_after_ns());
    // Repeated starts without a close move a worker's time up to max_ahead; from there on a start waits for the clock.
    const bool by_clock = waits_for_clock_ && error.status() == Status::clock_back && hint_ns > 0;
    if (!patience_.may_wait() || !(by_clock || is_away(error))) return false;
    if (by_clock && hint_ns > patience_.left_ns()) return false;
    if (patience_.left_ns() <= 0) {
      if (patience_.wait_max_ns() == 0) return false;
      throw Error(error.status(),
                  concat({subject_, ": ", patience_.waited_for("the store"), "; its latest answer: ", error.message()}),
                  error.retry_after_ns(), error.cause());
    }
    sleep(by_clock ? hint_ns : std::min(std::max(pause_ns_, hint_ns), patience_.left_ns()));
    pause_ns_ = std::min(2 * pause_ns_, kLastPauseNs);
    return true;
  }
  void sleep(std::int64_t ns) {
    while (ns > 0) {
      const std::int64_t slice = std::min(ns, kSliceNs);
      patience_.sleep(runtime_, slice, slice);
      ns -= slice;
      patience_.check(subject_);
    }
  }

  Runtime& runtime_;
  const std::string& subject_;
  Patience& patience_;
  const bool waits_for_clock_;
  const std::int64_t worker_wait_ns_;
  std::int64_t waited_for_worker_ns_ = 0;
  std::int64_t pause_ns_ = kFirstPauseNs;
};

std::shared_ptr<Store> open_configured(const Config& config, Runtime& runtime, const std::string& subject,
                                       Patience& patience) {
  if (config.store) {
    config.store->configure(config.store_options());
    return config.store;
  }
  return Opening(runtime, subject, patience).attempt([&] {
    return shared_store(config.get("store"), config.store_options());
  });
}

// What of the shape every kind has: who has an id, and how many counters there are.
Shape shape_of(const Config& config, const Layout& layout) {
  Shape shape;
  shape.by_thread = config.get("order") == "relaxed";
  if (shape.by_thread) shape.stripes = kThreadStripes;
  const Field* const gene = layout.find(FieldKind::gene);
  if (gene == nullptr) return shape;
  const std::string& rule = config.get("gene");
  if (config.get("kind") == "business" && !shape.by_thread)
    shape.stripes = std::min<std::uint64_t>(config.integer("counters"), std::uint64_t{1} << gene->bits);
  shape.gene = {gene->bits, gene->shift,
                rule == "auto"  ? layout.gene_rule()
                : rule == "mod" ? GeneRule::mod
                                : GeneRule::hash};
  return shape;
}

// Logs belong to handles, which are opened and closed.
Config without_log(Config config) {
  config.log.reset();
  return config;
}

}  // namespace

Generator::Generator(const Config& config, Layout layout, std::string subject, Patience& patience)
    : shape_(shape_of(config, layout)),
      config_(without_log(config)),
      layout_(std::move(layout)),
      subject_(std::move(subject)),
      runtime_(config.runtime ? config.runtime : std::shared_ptr<Runtime>(std::shared_ptr<void>(), &system_runtime())),
      home_(make_hot_page(shape_.stripes)),
      logs_(std::make_shared<LogList>(home_)),
      wait_max_ns_(config.duration_ms("wait_max") * kNsPerMs),
      store_(open_configured(config_, *runtime_, subject_, patience)) {
  logs_->join(config.log);
  store_->enter();
  has_entered_ = true;
}

// How long a copy of this machine may go on with the original's reservations if nobody calls anything but the fast
// path. A look costs less than a microsecond, but each wakes a processor, and restoring a machine takes longer.
constexpr std::int64_t kLookEveryNs = 100 * kNsPerMs;

Generator::~Generator() {
  close();
  if (!is_alive()) return;  // a child: what is the parent's is left as it is
  for (const Feed* feed = feed_.load(); feed != nullptr;) delete std::exchange(feed, feed->before);
}

HotPage& Generator::page() const noexcept {
  const Feed* const feed = feed_.load(std::memory_order_acquire);
  return **(feed != nullptr ? feed->page : home_);
}

void Generator::log(LogLevel level, const std::string& message) const { logs_->say(level, subject_ + ": " + message); }

void Generator::open(Patience& patience) {
  add_live_generator(shared_from_this());
  start_over(nullptr, patience);
}

void Generator::begin(Patience& patience) {
  const bool is_first = !is_alive();  // in this process image
  const Feed* const before = is_first ? nullptr : feed_.load();
  std::unique_ptr<Feed> feed;
  for (;;) {
    // Sealed by an attempt that was copied; nothing is opened there any more.
    const bool is_used_up = (*home_)->counter.next() >= Counter::kParked;
    const bool is_home = is_first && !is_used_up;
    // Its handles may draw from any of those pages, which read as zeros here, and what they draw there says nothing of
    // this one: a number of a page that is not the feed's must not be claimed.
    const bool claims_none = is_first && has_other_pages_;
    if (!is_home) has_other_pages_ = true;
    feed = primed_feed(is_home ? home_ : make_hot_page(shape_.stripes), before, claims_none ? Counter::kParked : 0,
                       patience);
    if (feed) break;
    is_copy_ = true;
    if (is_quiesced()) throw Error(Status::store_unavailable, subject_ + ": this process was quiesced; call again");
  }
  // In a child this forgets the parent's feed, which the fork may have caught in the middle of a change: it is left as
  // it is, not destroyed.
  const Feed* const begun = feed.release();
  feed_ = begun;
  (*home_)->alive.store(true, std::memory_order_release);
  // Another thread may have closed or reset the generator meanwhile: it knew only the feed before.
  if (closed_ || begun->supply->was_copied()) settle(*begun);
  if (is_quiesced()) rest_in_turn();
  watch_for_copy();
}

std::unique_ptr<Generator::Feed> Generator::primed_feed(Page page, const Feed* before, std::uint64_t claims_from,
                                                        Patience& patience) {
  auto feed = std::make_unique<Feed>();
  feed->page = std::move(page);
  feed->before = before;
  Supply::Options options{.carry_mask = shape_.random_start ? 0 : shape_.start_mask,
                          .draws_first = !shape_.timed && shape_.calendar == nullptr,
                          .close_wait_ns = wait_max_ns_,
                          .claims_from = claims_from,
                          .stripes = shape_.stripes,
                          .subject = subject_,
                          .lane = store_->lane(*runtime_)};
  // Read before anything is asked for: what is granted from here on is ours as long as neither changes.
  options.is_copied = [runtime = runtime_, resets_here = resets(), here = runtime_->vm_generation()] {
    if (resets() != resets_here) return true;
    const std::optional<std::uint64_t> now = here ? runtime->vm_generation() : std::nullopt;
    return now && *now != *here;
  };
  set_options(options, feed->page);
  if (before != nullptr) {
    options.regressed = before->supply->regressed();
    continue_after(*before, options, **feed->page);
  }
  // Not make_shared: a timer that holds a weak_ptr would keep its memory.
  feed->supply.reset(new Supply(runtime_, feed->page, make_source(feed->page), std::move(options),
                                [logs = logs_](LogLevel level, const std::string& line) { logs->say(level, line); }));
  try {
    Opening(*runtime_, subject_, patience, config_.get("on_clock_back") == "wait", worker_wait_ns(config_, *store_))
        .attempt([&] { feed->supply->prime(); });
  } catch (...) {
    feed->supply->drop();
    if (!feed->supply->was_copied()) throw;
    return nullptr;
  }
  return feed;
}

bool Generator::ensure_alive(Patience& patience) {
  if (is_alive()) [[likely]] {
    look_for_copy();
    return true;
  }
  if (const std::string obstacle = fork_obstacle(); !obstacle.empty()) {
    throw Error(Status::forked, concat({subject_, ": this is a forked child, and ", obstacle}));
  }
  return start_over(nullptr, patience);
}

bool Generator::start_over(const Feed* ended, Patience& patience) {
  if (!patience.may_wait()) return false;
  // One thread starts over, the others wait for it.
  for (;;) {
    wait_for_reset(*runtime_, subject_, patience);
    const std::int64_t before = runtime_->mono_ns();
    const bool is_ours = take_turn(patience.slice_ns());
    if ((*home_)->alive.load(std::memory_order_acquire) && feed_.load() != ended) {
      if (is_ours) leave_turn();
      return true;
    }
    if (is_ours) {
      if (!is_quiesced()) break;  // from here on quiesce() waits until we have begun
      leave_turn();
      continue;
    }
    patience.spend_since(*runtime_, before);
    if (patience.left_ns() <= 0) {
      throw Error(Status::store_unavailable,
                  concat({subject_, ": ", patience.waited_for("another thread, which "),
                          (ended == nullptr ? "draws this forked child's first reservation" : "starts over")}));
    }
    patience.check(subject_);
  }
  const bool is_child = ended == nullptr && feed_.load() != nullptr;
  if (is_child) is_copy_ = true;
  if (ended != nullptr) {
    const std::int64_t before = runtime_->mono_ns();
    settle(*ended);
    patience.spend_since(*runtime_, before);
  }
  try {
    begin(patience);
  } catch (...) {
    leave_turn();
    throw;
  }
  leave_turn();
  if (is_child) {
    ++forks_;
    log(LogLevel::info, "forked child: drew its own reservation");
  }
  return true;
}

bool Generator::take_turn(std::int64_t most_ns) noexcept {
  HotPage& home = **home_;
  Deadline deadline(*runtime_, most_ns);
  MutexLock lock(home.mutex);
  while (home.beginning && deadline.wait(lock, home.changed)) {
  }
  if (home.beginning) return false;
  home.beginning = true;
  return true;
}

void Generator::leave_turn() noexcept {
  HotPage& home = **home_;
  const MutexLock lock(home.mutex);
  home.beginning = false;
  home.changed.notify_all();
}

bool Generator::replace(const Feed& feed, Patience& patience) {
  if (patience.may_wait()) {
    feed.supply->seal();  // first: who begins the next feed asks where this one ended
    feed.has_ended = true;
    return start_over(&feed, patience);
  }
  if (is_replacing_.exchange(true)) return false;
  store_->lane(*runtime_)->post([weak = weak_from_this(), lost = &feed] {
    const std::shared_ptr<Generator> self = weak.lock();
    if (!self) return;
    const Cancelled never;
    Patience whole(self->wait_max_ns_, self->closed_, never);
    try {
      self->replace(*lost, whole);
    } catch (const Error& error) {
      self->log(LogLevel::warning, "could not start over yet: " + error.message());
    }
    self->is_replacing_ = false;
  });
  return false;
}

bool Generator::rest() noexcept {
  seal();
  // A thread that begins a feed meanwhile rests it, in its turn, and may be at the store.
  const bool is_ours = take_turn(wait_max_ns_);
  rest_in_turn();
  if (is_ours) leave_turn();
  return is_ours;
}

void Generator::rest_in_turn() noexcept {
  if (!is_alive()) return;
  seal();
  settle(*feed_.load());
  store_->disconnect();
}

void Generator::abandon() noexcept {
  is_copy_ = true;
  seal();
  settle_sealed();
}

// Whoever has the turn settles it, too.
void Generator::settle_sealed() noexcept {
  if (!take_turn(0)) return;
  if (is_alive()) {
    if (const Feed& feed = *feed_.load(); feed.has_ended) settle(feed);
  }
  leave_turn();
}

void Generator::seal() noexcept {
  if (!is_alive()) return;
  const Feed& feed = *feed_.load();
  feed.supply->seal();
  feed.has_ended = true;
}

void Generator::settle(const Feed& feed) noexcept {
  if (feed.is_settled.exchange(true)) return;
  feed.supply->close();
  if (feed.supply->was_copied()) store_->disconnect();
}

bool Generator::seal_if_copied() noexcept {
  if (closed_ || !is_alive()) return false;
  const Feed& feed = *feed_.load();
  if (feed.has_ended || !feed.supply->was_copied()) return false;
  is_copy_ = true;
  return !feed.has_ended.exchange(true);
}

void Generator::settle_soon() noexcept {
  try {
    store_->lane(*runtime_)->post([weak = weak_from_this()] {
      const std::shared_ptr<Generator> self = weak.lock();
      if (!self) return;
      self->log(LogLevel::warning,
                "this process was copied (its machine's generation has changed, or idgen_reset was called): what was "
                "reserved before is not issued here, and the next call reserves anew");
      self->settle_sealed();
    });
  } catch (const std::exception&) {  // no thread can be had: the next call settles it
  }
}

void Generator::look_for_copy() {
  const Feed& feed = this->feed();
  if (feed.has_ended || !feed.supply->was_copied()) return;
  if (seal_if_copied()) settle_soon();  // also while it is being opened, and nobody knows it yet
  abandon_in_copy();
}

void Generator::watch_for_copy() noexcept {
  if (runtime_->vm_generation()) keep_watching();
}

// On a lane of its own: where a machine was copied, a store's lane may hang on a connection that is dead. At the same
// times for all generators, so that its thread wakes once for all of them.
void Generator::keep_watching() noexcept {
  try {
    const std::uint64_t image = process_image();
    if (watched_in_.exchange(image) == image) return;
    if (!watch_lane_) watch_lane_ = runtime_->process_lane();
    watch_lane_->post_after(kLookEveryNs - runtime_->mono_ns() % kLookEveryNs, [weak = weak_from_this()] {
      const std::shared_ptr<Generator> self = weak.lock();
      if (!self || self->closed_) return;
      self->watched_in_ = 0;
      if (is_quiesced()) return;  // nothing is reserved until begin()
      self->look_for_copy();
      self->keep_watching();
    });
  } catch (const std::exception&) {  // no thread can be had: calls look, in the slow path
    watched_in_ = 0;
  }
}

std::string Generator::gene_text() const {
  const std::string low = "the low " + std::to_string(shape_.gene.bits) + " bits of ";
  return "gene: " + low +
         (shape_.gene.rule == GeneRule::mod ? "the owner, an integer" : "the owner's XXH64 ^ MurmurHash64A") + "\n";
}

std::string Generator::until_copy_is_noticed() const {
  return runtime_->vm_generation() ? "it notices, within 100 ms (this machine's hypervisor tells)"
                                   : "each copy has called idgen_reset";
}

bool Generator::has_just_ended(const Feed& feed, const Error& error) const noexcept {
  return error.status() == Status::closed && !closed_ && feed.supply->is_sealed();
}

Claim Generator::claim(std::uint64_t drawn, Patience& patience) {
  if (!ensure_alive(patience)) return Claim::would_block;
  const Feed& feed = this->feed();
  try {
    if (!feed.has_ended) return feed.supply->claim(drawn, patience);
  } catch (const Error& error) {
    if (!has_just_ended(feed, error)) throw;
  }
  return replace(feed, patience) ? Claim::given_up : Claim::would_block;
}

void Generator::close() noexcept {
  closed_ = true;  // first: a thread that starts over meanwhile gives up
  const bool is_ours = take_turn(wait_max_ns_);
  if (is_alive()) settle(*feed_.load());
  if (is_ours) leave_turn();
  if (has_entered_.exchange(false)) store_->leave();
}

Generator::Fed Generator::feed_stripe(std::size_t index, std::uint64_t want, bool may_wait) noexcept {
  if (is_alive() && feed().supply->was_copied()) return Fed::no;
  // Read once: another thread may begin the next page meanwhile, whose numbers belong to another node.
  HotPage& page = this->page();
  Stripe& stripe = page.stripes()[index];
  std::uint64_t tick = 0;
  for (;;) {
    if (shape_.timed) tick = tick_at(shape_, wall_ms(shape_));  // not under the lock: the clock may be the host's
    if (stripe.mutex.try_lock()) break;
    if (!may_wait) return Fed::by_another;
    const MutexLock until_then(stripe.mutex);  // by then the clock has moved on
  }
  const MutexLock lock(stripe.mutex, std::adopt_lock);
  if (stripe.counter.next() < stripe.counter.limit() && is_current(stripe, shape_, tick))
    return Fed::yes;  // another thread was faster
  std::uint64_t first;
  const std::uint64_t count = draw_numbers(page, shape_, tick, std::max(want, shape_.stripe_block), first);
  if (count) stripe.counter.open(first, first + count);
  return count ? Fed::yes : Fed::no;
}

[[gnu::cold]] Stats Generator::stats() const {
  Stats stats;
  stats.handles = handles.load();
  stats.forks = forks_.load();
  if (const std::optional<BufferStats> buffer = store_->buffer_stats()) {
    stats.has_buffer = true;
    stats.breaker_redis = static_cast<std::uint64_t>(buffer->redis);
    stats.breaker_database = static_cast<std::uint64_t>(buffer->database);
    stats.buffer_stock = buffer->stock;
    stats.redis_failures = buffer->redis_failures;
    stats.database_failures = buffer->database_failures;
  }
  if (closed_) {
    stats.stopped = Status::closed;
  } else if (!is_alive() && !fork_obstacle().empty()) {
    stats.stopped = Status::forked;
  }
  if (!is_alive()) return stats;
  const Feed& latest = feed();
  SupplyStats supply = latest.supply->stats();
  for (const Feed* feed = latest.before; feed != nullptr; feed = feed->before) supply.add_ended(feed->supply->stats());
  stats.granted = supply.granted;
  stats.remaining = supply.remaining;
  stats.refills = supply.refills;
  stats.refill_failures = supply.refill_failures;
  stats.refill_ns_max = supply.refill_ns_max;
  stats.waits = stats.store_waits = supply.waits;
  stats.wait_ns = supply.wait_ns;
  stats.issued = supply.issued;
  stats.issued_ids = supply.issued_ids;
  stats.rate = supply.rate;
  if (supply.failure) {
    stats.last_failure = supply.failure->status();
    stats.last_failure_unix_ms = static_cast<std::uint64_t>(supply.failed_unix_ms);
    stats.last_error = supply.failure->message();
    if (supply.is_used_up && stats.stopped == Status::ok) stats.stopped = stats.last_failure;
  }
  complete(stats, supply);
  return stats;
}

[[gnu::cold]] std::string Generator::summary() const {
  return concat({config_.get("kind"), " ", in_quotes(config_.get("name")), ", ", place_text(), " of namespace ",
                 in_quotes(config_.get("namespace"))});
}

}  // namespace idgen
