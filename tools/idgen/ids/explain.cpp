// idgen explain: a picture of an id's bits.
#include <algorithm>
#include <memory>
#include <optional>

#include "ids/own_ids.hpp"
#include "ids/picture.hpp"
#include "ids/svg.hpp"
#include "shared/command.hpp"
#include "shared/decoded.hpp"
#include "shared/id_input.hpp"
#include "shared/json.hpp"
#include "shared/layout_fields.hpp"
#include "shared/output.hpp"
#include "shared/terminal.hpp"
#include "shared/text.hpp"
#include "store/segment.hpp"

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

With --config, or with --store and --tag, the id is one of that generator: read by its layout, or from a text of its
pattern. If its number is from a tag, the store is asked where that stands and, where segment.grant_log is set, which
grant had the number: to whom, and when. It was granted to the holder, who need not have issued it. --json then has
the members of `idgen decode --config --json` too, and these, null where the store does not know:
  is_granted                        whether the tag has granted the number to anybody; null where it has passed it
                                    and no grant is known: it may have been raised past the number
  tag_max_id, tag_grants            where the tag stands now
  grant, first, last                number of the grant, and its numbers without those that were given back
  granted, granted_unix_ms, holder  when, and to whom
)";

constexpr std::int64_t kFirstSnowflakeUnixMs = 1262304000000;  // 2010-01-01
constexpr std::int64_t kDayMs = 86'400'000;

