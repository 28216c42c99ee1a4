// Files of keys for hidden ids, no part of which is in a message.
#include "fuzz.hpp"
#include "master_keys.hpp"

void idgen::fuzz::read(std::string_view input) {
  const bool has_semicolons = take(input) % 2 == 0;
  idgen::cipher::MasterKeys keys;
  try {
    keys.parse("key file", input, has_semicolons);
  } catch (const Error& error) {
    expect_message(error.message());
    for (std::size_t at = 0; at + 12 <= input.size(); ++at) {
      const std::string_view part = input.substr(at, 12);
      if (part.find_first_not_of("0123456789abcdefABCDEF") != part.npos) continue;
      expect(error.message().find(part) == std::string::npos, "no part of a key in a message");
    }
    return;
  }
  expect(keys.count() > 0, "a file that is accepted has a key");
}
