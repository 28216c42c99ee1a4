#include "border.hpp"
#include "idgen/text_form.hpp"
#include "wide.hpp"

using namespace idgen;
using namespace idgen::capi;

extern "C" {

idgen_status_t idgen_pattern_create(const char* pattern, const char* zone, const idgen_layout_t* layout,
                                    idgen_pattern_t** out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    std::optional<Layout> known;
    if (layout != nullptr) known = open_handle(layout, "layout");
    *out = new idgen_pattern(require(pattern, "pattern"), open_zone(zone != nullptr ? zone : ""), std::move(known));
  });
}

idgen_status_t idgen_pattern_of(const idgen_config_t* config, idgen_pattern_t** out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    *out = new idgen_pattern(TextForm::of(open_handle(config, "config")));
  });
}

void idgen_pattern_destroy(idgen_pattern_t* pattern) {
  if (pattern && pattern->is_intact()) delete pattern;
}

idgen_status_t idgen_pattern_format(const idgen_pattern_t* pattern, const idgen_wide_id_t* id, char* buffer,
                                    size_t* size, idgen_error_t* err) {
  return guard(err, [&] {
    char text[TextPattern::kMostText];
    write_text({text, open_handle(pattern, "pattern").write(from_c(id), text)}, buffer, size);
  });
}

idgen_status_t idgen_pattern_parse(const idgen_pattern_t* pattern, const char* text, size_t length,
                                   idgen_text_parts_t* parts, idgen_error_t* err) {
  return guard(err, [&] {
    const TextForm& form = open_handle(pattern, "pattern");
    require(text, "text");
    const TextParts read = form.read({text, length == SIZE_MAX ? std::strlen(text) : length});
    const unsigned number_bytes = read.number >> 64 != 0 ? 16 : read.id.bytes;
    write_struct(parts,
                 idgen_text_parts_t{
                     .struct_size = sizeof(idgen_text_parts_t),
                     .unit = static_cast<std::int32_t>(read.finest),
                     .year = read.when.year,
                     .month = read.when.month,
                     .day = read.when.day,
                     .hour = read.when.hour,
                     .minute = read.when.minute,
                     .second = read.when.second,
                     .id = to_c(read.id),
                     .number = to_c(WideId{read.number, number_bytes}),
                 },
                 "parts");
  });
}

}  // extern "C"
