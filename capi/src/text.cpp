#include "idgen/text.hpp"

#include "border.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

Encoding checked(int32_t encoding) {
  if (encoding < IDGEN_TEXT_DECIMAL || encoding > IDGEN_TEXT_BASE62) {
    throw Error(Status::argument, "encoding " + std::to_string(encoding) + " is not one of IDGEN_TEXT_*, 0 to " +
                                      std::to_string(IDGEN_TEXT_BASE62));
  }
  return static_cast<Encoding>(encoding);
}

}  // namespace

extern "C" {

idgen_status_t idgen_format(uint64_t id, int32_t encoding, char* buffer, size_t* size, idgen_error_t* err) {
  return guard(err, [&] { write_text(format_id(id, checked(encoding)), buffer, size); });
}

idgen_status_t idgen_parse(const char* text, size_t length, int32_t encoding, uint64_t* id, idgen_error_t* err) {
  return guard(err, [&] {
    require(text, "text");
    *require(id, "id") = parse_id({text, length == SIZE_MAX ? std::strlen(text) : length}, checked(encoding));
  });
}

}  // extern "C"
