// What the guarantees of docs/guarantees.md rest on, checked where it is kept: IDGEN_ASSERT("I4: the counter only moves
// up", condition).
//
// For builds that are tested: the presets dev, asan and tsan, and the simulation in every build (IDGEN_ASSERTIONS in
// CMake). In what users get it is nothing: library code never ends their process. So a condition has no effects, and
// whatever can come about outside of this library (what a store answers, what a clock says) is an error and no
// assertion.
#pragma once

#ifndef IDGEN_ASSERTIONS
#define IDGEN_ASSERTIONS 0
#endif

#if IDGEN_ASSERTIONS

#include <cstdio>
#include <cstdlib>

namespace idgen {

[[noreturn]] inline void assertion_failed(const char* guarantee, const char* condition, const char* file,
                                          int line) noexcept {
  std::fprintf(stderr, "idgen: not kept: %s: %s (%s:%d)\n", guarantee, condition, file, line);
  std::abort();
}

}  // namespace idgen

#define IDGEN_ASSERT(guarantee, condition) \
  ((condition) ? static_cast<void>(0) : ::idgen::assertion_failed(guarantee, #condition, __FILE__, __LINE__))

#else

// Not evaluated, but compiled: it does not rot, and what it names is in use.
#define IDGEN_ASSERT(guarantee, condition) static_cast<void>(sizeof(!(condition)))

#endif
