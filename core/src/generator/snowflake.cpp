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
#include "generator/missed_ticks.hpp"
#include "generator/window_source.hpp"
#include "generator/worker_sources.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"
#include "workers/node.hpp"

namespace idgen {

Layout snowflake_layout(const Config& config) {
  const std::string& text = config.get("layout");
  const std::string& epoch = config.get("epoch");
  return Layout::parse(text.empty() ? "default" : text,
                       epoch.empty() ? std::nullopt : std::optional(parse_instant(epoch)));
}

namespace {

// A window that is renewed while the counter is ahead of the clock grows by no more than this, so that repeated crashes
// do not push a worker's time ever further ahead.
constexpr std::int64_t kSmallWindowMs = 20;

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

// All checks of a configuration that need no store.
[[gnu::cold]] void check_usable(const Config& config, const Layout& layout) {
  if (!layout.find(FieldKind::time) || !layout.find(FieldKind::sequence)) {
    throw Error(
        Status::unsupported,
        concat({"layout '", layout.text(), "' has no ", (layout.find(FieldKind::time) ? "sequence" : "time"),
                " field, which kind = snowflake needs; choose another layout (`idgen layout` lists the presets)"}));
  }
  if (layout.is_wide())
    throw Error(Status::unsupported, concat({"layout '", layout.text(),
                                             "' is wider than 64 bits; ids of 128 bits come in a later version"}));
  for (const FieldKind kind : {FieldKind::version, FieldKind::segment}) {
    if (layout.find(kind)) {
      throw Error(Status::unsupported,
                  concat({"layout '", layout.text(), "' has a field '", field_name(kind),
                          "', which ids of kind = snowflake have no value for; use kind = business, "
                          "or another layout. Decoding works"}));
    }
  }
  if (const Field* gene = layout.find(FieldKind::gene);
      gene != nullptr && gene->shift > layout.find(FieldKind::sequence)->shift) {
    throw Error(Status::unsupported, concat({"layout '", layout.text(),
                                             "' has its gene above its sequence, so its ids cannot rise; put the gene "
                                             "last, as the layout order does. Decoding works"}));
  }
  if (layout.find(FieldKind::time)->shift < layout.find(FieldKind::sequence)->shift) {
    throw Error(Status::unsupported,
                concat({"layout '", layout.text(),
                        "' has its sequence above its time, so its ids cannot rise; put time first, or "
                        "choose another layout (`idgen layout` lists the presets). Decoding works"}));
  }
  if (const std::int64_t width_ms = window_width(config, layout.tick_ms()).ms;
      config.duration_ms("max_ahead") < width_ms) {
    throw Error(Status::value,
                concat({"max_ahead = '", config.get("max_ahead"), "' is less than window = '", config.get("window"),
                        "', which is ", std::to_string(width_ms), " ms in ticks of ", std::to_string(layout.tick_ms()),
                        " ms: after a crash ids begin up to that much ahead; allowed: at least ",
                        std::to_string(width_ms), "ms"}));
  }
  Runtime& runtime = config.runtime ? *config.runtime : system_runtime();
  const std::int64_t now_ms = floor_div(runtime.wall_ns(), kNsPerMs);
  const std::string epoch = format_instant(layout.epoch_unix_ms());
  if (layout.epoch_unix_ms() > now_ms) {
    throw Error(Status::lifetime, concat({"epoch ", epoch, " is in the future: the clock says ", format_instant(now_ms),
                                          "; choose an epoch that has passed, or set the clock"}));
  }
  const std::int64_t last_ms = last_usable_ms(layout);
  const double years = static_cast<double>(static_cast<__int128>(last_ms) - now_ms) / (365.25 * 86'400'000.0);
  const double wanted = static_cast<double>(config.duration_ms("lifetime_min")) / (365.25 * 86'400'000.0);
  if (years <= 0 || years < wanted) {
    char left[64];
    std::snprintf(left, sizeof left, years <= 0 ? "is over" : "ends in %.2f years", years);
    throw Error(
        Status::lifetime,
        concat({"layout '", layout.text(), "' with epoch ", epoch, " ", left, " (", format_instant(last_ms),
                (last_ms < layout.last_unix_ms() ? "; time and sequence fill 64 bits, of which 63 can be counted" : ""),
                "); wanted: at least lifetime_min = ", config.get("lifetime_min"),
                ". Choose a later epoch, more bits of time, or a longer tick"}));
  }
}

enum class ClockBack { wait, go_on, fail };  // the order of the property's choices

class SnowflakeGenerator final : public Generator {
 public:
  SnowflakeGenerator(const Config& config, Layout layout, Node node, Patience& patience)
      : Generator(config, std::move(layout), node.text + " of namespace " + in_quotes(config.get("namespace")),
                  patience),
        node_(std::move(node)),
        goes_on_elsewhere_(node_.leased && config.get("on_worker_lost") == "lease"),
        clock_back_(static_cast<ClockBack>(config.choice("on_clock_back"))),
        tick_ms_(layout_.tick_ms()),
        max_ahead_ms_(config.duration_ms("max_ahead")),
        most_missed_(static_cast<std::uint64_t>(config.duration_ms("max_behind") / tick_ms_)),
        borrow_ticks_(config.get("on_overflow") == "borrow" ? static_cast<std::uint64_t>(max_ahead_ms_ / tick_ms_)
                                                            : 0) {
    // Of the stores that are set as objects only that of a generator for tests (capi/src/testing.cpp) is not durable.
    if (node_.leased && !config_.store && !store_->is_durable()) {
      throw Error(Status::value, concat({node_.leased->name, " = auto: store = ", config.get("store"),
                                         " is this process's own, so it cannot say which numbers others have. Use "
                                         "sqlite:PATH or a server, or give ",
                                         node_.leased->name, " a number"}));
    }
    const Field& time = *layout_.find(FieldKind::time);
    const Field& sequence = *layout_.find(FieldKind::sequence);
    shape_.timed = true;
    shape_.is_direct = shape_.stripes == 0 && shape_.gene.bits == 0;
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
    const Feed& feed = this->feed();
    HotPage& hot = **feed.page;
    const std::uint64_t next = hot.counter.next();
    if (next >= Counter::kParked) return refill(feed, patience);  // closed meanwhile: says so
    const std::uint64_t limit = hot.counter.limit();
    const std::uint64_t slack = hot.slack.load();
    // Read after the counter: a clock read before it could seem to be behind another thread's ids.
    const std::int64_t now_ns = runtime_->wall_ns();
    const std::int64_t now_ms = floor_div(now_ns, kNsPerMs);
    const std::uint64_t tick = tick_at(shape_, now_ms);
    if (now_ms < shape_.epoch_ms) {
      throw Error(Status::clock_before_epoch,
                  concat({subject_, ": the clock says ", format_instant(now_ms), ", before the epoch ",
                          format_instant(shape_.epoch_ms), "; set the clock"}));
    }
    if (tick > shape_.max_tick) {
      throw Error(Status::exhausted, concat({subject_, ": the layout's time is over: its last tick ended ",
                                             format_instant(last_usable_ms(layout_)),
                                             "; move to a layout with more bits of time or a later epoch"}));
    }
    const std::uint64_t next_tick = next >> shape_.sequence_bits;
    if (is_behind(slack)) {
      if (next >= tick << shape_.sequence_bits || next >= limit) end_behind(hot, slack);
      return true;
    }
    if (next_tick > tick + slack) return wait_for_clock(hot, next, tick + slack, now_ns, patience);
    if (wanted_at(shape_, next, tick) < limit) return true;
    if (!refill(feed, patience)) return false;
    lower_slack(hot, tick);
    return true;
  }

