// An atomic before each step of which the simulator may let another thread go on.
#pragma once

#include <atomic>

namespace idgen::sim {

// In a simulated thread: others may run now.
void step_of_atomic() noexcept;

template <class T>
class SteppedAtomic : public std::atomic<T> {
 public:
  using std::atomic<T>::atomic;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    step_of_atomic();
    return std::atomic<T>::load(order);
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step_of_atomic();
    std::atomic<T>::store(value, order);
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step_of_atomic();
    return std::atomic<T>::exchange(value, order);
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step_of_atomic();
    return std::atomic<T>::fetch_add(value, order);
  }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }
  operator T() const noexcept { return load(); }
  bool compare_exchange_strong(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step_of_atomic();
    return std::atomic<T>::compare_exchange_strong(expected, value, order);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    step_of_atomic();
    return std::atomic<T>::compare_exchange_strong(expected, value, order);
  }
  bool compare_exchange_weak(T& expected, T value, std::memory_order order, std::memory_order failure) noexcept {
    step_of_atomic();
    return std::atomic<T>::compare_exchange_strong(expected, value, order, failure);
  }
};

}  // namespace idgen::sim
