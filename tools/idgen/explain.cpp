// idgen explain: a picture of an id's bits.
#include <algorithm>
#include <memory>

#include "command.hpp"
#include "decoded.hpp"
#include "id_input.hpp"
#include "json.hpp"
#include "layout_fields.hpp"
#include "output.hpp"
#include "picture.hpp"
#include "svg.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Without --layout the picture is drawn for each preset under which the id's time is plausible: a day or more after
the preset's epoch, after 2010 (when the first ids of this form were made) and not in the future.
Colours are used only on a terminal, and not if NO_COLOR is set in the environment.

With --json each layout is one object on a line: the object of `idgen decode --json`, and
  hex, crockford, base58, base62  the id in these texts
  text                            the layout in full
  epoch, epoch_unix_ms            what time 0 means; null without a time field
  plausible                       whether the id's time is; null without a time field
  FIELD_bits, FIELD_shift         width of each field, and the number of its lowest bit
If the id's time is plausible under no preset, there is an object for each preset that has all bits that are set.

--svg FILE writes the picture to FILE instead, widths to scale, in colours for light and for dark pages.
)";

constexpr std::int64_t kFirstSnowflakeUnixMs = 1262304000000;  // 2010-01-01
constexpr std::int64_t kDayMs = 86'400'000;

struct Arguments {
  std::string layout;
  std::string epoch;
  std::string id;
  std::string svg;
  bool json = false;
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

bool has_time(const Reading& reading) { return reading.info.fields & IDGEN_FIELD_TIME; }

bool is_plausible(const Reading& reading, std::int64_t now) {
  if (!has_time(reading)) return false;
  const std::int64_t time = reading.parts.unix_ms;
  return time >= std::max(kFirstSnowflakeUnixMs, reading.info.epoch_unix_ms + kDayMs) && time <= now + kDayMs;
}

// Under each preset that has all set bits of the id.
std::vector<Reading> readings_of_presets(std::uint64_t id) {
  std::vector<Reading> out;
  for (const std::string& name : preset_names()) {
    try {
      out.push_back(read(id, name, ""));
    } catch (const Failure&) {
      // The id has bits outside this preset, or the preset is wider than 64 bits: the id is not from this preset.
    }
  }
  return out;
}

std::vector<PictureField> picture_fields(const Reading& reading, std::int64_t now) {
  std::vector<PictureField> out;
  const auto fields = fields_of(reading.layout, reading.info);
  const unsigned used = reading.info.bits;
  if (used < 64) out.push_back({0, 64 - used, used, used == 63 ? "sign" : "unused", "0"});
  for (const idgen_field_t& field : fields) {
    const std::uint64_t value = value_of(reading.parts, field.kind);
    std::string text;
    if (field.kind == IDGEN_FIELD_TIME) {
      text = instant(reading.parts.unix_ms) + ", " + relative_to(now, reading.parts.unix_ms);
    } else {
      text = std::to_string(value);
      if (field.bits <= 32) text += " of " + std::to_string(largest(field.bits));
    }
    out.push_back({field.kind, field.bits, field.shift, field.name, text});
  }
  return out;
}

struct Form {
  const char* name;
  std::int32_t encoding;
};
constexpr Form kForms[] = {{"hex", IDGEN_TEXT_HEX},
                           {"crockford", IDGEN_TEXT_CROCKFORD},
                           {"base58", IDGEN_TEXT_BASE58},
                           {"base62", IDGEN_TEXT_BASE62}};

std::string header(std::uint64_t id, const Terminal& terminal) {
  std::string out = terminal.paint(ink::bold, std::to_string(id)) + '\n';
  for (const Form& form : kForms) {
    if (&form != kForms) out += "   ";
    out += terminal.paint(ink::dim, form.name) + ' ' + format(id, form.encoding);
  }
  return out + '\n';
}

std::string as_json(std::uint64_t id, const Reading& reading, std::int64_t now) {
  const auto fields = fields_of(reading.layout, reading.info);
  JsonObject object = decoded(std::to_string(id), reading.info, fields, reading.parts);
  for (const Form& form : kForms) object.text(form.name, format(id, form.encoding));
  object.text("text", reading.info.text);
  if (has_time(reading)) {
    date(object, "epoch", reading.info.epoch_unix_ms).signed_number("epoch_unix_ms", reading.info.epoch_unix_ms);
    object.boolean("plausible", is_plausible(reading, now));
  } else {
    object.null("epoch").null("epoch_unix_ms").null("plausible");
  }
  for (const idgen_field_t& field : fields) {
    object.number(std::string(field.name) + "_bits", field.bits);
    object.number(std::string(field.name) + "_shift", field.shift);
  }
  return object.str() + '\n';
}

std::string since(const Reading& reading) {
  return has_time(reading) ? "since " + instant(reading.info.epoch_unix_ms) : "";
}

std::string picture(std::uint64_t id, const Reading& reading, const Terminal& terminal, std::int64_t now) {
  const std::string title = title_of(reading.info);
  const std::string fields = reading.info.preset[0] ? "  " + std::string(reading.info.text) : "";
  std::string out = '\n' + terminal.paint(ink::bold, title) + fields;
  if (has_time(reading)) {
    const bool fits = title.size() + fields.size() + 2 + since(reading).size() <= terminal.width();
    out += (fits ? "  " : "\n") + terminal.paint(ink::dim, since(reading));
  }
  return out + "\n\n" + draw(id, picture_fields(reading, now), terminal, terminal.width());
}

// No preset fits: show what each would read, so that a person can see how far off it is.
std::string why_none(std::uint64_t id) {
  std::string out =
      "\nUnder no preset is the time of this id plausible. If it came from a layout of your own, name that:\n"
      "idgen explain --layout 'time:41ms worker:10 sequence:12' --epoch 2020-01-01T00:00:00Z ID\n\n";
  for (const std::string& name : preset_names()) {
    out += "  " + padded(name, 16);
    try {
      const Reading reading = read(id, name, "");
      out += has_time(reading) ? "would be of " + instant(reading.parts.unix_ms) : "has no time";
    } catch (const Failure& failure) {
      out += failure.status() == IDGEN_E_UNSUPPORTED ? "is not of 64 bits" : "does not have all the bits that are set";
    }
    out += '\n';
  }
  return out;
}

// One picture below the other, each under its layout.
std::string svg(std::uint64_t id, const std::vector<Reading>& readings, std::int64_t now) {
  std::vector<SvgPicture> pictures;
  for (const Reading& reading : readings) {
    std::string subtitle = reading.info.preset[0] ? reading.info.text : "";
    if (has_time(reading)) subtitle += (subtitle.empty() ? "" : "  ") + since(reading);
    pictures.push_back({title_of(reading.info), subtitle, picture_fields(reading, now)});
  }
  return draw_svg(id, pictures);
}

int write_svg(const std::string& path, const std::string& text) {
  if (path == "-") {
    print(text);
  } else {
    write_file(path, text);
  }
  return kExitOk;
}

int explain(const Arguments& arguments) {
  const std::uint64_t id = parse_id(arguments.id);
  const Terminal terminal(stdout);
  const std::int64_t now = now_unix_ms();
  const bool is_named = !arguments.layout.empty() || !arguments.epoch.empty();
  std::vector<Reading> readings;
  if (is_named) {
    readings.push_back(read(id, arguments.layout.empty() ? "default" : arguments.layout, arguments.epoch));
  } else {
    readings = readings_of_presets(id);
    const auto implausible = [&](const Reading& reading) { return !is_plausible(reading, now); };
    const bool is_of_none = std::all_of(readings.begin(), readings.end(), implausible);
    if (!is_of_none || !arguments.json) std::erase_if(readings, implausible);
  }
  if (!arguments.svg.empty()) {
    if (readings.empty()) throw UsageError("under no preset is the time of this id plausible: name its --layout");
    return write_svg(arguments.svg, svg(id, readings, now));
  }
  std::string text = arguments.json ? "" : header(id, terminal);
  for (const Reading& reading : readings) {
    text += arguments.json ? as_json(id, reading, now) : picture(id, reading, terminal, now);
  }
  print(readings.empty() ? text + why_none(id) : text);
  return kExitOk;
}

}  // namespace

Command explain_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "explain",
      .summary = "Draw the bits of an id, with what each of them means.",
      .usage = {"[--layout LAYOUT] [--epoch TIME] [--json | --svg FILE] ID"},
      .details = kDetails,
      .examples = {"idgen explain 1541815603606036480", "idgen explain --layout twitter 1541815603606036480",
                   "idgen explain --layout 'time:41ms worker:8 sequence:14' 0x3ab0f2e1c0a01000",
                   "idgen explain --layout twitter 1541815603606036480 --svg id.svg"},
      .options =
          {{.names = "ID", .help = "An id, decimal or 0x hexadecimal.", .target = &arguments->id, .is_required = true},
           layout_option(arguments->layout, "A preset (`idgen layout` lists them) or a layout in full."),
           epoch_option(arguments->epoch),
           {.names = "--json", .help = "One JSON object for each layout.", .target = &arguments->json},
           {.names = "--svg",
            .placeholder = "FILE",
            .help = "Write the picture to FILE as SVG, and print nothing; - is standard output.",
            .target = &arguments->svg,
            .value = Value::file,
            .excludes = "--json"}},
      .run = [arguments] { return explain(*arguments); },
  };
}

}  // namespace idgen_tool