  void complete(Stats& stats, const SupplyStats& supply) const override;
  std::string place_text() const override;
  [[gnu::cold]] std::string describe() const override;

 protected:
  [[gnu::cold]] std::unique_ptr<Source> make_source(const Page& page) override {
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
    (*page)->fixed.store(node_.bits);
    WindowSource::Leasing leasing;
    if (node_.leased) {
      const Log log = [logs = logs_, subject = subject_](LogLevel level, const std::string& line) {
        logs->say(level, subject + ": " + line);
      };
      leasing.numbers = make_worker_source(
          {.config = config_, .node = node_, .store = store_, .runtime = runtime_, .log = log, .is_copy = is_copy()});
      leasing.skipped = [log](const Error& error) {
        log(LogLevel::warning, "another number is tried, because of " + error.message());
      };
      leasing.chosen = [page, node = node_](std::uint64_t worker) { (*page)->fixed.store(node.bits_with(worker)); };
      leasing.loss_is_final = goes_on_elsewhere_;
    }
    return std::make_unique<WindowSource>(store_, *runtime_, layout_, std::move(request),
                                          clock_back_ == ClockBack::go_on ? -1 : max_ahead_ms_, std::move(leasing));
  }
  void set_options(Supply::Options& options, const Page& page) override {
    options.sizing.prefetch = 0.5;
    if (has_leases(*store_))
      options.renew_ns =
          std::min(config_.duration_ms("window") / 2, config_.duration_ms("worker_lease") / 3) * kNsPerMs;
    options.present = [page, shape = shape_, runtime = runtime_] {
      const std::uint64_t next = (*page)->counter.next();
      const std::uint64_t tick = tick_at(shape, floor_div(runtime->wall_ns(), kNsPerMs));
      return Present{tick > shape.max_tick ? next : wanted_at(shape, next, tick), tick};
    };
    // Ids begin where the store says, even ahead of the clock: after a crash, or after a grant whose answer was lost.
    // But no further ahead than allowed: the clock may have been set back since the store was asked (I6).
    const auto most = clock_back_ == ClockBack::go_on ? std::numeric_limits<std::uint64_t>::max()
                                                      : static_cast<std::uint64_t>(max_ahead_ms_ / tick_ms_);
    options.lifted = [page, sequence_bits = shape_.sequence_bits, borrowed = borrow_ticks_, most](
                         const Present& present, std::uint64_t first_number) {
      const std::uint64_t first_tick = first_number >> sequence_bits;
      const std::uint64_t ahead = first_tick > present.tick ? first_tick - present.tick : 0;
      (*page)->slack.store(std::max(borrowed, std::min(ahead, most)));
    };
  }
  // With another worker only ticks that were not begun are above all ids.
  void continue_after(const Feed& ended, Supply::Options&, HotPage& page) override {
    const std::uint64_t per_tick = std::uint64_t{1} << shape_.sequence_bits;
    page.counter.begin_at((ended.supply->closed_at() + per_tick - 1) & ~(per_tick - 1));
    page.slack.store((*ended.page)->slack.load());  // if that one was ahead of the clock, so is this one
  }
  std::string fork_obstacle() const override {
    if (node_.leased && store_->survives_fork()) {
      if (config_.get("on_fork") == "error")
        return "on_fork = error; create the generator after the fork, or set on_fork = reacquire";
      if (node_.source == NumberSource::zookeeper)
        return "worker_address is the parent's, and with it the number; create a generator with another address";
      return "";
    }
    return "the parent owns " + node_.text + "; " +
           (node_.bits_wide ? "create a generator with another number in the child, or create it after the fork"
                            : "create it after the fork");
  }