struct Arguments {
  Settings settings;
  std::string layout;
  std::string epoch;
  std::string id;
  std::string svg;
  bool json = false;
  bool is_hidden = false;
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

JsonObject object_of(std::uint64_t id, const Reading& reading, std::int64_t now) {
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
  return object;
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

// What the store knows about a number of a tag.
struct Origin {
  idgen_segment_info_t tag = IDGEN_SEGMENT_INFO_INIT;
  idgen_segment_grant_t grant = IDGEN_SEGMENT_GRANT_INIT;  // grant 0: none that it remembers
  std::string why_none;                                    // it remembers none: why
};

Origin origin_of(const Config& config, std::uint64_t number) {
  Origin origin;
  ErrorSlot error;
  check(idgen_segment_show(config.get(), &origin.tag, error), error);
  if (number > origin.tag.max_id) return origin;
  const idgen_status_t status = idgen_segment_grant_of(config.get(), number, &origin.grant, error);
  if (status == IDGEN_E_UNSUPPORTED || status == IDGEN_E_STORE_MISSING || status == IDGEN_E_STORE_PERMISSION) {
    origin.why_none = error.raw.message;
  } else {
    check(status, error);
  }
  return origin;
}

std::string when(std::int64_t unix_ms, std::int64_t now) { return instant(unix_ms) + ", " + relative_to(now, unix_ms); }

std::string as_lines(const Config& config, std::uint64_t number, const Origin& origin, std::int64_t now) {
  std::string out = '\n' + shown_tag(config) + " of " + one_line(without_secrets(value(config, "store"))) + '\n';
  const auto line = [&](const char* name, const std::string& text) { out += "  " + padded(name, 12) + text + '\n'; };
  line("number", std::to_string(number));
  line("stands at", std::to_string(origin.tag.max_id) + ", after " + std::to_string(origin.tag.grants) +
                        (origin.tag.grants == 1 ? " grant" : " grants") + "; changed " +
                        when(origin.tag.updated_unix_ms, now));
  const idgen_segment_grant_t& grant = origin.grant;
  if (number > origin.tag.max_id || number == 0) {
    line("granted", std::string("to nobody: ") + (number == 0 ? "numbers begin at 1"
                                                              : "the tag has not reached this number. If the id is in "
                                                                "use, it is of another store or tag, or this store "
                                                                "was restored from a backup"));
  } else if (grant.grant != 0) {
    line("granted", "to " + one_line(grant.holder) + ", " + when(grant.granted_unix_ms, now));
    line("in grant", std::to_string(grant.grant) + ", with the numbers " + std::to_string(grant.first) + " to " +
                         std::to_string(grant.last));
  } else {
    line("granted", "by " + instant(origin.tag.updated_unix_ms) + " if ever, to whom is not known");
    if (*origin.tag.holder) line("", "(the latest grant went to " + one_line(origin.tag.holder) + ')');
    line("", origin.why_none.empty() ? "No grant that the store remembers has it: it is an older one, of a process "
                                       "without segment.grant_log, or the tag was raised past the number "
                                       "(`idgen segment advance`, `retire`, `move`)"
                                     : one_line(origin.why_none));
  }
  return out;
}

void add(JsonObject& object, std::uint64_t number, const Origin& origin) {
  const idgen_segment_grant_t& grant = origin.grant;
  const bool is_reached = number != 0 && number <= origin.tag.max_id;
  is_reached&& grant.grant == 0 ? object.null("is_granted") : object.boolean("is_granted", is_reached);
  object.number("tag_max_id", origin.tag.max_id).number("tag_grants", origin.tag.grants);
  if (grant.grant == 0) {
    for (const char* const member : {"grant", "first", "last", "granted", "granted_unix_ms", "holder"})
      object.null(member);
    return;
  }
  object.number("grant", grant.grant).number("first", grant.first).number("last", grant.last);
  date(object, "granted", grant.granted_unix_ms).signed_number("granted_unix_ms", grant.granted_unix_ms);
  object.text("holder", grant.holder);
}

// An id of the generator that the options name.
int explain_own(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  if (arguments.settings.file().empty() && value(config, "kind") == "snowflake") {
    if (!value(config, "tag").empty()) {
      set(config, "kind", "segment");
    } else if (arguments.settings.gives("store") || arguments.settings.gives("namespace")) {
      throw UsageError(
          "which tag? A store is asked about a number of one: add --tag TAG. The time and the worker of a "
          "snowflake are in the id itself: leave --store out, or name its table with --config");
    }
  }
  if (!arguments.layout.empty()) set(config, "layout", arguments.layout);
  if (!arguments.epoch.empty()) set(config, "epoch", arguments.epoch);
  const OwnIds own(config, arguments.is_hidden);
  const OwnId read = own.read(arguments.id);
  if (read.id.size != 8)
    throw Failure(IDGEN_E_UNSUPPORTED, "the picture is of ids of 8 bytes, and this one has 16; see `idgen decode`");
  const std::uint64_t id = number_of(read.id);
  const Terminal terminal(stdout);
  const std::int64_t now = now_unix_ms();
  std::vector<Reading> readings;
  if (read.layout != nullptr) {
    readings.push_back({nullptr, read.layout->info, read.parts});
    readings.back().layout = make_layout(read.layout->info.text, std::to_string(read.layout->info.epoch_unix_ms));
  }
  if (!arguments.svg.empty()) {
    if (readings.empty()) throw UsageError("a serial has no bit fields to draw");
    return write_svg(arguments.svg, svg(id, readings, now));
  }
  const auto number = read.number_of_segment;
  const std::optional<Origin> origin = number ? std::optional(origin_of(config, *number)) : std::nullopt;
  if (arguments.json) {
    JsonObject object;
    if (readings.empty()) {
      object.text("id", std::to_string(id));
    } else {
      object = object_of(id, readings.front(), now);
    }
    add_own(object, own, read);
    if (origin) add(object, *number, *origin);
    print(object.str() + '\n');
    return kExitOk;
  }
  std::string text = header(id, terminal);
  if (!read.hidden.empty()) text += "hidden " + read.hidden + '\n';
  if (!read.text.empty())
    text += "text " + one_line(read.text) + (read.date.empty() ? "" : "   date " + read.date) + '\n';
  for (const Reading& reading : readings) text += picture(id, reading, terminal, now);
  print(origin ? text + as_lines(config, *number, *origin, now) : text);
  return kExitOk;
}

int explain(const Arguments& arguments) {
  if (!arguments.settings.file().empty() || arguments.settings.gives_any()) return explain_own(arguments);
  if (!arguments.settings.name().empty()) throw UsageError("--name names a table of --config FILE");
  if (arguments.is_hidden) throw UsageError("--hidden needs the generator's keys: name its table with --config");
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
    text += arguments.json ? object_of(id, reading, now).str() + '\n' : picture(id, reading, terminal, now);
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
      .usage = {"[--layout LAYOUT] [--epoch TIME] [--json | --svg FILE] ID",
                "--config FILE [--name NAME] [--hidden] [--json | --svg FILE] ID",
                "--store URL --tag TAG [--namespace NAMESPACE] [--json] ID"},
      .details = kDetails,
      .examples = {"idgen explain 1541815603606036480", "idgen explain --layout twitter 1541815603606036480",
                   "idgen explain --layout 'time:41ms worker:8 sequence:14' 0x3ab0f2e1c0a01000",
                   "idgen explain --layout twitter 1541815603606036480 --svg id.svg",
                   "idgen explain --config idgen.toml --name orders 10417"},
      .options = joined({{.names = "ID",
                          .help = "An id, decimal or 0x hexadecimal; with --config also a text of the pattern.",
                          .target = &arguments->id,
                          .is_required = true},
                         layout_option(arguments->layout, "A preset (`idgen layout` lists them) or a layout in full."),
                         epoch_option(arguments->epoch),
                         {.names = "--json", .help = "One JSON object for each layout.", .target = &arguments->json},
                         {.names = "--svg",
                          .placeholder = "FILE",
                          .help = "Write the picture to FILE as SVG, and print nothing; - is standard output.",
                          .target = &arguments->svg,
                          .value = Value::file,
                          .excludes = "--json"},
                         {.names = "--hidden",
                          .help = "It is a hidden id: reveal it first, by the keys of the configuration.",
                          .target = &arguments->is_hidden}},
                        arguments->settings.options({"store", "tag", "namespace"})),
      .run = [arguments] { return explain(*arguments); },
  };
}

}  // namespace idgen_tool
