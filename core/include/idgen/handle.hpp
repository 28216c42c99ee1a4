// Handles on generators, as capi/ and the tests use them.
//
// A Handle is what a user holds. It refers to a Generator, which owns a reservation and may be shared by several
// handles: two handles on one snowflake worker with the same configuration share a generator.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "idgen/config.hpp"
#include "idgen/gene.hpp"
#include "idgen/layout.hpp"
#include "idgen/text_form.hpp"

namespace idgen {

struct Stats {
  std::uint64_t handles = 0;
  std::uint64_t granted = 0;
  std::uint64_t remaining = 0;
  std::uint64_t issued = 0;  // granted - remaining; once closed: - what was given back
  double stock_seconds = std::numeric_limits<double>::infinity();
  std::uint64_t refills = 0;
  std::uint64_t refill_failures = 0;
  std::uint64_t refill_ns_max = 0;
  std::uint64_t waits = 0;
  std::uint64_t wait_ns = 0;
  std::uint64_t store_waits = 0;
  std::uint64_t clock_back_events = 0;
  std::uint64_t forks = 0;
  std::uint64_t lead_ms = 0;
  std::uint64_t rate = 0;
  bool has_buffer = false;  // store = "buffer", whose these are
  std::uint64_t breaker_redis = 0;
  std::uint64_t breaker_database = 0;
  std::uint64_t buffer_stock = 0;
  std::uint64_t redis_failures = 0;
  std::uint64_t database_failures = 0;
  Status stopped = Status::ok;       // what calls get, if they get no ids
  Status last_failure = Status::ok;  // of the store
  std::uint64_t last_failure_unix_ms = 0;
  std::string last_error;
  std::uint64_t layout_left = kUnknown;  // ids (segment) or ms (snowflake)
  std::uint64_t tag_left = kUnknown;     // ids
  std::uint64_t issued_ids = 0;          // of a snowflake too, where `issued` is time

  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
};

struct Block {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t stride = 1;
};

struct HotPage;
class Calendar;
class Generator;
class Patience;

// Where the bits of an id's owner go.
struct GeneShape {
  unsigned bits = 0;  // 0: ids have no owner
  unsigned shift = 0;
  GeneRule rule = GeneRule::hash;
};

// What the fast path needs to know about a generator; nothing here changes.
struct Shape {
  bool timed = false;      // snowflake: numbers are (tick, sequence) pairs
  bool is_direct = false;  // timed, from the main counter, and ids have no owner
  bool by_thread = false;  // order = relaxed: each thread has a stripe
  bool random_start = false;
  bool is_lasting = true;       // what was open once in the main counter is its drawer's: nothing of it ages
  bool wide = false;            // all ids have 16 bytes
  bool widens = false;          // ids have 16 bytes after last_number
  unsigned sequence_bits = 0;   // numbers: tick << sequence_bits | sequence
  unsigned sequence_shift = 0;  // ids: where these two go
  unsigned time_shift = 0;
  std::uint64_t start_mask = 0;
  std::uint64_t start_seed = 0;
  std::uint64_t max_tick = 0;
  std::uint64_t stripe_block = 0;  // numbers a stripe takes at once
  std::uint64_t stride = 1;        // of a segment: ids are number * stride + offset
  std::uint64_t offset = 0;
  unsigned segment_shift = 0;
  std::size_t stripes = 0;                        // 0: all numbers come from the main counter
  std::uint64_t last_number = ~std::uint64_t{0};  // that an id of 8 bytes holds
  GeneShape gene;
  GeneShape wide_gene;  // of ids of 16 bytes
  std::int64_t epoch_ms = 0;
  std::int64_t tick_ms = 1;
  Runtime* host_clock = nullptr;  // null: the system's
  // Serials with a date: numbers are period << kSerialBits | number, and those of a period that is over are not drawn.
  const Calendar* calendar = nullptr;