 private:
  // True: the caller can try again, perhaps with another worker.
  bool refill(const Feed& feed, Patience& patience) {
    if (!feed.has_ended) {
      try {
        return feed.supply->refill(patience);
      } catch (const Error& error) {
        const bool is_lost = goes_on_elsewhere_ && error.status() == Status::worker_busy;
        if (!is_lost && !has_just_ended(feed, error)) throw;
        if (is_lost && patience.may_wait())
          log(LogLevel::warning, "another worker is leased, because " + error.message());
      }
    }
    return replace(feed, patience);
  }

  std::int64_t tick_start_ns(std::uint64_t tick) const { return layout_.tick_start_unix_ms(tick) * kNsPerMs; }

  // The number drawn next when the counter is at `next` and the clock in `tick`.
  static std::uint64_t wanted_at(const Shape& shape, std::uint64_t next, std::uint64_t tick) {
    return Counter::wanted(next, tick << shape.sequence_bits, start_of(shape, tick));
  }

  // Once the clock has caught up, nothing needs to run ahead of it.
  void lower_slack(HotPage& page, std::uint64_t tick) {
    std::atomic<std::uint64_t>& slack = page.slack;
    for (std::uint64_t seen = slack.load();;) {
      const std::uint64_t lead = page.counter.next() >> shape_.sequence_bits;
      const std::uint64_t needed = std::max(borrow_ticks_, lead > tick ? lead - tick : 0);
      if (is_behind(seen) || needed >= seen || slack.compare_exchange_weak(seen, needed)) return;
    }
  }

