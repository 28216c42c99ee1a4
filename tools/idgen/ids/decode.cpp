// idgen decode: what an id says. JSON for programs, aligned lines for people.
#include <memory>

#include "ids/own_ids.hpp"
#include "shared/command.hpp"
#include "shared/decoded.hpp"
#include "shared/id_input.hpp"
#include "shared/layout_fields.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/text.hpp"

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

With --config ids are read as that generator makes them: by its layout and epoch, as numbers of its tag, from the
texts of its pattern. The object then also has, where there is such a thing:
  tag       the tag whose counter the number is from
  id_text   the id as the pattern writes it
  date      the date in that text
  number    of a serial (kind = serial): its number within the date; it has no layout
  hidden    the hidden id that was given, with --hidden
No store is opened, except by --hidden, for the check values of the keys.
)";

struct Arguments {
  Settings settings;
  std::string layout;
  std::string epoch;
  bool json = false;
  bool are_hidden = false;
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

int decode_by_layout(const Arguments& arguments) {
  const Layout layout = make_layout(arguments.layout.empty() ? "default" : arguments.layout, arguments.epoch);
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

std::string as_json(const OwnIds& own, const OwnId& id) {
  JsonObject object;
  if (id.layout != nullptr) {
    object = decoded(decimal(id.id), id.layout->info, id.layout->fields, id.parts);
  } else {
    object.text("id", decimal(id.id));
  }
  add_own(object, own, id);
  return object.str();
}

std::string as_lines(const OwnIds& own, const OwnId& id) {
  std::string out = id.layout != nullptr ? as_lines(decimal(id.id), id.layout->info, id.layout->fields, id.parts)
                                         : "id          " + decimal(id.id) + '\n';
  for (const auto& [name, value] : own_texts(own, id)) out += padded(name, 12) + one_line(value) + '\n';
  if (id.number_in_period) out += "number      " + std::to_string(*id.number_in_period) + '\n';
  return out;
}

int decode_own(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  if (!arguments.layout.empty()) set(config, "layout", arguments.layout);
  if (!arguments.epoch.empty()) set(config, "epoch", arguments.epoch);
  const OwnIds own(config, arguments.are_hidden);
  Output out;
  bool first = true;
  // Only a text may have a space.
  const auto for_each = value(config, "pattern").find(' ') != std::string::npos ? &for_each_line : &for_each_word;
  answer_each(out, for_each, arguments.ids, [&](const std::string& word) {
    const OwnId id = own.read(word);
    if (!arguments.json && !first) out.line("");
    arguments.json ? out.line(as_json(own, id)) : out.write(as_lines(own, id));
    first = false;
  });
  return kExitOk;
}

int decode_ids(const Arguments& arguments) {
  const Settings& settings = arguments.settings;
  const bool is_configured = !settings.file().empty() || settings.gives_any();
  if (is_configured) return decode_own(arguments);
  if (!settings.name().empty()) throw UsageError("--name names a table of --config FILE");
  if (arguments.are_hidden) throw UsageError("--hidden needs the generator's keys: name its table with --config");
  return decode_by_layout(arguments);
}

}  // namespace

Command decode_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "decode",
      .summary = "Split ids into their fields.",
      .usage = {"[--layout LAYOUT] [--epoch TIME] [--json] ID...",
                "--config FILE [--name NAME] [--hidden] [--json] ID..."},
      .details = kDetails,
      .examples = {"idgen decode --layout twitter 1541815603606036480 --json",
                   "idgen decode --layout 'time:41ms worker:10 sequence:12' --epoch 2020-01-01T00:00:00Z "
                   "0x3ab0f2e1c0a01000",
                   "idgen decode --config idgen.toml --name orders ORD-0000000010E",
                   "psql -Atc 'select id from orders' | idgen decode - --json | jq -r .time"},
      .options = joined(
          {{.names = "ID",
            .help = "Ids to decode; - reads standard input.",
            .target = &arguments->ids,
            .is_required = true},
           layout_option(arguments->layout,
                         "A preset (`idgen layout` lists them) or a layout in full. Default: the configuration's, "
                         "else default."),
           epoch_option(arguments->epoch),
           {.names = "--hidden",
            .help = "They are hidden ids: reveal them first, by the keys of the configuration.",
            .target = &arguments->are_hidden},
           {.names = "--json", .help = "One JSON object per line.", .target = &arguments->json}},
          arguments->settings.options({})),
      .run = [arguments] { return decode_ids(*arguments); },
  };
}

}  // namespace idgen_tool
