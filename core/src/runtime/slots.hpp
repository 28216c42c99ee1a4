// What a process shares by a key. A value is made, and given up, by one thread at a time and with no lock held
// meanwhile, since that may ask a store or the host; others who want it wait.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "idgen/mutex.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"

namespace idgen {

template <class T>
struct Slot {
  Mutex mutex;
  std::condition_variable changed;
  bool is_busy IDGEN_GUARDED_BY(mutex) = false;  // somebody makes the value, or gives it up
  std::weak_ptr<T> value IDGEN_GUARDED_BY(mutex);
};

// While it lives, its thread alone makes or gives up the value, for which it releases the slot's lock.
template <class T>
class SlotTurn {
 public:
  // REQUIRES: nobody is at it.
  explicit SlotTurn(Slot<T>& slot) IDGEN_REQUIRES(slot.mutex) : slot_(slot) { slot_.is_busy = true; }
  // What there is from now on.
  void set(const std::shared_ptr<T>& value) {
    const MutexLock lock(slot_.mutex);
    slot_.value = value;
  }
  ~SlotTurn() {
    const MutexLock lock(slot_.mutex);
    slot_.is_busy = false;
    slot_.changed.notify_all();
  }
  SlotTurn(const SlotTurn&) = delete;
  SlotTurn& operator=(const SlotTurn&) = delete;

 private:
  Slot<T>& slot_;
};

// Null pages in a child: it shares nothing yet, whatever the parent's map says.
template <class T>
class Slots {
 public:
  std::shared_ptr<Slot<T>> at(const std::string& key) {
    State& state = *page_.get();
    const MutexLock lock(state.mutex);
    if (!state.slots) state.slots = new std::map<std::string, std::shared_ptr<Slot<T>>>;
    std::shared_ptr<Slot<T>>& slot = (*state.slots)[key];
    if (!slot) slot = std::make_shared<Slot<T>>();
    return slot;
  }

 private:
  struct State {
    Mutex mutex;
    std::map<std::string, std::shared_ptr<Slot<T>>>* slots IDGEN_GUARDED_BY(mutex);
  };
  MadeOnce<ForkPage<State>> page_;
};

}  // namespace idgen
