// idgen decode: what an id says. JSON for programs, aligned lines for people.
#include <memory>

#include "command.hpp"
#include "decoded.hpp"
#include "id_input.hpp"
#include "layout_fields.hpp"
#include "output.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
An id is decimal or 0x hexadecimal; `-` reads ids from standard input, separated by spaces or lines.

With --json each id is one object on a line:
  id        the id, as a string: 64 bits do not fit a JavaScript number
  layout    the preset's name, or the layout in full
  time      start of the id's tick: RFC 3339, UTC, milliseconds; null outside the years 0000 to 9999
  unix_ms   the same as Unix milliseconds
  ...       one member for each other field, named as in the layout; above 2^53 - 1 as a string
A layout without a time field has neither time nor unix_ms.
)";

struct Arguments {
  std::string layout = "default";
  std::string epoch;
  bool json = false;
  std::vector<std::string> ids;
};

std::string as_lines(const std::string& id, const idgen_layout_info_t& info, const std::vector<idgen_field_t>& fields,
                     const idgen_parts_t& parts) {
  std::string out = "id          " + id + "\nlayout      " + title_of(info) + '\n';
  for (const idgen_field_t& field : fields) {
    out += padded(field.name, 12);
    if (field.kind == IDGEN_FIELD_TIME) {
      out += instant(parts.unix_ms) + "\nunix_ms     " + std::to_string(parts.unix_ms) + '\n';
    } else if (field.kind == IDGEN_FIELD_SEGMENT) {
      out += segment_of(parts) + '\n';
    } else {
      out += std::to_string(value_of(parts, field.kind)) + '\n';
    }
  }
  return out;
}

int decode_ids(const Arguments& arguments) {
  const Layout layout = make_layout(arguments.layout, arguments.epoch);
  const idgen_layout_info_t info = info_of(layout);
  const auto fields = fields_of(layout, info);
  Output out;
  bool first = true;
  answer_each(out, for_each_word, arguments.ids, [&](const std::string& word) {
    const idgen_wide_id_t wide = parse_id(word, info.bits > 64 ? 16 : 8);
    const idgen_parts_t parts = decode(layout, wide);
    const std::string id = decimal(wide);
    if (arguments.json) {
      out.line(decoded(id, info, fields, parts).str());
    } else {
      if (!first) out.line("");
      out.write(as_lines(id, info, fields, parts));
    }
    first = false;
  });
  return kExitOk;
}

}  // namespace

Command decode_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "decode",
      .summary = "Split ids into their fields.",
      .usage = {"[--layout LAYOUT] [--epoch TIME] [--json] ID..."},
      .details = kDetails,
      .examples = {"idgen decode --layout twitter 1541815603606036480 --json",
                   "idgen decode --layout 'time:41ms worker:10 sequence:12' --epoch 2020-01-01T00:00:00Z "
                   "0x3ab0f2e1c0a01000",
                   "psql -Atc 'select id from orders' | idgen decode - --json | jq -r .time"},
      .options = {{.names = "ID",
                   .help = "Ids to decode; - reads standard input.",
                   .target = &arguments->ids,
                   .is_required = true},
                  layout_option(arguments->layout,
                                "A preset (`idgen layout` lists them) or a layout in full. Default: default."),
                  epoch_option(arguments->epoch),
                  {.names = "--json", .help = "One JSON object per line.", .target = &arguments->json}},
      .run = [arguments] { return decode_ids(*arguments); },
  };
}

}  // namespace idgen_tool
