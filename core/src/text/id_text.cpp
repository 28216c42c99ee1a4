// Ids as text: positional number systems that differ in alphabet and width only.
#include <array>

#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "text/alphabets.hpp"
#include "text/systems.hpp"

namespace idgen {
namespace {

constexpr System make_system(std::string_view name, std::string_view alphabet, std::size_t min_width,
                             std::size_t max_width, std::size_t wide_width, std::string_view allowed) {
  System system{name, alphabet, min_width, max_width, wide_width, allowed, {}};
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
    make_system("decimal", "0123456789", 1, 20, 39, "0-9"),
    ignore_case(make_system("hex", kHexDigits, 16, 16, 32, "0-9, a-f and A-F")),
    read_lookalikes(
        make_system("crockford", kCrockfordDigits, 13, 13, 26, "0-9 and the letters but U, in either case")),
    make_system("base58", kBase58Digits, 11, 11, 22, "1-9, A-Z but I and O, a-z but l"),
    make_system("base62", kBase62Digits, 11, 11, 22, "0-9, A-Z and a-z"),
};

}  // namespace

const System& system_of(Encoding encoding) {
  const auto index = static_cast<std::size_t>(encoding);
  if (index >= kSystems.size()) {
    throw Error(Status::argument, concat({"no text encoding has the number ", static_cast<std::int32_t>(encoding),
                                          "; they are 0 decimal, 1 hex, 2 crockford, 3 base58, 4 base62"}));
  }
  return kSystems[index];
}

namespace {

[[noreturn, gnu::cold]] void fail(const System& system, std::string_view text, const std::string& reason) {
  throw Error(Status::text, concat({quote(text), " is not an id in ", std::string(system.name), ": ", reason}));
}

// Which texts are ids.
struct Widths {
  std::size_t min;
  std::size_t max;
  std::size_t wide;  // 0: none is of 16 bytes
  std::string text() const {
    const std::string most = std::to_string(max);
    return (min == max ? most : std::to_string(min) + " to " + most) + (wide ? " or " + std::to_string(wide) : "");
  }
};

void check(std::string_view text, const System& system, const Widths& widths) {
  // Foreign digits first: the rest is then ASCII, so positions and lengths are the same in every language.
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (system.value_of(text[i]) == kForeign) {
      fail(system, text,
           in_quotes(character_at(text, i)) + " at position " + std::to_string(i) + " is not a digit; allowed are " +
               std::string(system.allowed));
    }
  }
  if ((text.size() < widths.min || text.size() > widths.max) && (widths.wide == 0 || text.size() != widths.wide)) {
    fail(system, text, "it has " + std::to_string(text.size()) + " characters where " + widths.text() + " are needed");
  }
}

template <class Number>
std::string text_of(Number id, const System& system) {
  char out[kMostDigits];
  return {out, put_digits(id, static_cast<Encoding>(&system - kSystems.data()), out)};
}

template <class Number>
Number parse(std::string_view text, const System& system) {
  constexpr Number kMax = static_cast<Number>(~Number{0});
  const Number base = system.alphabet.size();
  Number id = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Number digit = system.value_of(text[i]);
    if (id > kMax / base || id * base > kMax - digit) {
      fail(system, text, "it passes the largest id, " + text_of(kMax, system) + ", at position " + std::to_string(i));
    }
    id = id * base + digit;
  }
  return id;
}

}  // namespace

std::string format_id(std::uint64_t id, Encoding encoding) {
  system_of(encoding);
  char out[kMostDigits];
  return {out, put_digits(id, encoding, out)};
}

std::uint64_t parse_id(std::string_view text, Encoding encoding) {
  const System& system = system_of(encoding);
  check(text, system, {system.min_width, system.max_width, 0});
  return parse<std::uint64_t>(text, system);
}

std::string format_wide_id(const WideId& id, Encoding encoding) {
  system_of(encoding);
  char out[kMostDigits];
  return {out, put_digits(id, encoding, out)};
}

WideId parse_wide_id(std::string_view text, Encoding encoding) {
  const System& system = system_of(encoding);
  check(text, system, {system.min_width, system.max_width, system.wide_width});
  if (text.size() == system.wide_width) return {parse<Id128>(text, system), 16};
  return {parse<std::uint64_t>(text, system), 8};
}

}  // namespace idgen
