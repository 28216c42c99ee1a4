// Ids as text: positional number systems that differ in alphabet and width only.
#include <array>
#include <limits>

#include "idgen/status.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

constexpr std::uint8_t kForeign = 0xFF;

struct System {
  std::string_view name;
  std::string_view alphabet;  // in ASCII order, so that texts of equal length sort like numbers
  std::size_t min_width;
  std::size_t max_width;
  std::string_view allowed;  // for messages
  std::array<std::uint8_t, 256> values;
};

constexpr System make_system(std::string_view name, std::string_view alphabet, std::size_t min_width,
                             std::size_t max_width, std::string_view allowed) {
  System system{name, alphabet, min_width, max_width, allowed, {}};
  for (auto& value : system.values) value = kForeign;
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    system.values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return system;
}

// Reads the other case of each letter that the alphabet has in one case only.
constexpr System ignore_case(System system) {
  for (unsigned c = 'A'; c <= 'Z'; ++c) {
    const unsigned other = c - 'A' + 'a';
    if (system.values[other] == kForeign) system.values[other] = system.values[c];
    if (system.values[c] == kForeign) system.values[c] = system.values[other];
  }
  return system;
}

// Crockford reads the letters that are mistaken for digits as those digits, in both cases.
constexpr System read_lookalikes(System system) {
  system.values['O'] = 0;
  system.values['I'] = system.values['L'] = 1;
  return ignore_case(system);
}

constexpr std::array<System, 5> kSystems = {
    make_system("decimal", "0123456789", 1, 20, "0-9"),
    ignore_case(make_system("hex", "0123456789abcdef", 16, 16, "0-9, a-f and A-F")),
    read_lookalikes(make_system("crockford", "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13, 13,
                                "0-9 and the letters but U, in either case")),
    make_system("base58", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11, 11,
                "1-9, A-Z but I and O, a-z but l"),
    make_system("base62", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11, 11, "0-9, A-Z and a-z"),
};

const System& system_of(Encoding encoding) {
  const auto index = static_cast<std::size_t>(encoding);
  if (index >= kSystems.size()) {
    throw Error(Status::argument, "no text encoding has the number " +
                                      std::to_string(static_cast<std::int32_t>(encoding)) +
                                      "; they are 0 decimal, 1 hex, 2 crockford, 3 base58, 4 base62");
  }
  return kSystems[index];
}

[[noreturn, gnu::cold]] void fail(const System& system, std::string_view text, const std::string& reason) {
  throw Error(Status::text, in_quotes(text) + " is not an id in " + std::string(system.name) + ": " + reason);
}

std::string width_text(const System& system) {
  const std::string most = std::to_string(system.max_width);
  return system.min_width == system.max_width ? most : std::to_string(system.min_width) + " to " + most;
}

// All bytes of the character at `position`, so that a message shows a whole letter.
std::string_view character_at(std::string_view text, std::size_t position) {
  std::size_t end = position + 1;
  while (end < text.size() && end < position + 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return text.substr(position, end - position);
}

}  // namespace

std::string format_id(std::uint64_t id, Encoding encoding) {
  const System& system = system_of(encoding);
  const std::uint64_t base = system.alphabet.size();
  std::array<char, 20> digits;
  std::size_t count = 0;
  do {
    digits[digits.size() - ++count] = system.alphabet[id % base];
    id /= base;
  } while (id != 0 || count < system.min_width);
  return {digits.data() + digits.size() - count, count};
}

std::uint64_t parse_id(std::string_view text, Encoding encoding) {
  const System& system = system_of(encoding);
  // Foreign digits first: the rest is then ASCII, so positions and lengths are the same in every language.
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (system.values[static_cast<unsigned char>(text[i])] == kForeign) {
      fail(system, text,
           in_quotes(character_at(text, i)) + " at position " + std::to_string(i) + " is not a digit; allowed are " +
               std::string(system.allowed));
    }
  }
  if (text.size() < system.min_width || text.size() > system.max_width) {
    fail(system, text,
         "it has " + std::to_string(text.size()) + " characters where " + width_text(system) + " are needed");
  }
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t base = system.alphabet.size();
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint64_t digit = system.values[static_cast<unsigned char>(text[i])];
    if (id > kMax / base || id * base > kMax - digit) {
      fail(system, text,
           "it passes the largest id, " + format_id(kMax, encoding) + ", at position " + std::to_string(i));
    }
    id = id * base + digit;
  }
  return id;
}

}  // namespace idgen
