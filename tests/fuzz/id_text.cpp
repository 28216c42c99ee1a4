// Ids as text, in each encoding, of 8 and of 16 bytes; standard ids.
#include "fuzz.hpp"
#include "idgen/standard.hpp"
#include "idgen/text.hpp"

void idgen::fuzz::read(std::string_view input) {
  const auto encoding = static_cast<Encoding>(take(input) % 5);
  if (const auto id = parsed([&] { return parse_id(input, encoding); }))
    expect(parse_id(format_id(*id, encoding), encoding) == *id, "an id is formatted and parsed");
  if (const auto id = parsed([&] { return parse_wide_id(input, encoding); })) {
    const WideId again = parse_wide_id(format_wide_id(*id, encoding), encoding);
    expect(again.value == id->value && again.bytes == id->bytes, "an id of either length is formatted and parsed");
  }
  if (const auto found = parsed([&] { return parse_standard(input); })) {
    char text[kMostStandardText];
    const ParsedStandard again = parse_standard({text, format_standard(found->standard, found->id, text)});
    expect(again.standard == found->standard && again.id == found->id, "a standard id is formatted and parsed");
    expect(decode_standard(found->standard, found->id).standard == found->standard, "it is decoded as what it is");
  }
}
