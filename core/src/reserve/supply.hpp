// Feeds a counter with reservations: one in use, a chain of ready ones (range_chain.hpp), one loader (refill.hpp).
//
// The limit of the range in use is first set to a mark inside it. By passing the mark, the fast path requests the next
// range without knowing it: the slow path raises the limit to the range's end and starts the loader. So a caller waits
// only when all ranges are used up, and nothing happens while nobody draws.
//
// How much is held follows the rate of drawing, measured at each of these moments: see sizing.hpp. As long as less is
// held, the loader adds another range.
//
// Loads are made on the store's lane, so that a caller never waits longer than it wants to. The caller loads by itself
// if the lane cannot: if no thread can be started, and on the lane's own thread (if a store of the host draws from
// another generator on the same store).
//
// None of the host's code runs under the lock: neither its clock (Options::present), its log nor its store.
//
// Knows nothing about time or ids: a segment and a window of time are both a range of numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "idgen/log.hpp"
#include "idgen/mutex.hpp"
#include "idgen/runtime.hpp"
#include "idgen/status.hpp"
#include "reserve/hot_page.hpp"
#include "reserve/patience.hpp"
#include "reserve/range_chain.hpp"
#include "reserve/refill.hpp"
#include "reserve/sizing.hpp"
#include "runtime/fork_page.hpp"

namespace idgen {

// A request for a range.
struct Demand {
  std::uint64_t wanted = 0;  // numbers, at least; 0: the source decides
  std::uint64_t rate = 0;    // numbers per second drawn recently
  // A grant below it is not used: the store lost what it granted before, and issuing stops.
  std::uint64_t highest_end = 0;
};

// Where ranges come from. It gets one call at a time.
class Source {
 public:
  virtual ~Source() = default;
  // One durable grant, above all earlier ones. Throws if there is none, or if the outcome is unknown: then it is burned
  // (I5).
  virtual Range draw(const Demand& demand) IDGEN_RUNS_HOST_CODE = 0;
  // The end of the latest grant was not issued: the store may take it back if nobody has drawn since. Throws what the
  // store throws.
  virtual void give_back(const Range& unused) IDGEN_RUNS_HOST_CODE = 0;
  // For messages: what a number stands for, and what to do if the store lost commits.
  virtual std::string name_of(std::uint64_t number) const { return std::to_string(number); }
  virtual std::string after_regress() const = 0;
  // The owner is gone, whether or not something was given back.
  virtual void release() IDGEN_RUNS_HOST_CODE {}
  // The same in a copy of the process that was the owner: the original may go on.
  virtual void abandon() IDGEN_RUNS_HOST_CODE {}
};

// What the clock says about timed numbers, at one moment.
struct Present {
  std::uint64_t need = 0;  // the number wanted next
  std::uint64_t tick = 0;
};

struct SupplyStats {
  std::uint64_t granted = 0;  // numbers
  std::uint64_t remaining = 0;
  std::uint64_t refills = 0;
  std::uint64_t refill_failures = 0;
  std::uint64_t refill_ns_max = 0;
  std::uint64_t waits = 0;
  std::uint64_t wait_ns = 0;
  std::uint64_t issued = 0;
  std::uint64_t issued_ids = 0;
  std::uint64_t rate = 0;         // numbers per second
  std::uint64_t highest_end = 0;  // of all grants; 0: there was none
  bool is_loading = false;
  bool is_failing = false;       // the latest attempt failed
  bool is_used_up = false;       // and nothing is left: calls get `failure`
  std::optional<Error> failure;  // the latest
  std::int64_t failed_unix_ms = 0;

