#include "id_input.hpp"

#include <iostream>
#include <sstream>

#include "failure.hpp"

namespace idgen_tool {

std::uint64_t parse_id(const std::string& text) {
  ErrorSlot error;
  std::uint64_t id = 0;
  idgen_status_t status;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    // The library's hex has a fixed width; people write fewer digits.
    std::string digits = text.substr(2);
    if (digits.size() < 16) digits.insert(0, 16 - digits.size(), '0');
    status = idgen_parse(digits.data(), digits.size(), IDGEN_TEXT_HEX, &id, error);
  } else {
    status = idgen_parse(text.data(), text.size(), IDGEN_TEXT_DECIMAL, &id, error);
  }
  if (status != IDGEN_OK) {
    throw Failure(status, std::string(error.raw.message) + ". Ids are read in decimal, or in hexadecimal after 0x");
  }
  return id;
}

void for_each_id(const std::vector<std::string>& arguments, const std::function<void(std::uint64_t)>& use) {
  for (const std::string& argument : arguments) {
    if (argument != "-") {
      use(parse_id(argument));
      continue;
    }
    std::size_t number = 0;
    for (std::string line; std::getline(std::cin, line);) {
      ++number;
      std::istringstream words(line);
      for (std::string word; words >> word;) {
        std::uint64_t id;
        try {
          id = parse_id(word);
        } catch (const Failure& failure) {
          throw Failure(failure.status(), "standard input, line " + std::to_string(number) + ": " + failure.what());
        }
        use(id);
      }
    }
    if (std::cin.bad()) throw IoError("cannot read standard input");
  }
}

}  // namespace idgen_tool
