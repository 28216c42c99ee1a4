// A layout's fields with an id's values, read through the C ABI, and the options that name a layout. Shared by decode,
// explain and layout.
#pragma once

#include <idgen/idgen.h>

#include <algorithm>
#include <string>
#include <vector>

#include "shared/command.hpp"
#include "shared/handles.hpp"

namespace idgen_tool {

inline std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < idgen_layout_preset_count(); ++i) names.push_back(idgen_layout_preset_at(i));
  return names;
}

inline Option layout_option(std::string& layout, const std::string& help) {
  return {.names = "--layout", .placeholder = "LAYOUT", .help = help, .target = &layout, .values = preset_names()};
}

inline Option epoch_option(std::string& epoch) {
  return {.names = "--epoch",
          .placeholder = "TIME",
          .help = "What time 0 means: RFC 3339 or Unix ms. Default: the layout's.",
          .target = &epoch};
}

inline std::vector<idgen_field_t> fields_of(const Layout& layout, const idgen_layout_info_t& info) {
  std::vector<idgen_field_t> fields;
  for (std::size_t i = 0; i < info.field_count; ++i) {
    idgen_field_t field = IDGEN_FIELD_INIT;
    check(idgen_layout_field_at(layout.get(), i, &field, nullptr));
    fields.push_back(field);
  }
  return fields;
}

inline idgen_parts_t decode(const Layout& layout, const idgen_wide_id_t& id) {
  ErrorSlot error;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  check(idgen_layout_decode_wide(layout.get(), &id, &parts, error), error);
  return parts;
}

// In decimal, without leading zeros.
inline std::string decimal(const idgen_wide_id_t& id) {
  char text[64];
  std::size_t size = sizeof text;
  check(idgen_format_wide(&id, IDGEN_TEXT_DECIMAL, text, &size, nullptr));
  const std::string digits = text;
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

// The segment, which alone may have more than 64 bits.
inline std::string segment_of(const idgen_parts_t& parts) {
  idgen_wide_id_t number{16, 0, {}};
  for (unsigned i = 0; i < 8; ++i) {
    number.bytes[i] = static_cast<std::uint8_t>(parts.segment_high >> 8 * (7 - i));
    number.bytes[8 + i] = static_cast<std::uint8_t>(parts.segment >> 8 * (7 - i));
  }
  return decimal(number);
}

inline idgen_parts_t decode(const Layout& layout, std::uint64_t id) {
  ErrorSlot error;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  check(idgen_layout_decode(layout.get(), id, &parts, error), error);
  return parts;
}

inline std::uint64_t value_of(const idgen_parts_t& parts, std::uint32_t kind) {
  switch (kind) {
    case IDGEN_FIELD_TIME:
      return parts.time;
    case IDGEN_FIELD_DATACENTER:
      return parts.datacenter;
    case IDGEN_FIELD_WORKER:
      return parts.worker;
    case IDGEN_FIELD_PROCESS:
      return parts.process;
    case IDGEN_FIELD_SHARD:
      return parts.shard;
    case IDGEN_FIELD_SEQUENCE:
      return parts.sequence;
    case IDGEN_FIELD_GENE:
      return parts.gene;
    case IDGEN_FIELD_VERSION:
      return parts.version;
    case IDGEN_FIELD_SEGMENT:
      return parts.segment;
    case IDGEN_FIELD_FIXED:
      return parts.fixed;
    default:
      throw Failure(IDGEN_E_INTERNAL, "a field of a kind that this idgen command does not know");
  }
}

// A layout's name: its preset's, else its fields.
inline std::string title_of(const idgen_layout_info_t& info) { return info.preset[0] ? info.preset : info.text; }

inline std::uint64_t largest(std::uint32_t bits) { return bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1; }

inline std::string format(std::uint64_t id, std::int32_t encoding) {
  char text[64];
  std::size_t size = sizeof text;
  check(idgen_format(id, encoding, text, &size, nullptr));
  return text;
}

}  // namespace idgen_tool
