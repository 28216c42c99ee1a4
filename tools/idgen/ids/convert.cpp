// idgen convert: ids from one text form to another.
#include <memory>

#include "shared/command.hpp"
#include "shared/decoded.hpp"
#include "shared/handles.hpp"
#include "shared/id_input.hpp"
#include "shared/json.hpp"
#include "shared/layout_fields.hpp"
#include "shared/output.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
A form is decimal, hex, crockford, base58, base62, or a pattern: literals and {placeholders}. In a pattern, {base62:11}
is the number with eleven digits, {000000} a decimal one with six, {yyyyMMdd} the date of the id, {check} a check
character. A brace itself is written twice.

The date is that of the id's time, so it needs --layout. Serials (kind = serial) have the date in their pattern and no
other id: --serial says that both forms are of serials, and their id is a period and a number.

Without --from, ids are decimal or 0x hexadecimal. `-` reads them from standard input, separated by spaces or lines;
by lines alone if --from has a space. A text that does not fit is an error that says where; a wrong check character is
said to be that.
)";

struct Arguments {
  std::string from, to = "decimal", layout, epoch, zone;
  bool serial = false, json = false;
  std::vector<std::string> ids;
};

// An encoding's name is a pattern of nothing else.
std::string pattern_text(const std::string& form) {
  for (const char* const name : {"decimal", "hex", "crockford", "base58", "base62"})
    if (form == name) return "{" + form + "}";
  if (form.find('{') == form.npos) {
    throw UsageError("'" + form +
                     "' is no form; allowed are decimal, hex, crockford, base58, base62, and patterns such "
                     "as 'ORD-{base62:11}-{check}'");
  }
  return form;
}

Pattern make_pattern(const Arguments& arguments, const std::string& form) {
  const std::string text = pattern_text(form);
  if (arguments.serial) {
    const Config config = make_config();
    set(config, "kind", "serial");
    set(config, "pattern", text);
    if (!arguments.zone.empty()) set(config, "zone", arguments.zone);
    return pattern_of(config);
  }
  Layout layout;
  if (!arguments.layout.empty()) layout = make_layout(arguments.layout, arguments.epoch);
  ErrorSlot error;
  idgen_pattern_t* pattern = nullptr;
  check(idgen_pattern_create(text.c_str(), arguments.zone.c_str(), layout.get(), &pattern, error), error);
  return Pattern(pattern);
}

int convert(const Arguments& arguments) {
  const Pattern from = arguments.from.empty() ? nullptr : make_pattern(arguments, arguments.from);
  const Pattern to = make_pattern(arguments, arguments.to);
  const unsigned bytes =
      !arguments.layout.empty() && info_of(make_layout(arguments.layout, arguments.epoch)).bits > 64 ? 16 : 8;
  Output out;
  const auto for_each = arguments.from.find(' ') != std::string::npos ? &for_each_line : &for_each_word;
  answer_each(out, for_each, arguments.ids, [&](const std::string& word) {
    idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
    if (from) {
      parts = read_by(from, word);
    } else {
      parts.id = parts.number = parse_id(word, bytes);
    }
    const std::string text = written(to, parts.id);
    if (arguments.json) {
      JsonObject object;
      object.text("id", decimal(parts.id)).text("text", text).text("number", decimal(parts.number));
      parts.unit == IDGEN_UNIT_NONE ? object.null("date") : object.text("date", date_of(parts));
      out.line(object.str());
    } else {
      out.line(text);
    }
  });
  return kExitOk;
}

}  // namespace

Command convert_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "convert",
      .summary = "Write ids in another text form.",
      .usage = {"[--from FORM] [--to FORM] [--layout LAYOUT] [--zone ZONE] [--json] ID..."},
      .details = kDetails,
      .examples = {"idgen convert --to base62 1541815603606036480",
                   "idgen convert --to 'ORD-{base62:11}-{check}' 9007199254740991",
                   "idgen convert --from 'ORD-{base62:11}-{check}' ORD-00fFgnDxSe7-7",
                   "idgen convert --to '{yyyyMMdd}-{crockford}' --layout twitter --zone +09:00 1541815603606036480",
                   "idgen convert --serial --from 'SO{yyyyMMdd}{000000}' --json SO20261121000417"},
      .options = {{.names = "ID",
                   .help = "Ids to convert; - reads standard input.",
                   .target = &arguments->ids,
                   .is_required = true},
                  {.names = "--from",
                   .placeholder = "FORM",
                   .help = "How they are written. Default: decimal, or 0x.",
                   .target = &arguments->from},
                  {.names = "--to",
                   .placeholder = "FORM",
                   .help = "How to write them. Default: decimal.",
                   .target = &arguments->to},
                  layout_option(arguments->layout, "What the ids are, where a pattern has a date, or ids of 16 bytes."),
                  epoch_option(arguments->epoch),
                  {.names = "--zone",
                   .placeholder = "ZONE",
                   .help = "Whose clocks show the date: UTC (the default), +08:00, Europe/Berlin.",
                   .target = &arguments->zone},
                  {.names = "--serial", .help = "They are serials (kind = serial).", .target = &arguments->serial},
                  {.names = "--json",
                   .help = "One object per id: id, text, number, and the date that was read, or null.",
                   .target = &arguments->json}},
      .run = [arguments] { return convert(*arguments); },
  };
}

}  // namespace idgen_tool
