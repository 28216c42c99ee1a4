// Something that is made once, on first use, and never destroyed, because it may be used after static destructors. On a
// ForkPage a child finds it unmade.
//
// Not a static of a function: its guard makes a second thread wait for the first, and a child forked at that moment
// would wait for a thread that it does not have. Here nobody waits: the second to finish discards its result.
// tests/abi/check searches the whole library for these guards.
#pragma once

#include <atomic>
#include <memory>

namespace idgen {

template <class T>
class MadeOnce {
 public:
  constexpr MadeOnce() = default;

  // make() returns a std::unique_ptr<T>; several threads may be in it at once. Throws what it throws, and then stays
  // unmade.
  template <class Make>
  T& get(Make&& make) {
    T* made = made_.load(std::memory_order_acquire);
    if (made != nullptr) return *made;
    std::unique_ptr<T> mine = make();
    if (made_.compare_exchange_strong(made, mine.get(), std::memory_order_acq_rel)) return *mine.release();
    return *made;
  }
  T& get() {
    return get([] { return std::make_unique<T>(); });
  }

  // Null if it has not been made.
  T* made() const noexcept { return made_.load(std::memory_order_acquire); }

 private:
  std::atomic<T*> made_{nullptr};
};

}  // namespace idgen
