#include <atomic>

#include "generator/generator.hpp"

namespace idgen {

unsigned thread_stripe() noexcept {
  static std::atomic<unsigned> threads{0};
  static thread_local unsigned mine = ~0u;
  if (mine == ~0u) mine = threads.fetch_add(1, std::memory_order_relaxed) % kThreadStripes;
  return mine;
}

}  // namespace idgen
