// An atomic whose every step a search decides about: what a load sees, and which thread goes on. See search.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace idgen::search {

enum class Kind : std::uint8_t {
  load,
  store,
  exchange,
  add,
  compare_exchange,
  lock,
  unlock,
  peek,  // at what a lock guards: nobody else sees it meanwhile, so it is no step of its own
  poke,
  happens,  // something that the oracle is told
};

// What a thread does next.
struct Step {
  Kind kind{};
  std::uint8_t place = 0;
  std::memory_order order{};
  std::memory_order failure{};
  std::uint64_t operand = 0;
  std::uint64_t expected = 0;
  bool operator==(const Step&) const = default;
};

// Within a thread of a search: what the step gives. It does not return if that is not decided yet.
std::uint64_t take(const Step& step) noexcept;
// The next place of the memory that is searched.
std::uint8_t new_place(std::uint64_t initial) noexcept;

template <class T>
class Atomic {
 public:
  Atomic(T initial = 0) noexcept : place_(new_place(initial)) {}  // NOLINT: as std::atomic
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return take({.kind = Kind::load, .place = place_, .order = order});
  }
  void store(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    take({.kind = Kind::store, .place = place_, .order = order, .operand = value});
  }
  T exchange(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return take({.kind = Kind::exchange, .place = place_, .order = order, .operand = value});
  }
  T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return take({.kind = Kind::add, .place = place_, .order = order, .operand = value});
  }
  // It never fails without a reason: then it would only try again.
  bool compare_exchange_weak(T& expected, T value, std::memory_order order, std::memory_order failure) noexcept {
    const T found = take({.kind = Kind::compare_exchange,
                          .place = place_,
                          .order = order,
                          .failure = failure,
                          .operand = value,
                          .expected = expected});
    const bool is_done = found == expected;
    expected = found;
    return is_done;
  }

 private:
  const std::uint8_t place_;
};

}  // namespace idgen::search