  // `fixed`: the page's. 0 for segments.
  std::uint64_t id(std::uint64_t number, std::uint64_t fixed) const noexcept {
    return timed ? timed_id(number, fixed) : (number * stride + offset) << segment_shift;
  }
  WideId wide_id(std::uint64_t number, std::uint64_t fixed, std::uint64_t owner) const noexcept {
    if (!wide && number <= last_number) return {id(number, fixed) | (low(owner, gene) << gene.shift), 8};
    return {(Id128{number} * stride + offset) | (Id128{low(owner, wide_gene)} << wide_gene.shift), 16};
  }
  // The gene of an owner with this hash.
  static std::uint64_t low(std::uint64_t owner, const GeneShape& gene) noexcept {
    return owner & ((std::uint64_t{1} << gene.bits) - 1);
  }
  // The stripe of a gene's virtual node: neighbours share one, as neighbours share a shard.
  std::size_t stripe_of(std::uint64_t gene_value) const noexcept { return gene_value * stripes >> gene.bits; }
  std::uint64_t timed_id(std::uint64_t number, std::uint64_t fixed) const noexcept {
    const std::uint64_t sequence = number & ((std::uint64_t{1} << sequence_bits) - 1);
    return (number >> sequence_bits) << time_shift | sequence << sequence_shift | fixed;
  }
};

// What Handle::describe() would say about a generator with this configuration. Opens its store, reserves nothing.
// Throws and waits as Handle(config).
std::string describe_generator(const Config& config);

// That of a generator with kind = snowflake. Throws as Layout::parse().
Layout snowflake_layout(const Config& config);

// Threads: all methods but the destructor may run concurrently.
class Handle {
 public:
  // Throws any error of a configuration or a store; Error{cancelled} once cancelled() says so. What was begun is then
  // given back in the background. May block.
  [[gnu::cold]] explicit Handle(const Config& config, const Cancelled& cancelled = {});
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();  // closes

  // ok, would_block, or a status that waiting cannot change; never waits.
  Status try_next(std::uint64_t& id) noexcept;
  // The same for many: written is always right. ok: all of them.
  Status try_fill(std::span<std::uint64_t> ids, std::size_t& written) noexcept;
  Status try_next_block(std::uint64_t want, Block& block) noexcept;
  // Throw when there is no id in time. May block.
  std::uint64_t next();
  // An id as the configuration's pattern writes it. Returns how many bytes of `out` that are: at most
  // text_form().pattern().most_bytes(). Throws Error{exhausted} if the pattern does not hold the number.
  std::size_t write_text(std::uint64_t id, char* out) const;
  const TextForm& text_form() const noexcept { return text_form_; }
  // written is always right, also when it throws. waited_ns: how long the caller has waited before.
  void fill(std::span<std::uint64_t> ids, std::size_t& written, const Cancelled& cancelled = {},
            std::int64_t waited_ns = 0);
  Block next_block(std::uint64_t want, const Cancelled& cancelled = {});
  // Until a call has a chance not to wait, or throws why not. waited_ns: as for fill().
  void wait_for_room(const Cancelled& cancelled, std::int64_t waited_ns);

  // Of layouts with a gene, whose ids have an owner; the calls above refuse those. Owners are given by owner_number().
  void fill_for(std::uint64_t owner, std::span<std::uint64_t> ids, std::size_t& written,
                const Cancelled& cancelled = {});
  void fill_for(std::uint64_t owner, std::span<WideId> ids, std::size_t& written, const Cancelled& cancelled = {});
  // One id for each of several owners. owners(first, numbers) writes those of the ids first, first + 1, ..., and
  // returns how many, at least 1.
  using Owners = std::function<std::size_t(std::size_t, std::span<std::uint64_t>)>;
  void fill_for_each(const Owners& owners, std::span<std::uint64_t> ids, std::size_t& written,
                     const Cancelled& cancelled = {});
  void fill_for_each(const Owners& owners, std::span<WideId> ids, std::size_t& written,
                     const Cancelled& cancelled = {});
  // What the gene is the low bits of. Throws Error{value} for an owner that is none, Error{unsupported} if ids have no
  // owner.
  std::uint64_t owner_number(std::string_view owner) const;
  // False where that throws.
  bool find_owner_number(std::string_view owner, std::uint64_t& number) const noexcept;
  std::uint64_t next_for(std::string_view owner);
  // False: ask fill_for().
  bool draw_for(std::string_view owner, std::uint64_t& id) noexcept;
  Status try_next_for(std::string_view owner, std::uint64_t& id) noexcept;

