// What snowflake and segment generators share: a hot page, a supply, and being bound to one process image.
#pragma once

#include <memory>
#include <string>

#include "generator/log_list.hpp"
#include "idgen/config.hpp"
#include "idgen/handle.hpp"
#include "reserve/hot_page.hpp"
#include "reserve/supply.hpp"
#include "runtime/fork_page.hpp"

namespace idgen {

class Generator : public std::enable_shared_from_this<Generator> {
 public:
  virtual ~Generator();

  // Draws the first reservation. Before that only describe() works. From here on quiesce() and reset() know of it.
  void open(Patience& patience) IDGEN_RUNS_HOST_CODE;

  // Slow path: the counter gave nothing. True: try again. False: only waiting would help, and the caller may not.
  virtual bool make_room(Patience& patience) IDGEN_RUNS_HOST_CODE = 0;
  // A strict segment's number was drawn, but not in the open range.
  Claim claim(std::uint64_t drawn, Patience& patience) IDGEN_RUNS_HOST_CODE;
  Stats stats() const IDGEN_RUNS_HOST_CODE;
  virtual std::string describe() const = 0;
  // "segment 'orders', tag 'orders' of namespace 'shop'"
  std::string summary() const;

  // The last handle was closed: gives the reservation back. In a child: leaves it to the parent. Idempotent.
  void close() noexcept IDGEN_RUNS_HOST_CODE;
  // Gives back what is reserved, and the worker. The next call waits for reset(), then starts over. False: after
  // wait_max another thread was still at the store, to begin anew.
  bool rest() noexcept IDGEN_RUNS_HOST_CODE;
  // After reset(). Nothing is given back: it may belong to the original of which this process is a copy.
  void abandon() noexcept IDGEN_RUNS_HOST_CODE;
  // Nothing more is drawn from what is reserved. Waits for nobody and calls nobody. Then rest() or abandon().
  void seal() noexcept;
  // The same if this process was copied since; true for the one call that finds it so. Then settle_soon().
  bool seal_if_copied() noexcept;
  // Says so in the log and gives up the worker, in the background: it does not need another call.
  void settle_soon() noexcept;
  // For all handles.
  LogList& logs() const noexcept { return *logs_; }

  const Layout& layout() const noexcept { return layout_; }
  const Shape& shape() const noexcept { return shape_; }
  // The one to draw from now. It stays valid as long as the generator, but may be followed by another.
  HotPage& page() const noexcept;
  const Config& config() const noexcept { return config_; }
  Runtime& runtime() const noexcept { return *runtime_; }
  const std::string& subject() const noexcept { return subject_; }
  std::int64_t wait_max_ns() const noexcept { return wait_max_ns_; }

  // Takes a block of at least `want`, if there are that many, from the main counter into a stripe.
  enum class Fed {
    yes,
    no,          // the main counter has none
    by_another,  // another thread is doing it; only if the caller may not wait
  };
  Fed feed_stripe(std::size_t index, std::uint64_t want, bool may_wait) noexcept IDGEN_RUNS_HOST_CODE;

  std::atomic<std::uint32_t> handles{1};
  std::string
      place;  // its key in the registry, kept from when it was made: a relative path may mean another file by now

 protected:
  // Opens the store. Waits for one that is down, up to wait_max.
  Generator(const Config& config, Layout layout, std::string subject, Patience& patience);

  using Page = std::shared_ptr<ForkPage<HotPage>>;

  // What numbers are drawn from: a page, and the supply that fills it. A forked child begins another one, and so does a
  // generator that has lost its leased worker: the node in an id is that of the page its number comes from.
  struct Feed {
    Page page;
    std::shared_ptr<Supply> supply;
    const Feed* before = nullptr;                 // in this process image
    mutable std::atomic<bool> has_ended{false};   // sealed, and the generator goes on with another one
    mutable std::atomic<bool> is_settled{false};  // a thread gives back what it held, or has done so
  };

  virtual std::unique_ptr<Source> make_source(const Page& page) = 0;
  // The kind's own settings: sizing and max_age_ns; for timed numbers, present and lifted. These may run when the
  // generator is gone, so they refer to nothing of it but `page`.
  virtual void set_options(Supply::Options& options, const Page& page) = 0;
  // Before a feed begins that follows another one: no number of it may come before those that were drawn from `ended`.
  virtual void continue_after(const Feed& ended, Supply::Options& options, HotPage& page) = 0;
  // The reason why a child cannot start over, or empty.
  virtual std::string fork_obstacle() const = 0;

