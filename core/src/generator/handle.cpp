#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "generator/draw.hpp"
#include "generator/generator.hpp"
#include "generator/metrics.hpp"
#include "generator/registry.hpp"
#include "runtime/abandonable.hpp"
#include "runtime/made_once.hpp"

namespace idgen {
namespace {

// Where a closed handle points: no limit, for ever.
HotPage& closed_page() {
  static constinit MadeOnce<HotPage> page;
  return page.get([] {
    auto made = std::make_unique<HotPage>();
    made->counter.seal();  // so that nothing drawn there is a number
    return made;
  });
}

// Read after a draw succeeded: what a range's limit publishes.
std::uint64_t fixed_of(const HotPage& page) noexcept { return page.fixed.load(std::memory_order_relaxed); }

// The ids of the numbers first, first + 1, ...
void write_ids(const Shape& shape, std::uint64_t fixed, std::uint64_t first, std::span<std::uint64_t> out) noexcept {
  if (!shape.timed) {
    const std::uint64_t base = shape.id(first, fixed);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = base + i * shape.stride;
    return;
  }
  // Within a tick ids are evenly spaced, so no shift per id is needed.
  const std::uint64_t per_tick = std::uint64_t{1} << shape.sequence_bits;
  const std::uint64_t stride = std::uint64_t{1} << shape.sequence_shift;
  for (std::size_t done = 0; done < out.size();) {
    const std::uint64_t number = first + done;
    const std::size_t run = std::min<std::uint64_t>(out.size() - done, per_tick - (number & (per_tick - 1)));
    const std::uint64_t base = shape.id(number, fixed);
    std::uint64_t* const to = out.data() + done;
    for (std::size_t i = 0; i < run; ++i) to[i] = base + i * stride;
    done += run;
  }
}

// Closes one handle's part.
void release(const std::shared_ptr<Generator>& generator, const SharedLog& log) {
  release_generator(generator);
  generator->logs().leave(log);
}

// If it can be cancelled, on a separate thread: a store that hangs cannot be stopped.
std::shared_ptr<Generator> acquire(const Config& config, const Cancelled& cancelled) {
  closed_page();  // made now: close() must not fail, and the fast path reads page_ without ordering
  if (!cancelled) return acquire_generator(config, cancelled);
  const std::shared_ptr<Runtime> host = config.runtime;
  return run_abandonably<std::shared_ptr<Generator>>(
      host ? *host : system_runtime(), config.get("name"), cancelled,
      [config](const Cancelled& abandoned) { return acquire_generator(config, abandoned); },
      [log = config.log](const std::shared_ptr<Generator>& generator) { release(generator, log); });
}

}  // namespace

Handle::Handle(const Config& config, const Cancelled& cancelled)
    : generator_(acquire(config, cancelled)),
      log_(config.log),
      shape_(generator_->shape()),
      plain_(!shape_.timed && !shape_.striped && shape_.stride == 1),
      page_(&generator_->page()) {}

Handle::~Handle() {
  try {
    close();
  } catch (...) {  // what was not given back is never issued: only numbers are lost
  }
}

bool Handle::draw_spread(std::uint64_t& id) noexcept {
  HotPage& page = *page_.load(kPageOrder);
  std::uint64_t number;
  if (draw_run(page, 1, number) == 0) return false;
  id = shape_.id(number, fixed_of(page));
  return true;
}

Status Handle::try_next(std::uint64_t drawn, std::uint64_t& id) noexcept {
  try {
    Patience none;
    if (closed_.load(std::memory_order_acquire)) return Status::closed;
    if (drawn != kNothing) {
      const Claim claim = generator_->claim(drawn, none);
      if (claim == Claim::would_block) return Status::would_block;
      if (claim == Claim::granted) {
        id = drawn;
        return Status::ok;
      }
    }
    for (;;) {
      HotPage& page = *page_.load(kPageOrder);
      std::uint64_t first;
      if (draw_run(page, 1, first)) {
        id = shape_.id(first, fixed_of(page));
        return Status::ok;
      }
      if (closed_.load(std::memory_order_acquire)) return Status::closed;
      const Generator::Fed fed = shape_.striped ? generator_->feed_stripe(1, false) : Generator::Fed::no;
      if (fed == Generator::Fed::by_another) return Status::would_block;
      if (fed == Generator::Fed::no && !generator_->make_room(none)) return Status::would_block;
      follow();
    }
  } catch (const Error& error) {
    const bool may_pass = status_text(error.status()).retryable || error.status() == Status::no_memory;
    return may_pass ? Status::would_block : error.status();
  } catch (...) {  // no memory for an Error
    return Status::would_block;
  }
}

std::uint64_t Handle::next(std::uint64_t drawn) {
  if (drawn != kNothing) {
    const Cancelled never;
    Patience patience(generator_->wait_max_ns(), closed_, never);
    patience.check(generator_->subject());
    if (generator_->claim(drawn, patience) == Claim::granted) return drawn;
  }
  std::uint64_t id;
  std::size_t written;
  fill({&id, 1}, written);
  return id;
}

Status Handle::try_next(std::uint64_t& id) noexcept {
  std::uint64_t drawn = kNothing;
  if (!(plain_ ? draw_plain(drawn) : draw_other(drawn))) return try_next(drawn, id);
  id = drawn;
  return Status::ok;
}

std::uint64_t Handle::next() {
  std::uint64_t drawn = kNothing;
  return (plain_ ? draw_plain(drawn) : draw_other(drawn)) ? drawn : next(drawn);
}

// With order = relaxed this uses the thread's stripe, as single ids do: a thread's ids rise whichever calls it mixes.
std::uint64_t Handle::draw_run(HotPage& page, std::uint64_t want, std::uint64_t& first) noexcept {
  return shape_.striped ? draw_from_stripe(page.stripes[thread_stripe()], shape_, want, first)
                        : draw_numbers(page, shape_, want, first);
}

void Handle::make_room(std::uint64_t want, Patience& patience) {
  patience.check(generator_->subject());
  if (!shape_.striped || generator_->feed_stripe(want, true) == Generator::Fed::no) generator_->make_room(patience);
  follow();
}

void Handle::follow() noexcept {
  HotPage* seen = page_.load(std::memory_order_relaxed);
  HotPage* const now = &generator_->page();
  if (seen != now && seen != &closed_page()) page_.compare_exchange_strong(seen, now, std::memory_order_release);
}

void Handle::fill(std::span<std::uint64_t> ids, std::size_t& written, const Cancelled& cancelled) {
  written = 0;
  Patience patience(generator_->wait_max_ns(), closed_, cancelled);
  while (written < ids.size()) {
    HotPage& page = *page_.load(kPageOrder);
    std::uint64_t first;
    const std::uint64_t count = draw_run(page, ids.size() - written, first);
    if (count) {
      write_ids(shape_, fixed_of(page), first, ids.subspan(written, count));
      written += count;
      patience.renew();
      continue;
    }
    make_room(ids.size() - written, patience);
  }
}

Block Handle::next_block(std::uint64_t want, const Cancelled& cancelled) {
  // A run ends with its tick. When running ahead of the clock more could be drawn, but the numbers beyond would be
  // given up.
  if (shape_.timed) want = std::min(want, std::uint64_t{1} << shape_.sequence_bits);
  Patience patience(generator_->wait_max_ns(), closed_, cancelled);
  for (;;) {
    HotPage& page = *page_.load(kPageOrder);
    std::uint64_t first;
    std::uint64_t count = draw_run(page, want, first);
    if (count) {
      if (shape_.timed) {
        const std::uint64_t per_tick = std::uint64_t{1} << shape_.sequence_bits;
        count = std::min(count, per_tick - (first & (per_tick - 1)));
      }
      return {shape_.id(first, fixed_of(page)), count,
              shape_.timed ? std::uint64_t{1} << shape_.sequence_shift : shape_.stride};
    }
    make_room(want, patience);
  }
}

void Handle::close(const Cancelled& cancelled) {
  if (closed_.exchange(true, std::memory_order_acq_rel)) return;
  page_.store(&closed_page(), std::memory_order_release);
  if (!cancelled) return release(generator_, log_);
  run_abandonably<bool>(
      generator_->runtime(), generator_->subject(), cancelled,
      [generator = generator_, log = log_](const Cancelled&) {
        release(generator, log);
        return true;
      },
      [](bool) {});
}

const Layout& Handle::layout() const noexcept { return generator_->layout(); }

Stats Handle::stats() const {
  Stats stats = generator_->stats();
  // Numbers are used up by drawing, which ends with close(); time is used up by the clock (SnowflakeGenerator::stats).
  if (!shape_.timed && stats.rate > 0 && stats.handles > 0)
    stats.stock_seconds = static_cast<double>(stats.remaining) / static_cast<double>(stats.rate);
  return stats;
}

std::string describe_generator(const Config& config) {
  return config.get("kind") == "segment" ? describe_segment_generator(config) : describe_snowflake_generator(config);
}

std::string Handle::describe() const { return generator_->describe(); }

std::string Handle::metrics(std::span<const Handle* const> handles) {
  std::set<const Generator*> seen;
  std::vector<Metered> generators;
  for (const Handle* handle : handles) {
    if (!seen.insert(handle->generator_.get()).second) continue;
    const Config& config = handle->generator_->config();
    generators.push_back({config.get("name"), config.get("namespace"), config.get("kind"), handle->stats()});
  }
  return metrics_text(generators);
}

}  // namespace idgen
