// One property: "KEY=VALUE".
#include "fuzz.hpp"
#include "idgen/config.hpp"

void idgen::fuzz::read(std::string_view input) {
  const std::size_t equals = input.find('=');
  if (equals == input.npos) return;
  const std::string_view key = input.substr(0, equals), value = input.substr(equals + 1);
  Config config;
  const Config before = config;
  const bool is_set = parsed([&] {
                        config.set(key, value);
                        return true;
                      }).value_or(false);
  if (!is_set) {
    expect(config == before, "a value that is refused changes nothing");
    return;
  }
  expect(config.is_set(key) || value.empty(), "a value that is accepted is set");
  for (const Property& property : properties()) {
    if (property.name != key) continue;
    switch (property.type) {
      case PropertyType::integer:
        if (config.get(key) != kAuto) config.integer(key);
        break;
      case PropertyType::number:
        config.number(key);
        break;
      case PropertyType::boolean:
        config.boolean(key);
        break;
      case PropertyType::duration:
        expect(config.duration_ms(key) >= 0, "a duration is not negative");
        break;
      case PropertyType::choice:
        config.choice(key);
        break;
      case PropertyType::instant:
      case PropertyType::text:
        break;
    }
  }
}
