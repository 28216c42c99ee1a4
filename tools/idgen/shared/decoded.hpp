// A decoded id as JSON: the object of `idgen decode`, which `idgen explain` extends.
#pragma once

#include <idgen/idgen.h>

#include <cstdint>
#include <string>
#include <vector>

#include "shared/json.hpp"

namespace idgen_tool {

JsonObject decoded(const std::string& id, const idgen_layout_info_t& info, const std::vector<idgen_field_t>& fields,
                   const idgen_parts_t& parts);

// RFC 3339; null outside the years 0000 to 9999.
JsonObject& date(JsonObject& object, const char* name, std::int64_t unix_ms);

// Of a text that was read, as far as it has a date: "2026-11-21T07"; "" if it has none.
std::string date_of(const idgen_text_parts_t& parts);

}  // namespace idgen_tool