  // next() and try_next() in parts, for capi/: an inline fast path (src/generator/draw.hpp) and the rest. A strict
  // segment's number drawn beyond the open range is passed from the first to the second: it may be issued later, and
  // nobody else will draw it.
  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  bool is_plain() const noexcept { return plain_; }
  // Only if it is plain. False: pass `drawn` on.
  bool draw_plain(std::uint64_t& drawn) noexcept;
  // Only if it is not. False: id is unchanged; pass kNothing on.
  bool draw_other(std::uint64_t& id) noexcept;
  Status try_next(std::uint64_t drawn, std::uint64_t& id) noexcept;
  std::uint64_t next(std::uint64_t drawn);

  // What a caller needs to draw by itself, in a language of its own or in its own functions: see idgen_view. Throws
  // Error{unsupported} if these ids are not drawn from one counter, or by the host's clock.
  struct View {
    const std::atomic<HotPage*>* page;  // valid as long as the handle
    const Shape* shape;
  };
  View view() const;

  // Idempotent. Throws only Error{cancelled}: it is closed all the same, and the rest is given back in the background.
  [[gnu::cold]] void close(const Cancelled& cancelled = {});

  const Layout& layout() const noexcept;
  std::int64_t wait_max_ns() const noexcept;
  // Of an id of 8 bytes by layout(), of one of 16 by the layout that ids are widened to.
  Parts decode(const WideId& id) const;
  [[gnu::cold]] Stats stats() const;
  [[gnu::cold]] std::string describe() const;
  [[gnu::cold]] std::string summary() const;

  // What all of them have done, in the Prometheus text format 0.0.4. Handles that share a generator count once.
  [[gnu::cold]] static std::string metrics(std::span<const Handle* const> handles);

 private:
  bool draw_spread(std::uint64_t& id) noexcept;  // from a stripe, or with a stride
  std::size_t stripe_for(std::uint64_t owner) const noexcept;
  std::uint64_t draw_run(HotPage& page, std::size_t stripe, std::uint64_t want, std::uint64_t& first) noexcept;
  struct Run {
    std::uint64_t first;
    std::uint64_t count;
    std::uint64_t fixed;
  };
  // The same with the slow path, as far as it needs no waiting.
  enum class Draw { run, block };
  Status try_run(std::size_t stripe, std::uint64_t want, Run& run, Draw draw = Draw::run) noexcept;
  std::uint64_t most_in_block(std::uint64_t want) const noexcept;
  // A run of the numbers of one tick, whose ids are evenly spaced. What it had of the next tick is nobody's.
  std::uint64_t draw_block(HotPage& page, std::size_t stripe, std::uint64_t want, std::uint64_t& first) noexcept;
  Block block_of(const Run& run) const noexcept;
  void make_room(std::size_t stripe, std::uint64_t want, Patience& patience);
  template <class Id>
  void draw_owned(std::uint64_t owner, std::span<Id> ids, std::size_t& written, Patience& patience);
  template <class Id>
  void fill_owned(std::uint64_t owner, std::span<Id> ids, std::size_t& written, const Cancelled& cancelled);
  template <class Id>
  void fill_owned_each(const Owners& owners, std::span<Id> ids, std::size_t& written, const Cancelled& cancelled);
  void require_owned(std::size_t id_bytes) const;
  Status refusal_without_owner() const noexcept;  // of calls that name no owner, if these ids have one
  void require_owner(bool has_owner) const;       // throws if these ids have one, or have none
  void follow() noexcept;                         // to the page that the generator draws from now, unless closed

  // Another thread may have made the page that follow() finds. Whatever is read there is read through its address, and
  // processors keep that order by themselves; the thread sanitizer wants it said.
#if defined(__SANITIZE_THREAD__)
  static constexpr std::memory_order kPageOrder = std::memory_order_acquire;
#else
  static constexpr std::memory_order kPageOrder = std::memory_order_relaxed;
#endif

  const TextForm text_form_;
  const std::shared_ptr<Generator> generator_;
  const SharedLog log_;
  const Shape shape_;
  const bool plain_;            // a strict segment of stride 1: the number is the id
  std::atomic<HotPage*> page_;  // one of the generator's; once closed, a page without a limit
  std::atomic<bool> closed_{false};
};

}  // namespace idgen
