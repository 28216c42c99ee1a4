// Snowflake generators: numbers are (tick, sequence) pairs from reserved windows of a worker's time.
//
// The clock decides which number of the window comes next, never whether it is unique: the window ensures that. If a
// counter is ahead of the clock, it has used up the sequence of the current tick, or the clock was set back.
#include "generator/snowflake.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "generator/fast_path.hpp"
#include "generator/generator.hpp"
#include "generator/worker_choice.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

constexpr FieldKind kNodeFields[] = {FieldKind::datacenter, FieldKind::worker, FieldKind::process, FieldKind::shard};

constexpr std::int64_t kNsPerMs = 1'000'000;

// A window that is renewed while the counter is ahead of the clock grows by no more than this, so that repeated crashes
// do not push a worker's time ever further ahead.
constexpr std::int64_t kSmallWindowMs = 20;

Layout layout_of(const Config& config) {
  const std::string& text = config.get("layout");
  const std::string& epoch = config.get("epoch");
  return Layout::parse(text.empty() ? "default" : text,
                       epoch.empty() ? std::nullopt : std::optional(parse_instant(epoch)));
}

// The node fields of the configuration: as a part of an id, and as one number.
struct Node {
  std::uint64_t bits = 0;
  std::uint64_t number = 0;
  unsigned bits_wide = 0;
  std::string text;                   // "worker 7", "datacenter 1 worker 7"
  std::optional<LeasedField> leased;  // the field that is auto; `bits` and `number` have 0 there
  unsigned leased_shift = 0;          // in an id

  std::uint64_t bits_with(std::uint64_t leased_number) const {
    return leased ? bits | leased->value_of(leased_number) << leased_shift : bits;
  }
};

[[gnu::cold]] Node node_of(const Config& config, const Layout& layout) {
  Node node;
  for (const Field& field : layout.fields()) {
    if (std::find(std::begin(kNodeFields), std::end(kNodeFields), field.kind) == std::end(kNodeFields)) continue;
    const std::string name(field_name(field.kind));
    const std::uint64_t largest = (std::uint64_t{1} << field.bits) - 1;
    const std::string range = "0 to " + std::to_string(largest) + " (layout '" + layout.text() + "')";
    if (config.get(name).empty()) {
      throw Error(Status::value, name + " is not set; allowed: auto, or " + range +
                                     ". Every generator of a namespace needs its own; auto leases one from the store");
    }
    const bool is_leased = config.get(name) == kAuto;
    if (is_leased && node.leased) {
      throw Error(Status::value, name + " = auto, and " + node.leased->name +
                                     " is too: one field of the node can be leased. Give the other one a number");
    }
    if (node.leased) node.leased->shift += field.bits;
    if (is_leased) {
      node.leased = LeasedField{.base = 0, .shift = 0, .bits = field.bits, .name = name};
      node.leased_shift = field.shift;
    }
    const std::uint64_t value = is_leased ? 0 : config.integer(name);
    if (value > largest)
      throw Error(Status::value,
                  name + " = " + in_quotes(config.get(name)) + " does not fit its field; allowed: " + range);
    node.bits |= value << field.shift;
    node.number = node.number << field.bits | value;
    node.bits_wide += field.bits;
    node.text += (node.text.empty() ? "" : " ") + (is_leased ? "a leased " + name : name + " " + config.get(name));
  }
  for (const FieldKind kind : kNodeFields) {
    const std::string name(field_name(kind));
    if (!config.get(name).empty() && !layout.find(kind)) {
      throw Error(Status::value, name + " = '" + config.get(name) + "', but layout '" + layout.text() +
                                     "' has no such field; remove it, or choose a layout "
                                     "with one");
    }
  }
  if (node.text.empty()) node.text = "the only worker";  // the layout has no node fields
  if (node.leased) node.leased->base = node.number;
  return node;
}

// How much of a worker's time is requested at once, in whole ticks.
struct WindowWidth {
  std::int64_t ms;      // ahead of the clock
  std::int64_t min_ms;  // beyond what is already reserved
};
WindowWidth window_width(const Config& config, std::int64_t tick_ms) {
  const auto round_up = [tick_ms](std::int64_t ms) { return (ms + tick_ms - 1) / tick_ms * tick_ms; };
  const std::int64_t min_ms = round_up(std::max(kSmallWindowMs, 2 * tick_ms));
  return {std::max(round_up(config.duration_ms("window")), min_ms), min_ms};
}