  // False in a child that has not begun.
  bool is_alive() const noexcept { return (*home_)->alive.load(std::memory_order_acquire); }
  // This process is a child or a copy of the one that made this generator.
  bool is_copy() const noexcept { return is_copy_.load(); }
  // REQUIRES: ensure_alive() has returned true.
  const Feed& feed() const noexcept { return *feed_.load(std::memory_order_acquire); }
  // In a child: starts over, or throws Error{forked}. False: this would wait for the store, and the caller may not.
  bool ensure_alive(Patience& patience) IDGEN_RUNS_HOST_CODE;
  // A call of the feed's supply threw `error`, because the feed has ended meanwhile: to be replaced.
  bool has_just_ended(const Feed& feed, const Error& error) const noexcept;
  // Nothing more is drawn from this feed; what it holds is given back. Then begins another one, unless another thread
  // has. False: as ensure_alive(); it is done in the background.
  bool replace(const Feed& feed, Patience& patience) IDGEN_RUNS_HOST_CODE;
  // For stats(), of a generator that has begun: what the kind knows.
  virtual void complete(Stats& stats, const SupplyStats& supply) const IDGEN_RUNS_HOST_CODE = 0;
  // For summary(): "tag 'orders'", "worker 7".
  virtual std::string place_text() const = 0;
  // For describe(): where the gene comes from.
  std::string gene_text() const;
  // For describe(): until when a copy of this machine may issue the original's ids.
  std::string until_copy_is_noticed() const;
  void log(LogLevel level, const std::string& message) const IDGEN_RUNS_HOST_CODE;

  Shape shape_;  // first: the page is made by it
  const Config config_;
  const Layout layout_;
  const std::string subject_;
  const std::shared_ptr<Runtime> runtime_;
  // The first feed's, also in a child. Its `alive` is about this process image, its lock about who starts over.
  const Page home_;
  const std::shared_ptr<LogList> logs_;
  const std::int64_t wait_max_ns_;
  const std::shared_ptr<Store> store_;
  std::atomic<bool> has_entered_{false};  // the store
  std::atomic<std::uint64_t> forks_{0};

 private:
  // Begins a feed in place of `ended`, or, when it opens and in a child, of nothing.
  bool start_over(const Feed* ended, Patience& patience) IDGEN_RUNS_HOST_CODE;
  // Null: this machine was copied meanwhile, so the first reservation may also be the original's.
  std::unique_ptr<Feed> primed_feed(Page page, const Feed* before, std::uint64_t claims_from,
                                    Patience& patience) IDGEN_RUNS_HOST_CODE;
  // In its turn.
  void begin(Patience& patience) IDGEN_RUNS_HOST_CODE;
  // The turn in which one thread begins or settles a feed. False: another thread still had it after `most_ns`.
  bool take_turn(std::int64_t most_ns) noexcept;
  void leave_turn() noexcept;
  // In its turn, if that can be had in time.
  void settle(const Feed& feed) noexcept IDGEN_RUNS_HOST_CODE;
  void settle_sealed() noexcept IDGEN_RUNS_HOST_CODE;
  void rest_in_turn() noexcept IDGEN_RUNS_HOST_CODE;
  // Ends what all generators of this process have reserved, if this machine was copied.
  void look_for_copy();
  void watch_for_copy() noexcept;
  void keep_watching() noexcept;

  std::atomic<bool> is_replacing_{false};     // posted to the lane
  std::atomic<std::uint64_t> watched_in_{0};  // the process image that has the timer of watch_for_copy()
  std::shared_ptr<Lane> watch_lane_;          // constant once it is set
  std::atomic<const Feed*> feed_{nullptr};    // the latest; replaced only in a turn
  std::atomic<bool> closed_{false};
  std::atomic<bool> is_copy_{false};
  std::atomic<bool> has_other_pages_{false};  // than home_, in this process image or in one that it comes from
};

// Throw any error of a configuration or a store. May block.
std::shared_ptr<Generator> make_segment_generator(const Config& config, Patience& patience);
std::shared_ptr<Generator> make_snowflake_generator(const Config& config, Patience& patience);

// What describe() would say about such a generator. They reserve nothing.
std::string describe_segment_generator(const Config& config);
std::string describe_snowflake_generator(const Config& config);

// Who draws, for messages and rows: "process 4711 on db-3".
std::string holder_text();

// order = relaxed: how many stripes the threads share, and the index of this thread's.
inline constexpr std::size_t kThreadStripes = 32;
unsigned thread_stripe() noexcept;

inline constexpr std::size_t kMostStripes = 4096;  // the most that `counters` allows

}  // namespace idgen
