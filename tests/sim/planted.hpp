// What a copy of the core's sources that plant.py made sees first: the switches of its faults, and the atomics of its
// hot page.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace idgen::planted {

consteval std::uint64_t id_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// The fault that is switched on; 0: none.
inline std::uint64_t active = 0;

}  // namespace idgen::planted

#define IDGEN_FAULT(name) (::idgen::planted::active == ::idgen::planted::id_of(#name))

#if defined(IDGEN_SEARCH)
#include "sim/search_atomic.hpp"
namespace idgen::planted {
template <class T>
using Atomic = search::Atomic<T>;
}
#else
#include "sim/stepped_atomic.hpp"
namespace idgen::planted {
template <class T>
using Atomic = sim::SteppedAtomic<T>;
}
// In scheduler.cpp.
namespace idgen::sim {
unsigned& stripe_of_thread() noexcept;
void note_failed_assertion(const char* guarantee, const char* condition) noexcept;
}  // namespace idgen::sim
#endif