// All of the layout's ticks, unless time and sequence fill 64 bits: the counter holds 63.
std::uint64_t usable_ticks(const Layout& layout) {
  return std::min(std::uint64_t{1} << layout.find(FieldKind::time)->bits,
                  Counter::kEnd >> layout.find(FieldKind::sequence)->bits);
}
std::int64_t last_usable_ms(const Layout& layout) {
  return std::min(layout.last_unix_ms(), layout.tick_start_unix_ms(usable_ticks(layout)) - 1);
}

// All checks of a configuration that need no store.
[[gnu::cold]] void check_usable(const Config& config, const Layout& layout) {
  if (!layout.find(FieldKind::time) || !layout.find(FieldKind::sequence)) {
    throw Error(Status::unsupported,
                "layout '" + layout.text() + "' has no " + (layout.find(FieldKind::time) ? "sequence" : "time") +
                    " field, which kind = snowflake needs; choose another layout (`idgen layout` lists the presets)");
  }
  if (layout.is_wide())
    throw Error(Status::unsupported,
                "layout '" + layout.text() + "' is wider than 64 bits; ids of 128 bits come in a later version");
  for (const FieldKind kind : {FieldKind::gene, FieldKind::version, FieldKind::segment}) {
    if (layout.find(kind)) {
      throw Error(Status::unsupported,
                  "layout '" + layout.text() + "' has a field '" + std::string(field_name(kind)) +
                      "', which comes from an id's owner: making such ids comes in a later version; decoding works");
    }
  }
  if (layout.find(FieldKind::time)->shift < layout.find(FieldKind::sequence)->shift) {
    throw Error(Status::unsupported,
                "layout '" + layout.text() +
                    "' has its sequence above its time, so its ids cannot rise; put time first, or "
                    "choose another layout (`idgen layout` lists the presets). Decoding works");
  }
  if (const std::int64_t width_ms = window_width(config, layout.tick_ms()).ms;
      config.duration_ms("max_ahead") < width_ms) {
    throw Error(Status::value, "max_ahead = '" + config.get("max_ahead") + "' is less than window = '" +
                                   config.get("window") + "', which is " + std::to_string(width_ms) +
                                   " ms in ticks of " + std::to_string(layout.tick_ms()) +
                                   " ms: after a crash ids begin up to that much ahead; allowed: at least " +
                                   std::to_string(width_ms) + "ms");
  }
  Runtime& runtime = config.runtime ? *config.runtime : system_runtime();
  const std::int64_t now_ms = floor_div(runtime.wall_ns(), 1'000'000);
  const std::string epoch = format_instant(layout.epoch_unix_ms());
  if (layout.epoch_unix_ms() > now_ms) {
    throw Error(Status::lifetime, "epoch " + epoch + " is in the future: the clock says " + format_instant(now_ms) +
                                      "; choose an epoch that has passed, or set the clock");
  }
  const std::int64_t last_ms = last_usable_ms(layout);
  const double years = static_cast<double>(static_cast<__int128>(last_ms) - now_ms) / (365.25 * 86'400'000.0);
  const double wanted = static_cast<double>(config.duration_ms("lifetime_min")) / (365.25 * 86'400'000.0);
  if (years <= 0 || years < wanted) {
    char left[64];
    std::snprintf(left, sizeof left, years <= 0 ? "is over" : "ends in %.2f years", years);
    throw Error(
        Status::lifetime,
        "layout '" + layout.text() + "' with epoch " + epoch + " " + left + " (" + format_instant(last_ms) +
            (last_ms < layout.last_unix_ms() ? "; time and sequence fill 64 bits, of which 63 can be counted" : "") +
            "); wanted: at least lifetime_min = " + config.get("lifetime_min") +
            ". Choose a later epoch, more bits of time, or a longer tick");
  }
}

