#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "generator/draw.hpp"
#include "generator/generator.hpp"
#include "generator/metrics.hpp"
#include "generator/missed_ticks.hpp"
#include "generator/registry.hpp"
#include "runtime/abandonable.hpp"
#include "runtime/made_once.hpp"

namespace idgen {
namespace {

// Where a closed handle points: no limit, for ever.
HotPage& closed_page() {
  static constinit MadeOnce<ForkPage<HotPage>> page;
  return *page.get([] {
    auto made = std::make_unique<ForkPage<HotPage>>(kMostStripes * sizeof(Stripe));
    (*made)->counter.seal();  // so that nothing drawn there is a number
    return made;
  });
}

// Read after a draw succeeded: what a range's limit publishes.
std::uint64_t fixed_of(const HotPage& page) noexcept { return page.fixed.load(std::memory_order_relaxed); }

// The ids of the numbers first, first + 1, ... of one owner, whose gene is in `fixed`.
void write_ids(const Shape& shape, std::uint64_t fixed, std::uint64_t first, std::span<std::uint64_t> out) noexcept {
  if (!shape.timed) {
    const std::uint64_t base = shape.id(first, fixed) | fixed;
    const std::uint64_t step = shape.stride << shape.segment_shift;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = base + i * step;
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

std::uint64_t placed_gene(const GeneShape& gene, std::uint64_t owner) noexcept {
  return Shape::low(owner, gene) << gene.shift;
}

// What a call that may not wait returns for the exception that is being handled.
Status status_of_try() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    const bool may_pass = status_text(error.status()).retryable || error.status() == Status::no_memory;
    return may_pass ? Status::would_block : error.status();
  } catch (...) {
    return Status::would_block;  // no memory for an Error
  }
}

// Closes one handle's part.
[[gnu::cold]] void release(const std::shared_ptr<Generator>& generator, const SharedLog& log) {
  release_generator(generator);
  generator->logs().leave(log);
}

// If it can be cancelled, on a separate thread: a store that hangs cannot be stopped.
[[gnu::cold]] std::shared_ptr<Generator> acquire(const Config& config, const Cancelled& cancelled) {
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
    : text_form_(TextForm::of(config)),
      generator_(acquire(config, cancelled)),
      log_(config.log),
      shape_(generator_->shape()),
      plain_(!shape_.timed && shape_.calendar == nullptr && shape_.stripes == 0 && shape_.stride == 1),
      page_(&generator_->page()) {}

Handle::~Handle() {
  try {
    close();
  } catch (...) {  // what was not given back is never issued: only numbers are lost
  }
}

bool Handle::draw_spread(std::uint64_t& id) noexcept {
  if (shape_.gene.bits > 0) return false;
  HotPage& page = *page_.load(kPageOrder);
  std::uint64_t number;
  if (draw_run(page, stripe_for(0), 1, number) == 0) return false;
  id = shape_.id(number, fixed_of(page));
  return true;
}

Status Handle::try_next(std::uint64_t drawn, std::uint64_t& id) noexcept {
  if (shape_.gene.bits > 0) return refusal_without_owner();
  if (drawn != kNothing) {
    try {
      Patience none;
      if (closed_.load(std::memory_order_acquire)) return Status::closed;
      const Claim claim = generator_->claim(drawn, none);
      if (claim == Claim::would_block) return Status::would_block;
      if (claim == Claim::granted) {
        id = drawn;
        return Status::ok;
      }
    } catch (...) {
      return status_of_try();
    }
  }
  Run run;
  const Status status = try_run(stripe_for(0), 1, run);
  if (status == Status::ok) id = shape_.id(run.first, run.fixed);
  return status;
}

Status Handle::try_run(std::size_t stripe, std::uint64_t want, Run& run, Draw draw) noexcept {
  try {
    Patience none;
    for (;;) {
      if (closed_.load(std::memory_order_acquire)) return Status::closed;
      HotPage& page = *page_.load(kPageOrder);
      run.count =
          draw == Draw::block ? draw_block(page, stripe, want, run.first) : draw_run(page, stripe, want, run.first);
      if (run.count > 0) {
        run.fixed = fixed_of(page);
        return Status::ok;
      }
      const Generator::Fed fed = shape_.stripes > 0 ? generator_->feed_stripe(stripe, want, false) : Generator::Fed::no;
      if (fed == Generator::Fed::by_another) return Status::would_block;
      if (fed == Generator::Fed::no && !generator_->make_room(none)) return Status::would_block;
      follow();
    }
  } catch (...) {
    return status_of_try();
  }
}

Status Handle::try_fill(std::span<std::uint64_t> ids, std::size_t& written) noexcept {
  written = 0;
  if (shape_.gene.bits > 0) return refusal_without_owner();
  const std::size_t stripe = stripe_for(0);
  while (written < ids.size()) {
    Run run;
    const Status status = try_run(stripe, ids.size() - written, run);
    if (status != Status::ok) return status;
    write_ids(shape_, run.fixed, run.first, ids.subspan(written, run.count));
    written += run.count;
  }
  return Status::ok;
}

Status Handle::try_next_block(std::uint64_t want, Block& block) noexcept {
  if (shape_.gene.bits > 0) return refusal_without_owner();
  Run run;
  const Status status = try_run(stripe_for(0), most_in_block(want), run, Draw::block);
  if (status == Status::ok) block = block_of(run);
  return status;
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

Handle::View Handle::view() const {
  const auto refuse = [&](std::string_view why) {
    throw Error(Status::unsupported,
                concat({generator_->subject(), ": it has no view, since ", std::string(why), "; draw by idgen_next"}));
  };
  if (shape_.gene.bits > 0) refuse("its ids have an owner");
  if (shape_.by_thread) refuse("with order = relaxed each thread has a counter of its own");
  if (shape_.calendar != nullptr) refuse("its numbers start over with each period");
  if (shape_.stride != 1) refuse("its ids are not the numbers of its counter (segment.stride)");
  if (shape_.random_start) refuse("its ticks begin anywhere (sequence_start = random)");
  if (shape_.host_clock != nullptr) refuse("its clock is the host's");
  return {&page_, &shape_};
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

std::size_t Handle::write_text(std::uint64_t id, char* out) const {
  try {
    return text_form_.write({id, 8}, out);
  } catch (const Error& error) {
    if (error.status() != Status::value) throw;
    throw Error(Status::exhausted, concat({generator_->subject(), ": ", error.message()}));
  }
}

// With order = relaxed the thread's, whichever calls it mixes, so that a thread's ids rise; else the one of the owner's
// virtual node.
std::size_t Handle::stripe_for(std::uint64_t owner) const noexcept {
  if (shape_.stripes == 0) return 0;
  return shape_.by_thread ? thread_stripe() : shape_.stripe_of(Shape::low(owner, shape_.gene));
}

std::uint64_t Handle::draw_run(HotPage& page, std::size_t stripe, std::uint64_t want, std::uint64_t& first) noexcept {
  if (shape_.stripes > 0) return draw_from_stripe(page.stripes()[stripe], shape_, want, first);
  if (is_behind(page.slack.load(std::memory_order_relaxed))) [[unlikely]] {
    if (const std::uint64_t count = draw_behind(page, shape_, want, first)) return count;
  }
  return draw_numbers(page, shape_, want, first);
}

void Handle::make_room(std::size_t stripe, std::uint64_t want, Patience& patience) {
  patience.check(generator_->subject());
  if (shape_.stripes == 0 || generator_->feed_stripe(stripe, want, true) == Generator::Fed::no)
    generator_->make_room(patience);
  follow();
}

void Handle::wait_for_room(const Cancelled& cancelled, std::int64_t waited_ns) {
  Patience patience(generator_->wait_max_ns(), closed_, cancelled);
  patience.spend(waited_ns);
  patience.check(generator_->subject());
  generator_->make_room(patience);
  follow();
}

void Handle::follow() noexcept {
  HotPage* seen = page_.load(std::memory_order_relaxed);
  HotPage* const now = &generator_->page();
  if (seen != now && seen != &closed_page()) page_.compare_exchange_strong(seen, now, std::memory_order_release);
}

void Handle::fill(std::span<std::uint64_t> ids, std::size_t& written, const Cancelled& cancelled,
                  std::int64_t waited_ns) {
  written = 0;
  require_owner(false);
  Patience patience(generator_->wait_max_ns(), closed_, cancelled);
  patience.spend(waited_ns);
  const std::size_t stripe = stripe_for(0);
  while (written < ids.size()) {
    HotPage& page = *page_.load(kPageOrder);
    std::uint64_t first;
    const std::uint64_t count = draw_run(page, stripe, ids.size() - written, first);
    if (count) {
      write_ids(shape_, fixed_of(page), first, ids.subspan(written, count));
      written += count;
      patience.renew();
      continue;
    }
    make_room(stripe, ids.size() - written, patience);
  }
}

// A run ends with its tick. When running ahead of the clock more could be drawn, but the numbers beyond would be given
// up.
std::uint64_t Handle::most_in_block(std::uint64_t want) const noexcept {
  return shape_.timed ? std::min(want, std::uint64_t{1} << shape_.sequence_bits) : want;
}

[[gnu::noinline]] std::uint64_t Handle::draw_block(HotPage& page, std::size_t stripe, std::uint64_t want,
                                                   std::uint64_t& first) noexcept {
  if (!shape_.timed) return draw_run(page, stripe, want, first);
  const std::uint64_t per_tick = std::uint64_t{1} << shape_.sequence_bits;
  // A counter says how many numbers are not issued before it passes them.
  Counter& counter = shape_.stripes > 0 ? page.stripes()[stripe].counter : page.counter;
  counter.skip(want);
  first = 0;
  const std::uint64_t drawn = draw_run(page, stripe, want, first);
  const std::uint64_t count = std::min(drawn, per_tick - (first & (per_tick - 1)));
  counter.skip(drawn - count - want);
  return count;
}

Block Handle::block_of(const Run& run) const noexcept {
  const std::uint64_t stride = shape_.timed ? std::uint64_t{1} << shape_.sequence_shift : shape_.stride;
  return {shape_.id(run.first, run.fixed), run.count, stride};
}

Block Handle::next_block(std::uint64_t want, const Cancelled& cancelled) {
  require_owner(false);
  want = most_in_block(want);
  Patience patience(generator_->wait_max_ns(), closed_, cancelled);
  const std::size_t stripe = stripe_for(0);
  for (;;) {
    HotPage& page = *page_.load(kPageOrder);
    std::uint64_t first;
    const std::uint64_t count = draw_block(page, stripe, want, first);
    if (count) return block_of({first, count, fixed_of(page)});
    make_room(stripe, want, patience);
  }
}

// ---------------------------------------------------------------------------------------- ids that have an owner

namespace {

void write_owned(const Shape& shape, std::uint64_t fixed, std::uint64_t first, std::uint64_t owner,
                 std::span<std::uint64_t> out) noexcept {
  write_ids(shape, fixed | placed_gene(shape.gene, owner), first, out);
}
void write_owned(const Shape& shape, std::uint64_t fixed, std::uint64_t first, std::uint64_t owner,
                 std::span<WideId> out) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = shape.wide_id(first + i, fixed, owner);
}

}  // namespace

Status Handle::refusal_without_owner() const noexcept {
  return closed_.load(std::memory_order_acquire) ? Status::closed : Status::unsupported;
}

void Handle::require_owner(bool has_owner) const {
  if (has_owner == (shape_.gene.bits > 0)) return;
  const std::string layout = generator_->subject() + ": layout '" + generator_->layout().text() + "'";
  throw Error(Status::unsupported,
              has_owner ? layout + " has no gene, so its ids have no owner; call next, or choose a layout with one"
                        : layout + " has a gene, which comes from an id's owner; call next_for");
}

std::uint64_t Handle::owner_number(std::string_view owner) const {
  require_owner(true);
  return idgen::owner_number(owner, shape_.gene.rule);
}

bool Handle::find_owner_number(std::string_view owner, std::uint64_t& number) const noexcept {
  return shape_.gene.bits > 0 && idgen::find_owner_number(owner, shape_.gene.rule, number);
}

bool Handle::draw_for(std::string_view owner, std::uint64_t& id) noexcept {
  std::uint64_t of;
  if (shape_.wide || !find_owner_number(owner, of)) return false;
  HotPage& page = *page_.load(kPageOrder);
  std::uint64_t number;
  if (draw_run(page, stripe_for(of), 1, number) == 0 || number > shape_.last_number) return false;
  id = shape_.id(number, fixed_of(page)) | placed_gene(shape_.gene, of);
  return true;
}

Status Handle::try_next_for(std::string_view owner, std::uint64_t& id) noexcept {
  std::uint64_t of;
  if (shape_.gene.bits == 0 || shape_.wide) return Status::unsupported;
  if (!find_owner_number(owner, of)) return Status::value;
  Run run;
  const Status status = try_run(stripe_for(of), 1, run);
  if (status != Status::ok) return status;
  if (run.first > shape_.last_number) return Status::exhausted;
  id = shape_.id(run.first, run.fixed) | placed_gene(shape_.gene, of);
  return Status::ok;
}

std::uint64_t Handle::next_for(std::string_view owner) {
  std::uint64_t id;
  std::size_t written;
  if (!draw_for(owner, id)) fill_for(owner_number(owner), std::span(&id, 1), written);
  return id;
}

void Handle::require_owned(std::size_t id_bytes) const {
  require_owner(true);
  if (id_bytes > sizeof(std::uint64_t) || !shape_.wide) return;
  throw Error(Status::unsupported, concat({generator_->subject(), ": layout '", generator_->layout().text(),
                                           "' makes ids of 16 bytes; call next_wide_for"}));
}

// All of them, from ids[written] on.
template <class Id>
void Handle::draw_owned(std::uint64_t owner, std::span<Id> ids, std::size_t& written, Patience& patience) {
  const std::size_t stripe = stripe_for(owner);
  while (written < ids.size()) {
    HotPage& page = *page_.load(kPageOrder);
    std::uint64_t first;
    std::uint64_t count = draw_run(page, stripe, ids.size() - written, first);
    if (count == 0) {
      make_room(stripe, ids.size() - written, patience);
      continue;
    }
    if (sizeof(Id) == sizeof(std::uint64_t) && first + count - 1 > shape_.last_number) [[unlikely]] {
      if (first > shape_.last_number) {
        throw Error(Status::exhausted,
                    concat({generator_->subject(), ": the numbers that 8 bytes hold are used up (layout '",
                            generator_->layout().text(),
                            "'), and on_full = widen goes on with ids of 16 bytes; call next_wide_for"}));
      }
      count = shape_.last_number - first + 1;
    }
    write_owned(shape_, fixed_of(page), first, owner, ids.subspan(written, count));
    written += count;
    patience.renew();
  }
}

template <class Id>
void Handle::fill_owned(std::uint64_t owner, std::span<Id> ids, std::size_t& written, const Cancelled& cancelled) {
  written = 0;
  require_owned(sizeof(Id));
  Patience patience(generator_->wait_max_ns(), closed_, cancelled);
  draw_owned(owner, ids, written, patience);
}

template <class Id>
void Handle::fill_owned_each(const Owners& owners, std::span<Id> ids, std::size_t& written,
                             const Cancelled& cancelled) {
  written = 0;
  require_owned(sizeof(Id));
  Patience patience(generator_->wait_max_ns(), closed_, cancelled);
  std::uint64_t numbers[64];  // hashed together, and then drawn: faster than in turns
  while (written < ids.size()) {
    const std::size_t count =
        owners(written, std::span(numbers).first(std::min(std::size(numbers), ids.size() - written)));
    for (std::size_t i = 0; i < count; ++i) draw_owned(numbers[i], ids.first(written + 1), written, patience);
  }
}

void Handle::fill_for(std::uint64_t owner, std::span<std::uint64_t> ids, std::size_t& written,
                      const Cancelled& cancelled) {
  fill_owned(owner, ids, written, cancelled);
}
void Handle::fill_for(std::uint64_t owner, std::span<WideId> ids, std::size_t& written, const Cancelled& cancelled) {
  fill_owned(owner, ids, written, cancelled);
}
void Handle::fill_for_each(const Owners& owners, std::span<std::uint64_t> ids, std::size_t& written,
                           const Cancelled& cancelled) {
  fill_owned_each(owners, ids, written, cancelled);
}
void Handle::fill_for_each(const Owners& owners, std::span<WideId> ids, std::size_t& written,
                           const Cancelled& cancelled) {
  fill_owned_each(owners, ids, written, cancelled);
}

Parts Handle::decode(const WideId& id) const {
  return shape_.widens && id.bytes == 16 ? Layout::parse(kWideLayout).decode(id) : layout().decode(id);
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

std::int64_t Handle::wait_max_ns() const noexcept { return generator_->wait_max_ns(); }

const Layout& Handle::layout() const noexcept { return generator_->layout(); }

Stats Handle::stats() const {
  Stats stats = generator_->stats();
  if (closed_.load(std::memory_order_acquire)) stats.stopped = Status::closed;  // others may go on
  return stats;
}

std::string describe_generator(const Config& config) {
  return config.get("kind") != "snowflake" ? describe_segment_generator(config) : describe_snowflake_generator(config);
}

std::string Handle::describe() const { return generator_->describe(); }

std::string Handle::summary() const {
  return generator_->summary() + (closed_.load(std::memory_order_acquire) ? ", closed" : "");
}

std::string Handle::metrics(std::span<const Handle* const> handles) {
  std::set<const Generator*> seen;
  std::vector<Metered> generators;
  for (const Handle* handle : handles) {
    if (!seen.insert(handle->generator_.get()).second) continue;
    const Config& config = handle->generator_->config();
    generators.push_back(
        {config.get("name"), config.get("namespace"), config.get("kind"), handle->generator_->stats()});
  }
  return metrics_text(generators, std::to_string(getpid()) + "@" + system_runtime().host_name());
}

}  // namespace idgen
