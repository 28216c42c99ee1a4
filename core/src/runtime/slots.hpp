// What a process shares by a key. A value is made, and given up, by one thread at a time and with no lock held meanwhile, since that may ask a store or
// the host; others who want it wait.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"

namespace idgen {

template <class T>
struct Slot {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_busy = false;  // somebody makes the value, or gives it up
  std::weak_ptr<T> value;
};

// While it lives, its thread alone makes or gives up the value; the slot's mutex is free.
template <class T>
class SlotTurn {
 public:
  // REQUIRES: the slot's lock is held, and nobody is at it. Unlocks.
  SlotTurn(Slot<T>& slot, std::unique_lock<std::mutex>& lock) : slot_(slot) {
    slot_.is_busy = true;
    lock.unlock();
  }
  // What there is from now on.
  void set(const std::shared_ptr<T>& value) {
    const std::lock_guard lock(slot_.mutex);
    slot_.value = value;
  }
  ~SlotTurn() {
    const std::lock_guard lock(slot_.mutex);
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
    const std::lock_guard lock(state.mutex);
    if (!state.slots) state.slots = new std::map<std::string, std::shared_ptr<Slot<T>>>;
    std::shared_ptr<Slot<T>>& slot = (*state.slots)[key];
    if (!slot) slot = std::make_shared<Slot<T>>();
    return slot;
  }

 private:
  struct State {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<Slot<T>>>* slots;
  };
  MadeOnce<ForkPage<State>> page_;
};

}  // namespace idgen