// Distinguishes a clock that leaps from time that passes. What a window reserves stays reserved: if a clock that is ten
// years ahead for a moment were trusted at once, the worker's time would be ten years ahead for good.
class ClockWitness {
 public:
  // Throws Error{clock_leap} until the clock has stayed where it leapt to.
  void check(std::int64_t wall_ns, std::int64_t mono_ns) {
    if (!trusted_ || trusted_->ahead(wall_ns, mono_ns) <= kPlausibleNs) {
      suspect_.reset();
      return;
    }
    // A clock that stands still, as in tests, counts as steady. One that leaps again, on or back, starts over.
    const bool is_steady = suspect_ && suspect_->ahead(wall_ns, mono_ns) <= kSteadyNs && wall_ns >= suspect_->wall_ns;
    if (!is_steady) suspect_ = Reading{wall_ns, mono_ns};
    const std::int64_t left_ns = kConfirmedNs - (mono_ns - suspect_->mono_ns);
    if (left_ns <= 0) return;
    throw Error(Status::clock_leap,
                "the clock has leapt " + format_duration_ms(trusted_->ahead(wall_ns, mono_ns) / 1'000'000) +
                    " ahead, to " + format_instant(floor_div(wall_ns, 1'000'000)) +
                    "; a worker's time is not reserved there before the clock has stayed there for " +
                    std::to_string(kConfirmedNs / 1'000'000'000) + " s. If it is wrong, set it",
                static_cast<std::uint64_t>(left_ns));
  }
  void trust(std::int64_t wall_ns, std::int64_t mono_ns) {
    trusted_ = Reading{wall_ns, mono_ns};
    suspect_.reset();
  }

 private:
  // A leap that a paused machine, or a slightly wrong clock, can cause is trusted at once.
  static constexpr std::int64_t kPlausibleNs = std::int64_t{600} * 1'000'000'000;
  static constexpr std::int64_t kConfirmedNs = std::int64_t{10} * 1'000'000'000;
  static constexpr std::int64_t kSteadyNs = 1'000'000'000;

  struct Reading {
    std::int64_t wall_ns;
    std::int64_t mono_ns;
    // By how much the wall clock has advanced more than the time that has passed.
    std::int64_t ahead(std::int64_t wall, std::int64_t mono) const { return (wall - wall_ns) - (mono - mono_ns); }
  };
  std::optional<Reading> trusted_;  // when a window was last taken
  std::optional<Reading> suspect_;  // where the clock leapt to
};

// Windows of a worker's time, as ranges of numbers.
class WindowSource final : public Source {
 public:
  // leased: the request's worker is chosen there, and `chosen` is told before draw() returns the first window.
  WindowSource(std::shared_ptr<Store> store, Runtime& runtime, const Layout& layout, WindowRequest request,
               unsigned sequence_bits, std::int64_t max_ahead_ms, std::optional<LeasedField> leased,
               std::function<void(std::uint64_t)> chosen)
      : store_(std::move(store)),
        runtime_(runtime),
        epoch_ms_(layout.epoch_unix_ms()),
        tick_ms_(layout.tick_ms()),
        ticks_end_(usable_ticks(layout)),
        last_ms_(last_usable_ms(layout)),
        sequence_bits_(sequence_bits),
        max_ahead_ms_(max_ahead_ms),
        leased_(std::move(leased)),
        chosen_(std::move(chosen)),
        request_(std::move(request)) {
    runtime_.nonce(request_.owner);
  }

  Range draw(const Demand&) override {
    const std::int64_t now_ns = runtime_.wall_ns();
    const std::int64_t now_ms = floor_div(now_ns, 1'000'000);
    if (now_ms < epoch_ms_) {
      throw Error(Status::clock_before_epoch, "the clock says " + format_instant(now_ms) + ", before the epoch " +
                                                  format_instant(epoch_ms_) + "; set the clock");
    }
    const std::int64_t mono_ns = runtime_.mono_ns();
    // Where the store has a clock that machines share, it judges by that.
    if (store_->is_durable() && !store_->has_leases()) clock_.check(now_ns, mono_ns);
    request_.now_ms = epoch_ms_ + (now_ms - epoch_ms_) / tick_ms_ * tick_ms_;
    request_.max_start_ms =
        max_ahead_ms_ < 0 ? std::numeric_limits<std::int64_t>::max() : request_.now_ms + max_ahead_ms_;
    Window window;
    try {
      window = leased_ && !has_worker_ ? lease() : store_->window_take(request_);
    } catch (const Error& error) {
      // Lost to another owner: what we hold stays ours to its end; then we acquire again.
      if (error.status() == Status::worker_busy) request_.fence = 0;
      throw;
    }
    request_.fence = window.fence;
    latest_ = window;
    clock_.trust(now_ns, mono_ns);
    // Whole ticks inside the window. The start is rounded up: the tick in which a window begins may be another owner's.
    const std::int64_t start = std::max(window.start_ms, epoch_ms_) - epoch_ms_;
    const auto first_tick = static_cast<std::uint64_t>((start + tick_ms_ - 1) / tick_ms_);
    const auto end_tick = std::min(
        static_cast<std::uint64_t>(std::max<std::int64_t>(window.end_ms - epoch_ms_, 0) / tick_ms_), ticks_end_);
    if (first_tick >= ticks_end_) {
      throw Error(Status::exhausted, "the layout's time is over: its last tick ended " + format_instant(last_ms_));
    }
    return {first_tick << sequence_bits_, end_tick << sequence_bits_};
  }

