// Patterns, and texts that are read by them: "PATTERN\nTEXT".
#include <string_view>

#include "fuzz.hpp"
#include "idgen/pattern.hpp"

void idgen::fuzz::read(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const auto pattern = parsed([&] { return TextPattern::parse(input.substr(0, end)); });
  if (!pattern) return;
  char text[TextPattern::kMostText];
  const auto write = [&](const TextPattern::Read& id) {
    const std::size_t count = pattern->write(id.number, id.id_bytes, id.when, text);
    expect(count <= pattern->most_bytes(), "no text is longer than the pattern says");
    return std::string_view(text, count);
  };
  const TextPattern::Read first{.number = pattern->last_number() == 0 ? Id128{0} : Id128{1}, .id_bytes = 8, .when = {}};
  expect(pattern->read(write(first)).number == first.number, "what a pattern writes is read");
  if (end == input.size()) return;
  const auto read = parsed([&] { return pattern->read(input.substr(end + 1)); });
  if (!read) return;
  const TextPattern::Read again = pattern->read(write(*read));
  expect(again.number == read->number && again.id_bytes == read->id_bytes && again.when == read->when,
         "an id that was read is written and read");
}
