// idgen explain: a picture of an id's bits.
#include <algorithm>
#include <memory>

#include "command.hpp"
#include "help.hpp"
#include "id_input.hpp"
#include "layout_fields.hpp"
#include "output.hpp"
#include "picture.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails =
    "Without --layout the picture is drawn for each preset under which the id's time is plausible: a day or more "
    "after\n"
    "the preset's epoch, after 2010 (when the first ids of this form were made) and not in the future.\n"
    "Colours are used on a terminal only, and not where the environment has NO_COLOR.\n"
    "\n"
    "Examples:\n"
    "  idgen explain 1541815603606036480\n"
    "  idgen explain --layout twitter 1541815603606036480\n"
    "  idgen explain --layout 'time:41ms worker:8 sequence:14' 0x3ab0f2e1c0a01000\n";

constexpr std::int64_t kFirstSnowflakeUnixMs = 1262304000000;  // 2010-01-01
constexpr std::int64_t kDayMs = 86'400'000;

struct Arguments {
  std::string layout;
  std::string epoch;
  std::string id;
};

struct Reading {
  Layout layout;
  idgen_layout_info_t info;
  idgen_parts_t parts;
};

Reading read(std::uint64_t id, const std::string& text, const std::string& epoch) {
  Reading reading{make_layout(text, epoch), {}, {}};
  reading.info = info_of(reading.layout);
  reading.parts = decode(reading.layout, id);
  return reading;
}

bool is_plausible(const Reading& reading, std::int64_t now) {
  if (!(reading.info.fields & IDGEN_FIELD_TIME)) return false;
  const std::int64_t time = reading.parts.unix_ms;
  return time >= std::max(kFirstSnowflakeUnixMs, reading.info.epoch_unix_ms + kDayMs) && time <= now + kDayMs;
}

std::vector<PictureField> picture_fields(const Reading& reading, std::int64_t now) {
  std::vector<PictureField> out;
  const auto fields = fields_of(reading.layout, reading.info);
  const unsigned used = reading.info.bits;
  if (used < 64) out.push_back({ink::dim, 64 - used, used, used == 63 ? "sign" : "unused", "0"});
  for (const idgen_field_t& field : fields) {
    const std::uint64_t value = value_of(reading.parts, field.kind);
    std::string text;
    if (field.kind == IDGEN_FIELD_TIME) {
      text = instant(reading.parts.unix_ms) + ", " + relative_to(now, reading.parts.unix_ms);
    } else {
      text = std::to_string(value);
      if (field.bits <= 32) text += " of " + std::to_string(largest(field.bits));
    }
    out.push_back({ink_of(field.kind), field.bits, field.shift, field.name, text});
  }
  return out;
}

std::string header(std::uint64_t id, const Terminal& terminal) {
  struct Form {
    const char* name;
    std::int32_t encoding;
  };
  constexpr Form forms[] = {{"hex", IDGEN_TEXT_HEX},
                            {"crockford", IDGEN_TEXT_CROCKFORD},
                            {"base58", IDGEN_TEXT_BASE58},
                            {"base62", IDGEN_TEXT_BASE62}};
  std::string out = terminal.paint(ink::bold, std::to_string(id)) + '\n';
  for (const Form& form : forms) {
    if (&form != forms) out += "   ";
    out += terminal.paint(ink::dim, form.name) + ' ' + format(id, form.encoding);
  }
  return out + '\n';
}

std::string picture(std::uint64_t id, const Reading& reading, const Terminal& terminal, std::int64_t now) {
  const std::string title = title_of(reading.info);
  const std::string fields = reading.info.preset[0] ? "  " + std::string(reading.info.text) : "";
  std::string out = '\n' + terminal.paint(ink::bold, title) + fields;
  if (reading.info.fields & IDGEN_FIELD_TIME) {
    const std::string since = "since " + instant(reading.info.epoch_unix_ms);
    const bool fits = title.size() + fields.size() + 2 + since.size() <= terminal.width();
    out += (fits ? "  " : "\n") + terminal.paint(ink::dim, since);
  }
  return out + "\n\n" + draw(id, picture_fields(reading, now), terminal, terminal.width());
}

// No preset fits: show what each would read, so that a person can see how far off it is.
std::string why_none(std::uint64_t id) {
  std::string out =
      "\nUnder no preset is the time of this id plausible. If it came from a layout of your own, name that:\n"
      "idgen explain --layout 'time:41ms worker:10 sequence:12' --epoch 2020-01-01T00:00:00Z ID\n\n";
  for (std::size_t i = 0; i < idgen_layout_preset_count(); ++i) {
    const std::string name = idgen_layout_preset_at(i);
    out += "  " + padded(name, 16);
    try {
      const Reading reading = read(id, name, "");
      out += reading.info.fields & IDGEN_FIELD_TIME ? "would be of " + instant(reading.parts.unix_ms) : "has no time";
    } catch (const Failure& failure) {
      out += failure.status() == IDGEN_E_UNSUPPORTED ? "is not of 64 bits" : "does not have all the bits that are set";
    }
    out += '\n';
  }
  return out;
}

int explain(const Arguments& arguments) {
  const std::uint64_t id = parse_id(arguments.id);
  const Terminal terminal(stdout);
  const std::int64_t now = now_unix_ms();
  Output out;
  if (!arguments.layout.empty() || !arguments.epoch.empty()) {
    const Reading reading = read(id, arguments.layout.empty() ? "default" : arguments.layout, arguments.epoch);
    out.write(header(id, terminal) + picture(id, reading, terminal, now));
    out.flush();
    return kExitOk;
  }
  std::string pictures;
  for (std::size_t i = 0; i < idgen_layout_preset_count(); ++i) {
    try {
      const Reading reading = read(id, idgen_layout_preset_at(i), "");
      if (is_plausible(reading, now)) pictures += picture(id, reading, terminal, now);
    } catch (const Failure&) {
      // The id has bits outside this preset, or the preset is wider than 64 bits: it is not of this preset.
    }
  }
  out.write(header(id, terminal) + (pictures.empty() ? why_none(id) : pictures));
  out.flush();
  return kExitOk;
}

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, "explain", "Draw the bits of an id, with what each of them means.",
                                  "explain [--layout LAYOUT] [--epoch TIME] ID", kDetails);
  command->add_option("ID", arguments->id, "An id, decimal or 0x hexadecimal.")->required();
  command->add_option("--layout", arguments->layout, "A preset (`idgen layout` lists them) or a layout in full.")
      ->type_name("LAYOUT");
  command->add_option("--epoch", arguments->epoch, "What time 0 means: RFC 3339 or Unix ms. Default: the layout's.")
      ->type_name("TIME");
  command->callback([arguments, &run] { run = [arguments] { return explain(*arguments); }; });
}

}  // namespace idgen_tool