  void give_back(const Range& unused) override {
    // Only what reaches the end of our latest window: if we lost the worker in between, another owner's time lies
    // between an older window and that one.
    if (to_ms(unused.end) != std::min(returned_to_ms_, latest_.end_ms)) return;
    const std::uint64_t mask = (std::uint64_t{1} << sequence_bits_) - 1;
    returned_to_ms_ = to_ms(unused.first + mask);
  }

  std::string name_of(std::uint64_t number) const override { return format_instant(to_ms(number)); }
  std::string after_regress() const override {
    return "Check that all use the same store; open the generator again once the clock has passed that time";
  }

  void release() override {
    if (request_.fence == 0) return;  // the worker is not ours
    store_->window_return(request_.name_space, request_.worker, request_.fence, latest_.end_ms,
                          std::min(returned_to_ms_, latest_.end_ms));
  }

 private:
  // A worker that nobody holds, and its first window. Who else chooses the same at this moment finds it busy and
  // chooses again.
  Window lease() {
    constexpr int kMostAttempts = 100;
    for (int attempt = 0;; ++attempt) {
      std::uint64_t random = 0;
      runtime_.nonce({reinterpret_cast<std::uint8_t*>(&random), sizeof random});
      const std::optional<std::uint64_t> unknown = choose_new_worker(*leased_, rows(Store::Detail::numbers), random);
      request_.worker =
          unknown ? *unknown
                  : choose_worker(request_.name_space, *leased_, rows(Store::Detail::owners),
                                  {.now_ms = request_.now_ms, .max_ahead_ms = request_.max_lead_ms, .random = random});
      try {
        const Window window = store_->window_take(request_);
        chosen_(request_.worker);
        has_worker_ = true;
        return window;
      } catch (const Error& error) {
        if (error.status() != Status::worker_busy || attempt == kMostAttempts) throw;
      }
    }
  }
  std::vector<WindowInfo> rows(Store::Detail detail) {
    try {
      return store_->window_list(request_.name_space, detail);
    } catch (const Error& error) {
      if (error.status() == Status::store_missing) return {};  // taking a window makes it, or says what to do
      throw;
    }
  }

  std::int64_t to_ms(std::uint64_t number) const {
    return epoch_ms_ + static_cast<std::int64_t>(number >> sequence_bits_) * tick_ms_;
  }

