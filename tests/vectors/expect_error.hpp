// The status and the message of the error that a call throws.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "idgen/status.hpp"
#include "vectors/bad_input.hpp"

// EXPECT_ERROR(LAYOUT, HasSubstr("nearest"), Layout::parse("...")): fails if nothing, or anything else, is thrown.
#define EXPECT_ERROR(status_name, message_matcher, ...)                                        \
  do {                                                                                         \
    const auto outcome = ::idgen::vectors::outcome_of([&] { (void)(__VA_ARGS__); });           \
    EXPECT_EQ(outcome.status, #status_name) << outcome.message;                                \
    EXPECT_THAT(outcome.message, message_matcher);                                             \
    EXPECT_LT(outcome.message.size(), 496u) << "idgen_error_t would cut: " << outcome.message; \
  } while (false)

namespace idgen::vectors {

// The message; fails if nothing, or another status, is thrown.
template <class Work>
std::string error_of(Status status, Work&& work) {
  const Outcome outcome = outcome_of(work);
  EXPECT_EQ(outcome.status, status_text(status).name) << outcome.message;
  return outcome.message;
}

}  // namespace idgen::vectors