  // What was missed is used up, or no longer reserved.
  static void end_behind(HotPage& page, std::uint64_t slack) noexcept { page.slack.compare_exchange_strong(slack, 0); }

  // The counter is in a tick that may not be used yet.
  bool wait_for_clock(HotPage& page, std::uint64_t next, std::uint64_t allowed_tick, std::int64_t now_ns,
                      Patience& patience) {
    const std::uint64_t next_tick = next >> shape_.sequence_bits;
    const std::uint64_t sequence = next & ((std::uint64_t{1} << shape_.sequence_bits) - 1);
    // Used up: the counter has just stepped into the next tick and drawn nothing there. (Running ahead, it may have.)
    const bool used_up = next_tick == allowed_tick + 1 && (sequence == 0 || is_ahead(page.slack.load()));
    const std::int64_t left_ns = tick_start_ns(next_tick) - tick_start_ns(allowed_tick) +
                                 tick_start_ns(tick_at(shape_, floor_div(now_ns, kNsPerMs))) - now_ns;
    if (!used_up && !go_on_behind(page, next, now_ns, left_ns, patience)) return true;
    if (!patience.may_wait()) return false;
    if (left_ns > patience.left_ns()) {
      const std::string times =
          std::to_string(ms_rounded_up(left_ns)) + " ms to go, wait_max = " + config_.get("wait_max");
      if (!used_up)
        throw behind(next_tick, now_ns, left_ns, "; that is longer than wait_max = " + config_.get("wait_max"));
      throw Error(Status::overloaded,
                  concat({subject_, ": all ", std::to_string(std::uint64_t{1} << shape_.sequence_bits),
                          " ids of this tick are used up, ", times,
                          "; try again, raise wait_max, or set on_overflow = borrow"}),
                  static_cast<std::uint64_t>(left_ns));
    }
    ++waits_;
    wait_ns_ += static_cast<std::uint64_t>(patience.sleep(*runtime_, left_ns));
    patience.check(subject_);
    if (used_up && shape_.is_direct)
      fall_behind(page, shape_, next, tick_at(shape_, floor_div(runtime_->wall_ns(), kNsPerMs)), most_missed_);
    return true;
  }

