#include "shared/id_input.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "shared/failure.hpp"
#include "shared/stop.hpp"

namespace idgen_tool {

idgen_wide_id_t parse_id(const std::string& text, unsigned bytes) {
  ErrorSlot error;
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  // The library's texts have a fixed width; people write fewer digits.
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  std::string digits = is_hex ? text.substr(2) : text;
  const std::size_t width = is_hex ? 2 * bytes : bytes == 16 ? 39 : 0;
  if (!digits.empty() && digits.size() < width) digits.insert(0, width - digits.size(), '0');
  const idgen_status_t status =
      idgen_parse_wide(digits.data(), digits.size(), is_hex ? IDGEN_TEXT_HEX : IDGEN_TEXT_DECIMAL, &id, error);
  if (status != IDGEN_OK)
    throw Failure(status, std::string(error.raw.message) + ". Ids are read in decimal, or in hexadecimal after 0x");
  if (id.size != bytes) {
    throw Failure(IDGEN_E_VALUE, "'" + text + "' is an id of " + std::to_string(id.size) +
                                     " bytes, and those of this "
                                     "layout have " +
                                     std::to_string(bytes));
  }
  return id;
}

std::uint64_t parse_id(const std::string& text) { return number_of(parse_id(text, 8)); }

std::uint64_t number_of(const idgen_wide_id_t& id) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < 8; ++i) number = number << 8 | id.bytes[i];
  return number;
}

idgen_wide_id_t wide_of(std::uint64_t number) {
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  id.size = 8;
  for (unsigned i = 0; i < 8; ++i) id.bytes[i] = static_cast<std::uint8_t>(number >> 8 * (7 - i));
  return id;
}

const std::vector<std::string>& encoding_names() {
  static const std::vector<std::string> names = {"decimal", "hex", "crockford", "base58", "base62"};
  return names;
}

std::int32_t encoding_of(const std::string& name) {
  const auto found = std::ranges::find(encoding_names(), name);  // the parser has checked that it is one of them
  return static_cast<std::int32_t>(found - encoding_names().begin());
}

bool read_id(std::string_view text, std::int32_t encoding, std::uint64_t& id, std::string& why) {
  try {
    if (encoding == IDGEN_TEXT_DECIMAL) {
      id = parse_id(std::string(text));
      return true;
    }
    ErrorSlot error;
    check(idgen_parse(text.data(), text.size(), encoding, &id, error), error);
    return true;
  } catch (const Failure& failure) {
    why = failure.what();
    return false;
  }
}

namespace {

// each(line, use) calls use with what it finds in a line.
void for_each(const std::vector<std::string>& arguments, const std::function<void(const std::string&)>& use,
              void (*each)(const std::string& line, const std::function<void(const std::string&)>& use)) {
  for (const std::string& argument : arguments) {
    if (argument != "-") {
      use(argument);
      continue;
    }
    std::size_t number = 0;
    for (std::string line; std::getline(std::cin, line);) {
      ++number;
      try {
        each(line, use);
      } catch (const Failure& failure) {
        throw Failure(failure.status(), "standard input, line " + std::to_string(number) + ": " + failure.what());
      }
    }
    if (std::cin.bad()) throw IoError("cannot read standard input");
  }
}

}  // namespace

void for_each_word(const std::vector<std::string>& arguments, const std::function<void(const std::string&)>& use) {
  for_each(arguments, use, [](const std::string& line, const std::function<void(const std::string&)>& of) {
    std::istringstream words(line);
    for (std::string word; words >> word;) of(word);
  });
}

void for_each_line(const std::vector<std::string>& arguments, const std::function<void(const std::string&)>& use) {
  for_each(arguments, use, [](const std::string& line, const std::function<void(const std::string&)>& of) {
    if (!line.empty()) of(line);
  });
}

void answer_each(Output& out, decltype(&for_each_word) for_each, const std::vector<std::string>& arguments,
                 const std::function<void(const std::string&)>& answer) {
  catch_signals();
  try {
    for_each(arguments, [&](const std::string& word) {
      answer(word);
      if (stop_signal()) throw Interrupted();
    });
  } catch (const Failure&) {
    out.flush();
    throw;
  }
  out.flush();
}

}  // namespace idgen_tool