  // What another supply had done when it ended.
  void add_ended(const SupplyStats& other);
};

// The outcome for a number that was drawn, but not in the open range.
enum class Claim {
  granted,      // it may be issued: a range that holds it has been opened
  given_up,     // its range has passed, or it is in none: draw again
  would_block,  // given up too; only waiting would help, and the caller may not
};

class Supply : public std::enable_shared_from_this<Supply> {
 public:
  struct Options {
    std::uint64_t carry_mask;  // low bits of numbers that continue from range to range
    bool draws_first;          // numbers are drawn with Counter::draw(n), even if none are left
    Sizing sizing{};
    std::int64_t renew_ns = 0;         // asks for a range at least this often, even if nobody draws; 0: only on demand
    std::int64_t max_age_ns = 0;       // grants older than this are given up; 0: never
    std::int64_t close_wait_ns = 0;    // how long close() waits for a grant on its way
    std::uint64_t claims_from = 0;     // numbers below this may have been drawn from another page
    std::uint64_t used_end = 0;        // of the generator's supply before: a grant that begins below it is refused (I7)
    std::optional<Error> regressed{};  // what that supply throws, because the store has gone back: so does this one
    std::size_t stripes = 0;           // of the page
    bool leaves_rest = false;          // `present` may pass a range before its end: what is left of it is unused
    std::string subject;               // "tag 'orders'": begins log lines and messages
    std::shared_ptr<Lane> lane{};      // where loads are made; null: one of its own
    // True: this process is a copy of the one that asked for this supply's ranges, which are also the original's. Null:
    // nothing says so. Called with no lock held, before anything is granted, opened or given back.
    std::function<bool()> is_copied{};
    // Of timed numbers: reads the clock. Called with no lock held.
    std::function<Present()> present{};
    // Called under the lock before a range above the counter's position is opened, with the result of `present` and the
    // range's first number.
    std::function<void(const Present&, std::uint64_t first)> lifted{};
  };

  // Runtime and page are shared, because a grant on its way may outlive the generator.
  Supply(std::shared_ptr<Runtime> runtime, std::shared_ptr<ForkPage<HotPage>> page, std::unique_ptr<Source> source,
         Options options, Log log);

  // The first range, drawn by the caller. Throws what the source throws.
  void prime() IDGEN_RUNS_HOST_CODE;
  // After a prime() that threw: releases what it has acquired all the same (a worker).
  void drop() noexcept IDGEN_RUNS_HOST_CODE;

  // The counter gave nothing. True: the caller can try again. False: only waiting would help, and it may not wait.
  // Throws if the wait is over or pointless.
  bool refill(Patience& patience) IDGEN_RUNS_HOST_CODE;

  // The same for a thread that has drawn `number`, but not in the open range.
  Claim claim(std::uint64_t number, Patience& patience) IDGEN_RUNS_HOST_CODE;

  // Stops issuing for good, and nothing else: waits for nobody and calls nobody. Calls get Error{closed}.
  void seal() noexcept;
  // Seals, and gives back what is unused, except in a copy, and to a store that went back. What the store does not take
  // back is a gap and a line in the log, not a failure.
  void close() noexcept IDGEN_RUNS_HOST_CODE;
  // True, and sealed, once Options::is_copied has said so.
  bool was_copied() noexcept;
  std::uint64_t claims_from() const noexcept { return options_.claims_from; }
  bool is_sealed() const;
  // What it throws since the store has gone back; nothing if it has not.
  std::optional<Error> regressed() const;
  // Once sealed: the end of what was drawn here, or is left to nobody. What lies above may have been given back, and be
  // granted again; what lies below never is, unless the store goes back (I7).
  std::uint64_t used_end() const;
  // Once sealed: the number after the last one that was drawn.
  std::uint64_t closed_at() const;

  SupplyStats stats() const IDGEN_RUNS_HOST_CODE;

