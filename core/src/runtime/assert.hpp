// The invariants of docs/guarantees.md, checked where they are kept: IDGEN_ASSERT("I4: the counter only moves up",
// condition).
//
// For builds that are tested: the presets dev, asan and tsan, and the simulation in every build (IDGEN_ASSERTIONS in
// CMake). In what users get it is empty: library code never ends their process. So a condition has no side effects, and
// what comes from outside this library (a store's answer, a clock) gives an error, not an assertion.
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

// Not evaluated, but compiled: it stays valid, and what it names counts as used.
#define IDGEN_ASSERT(guarantee, condition) static_cast<void>(sizeof(!(condition)))

#endif
