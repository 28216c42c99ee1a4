// Feeds a counter with reservations: one in use, one ready, one loader.
//
// The limit of the range in use first stands at a mark inside it. Passing the mark is how the fast path, without knowing, asks for the next
// range: the slow path lifts the limit to the range's end and starts the loader. So a caller waits only when both ranges are used up, and
// nothing at all happens while nobody asks.
//
// Knows nothing of time or ids: a segment and a window of time are both a range of numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "idgen/log.hpp"
#include "idgen/runtime.hpp"
#include "idgen/status.hpp"
#include "reserve/hot_page.hpp"
#include "reserve/patience.hpp"
#include "runtime/fork_page.hpp"

namespace idgen {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // exclusive
  std::uint64_t size() const noexcept { return end - first; }
};

// Where ranges come from. One call at a time.
class Source {
 public:
  virtual ~Source() = default;
  // One durable grant, above all earlier ones. Throws when there is none, or when the outcome is unknown: then it is burned (I5).
  virtual Range draw() = 0;
  // Nobody issued the end of the latest grant: the store may take it back if nobody has drawn since. Throws what the store throws.
  virtual void give_back(const Range& unused) = 0;
  // For messages: what a number stands for, and what to do when the store went back.
  virtual std::string name_of(std::uint64_t number) const { return std::to_string(number); }
  virtual std::string after_regress() const = 0;
  // The owner has gone, whether or not something was given back.
  virtual void release() {}
};

struct SupplyStats {
  std::uint64_t granted = 0;  // numbers
  std::uint64_t remaining = 0;
  std::uint64_t refills = 0;
  std::uint64_t refill_failures = 0;
  std::uint64_t refill_ns_max = 0;
  std::uint64_t waits = 0;
  std::uint64_t wait_ns = 0;
};

class Supply : public std::enable_shared_from_this<Supply> {
 public:
  struct Options {
    std::uint64_t carry_mask;    // low bits of numbers that go on from range to range
    bool draws_first;            // numbers are drawn by Counter::draw(n), whether or not there are any left
    double prefetch;             // share of a range after which the next is asked for
    std::int64_t close_wait_ns;  // how long close() waits for a grant that is on its way
    std::string subject;         // "tag 'orders'": begins log lines and messages
    // Called under the lock when a range is about to open that lies above where the counter stands, with its first number.
    std::function<void(std::uint64_t)> lifted;
  };

  // Runtime and page are shared, because a grant on its way may outlive the generator.
  Supply(std::shared_ptr<Runtime> runtime, std::shared_ptr<ForkPage<HotPage>> page, std::unique_ptr<Source> source,
         Options options, Log log);

  // The first range, drawn by the caller. Throws what the source throws.
  void prime();

  // The counter could not give `need`, the number wanted next. True: the caller can try again. False: only waiting would help, and it may
  // not wait. Throws when waiting is over or in vain.
  bool refill(std::uint64_t need, Patience& patience);

  // The same for one who has drawn `number`, but not in the open range. True: it is in a range that is open now, and may be issued. False: it is
  // given up, because its range has passed, or because only waiting would help.
  bool claim(std::uint64_t number, Patience& patience);

  // Stops issuing for good and gives back what is unused. Throws what the store throws; is closed all the same.
  void close();

  SupplyStats stats() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool open_range(bool claimed, std::uint64_t need, Patience& patience);
  void accept(const Range& range);  // checks a grant (I7) and makes it the range in use or the one ready
  void install(Range range);        // opens the counter up to the mark
  void pass_mark(std::uint64_t need);
  void start_loader();
  void load();  // on the background thread
  Error unexpected(const std::exception& error) const noexcept;
  void load_failed(const Error& error);
  [[noreturn]] void fail_waiting(const Patience& patience) const;

  const std::shared_ptr<Runtime> shared_runtime_;
  const std::shared_ptr<ForkPage<HotPage>> shared_page_;
  Runtime& runtime_;
  HotPage& page_;
  std::unique_ptr<Source> source_;  // gone once closed
  const Options options_;
  const Log log_;
  const Error out_of_memory_{Status::no_memory, "out of memory"};  // made while there is some

  // All under page_.mutex.
  bool closed_ = false;
  bool close_waits_ = false;
  Range current_;
  std::optional<Range> ready_;
  bool loading_ = false;
  std::uint64_t highest_end_ = 0;  // I7: the witness
  std::optional<Error> failure_;   // of the latest attempt
  bool failed_for_good_ = false;   // issuing has stopped: the store went back
  std::uint64_t failures_in_a_row_ = 0;
  std::int64_t retry_at_ns_ = 0;  // mono; no attempt before
  SupplyStats stats_;
};

}  // namespace idgen
