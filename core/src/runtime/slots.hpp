// Values that a process shares by key. One thread at a time makes or gives up a value, with no lock held, because that
// may call a store or the host. Others who want the value wait.
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
  bool is_busy IDGEN_GUARDED_BY(mutex) = false;  // a thread is making the value, or giving it up
  std::weak_ptr<T> value IDGEN_GUARDED_BY(mutex);
};

// While it exists, only its thread makes or gives up the value, with the slot's lock released.
template <class T>
class SlotTurn {
 public:
  // REQUIRES: no thread is making or giving up a value.
  explicit SlotTurn(Slot<T>& slot) IDGEN_REQUIRES(slot.mutex) : slot_(slot) { slot_.is_busy = true; }
  // The value from now on.
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

// Null in a child: it shares nothing yet, whatever the parent's map says.
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
