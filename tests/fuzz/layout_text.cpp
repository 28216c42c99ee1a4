// Layouts in words: "time:41ms worker:10 sequence:12".
#include "fuzz.hpp"
#include "idgen/layout.hpp"

void idgen::fuzz::read(std::string_view input) {
  const auto layout = parsed([&] { return Layout::parse(input); });
  if (!layout) return;
  const Layout again = Layout::parse(layout->text(), layout->epoch_unix_ms());
  expect(again.text() == layout->text() && again.fingerprint() == layout->fingerprint(), "a layout's text is itself");
  expect(layout->bits() <= 128, "an id has at most 128 bits");

  WideId id{~Id128{0}, layout->wide_bytes()};
  if (layout->bits() < 128) id.value = (Id128{1} << layout->bits()) - 1;
  for (; id.value > 0; id.value >>= 7) {
    const auto parts = parsed([&] { return layout->decode(id); });
    if (parts) expect(layout->encode_wide(*parts).value == id.value, "an id is decoded and encoded");
  }
}
