// What a generator's fast path uses, and the lock of its slow path, in one page that a forked child finds zeroed: no
// counter has a limit, no lock is held, and `alive` is false.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>

#include "idgen/mutex.hpp"
#include "reserve/counter.hpp"
#include "runtime/fork_page.hpp"

namespace idgen {

class Supply;

// One of several counters that are fed with blocks from the main one, so that threads do not compete for a cache line.
struct Stripe {
  Counter counter;
  Mutex mutex;  // of its refill
};

struct HotPage {
  Counter counter;
  // How many ticks the counter may run ahead of the clock: 0, unless borrowing, a crash or a clock set back require
  // more (I6). As a signed number below 0: it is behind, at ticks that were slept through (missed_ticks.hpp).
  std::atomic<std::uint64_t> slack;
  // The bits of every id that are not its number: the node's. Set before the first range is opened, and then constant
  // for the life of the page: a leased worker is known only by then, and a child gets another one.
  std::atomic<std::uint64_t> fixed;
  // False in a child: then everything else here is zero, and this process has reserved nothing.
  std::atomic<bool> alive;
  // Whose ranges the counter draws from, from its first request on. Null in a child, even if host code forked it in the
  // middle of a call; then the child's own.
  std::atomic<const Supply*> supply;
  alignas(64) Mutex mutex;
  bool beginning IDGEN_GUARDED_BY(mutex);  // a thread has the turn to begin or settle a feed
  std::condition_variable changed;

  // As many as the page was made with room for, right behind it. Those without a block have a limit of 0.
  Stripe* stripes() noexcept { return reinterpret_cast<Stripe*>(this + 1); }
};

inline std::shared_ptr<ForkPage<HotPage>> make_hot_page(std::size_t stripes) {
  static_assert(sizeof(HotPage) % alignof(Stripe) == 0);
  return std::make_shared<ForkPage<HotPage>>(stripes * sizeof(Stripe));
}

}  // namespace idgen