 private:
  // False in a child that goes on in the middle of its parent's call: what is here is the parent's, which goes on too.
  bool is_ours() const noexcept;
  void check_process() const;  // throws Error{forked} if it is not
  Claim open_range(std::optional<std::uint64_t> claimed, Patience& patience) IDGEN_RUNS_HOST_CODE;
  // Checks a grant (I7), and adds it to the ready ones.
  void accept(const Range& range) IDGEN_REQUIRES(page_.mutex);
  // Opens the counter up to the mark of the next range.
  void install(const Present& present) IDGEN_REQUIRES(page_.mutex);
  void stop_drawing() IDGEN_REQUIRES(page_.mutex);
  void seal_counter() noexcept;
  void pass_mark(std::uint64_t need) IDGEN_REQUIRES(page_.mutex);
  void start_loader() IDGEN_REQUIRES(page_.mutex);
  bool post_load() IDGEN_REQUIRES(page_.mutex);  // false: no thread can be started
  Demand demand() IDGEN_REQUIRES(page_.mutex);
  void load_posted(std::uint64_t ticket, const Demand& demand) IDGEN_RUNS_HOST_CODE;  // on the lane
  void load(const Demand& demand) IDGEN_RUNS_HOST_CODE;                               // the refill is this thread's
  void retire() IDGEN_RUNS_HOST_CODE;  // on the lane: gives up what is too old
  Present present() const IDGEN_RUNS_HOST_CODE { return options_.present ? options_.present() : Present{}; }
  void give_back(const Range& rest, const Ranges& ready) IDGEN_RUNS_HOST_CODE;
  bool may_give_back() noexcept;  // asked before each range: the store may take long
  // The source is free again. True: it is no longer needed; call let_source_go() after releasing the lock.
  bool leave_source() IDGEN_REQUIRES(page_.mutex);
  void let_source_go() IDGEN_RUNS_HOST_CODE;
  void release_source() IDGEN_RUNS_HOST_CODE;
  void watch_age() IDGEN_REQUIRES(page_.mutex);
  void watch_renewal() IDGEN_REQUIRES(page_.mutex);
  void renew() IDGEN_RUNS_HOST_CODE;  // on the lane
  std::uint64_t issued_ids() const IDGEN_REQUIRES(page_.mutex);
  bool is_more_wanted() const IDGEN_REQUIRES(page_.mutex);    // at once, whatever the mark says
  void check_guarantees() const IDGEN_REQUIRES(page_.mutex);  // where assertions are on
  Error unexpected() const noexcept;                          // of the exception that is being handled
  void load_failed(const Error& error) IDGEN_REQUIRES(page_.mutex);
  void say(LogLevel level, std::string_view what, std::string_view detail = {}) const noexcept IDGEN_RUNS_HOST_CODE;
  [[noreturn]] void fail_waiting(const Patience& patience) const IDGEN_REQUIRES(page_.mutex);

  const std::shared_ptr<Runtime> shared_runtime_;
  const std::shared_ptr<ForkPage<HotPage>> shared_page_;
  Runtime& runtime_;
  HotPage& page_;
  std::unique_ptr<Source> source_;  // of the thread that makes refill_ busy; null once closed
  const Options options_;
  const std::shared_ptr<Lane> lane_;
  const Log log_;
  const Error out_of_memory_{Status::no_memory, "out of memory"};  // set while there is work

  // It only moves on. Two facts do not end with a state: a store that went back (RangeChain::has_regressed) stops
  // issuing too, and is asked about later; is_copy_ is set in any state but `open`.
  enum class State {
    open,    // numbers are drawn, unless the store went back
    sealed,  // none is drawn any more; a grant on its way is kept, to be given back
    ending,  // a thread in close() waits for the loader, which leaves the source to it
    ended,   // that thread gives back what is left; a loader that comes later burns its grant, and releases the source
  };
  std::atomic<bool> is_copy_{false};    // what is held is also the original's
  std::atomic<bool> went_back_{false};  // the store has: what is held may have been granted to others since
  State state_ IDGEN_GUARDED_BY(page_.mutex) = State::open;
  RangeChain chain_ IDGEN_GUARDED_BY(page_.mutex);
  Refill refill_ IDGEN_GUARDED_BY(page_.mutex);
  bool watching_ IDGEN_GUARDED_BY(page_.mutex) = false;  // retire() is posted
  std::atomic<std::uint64_t> stripes_issued_{0};         // by stripes that are sealed
  mutable std::uint64_t most_issued_ IDGEN_GUARDED_BY(page_.mutex) = 0;
  SupplyStats stats_ IDGEN_GUARDED_BY(page_.mutex);
};

}  // namespace idgen
