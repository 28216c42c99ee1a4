// All that threads can do: an exhaustive search of their interleavings, and of what each load may see by the rules of
// C++'s memory orders.
//
// The threads run the real code. Each is a list of actions, and an action is a function whose atomics are
// search::Atomic. What it does next depends only on what its steps gave so far, so the search runs it again up to the
// step that is not decided, once for each different history; from then on that step is known.
//
// The memory is a machine with views, the usual model of release, acquire and relaxed: each place keeps the stores that
// it got, in order; each thread knows, for each place, the latest store that it may not go behind. A load may see any
// store from there on. A released store carries what its thread knew; who acquires it knows that too. A
// read-modify-write stands right behind what it read. What is left out: a load that sees a store which comes later in
// its own program's order (no compiler and no machine moves an atomic store ahead of an acquire, and all of the
// counter's loads that decide something acquire), seq_cst and fences, which the counter does not use.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/search_atomic.hpp"

namespace idgen::search {

// What the oracle is told. At most 64 numbers: each is a bit.
enum class Event : std::uint8_t {
  opened,      // a range is ours: operand = first, expected = end
  given_back,  // it is no longer
  issued,      // a number was issued: operand
};

// Within an action.
void tell(Event event, std::uint64_t first, std::uint64_t end = 0) noexcept;
// The one lock, and what it guards.
void lock() noexcept;
void unlock() noexcept;
std::uint8_t new_guarded(std::uint64_t value) noexcept;
class Guarded {
 public:
  explicit Guarded(std::uint64_t initial = 0) noexcept : place_(new_guarded(initial)) {}
  std::uint64_t get() const noexcept { return take({.kind = Kind::peek, .place = place_}); }
  void set(std::uint64_t value) noexcept { take({.kind = Kind::poke, .place = place_, .operand = value}); }

 private:
  const std::uint8_t place_;
};

using Action = std::function<void()>;

struct Program {
  Action start;  // before the threads
  std::vector<std::vector<Action>> threads;
};

struct Result {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;
  double interleavings = 0;            // orders of steps, with what each load saw
  std::optional<std::string> mistake;  // with the shortest way to it
};

// Searches everything that the threads can do with the objects that make() makes. Throws std::runtime_error if there
// are more than `most` states.
Result search(const std::function<Program()>& make, std::uint64_t most = 10'000'000);

}  // namespace idgen::search
