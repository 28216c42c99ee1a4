#include "idgen/text.hpp"

#include "border.hpp"
#include "wide.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

Encoding checked(int32_t encoding) {
  if (encoding < IDGEN_TEXT_DECIMAL || encoding > IDGEN_TEXT_BASE62) {
    throw Error(Status::argument,
                concat({"encoding ", encoding, " is not one of IDGEN_TEXT_*, 0 to ", IDGEN_TEXT_BASE62}));
  }
  return static_cast<Encoding>(encoding);
}

}  // namespace

extern "C" {

idgen_status_t idgen_format(uint64_t id, int32_t encoding, char* buffer, size_t* size, idgen_error_t* err) {
  constexpr std::size_t most = 20;
  return guard(err, [&] {
    const Encoding known = checked(encoding);
    char text[most];
    // Straight into a buffer that holds them, however many they are.
    const bool is_large = buffer && size && *size > most;
    const std::size_t digits = put_digits(id, known, is_large ? buffer : text);
    if (!is_large) return write_text({text, digits}, buffer, size);
    buffer[digits] = '\0';
    *size = digits + 1;
  });
}

idgen_status_t idgen_parse(const char* text, size_t length, int32_t encoding, uint64_t* id, idgen_error_t* err) {
  return guard(err, [&] {
    require(text, "text");
    *require(id, "id") = parse_id({text, length == SIZE_MAX ? std::strlen(text) : length}, checked(encoding));
  });
}

idgen_status_t idgen_format_wide(const idgen_wide_id_t* id, int32_t encoding, char* buffer, size_t* size,
                                 idgen_error_t* err) {
  return guard(err, [&] {
    char text[kMostDigits];
    write_text({text, put_digits(from_c(id), checked(encoding), text)}, buffer, size);
  });
}

idgen_status_t idgen_parse_wide(const char* text, size_t length, int32_t encoding, idgen_wide_id_t* id,
                                idgen_error_t* err) {
  return guard(err, [&] {
    require(text, "text");
    *require(id, "id") =
        to_c(parse_wide_id({text, length == SIZE_MAX ? std::strlen(text) : length}, checked(encoding)));
  });
}

}  // extern "C"
