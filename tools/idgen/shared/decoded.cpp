#include "shared/decoded.hpp"

#include "shared/layout_fields.hpp"
#include "shared/text.hpp"

namespace idgen_tool {

static std::string two(std::int32_t number) {
  return {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
}

JsonObject decoded(const std::string& id, const idgen_layout_info_t& info, const std::vector<idgen_field_t>& fields,
                   const idgen_parts_t& parts) {
  JsonObject object;
  object.text("id", id).text("layout", title_of(info));
  for (const idgen_field_t& field : fields) {
    if (field.kind == IDGEN_FIELD_TIME) {
      date(object, "time", parts.unix_ms).signed_number("unix_ms", parts.unix_ms);
    } else if (field.kind == IDGEN_FIELD_SEGMENT && parts.segment_high != 0) {
      object.text(field.name, segment_of(parts));
    } else {
      object.number(field.name, value_of(parts, field.kind));
    }
  }
  return object;
}

JsonObject& date(JsonObject& object, const char* name, std::int64_t unix_ms) {
  if (const auto time = rfc3339(unix_ms)) return object.text(name, *time);
  return object.null(name);
}

std::string date_of(const idgen_text_parts_t& parts) {
  if (parts.unit == IDGEN_UNIT_NONE) return "";
  std::string out = std::to_string(10000 + parts.year).substr(1);
  if (parts.unit >= IDGEN_UNIT_MONTH) out += "-" + two(parts.month);
  if (parts.unit >= IDGEN_UNIT_DAY) out += "-" + two(parts.day);
  if (parts.unit >= IDGEN_UNIT_HOUR) out += "T" + two(parts.hour);
  if (parts.unit >= IDGEN_UNIT_MINUTE) out += ":" + two(parts.minute);
  if (parts.unit >= IDGEN_UNIT_SECOND) out += ":" + two(parts.second);
  return out;
}

}  // namespace idgen_tool