  const std::shared_ptr<Store> store_;
  Runtime& runtime_;
  const std::int64_t epoch_ms_;
  const std::int64_t tick_ms_;
  const std::uint64_t ticks_end_;
  const std::int64_t last_ms_;
  const unsigned sequence_bits_;
  const std::int64_t max_ahead_ms_;  // negative: any
  const std::optional<LeasedField> leased_;
  const std::function<void(std::uint64_t)> chosen_;
  bool has_worker_ = false;
  ClockWitness clock_;
  WindowRequest request_;
  Window latest_;
  std::int64_t returned_to_ms_ = std::numeric_limits<std::int64_t>::max();
};

enum class ClockBack { wait, go_on, fail };  // the order of the property's choices

class SnowflakeGenerator final : public Generator {
 public:
  SnowflakeGenerator(const Config& config, Layout layout, Node node, Patience& patience)
      : Generator(config, std::move(layout), node.text + " of namespace " + in_quotes(config.get("namespace")),
                  patience),
        node_(std::move(node)),
        clock_back_(static_cast<ClockBack>(config.choice("on_clock_back"))),
        tick_ms_(layout_.tick_ms()),
        max_ahead_ms_(config.duration_ms("max_ahead")),
        borrow_ticks_(config.get("on_overflow") == "borrow" ? static_cast<std::uint64_t>(max_ahead_ms_ / tick_ms_)
                                                            : 0) {
    if (node_.leased && !store_->is_durable()) {
      throw Error(Status::value, node_.leased->name + " = auto: store = " + config.get("store") +
                                     " is this process's own, so it cannot say which numbers others have. Use "
                                     "sqlite:PATH or a server, or give " +
                                     node_.leased->name + " a number");
    }
    const Field& time = *layout_.find(FieldKind::time);
    const Field& sequence = *layout_.find(FieldKind::sequence);
    shape_.timed = true;
    shape_.sequence_bits = sequence.bits;
    shape_.sequence_shift = sequence.shift;
    shape_.time_shift = time.shift;
    shape_.max_tick = usable_ticks(layout_) - 1;
    shape_.epoch_ms = layout_.epoch_unix_ms();
    shape_.tick_ms = tick_ms_;
    if (!runtime_->is_system_clock()) shape_.host_clock = runtime_.get();
    const std::uint64_t per_tick = std::uint64_t{1} << sequence.bits;
    const std::string& start = config.get("sequence_start");
    shape_.start_mask = start == "zero" ? 0 : std::min<std::uint64_t>(per_tick / 2, 1024) - 1;
    shape_.random_start = start == "random";
    runtime_->nonce({reinterpret_cast<std::uint8_t*>(&shape_.start_seed), sizeof shape_.start_seed});
    shape_.stripe_block = std::clamp<std::uint64_t>(per_tick / 64, 1, 1024);
  }

  bool make_room(Patience& patience) override {
    if (!ensure_alive(patience)) return false;
    HotPage& hot = page();
    const std::uint64_t next = hot.counter.next();
    if (next >= Counter::kParked) return supply_->refill(patience);  // closed meanwhile: says so
    const std::uint64_t limit = hot.counter.limit();
    const std::uint64_t slack = hot.slack.load();
    // Read after the counter: a clock read before it could seem to be behind another thread's ids.
    const std::int64_t now_ns = runtime_->wall_ns();
    const std::int64_t now_ms = floor_div(now_ns, 1'000'000);
    const std::uint64_t tick = tick_at(shape_, now_ms);
    if (now_ms < shape_.epoch_ms) {
      throw Error(Status::clock_before_epoch, subject_ + ": the clock says " + format_instant(now_ms) +
                                                  ", before the epoch " + format_instant(shape_.epoch_ms) +
                                                  "; set the clock");
    }
    if (tick > shape_.max_tick) {
      throw Error(Status::exhausted, subject_ + ": the layout's time is over: its last tick ended " +
                                         format_instant(last_usable_ms(layout_)) +
                                         "; move to a layout with more bits of time or a later epoch");
    }
    const std::uint64_t next_tick = next >> shape_.sequence_bits;
    if (next_tick > tick + slack) return wait_for_clock(next, tick + slack, now_ns, patience);
    if (wanted_at(next, tick) < limit) return true;
    if (!supply_->refill(patience)) return false;
    lower_slack(tick);
    return true;
  }

  Stats stats() const override;
  [[gnu::cold]] std::string describe() const override;

