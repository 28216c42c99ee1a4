// What the fuzzers of the parsers have in common: each is fed any bytes, and either reads them or refuses them with an
// Error that a person can read. How to run them: CONTRIBUTING.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "idgen/status.hpp"

namespace idgen::fuzz {

// One input. Each fuzzer defines it.
void read(std::string_view input);

inline void expect(bool is_so, const char* what) {
  if (is_so) return;
  std::fprintf(stderr, "expected: %s\n", what);
  std::abort();
}

// What is quoted from the input may not break the line.
inline void expect_message(const std::string& message) {
  expect(!message.empty(), "an error says something");
  for (const char c : message) expect(static_cast<unsigned char>(c) >= ' ' && c != 0x7f, "a message is one line");
}

// What `parser` makes of the input; nothing if it refuses it.
template <class Parser>
auto parsed(Parser&& parser) -> std::optional<decltype(parser())> {
  try {
    return parser();
  } catch (const Error& error) {
    expect_message(error.message());
    return std::nullopt;
  }
}

// The first byte, which chooses what is done with the rest.
inline unsigned take(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte;
}

}  // namespace idgen::fuzz

extern "C" [[gnu::used]] inline int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  idgen::fuzz::read({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
