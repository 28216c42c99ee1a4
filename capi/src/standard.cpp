#include "idgen/standard.hpp"

#include <algorithm>
#include <cstring>

#include "border.hpp"
#include "idgen/standard.h"

using namespace idgen;
using namespace idgen::capi;

namespace {

Standard known_standard(int32_t standard) {
  if (standard < IDGEN_STANDARD_UUID || standard > IDGEN_STANDARD_OBJECT_ID) {
    throw Error(Status::argument,
                concat({"standard ", standard, " is not one of IDGEN_STANDARD_*, 0 to ", IDGEN_STANDARD_OBJECT_ID}));
  }
  return static_cast<Standard>(standard);
}

StandardId from_c(Standard standard, const std::uint8_t* id) {
  StandardId copy{};
  std::copy_n(require(id, "id"), standard_bytes(standard), copy.begin());
  return copy;
}

}  // namespace

extern "C" {

idgen_status_t idgen_standard_make(int32_t standard, uint8_t* ids, size_t n, idgen_error_t* err) {
  return guard(err, [&] {
    if (n > 0) require(ids, "ids");
    make_standard(known_standard(standard), ids, n);
  });
}

idgen_status_t idgen_standard_format(int32_t standard, const uint8_t* id, char* buffer, size_t* size,
                                     idgen_error_t* err) {
  return guard(err, [&] {
    const Standard which = known_standard(standard);
    char text[kMostStandardText];
    write_text({text, format_standard(which, from_c(which, id), text)}, buffer, size);
  });
}

[[gnu::cold]] idgen_status_t idgen_standard_parse(const char* text, size_t length, int32_t* standard, uint8_t* id,
                                                  idgen_error_t* err) {
  return guard(err, [&] {
    require(text, "text");
    require(standard, "standard");
    require(id, "id");
    const ParsedStandard parsed = parse_standard({text, length == SIZE_MAX ? std::strlen(text) : length});
    *standard = static_cast<std::int32_t>(parsed.standard);
    std::ranges::copy(parsed.id, id);
  });
}

[[gnu::cold]] idgen_status_t idgen_standard_decode(int32_t standard, const uint8_t* id, idgen_standard_parts_t* parts,
                                                   idgen_error_t* err) {
  return guard(err, [&] {
    const Standard which = known_standard(standard);
    const StandardParts found = decode_standard(which, from_c(which, id));
    write_struct(parts,
                 idgen_standard_parts_t{
                     .struct_size = sizeof(idgen_standard_parts_t),
                     .standard = static_cast<std::int32_t>(found.standard),
                     .version = found.version,
                     .is_rfc = found.is_rfc,
                     .has_time = found.unix_ms.has_value(),
                     .counter = static_cast<std::uint32_t>(found.counter),
                     .unix_ms = found.unix_ms.value_or(0),
                     .process = found.process,
                 },
                 "parts");
  });
}

}  // extern "C"