 protected:
  [[gnu::cold]] std::unique_ptr<Source> make_source() override {
    WindowRequest request;
    request.name_space = config_.get("namespace");
    request.worker = node_.number;
    request.holder = holder_text();
    request.format = layout_.fingerprint();
    const WindowWidth width = window_width(config_, tick_ms_);
    request.width_ms = width.ms;
    request.min_ms = width.min_ms;
    request.max_lead_ms = max_ahead_ms_;
    request.lease_ms = config_.duration_ms("worker_lease");
    page().fixed.store(node_.bits);
    return std::make_unique<WindowSource>(
        store_, *runtime_, layout_, std::move(request), shape_.sequence_bits,
        clock_back_ == ClockBack::go_on ? -1 : max_ahead_ms_, node_.leased,
        [page = page_, node = node_](std::uint64_t worker) { (*page)->fixed.store(node.bits_with(worker)); });
  }
  void set_options(Supply::Options& options) override {
    options.sizing.prefetch = 0.5;
    if (store_->has_leases())
      options.renew_ns =
          std::min(config_.duration_ms("window") / 2, config_.duration_ms("worker_lease") / 3) * kNsPerMs;
    options.present = [this] {
      const std::uint64_t next = page().counter.next();
      const std::uint64_t tick = tick_at(shape_, floor_div(runtime_->wall_ns(), 1'000'000));
      return Present{tick > shape_.max_tick ? next : wanted_at(next, tick), tick};
    };
    // Ids begin where the store says, even ahead of the clock: after a crash, or after a grant whose answer was lost.
    options.lifted = [this](const Present& present, std::uint64_t first_number) {
      const std::uint64_t first_tick = first_number >> shape_.sequence_bits;
      page().slack.store(std::max(borrow_ticks_, first_tick > present.tick ? first_tick - present.tick : 0));
    };
  }
  std::string fork_obstacle() const override {
    if (node_.leased && store_->survives_fork()) {
      if (config_.get("on_fork") == "error")
        return "on_fork = error; create the generator after the fork, or set on_fork = reacquire";
      return "";
    }
    return "the parent owns " + node_.text + "; " +
           (node_.bits_wide ? "create a generator with another number in the child, or create it after the fork"
                            : "create it after the fork");
  }

 private:
  std::int64_t tick_start_ns(std::uint64_t tick) const { return layout_.tick_start_unix_ms(tick) * 1'000'000; }

  // The number drawn next when the counter is at `next` and the clock in `tick`.
  std::uint64_t wanted_at(std::uint64_t next, std::uint64_t tick) const {
    return Counter::wanted(next, tick << shape_.sequence_bits, start_of(shape_, tick));
  }

  // Once the clock has caught up, nothing needs to run ahead of it.
  void lower_slack(std::uint64_t tick) {
    std::atomic<std::uint64_t>& slack = page().slack;
    for (std::uint64_t seen = slack.load();;) {
      const std::uint64_t lead = page().counter.next() >> shape_.sequence_bits;
      const std::uint64_t needed = std::max(borrow_ticks_, lead > tick ? lead - tick : 0);
      if (needed >= seen || slack.compare_exchange_weak(seen, needed)) return;
    }
  }

