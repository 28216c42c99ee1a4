// Instants and durations.
#include "fuzz.hpp"
#include "idgen/text.hpp"

void idgen::fuzz::read(std::string_view input) {
  if (const auto ms = parsed([&] { return parse_duration_ms(input); })) {
    expect(*ms >= 0, "a duration is not negative");
    expect(parse_duration_ms(format_duration_ms(*ms)) == *ms, "a duration is formatted and parsed");
  }
  if (const auto ms = parsed([&] { return parse_instant(input); })) {
    const std::string text = format_instant(*ms);
    expect(format_instant(parse_instant(text)) == text, "an instant is formatted and parsed");
  }
}