  // By policy: true to wait, false to go on, or throws.
  bool go_on_behind(HotPage& page, std::uint64_t next, std::int64_t now_ns, std::int64_t left_ns,
                    const Patience& patience) {
    const std::uint64_t next_tick = next >> shape_.sequence_bits;
    // Logged once for each time the clock is set back: the counter stands still until that is settled. Only a call that
    // may wait logs it, because the other kind makes no callbacks.
    if (behind_at_.load(std::memory_order_relaxed) != next) {
      if (!patience.may_wait()) return true;
      if (behind_at_.exchange(next, std::memory_order_relaxed) != next) {
        ++clock_back_events_;
        log(LogLevel::warning,
            "the clock was set back: it is " + std::to_string(ms_rounded_up(left_ns)) + " ms behind the last id");
      }
    }
    if (clock_back_ == ClockBack::go_on) {
      // Raised to what this thread needs, not by that amount: several threads may find the clock behind at once.
      const std::uint64_t needed = next_tick - tick_at(shape_, floor_div(now_ns, kNsPerMs));
      std::uint64_t slack = page.slack.load();
      while (slack < needed && !page.slack.compare_exchange_weak(slack, needed)) {
      }
      return false;
    }
    if (clock_back_ == ClockBack::fail && patience.may_wait())
      throw behind(next_tick, now_ns, left_ns, " (on_clock_back = fail)");
    return true;
  }

  [[gnu::cold]] Error behind(std::uint64_t next_tick, std::int64_t now_ns, std::int64_t left_ns,
                             const std::string& why) const {
    const std::int64_t left_ms = ms_rounded_up(left_ns);
    return Error(
        Status::clock_back,
        concat({subject_, ": the clock moved backwards: refusing to generate ids for ", std::to_string(left_ms),
                " ms (last id ", format_instant(layout_.tick_start_unix_ms(next_tick)), ", now ",
                format_instant(floor_div(now_ns, kNsPerMs)), ")", why,
                ". Try again later, or set on_clock_back = continue"}),
        static_cast<std::uint64_t>(left_ns));
  }