  // The counter is in a tick that may not be used yet.
  bool wait_for_clock(std::uint64_t next, std::uint64_t allowed_tick, std::int64_t now_ns, Patience& patience) {
    const std::uint64_t next_tick = next >> shape_.sequence_bits;
    const std::uint64_t sequence = next & ((std::uint64_t{1} << shape_.sequence_bits) - 1);
    // Used up: the counter has just stepped into the next tick and drawn nothing there. (Running ahead, it may have.)
    const bool used_up = next_tick == allowed_tick + 1 && (sequence == 0 || page().slack.load() > 0);
    const std::int64_t left_ns = tick_start_ns(next_tick) - tick_start_ns(allowed_tick) +
                                 tick_start_ns(tick_at(shape_, floor_div(now_ns, 1'000'000))) - now_ns;
    if (!used_up && !go_on_behind(next, now_ns, left_ns, patience)) return true;
    if (!patience.may_wait()) return false;
    if (left_ns > patience.left_ns()) {
      const std::string times =
          std::to_string((left_ns + 999'999) / 1'000'000) + " ms to go, wait_max = " + config_.get("wait_max");
      if (!used_up)
        throw behind(next_tick, now_ns, left_ns, "; that is longer than wait_max = " + config_.get("wait_max"));
      throw Error(Status::overloaded,
                  subject_ + ": all " + std::to_string(std::uint64_t{1} << shape_.sequence_bits) +
                      " ids of this tick are used up, " + times +
                      "; try again, raise wait_max, or set on_overflow = borrow",
                  static_cast<std::uint64_t>(left_ns));
    }
    ++waits_;
    const std::int64_t before = runtime_->mono_ns();
    runtime_->sleep_ns(std::min(left_ns, Patience::kSliceNs));
    const std::int64_t waited = runtime_->mono_ns() - before;
    wait_ns_ += static_cast<std::uint64_t>(std::max<std::int64_t>(waited, 0));
    patience.spend(std::max<std::int64_t>(waited, 1));
    patience.check(subject_);
    return true;
  }

  // By policy: true to wait, false to go on, or throws.
  bool go_on_behind(std::uint64_t next, std::int64_t now_ns, std::int64_t left_ns, const Patience& patience) {
    const std::uint64_t next_tick = next >> shape_.sequence_bits;
    // Logged once for each time the clock is set back: the counter stands still until that is settled. Only a call that
    // may wait logs it, because the other kind makes no callbacks.
    if (behind_at_.load(std::memory_order_relaxed) != next) {
      if (!patience.may_wait()) return true;
      if (behind_at_.exchange(next, std::memory_order_relaxed) != next) {
        ++clock_back_events_;
        log(LogLevel::warning, "the clock was set back: it is " + std::to_string((left_ns + 999'999) / 1'000'000) +
                                   " ms behind the last id");
      }
    }
    if (clock_back_ == ClockBack::go_on) {
      // Raised to what this thread needs, not by that amount: several threads may find the clock behind at once.
      const std::uint64_t needed = next_tick - tick_at(shape_, floor_div(now_ns, 1'000'000));
      std::uint64_t slack = page().slack.load();
      while (slack < needed && !page().slack.compare_exchange_weak(slack, needed)) {
      }
      return false;
    }
    if (clock_back_ == ClockBack::fail && patience.may_wait())
      throw behind(next_tick, now_ns, left_ns, " (on_clock_back = fail)");
    return true;
  }

  [[gnu::cold]] Error behind(std::uint64_t next_tick, std::int64_t now_ns, std::int64_t left_ns,
                             const std::string& why) const {
    const std::int64_t left_ms = (left_ns + 999'999) / 1'000'000;
    return Error(Status::clock_back,
                 subject_ + ": the clock moved backwards: refusing to generate ids for " + std::to_string(left_ms) +
                     " ms (last id " + format_instant(layout_.tick_start_unix_ms(next_tick)) + ", now " +
                     format_instant(floor_div(now_ns, 1'000'000)) + ")" + why +
                     ". Try again later, or set on_clock_back = continue",
                 static_cast<std::uint64_t>(left_ns));
  }

  const Node node_;
  const ClockBack clock_back_;
  const std::int64_t tick_ms_;
  const std::int64_t max_ahead_ms_;
  const std::uint64_t borrow_ticks_;
  std::atomic<std::uint64_t> behind_at_{0};  // where the counter was when the clock was last found behind
  std::atomic<std::uint64_t> clock_back_events_{0};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<std::uint64_t> wait_ns_{0};
};

Stats SnowflakeGenerator::stats() const {
  Stats stats = Generator::stats();
  const auto ms = [&](std::uint64_t numbers) {
    return (numbers >> shape_.sequence_bits) * static_cast<std::uint64_t>(tick_ms_);
  };
  stats.granted = ms(stats.granted);
  stats.remaining = ms(stats.remaining);
  stats.issued = ms(stats.issued + (std::uint64_t{1} << shape_.sequence_bits) - 1);  // a tick that was begun is issued
  stats.rate = 0;  // a refill measures how fast time passes here, not how many ids are drawn
  stats.waits += waits_.load();
  stats.wait_ns += wait_ns_.load();
  stats.clock_back_events = clock_back_events_.load();
  const std::uint64_t next = page().counter.next();
  if (next == 0 || next >= Counter::kParked) return stats;  // in a child that has not begun, or closed
  if (!page().alive.load()) return stats;
  const std::int64_t now_ms = floor_div(runtime_->wall_ns(), 1'000'000);
  const std::int64_t last_ms = layout_.tick_start_unix_ms((next - 1) >> shape_.sequence_bits);
  stats.lead_ms = std::max<std::int64_t>(0, last_ms - now_ms);
  const std::int64_t end_ms =
      layout_.tick_start_unix_ms(next >> shape_.sequence_bits) + static_cast<std::int64_t>(stats.remaining);
  stats.stock_seconds = static_cast<double>(std::max<std::int64_t>(0, end_ms - now_ms)) / 1000;
  return stats;
}

std::string SnowflakeGenerator::describe() const {
  const std::string window = config_.get("window");
  std::string text = "kind: snowflake, layout '" + layout_.text() + "', epoch " +
                     format_instant(layout_.epoch_unix_ms()) + ", last id " + format_instant(layout_.last_unix_ms()) +
                     "\n";
  text += "worker: " + subject_ +
          (node_.leased ? ": a number that no other live process on the store has, one of " +
                              std::to_string(node_.leased->size()) + "\n"
                        : ", fixed; its window in the store guards it, a second live owner is refused\n");
  text += store_->describe();
  if (node_.leased) {
    text +=
        "crash: the next start leases another number, or this one above all that it had reserved, without waiting\n";
  } else if (store_->survives_fork()) {
    text += "crash: the next start continues where the reserved window ends, up to " + window +
            " ahead of the clock, without waiting\n";
  }
  text += "clock set back: ";
  text += clock_back_ == ClockBack::wait ? "calls wait for the clock, up to wait_max = " + config_.get("wait_max") +
                                               ", then get CLOCK_BACK; no duplicate"
          : clock_back_ == ClockBack::go_on
              ? "ids continue from the last one, their time ahead of the clock; no duplicate"
              : "calls get CLOCK_BACK at once; no duplicate";
  text += "\nsequence used up: ";
  text += borrow_ticks_
              ? "ids borrow up to max_ahead = " + config_.get("max_ahead") + " of time, inside what is reserved"
              : "calls wait for the next tick";
  text += "\n";
  text += shape_.striped ? "order: relaxed; ids rise within a thread, not between threads\n"
                         : "order: strict; every id of this generator is above all it issued before; between workers "
                           "ids are ordered by clock only\n";
  text += fork_obstacle().empty() ? "fork: a child leases a worker of its own\n"
                                  : "fork: a child gets FORKED; the parent keeps its worker\n";
  text += "store outage: of up to half of window = " + window +
          " is not noticed in steady use; then, or after a pause of a window, calls wait up to wait_max = " +
          config_.get("wait_max") + "\n";
  const std::string restore = store_->unnoticed_restore();
  if (!restore.empty())
    text +=
        "not covered: " + restore + "; start nothing before the clock has passed the time of the highest id in use\n";
  text += "not covered: a byte-wise clone of the running machine, until its window of " + window + " has passed\n";
  return text;
}

}  // namespace

std::string snowflake_identity(const Config& config) {
  const Layout layout = layout_of(config);
  std::string store;
  if (config.store) {
    char pointer[32];
    std::snprintf(pointer, sizeof pointer, "host:%p", static_cast<void*>(config.store.get()));
    store = pointer;
  } else {
    store = store_identity(config.get("store"), config.store_options());
  }
  const Node node = node_of(config, layout);
  return store + "\n" + config.get("namespace") + "\n" + (node.leased ? "auto " : "") + std::to_string(node.number);
}

WorkerPlace worker_place(const Config& config) {
  Layout layout = layout_of(config);
  check_usable(config, layout);
  const Node node = node_of(config, layout);
  if (node.leased) {
    throw Error(Status::value, node.leased->name +
                                   " = auto: say which one is meant, with a number (`idgen worker "
                                   "list` shows them)");
  }
  std::uint64_t mask = 0;
  for (const FieldKind kind : kNodeFields) {
    if (const Field* field = layout.find(kind)) mask |= ((std::uint64_t{1} << field->bits) - 1) << field->shift;
  }
  return {std::move(layout), node.number, node.bits, mask};
}

std::shared_ptr<Generator> make_snowflake_generator(const Config& config, Patience& patience) {
  const Layout layout = layout_of(config);
  check_usable(config, layout);
  auto generator = std::make_shared<SnowflakeGenerator>(config, layout, node_of(config, layout), patience);
  generator->begin(patience);
  return generator;
}

std::string describe_snowflake_generator(const Config& config) {
  const Layout layout = layout_of(config);
  check_usable(config, layout);
  const Cancelled never;
  Patience patience(config.duration_ms("wait_max") * 1'000'000, never);
  return SnowflakeGenerator(config, layout, node_of(config, layout), patience).describe();
}

}  // namespace idgen