  const Node node_;
  const bool goes_on_elsewhere_;  // with another number, if ours is lost
  const ClockBack clock_back_;
  const std::int64_t tick_ms_;
  const std::int64_t max_ahead_ms_;
  const std::uint64_t most_missed_;  // ticks that are used after they were slept through
  const std::uint64_t borrow_ticks_;
  std::atomic<std::uint64_t> behind_at_{0};  // where the counter was when the clock was last found behind
  std::atomic<std::uint64_t> clock_back_events_{0};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<std::uint64_t> wait_ns_{0};
};

// The worker of now: one that is leased may be replaced.
[[gnu::cold]] std::string SnowflakeGenerator::place_text() const {
  const std::string_view text = node_.text;
  const std::size_t at = text.find("a leased ");
  if (at == std::string_view::npos || !is_alive()) return node_.text;
  const std::string& name = node_.leased->name;
  const std::uint64_t number = (page().fixed.load() >> node_.leased_shift) & (node_.leased->size() - 1);
  const std::size_t end = at + std::string_view("a leased ").size() + name.size();
  return concat({text.substr(0, at), name, " ", number, text.substr(end)});
}

[[gnu::cold]] void SnowflakeGenerator::complete(Stats& stats, const SupplyStats& supply) const {
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
  if (next == 0 || next >= Counter::kParked) return;  // closed
  const std::int64_t now_ms = floor_div(runtime_->wall_ns(), kNsPerMs);
  const std::int64_t left_ms = last_usable_ms(layout_) - now_ms;
  stats.layout_left = static_cast<std::uint64_t>(std::max<std::int64_t>(0, left_ms));
  const std::int64_t last_ms = layout_.tick_start_unix_ms((next - 1) >> shape_.sequence_bits);
  const std::int64_t lead_ms = std::max<std::int64_t>(0, last_ms - now_ms);
  stats.lead_ms = static_cast<std::uint64_t>(lead_ms);
  const std::int64_t end_ms =
      layout_.tick_start_unix_ms(next >> shape_.sequence_bits) + static_cast<std::int64_t>(stats.remaining);
  const std::int64_t stock_ms = std::max<std::int64_t>(0, end_ms - now_ms);
  // Whoever draws renews a window when half of it is left, so less of a healthy one means that nobody does.
  const bool is_idle = 2 * stock_ms < window_width(config_, tick_ms_).ms && !supply.is_failing && !supply.is_loading;
  if (!is_idle) stats.stock_seconds = static_cast<double>(stock_ms) / 1000;
  if (stats.stopped != Status::ok) return;
  const std::int64_t slack_ms = std::max<std::int64_t>(0, static_cast<std::int64_t>(page().slack.load())) * tick_ms_;
  const std::int64_t behind_ms = lead_ms - slack_ms;
  if (now_ms < shape_.epoch_ms) {
    stats.stopped = Status::clock_before_epoch;
  } else if (left_ms < 0) {
    stats.stopped = Status::exhausted;
  } else if (clock_back_ != ClockBack::go_on &&
             behind_ms > (clock_back_ == ClockBack::fail ? 0 : wait_max_ns_ / kNsPerMs)) {
    stats.stopped = Status::clock_back;
  } else if (stock_ms == 0 && supply.is_failing) {
    stats.stopped = supply.failure->status();
  }
}

std::string SnowflakeGenerator::describe() const {
  const std::string window = config_.get("window");
  std::string text = "kind: snowflake, layout '" + layout_.text() + "', epoch " +
                     format_instant(layout_.epoch_unix_ms()) + ", last id " + format_instant(layout_.last_unix_ms()) +
                     "\n";
  text += "worker: " + subject_ +
          (node_.leased ? ": " + describe_worker_source(config_, node_) + "\n"
                        : (node_.origin.empty() ? std::string(", fixed") : ", " + node_.origin) +
                              "; its window in the store guards it, a second live owner is refused\n");
  if (node_.leased) {
    text += goes_on_elsewhere_ ? "worker lost, after a pause of worker_lease or longer: what is reserved is used up, "
                                 "then another number is leased\n"
                               : "worker lost, after a pause of worker_lease or longer: what is reserved is used up, "
                                 "then calls get WORKER_BUSY\n";
  }
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
  if (borrow_ticks_ == 0 && shape_.is_direct && most_missed_ > 0)
    text += ", and use those that they slept through, up to max_behind = " + config_.get("max_behind") + " ago";
  text += "\n";
  if (shape_.gene.bits > 0) text += gene_text();
  text += shape_.by_thread ? "order: relaxed; ids rise within a thread, not between threads\n"
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
  text += "not covered: a byte-wise clone of the running machine, until its window of " + window + " has passed or " +
          until_copy_is_noticed() + "\n";
  return text;
}

}  // namespace

std::string snowflake_identity(const Config& config) {
  const Layout layout = snowflake_layout(config);
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
  Layout layout = snowflake_layout(config);
  check_usable(config, layout);
  const Node node = node_of(config, layout, true);
  if (node.leased) {
    throw Error(Status::value, node.leased->name +
                                   " = auto: say which one is meant, with a number (`idgen worker "
                                   "list` shows them)");
  }
  std::uint64_t mask = layout.fixed_bits();  // which decoding compares with the layout
  for (const FieldKind kind : kNodeFields) {
    if (const Field* field = layout.find(kind)) mask |= ((std::uint64_t{1} << field->bits) - 1) << field->shift;
  }
  return {std::move(layout), node.number, node.bits, mask};
}

std::shared_ptr<Generator> make_snowflake_generator(const Config& config, Patience& patience) {
  const Layout layout = snowflake_layout(config);
  check_usable(config, layout);
  Node node = node_of(config, layout);
  check_worker_source(config, node);
  auto generator = std::make_shared<SnowflakeGenerator>(config, layout, std::move(node), patience);
  generator->open(patience);
  return generator;
}

std::string describe_snowflake_generator(const Config& config) {
  const Layout layout = snowflake_layout(config);
  check_usable(config, layout);
  const Cancelled never;
  Patience patience(config.duration_ms("wait_max") * kNsPerMs, never);
  Node node = node_of(config, layout);
  check_worker_source(config, node);
  return SnowflakeGenerator(config, layout, std::move(node), patience).describe();
}

}  // namespace idgen
