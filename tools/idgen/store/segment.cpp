// idgen segment: the rows behind segment ids, one for each tag.
#include "store/segment.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/id_input.hpp"
#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/text.hpp"

namespace idgen_tool {

std::string tag_of(const Config& config) {
  const std::string tag = value(config, "tag");
  return tag.empty() ? value(config, "name") : tag;
}

static bool names_a_tag(const SegmentArguments& arguments, const Config& config) {
  return !value(config, "tag").empty() || !arguments.settings.name().empty() || !arguments.settings.file().empty();
}

Config configuration(const SegmentArguments& arguments) {
  Config config = arguments.settings.make();
  if (!names_a_tag(arguments, config)) {
    throw UsageError("which tag? Name it with --tag, or with --config and --name");
  }
  return config;
}

std::string shown_tag(const Config& config) {
  return "tag '" + one_line(tag_of(config)) + "' in namespace '" + one_line(value(config, "namespace")) + "'";
}

std::string store_shown(const Config& config) { return one_line(without_secrets(value(config, "store"))); }

Placed placed_above(const Config& config, std::uint64_t above) {
  ErrorSlot error;
  Placed placed;
  idgen_status_t made = idgen_segment_create_above(config.get(), above, error);
  // Serials in rows of other programs, which begin where those say.
  const bool begins_by_itself = made == IDGEN_E_UNSUPPORTED && above > 0;
  if (begins_by_itself) made = idgen_segment_create(config.get(), error);
  if (made != IDGEN_E_TAG_EXISTS) check(made, error);
  placed.is_new = made == IDGEN_OK;
  check(placed.is_new && !begins_by_itself ? idgen_segment_show(config.get(), &placed.info, error)
                                           : idgen_segment_advance(config.get(), above, &placed.info, error),
        error);
  return placed;
}

Command segment_action(Command command, SegmentAction action, const std::shared_ptr<SegmentArguments>& arguments) {
  command.options =
      joined(arguments->settings.options({"store", "tag", "namespace", "segment.schema", "kind", "pattern", "zone"}),
             std::move(command.options));
  command.run = [arguments, action] { return action(*arguments); };
  return command;
}

namespace {

bool is_serial(const Config& config) { return value(config, "kind") == "serial" && !value(config, "pattern").empty(); }

std::string serial_of(const Config& config, std::uint64_t number) {
  try {
    return written(pattern_of(config), wide_of(number));
  } catch (const Failure& failure) {
    return std::string("none: ") + failure.what();
  }
}

std::string as_json(const std::string& name_space, const std::string& tag, const idgen_segment_info_t& info) {
  const auto updated = rfc3339(info.updated_unix_ms);
  JsonObject object;
  object.text("namespace", name_space).text("tag", tag);
  object.number("max_id", info.max_id).number("grants", info.grants);
  updated ? object.text("updated", *updated) : object.null("updated");
  object.signed_number("updated_unix_ms", info.updated_unix_ms);
  object.number("step", info.step).number("rate", info.rate).text("holder", info.holder);
  return object.str();
}

void print(const Config& config, const idgen_segment_info_t& info, bool json) {
  Output out;
  if (json) {
    out.line(as_json(value(config, "namespace"), tag_of(config), info));
  } else {
    out.line("namespace   " + one_line(value(config, "namespace")));
    out.line("tag         " + one_line(tag_of(config)));
    out.line("max_id      " + std::to_string(info.max_id));
    if (is_serial(config) && info.max_id > 0) out.line("serial      " + serial_of(config, info.max_id));
    out.line("grants      " + std::to_string(info.grants));
    out.line("updated     " + instant(info.updated_unix_ms) + ", " + relative_to(now_unix_ms(), info.updated_unix_ms));
    out.line("step        " + (info.step ? std::to_string(info.step) : "each generator's own segment.step"));
    out.line("rate        " + (info.rate ? std::to_string(info.rate) + " ids per second" : "unknown"));
    out.line(std::string("holder      ") + (*info.holder ? one_line(info.holder) : "unknown"));
  }
  out.flush();
}

// What create runs, one line each, without the line break at the end.
std::string statements(const Config& config) {
  std::string text = read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_segment_statements(config.get(), buffer, size, error);
  });
  if (!text.empty()) text.pop_back();
  return text;
}

// The date in the name of a period's key, by the finest part of the pattern's date.
std::string_view key_date(const std::string& pattern) {
  std::string letters;
  for (std::size_t begin = pattern.find('{'); begin != pattern.npos; begin = pattern.find('{', begin + 1)) {
    const std::string inside = pattern.substr(begin + 1, pattern.find('}', begin) - begin - 1);
    if (inside.find_first_not_of("yMdDH-/.:_ T") == inside.npos) letters += inside;
  }
  const auto has = [&](const char* some) { return letters.find_first_of(some) != letters.npos; };
  return has("H") ? "yyyyMMddHH" : has("dD") ? "yyyyMMdd" : has("M") ? "yyyyMM" : "yyyy";
}

int create(const SegmentArguments& arguments) {
  const Config config = configuration(arguments);
  const bool is_server = value(config, "store").find("://") != std::string::npos;
  const std::uint64_t above = arguments.above_number;
  Output out;
  if (arguments.only_print) {
    if (above > 0) throw UsageError("--print shows how a tag is made at 0; run it without --above");
    out.line(statements(config));
    out.flush();
    return kExitOk;
  }
  ErrorSlot error;
  const idgen_status_t made = idgen_segment_create_above(config.get(), above, error);
  if (made == IDGEN_E_TAG_EXISTS && arguments.if_missing) {
    idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
    if (above > 0) check(idgen_segment_show(config.get(), &info, error), error);
    if (info.max_id < above) {
      throw Failure(IDGEN_E_TAG_EXISTS, shown_tag(config) + " of " + store_shown(config) + " exists and stands at " +
                                            std::to_string(info.max_id) + ", below " + std::to_string(above) +
                                            ": raise it with `idgen segment advance`");
    }
    out.line(shown_tag(config) + " of " + store_shown(config) + " exists; nothing is changed");
    out.flush();
    return kExitOk;
  }
  check(made, error);
  if (is_server && above == 0) out.line(statements(config));
  out.line("created " + shown_tag(config) + " of " + store_shown(config) +
           (value(config, "segment.schema") == "key_producer" ? "; it begins above the highest number in its table"
            : value(config, "segment.schema") == "incr"
                ? "; it begins above the number in the key " + one_line(tag_of(config)) + ":" +
                      std::string(key_date(value(config, "pattern")))
            : above > 0 ? "; it begins above " + std::to_string(above)
                        : "; its first id is 1"));
  out.flush();
  return kExitOk;
}

struct Row {
  std::string name_space;
  std::string tag;
  idgen_segment_info_t info;
};

// All tags of a store, one per line; those that can be read, if the store says that a row is damaged.
int show_all(const Config& config, bool json) {
  std::vector<Row> rows;
  const auto add = [](void* to, const char* name_space, const char* tag, const idgen_segment_info_t* info) {
    static_cast<std::vector<Row>*>(to)->push_back({name_space, tag, *info});
  };
  ErrorSlot error;
  const idgen_status_t status = idgen_segment_list(config.get(), add, &rows, error);
  if (rows.empty()) check(status, error);
  Output out;
  if (json) {
    for (const Row& row : rows) out.line(as_json(row.name_space, row.tag, row.info));
  } else {
    const auto known = [](std::uint64_t number) { return number ? std::to_string(number) : std::string("-"); };
    const std::int64_t now = now_unix_ms();
    std::size_t names = 9, tags = 3, ages = 7;
    for (Row& row : rows) {
      row.name_space = one_line(row.name_space);
      row.tag = one_line(row.tag);
      names = std::max(names, row.name_space.size());
      tags = std::max(tags, row.tag.size());
      ages = std::max(ages, relative_to(now, row.info.updated_unix_ms).size());
    }
    const auto line = [&](const std::string& name_space, const std::string& tag, const std::string& max_id,
                          const std::string& grants, const std::string& step, const std::string& rate,
                          const std::string& updated, const std::string& holder) {
      out.line(padded(name_space, names + 2) + padded(tag, tags) + right_aligned(max_id, 21) +
               right_aligned(grants, 12) + right_aligned(step, 12) + right_aligned(rate, 12) + "  " +
               padded(updated, ages + 2) + holder);
    };
    line("namespace", "tag", "max_id", "grants", "step", "rate", "updated", "holder");
    for (const Row& row : rows) {
      line(row.name_space, row.tag, std::to_string(row.info.max_id), std::to_string(row.info.grants),
           known(row.info.step), known(row.info.rate), relative_to(now, row.info.updated_unix_ms),
           *row.info.holder ? one_line(row.info.holder) : "-");
    }
  }
  out.flush();
  check(status, error);
  return kExitOk;
}

int show(const SegmentArguments& arguments) {
  const Config config = arguments.settings.make();
  if (!names_a_tag(arguments, config)) return show_all(config, arguments.json);
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(config.get(), &info, error), error);
  print(config, info, arguments.json);
  return kExitOk;
}

// Throws UsageError for a leap that looks like a mistake.
void check_leap(const Config& config, std::uint64_t to) {
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(config.get(), &info, error), error);
  if (to <= info.max_id || to - info.max_id <= kLargestLeap || to > kLargestNumber) return;
  throw UsageError(shown_tag(config) + " stands at " + std::to_string(info.max_id) + "; --to " + std::to_string(to) +
                   " would skip " + std::to_string(to - info.max_id) + " numbers for good and leave " +
                   std::to_string(kLargestNumber - to) +
                   ". A counter is never lowered. If that is intended, add --force: it allows a leap of more than " +
                   std::to_string(kLargestLeap) + ", and nothing else");
}

// Now, by the clocks of the zone: an id of this moment is written, and read.
idgen_text_parts_t present(const Config& config) {
  const Layout layout = make_layout("mastodon");  // 48 bits of Unix ms, 16 of a sequence
  ErrorSlot error;
  idgen_pattern_t* pattern = nullptr;
  check(idgen_pattern_create("{yyyyMMddHH}-{decimal}", value(config, "zone").c_str(), layout.get(), &pattern, error),
        error);
  const Pattern clock(pattern);
  return read_by(clock, written(clock, wide_of(static_cast<std::uint64_t>(now_unix_ms()) << 16)));
}

// A counter is never lowered: a slip in the year would date all serials with it for good.
void check_date(const SegmentArguments& arguments, const Config& config, const idgen_text_parts_t& parts) {
  const idgen_text_parts_t now = present(config);
  const auto date = [&](const idgen_text_parts_t& of) {  // as far as the pattern has it
    return std::tuple(of.year, parts.unit >= IDGEN_UNIT_MONTH ? of.month : 0, parts.unit >= IDGEN_UNIT_DAY ? of.day : 0,
                      parts.unit >= IDGEN_UNIT_HOUR ? of.hour : 0);
  };
  if (parts.unit == IDGEN_UNIT_NONE || date(parts) <= date(now)) return;
  throw UsageError("'" + one_line(arguments.above) +
                   "' is of a time to come. A counter is never lowered: until then all "
                   "serials would be of that time. If that is intended, add --force");
}

// The number that --to or --above names.
std::uint64_t target_of(const SegmentArguments& arguments, const Config& config) {
  if ((arguments.to == kNoTarget) == arguments.above.empty())
    throw UsageError("give either --to, a number, or --above, a serial as it is written");
  if (arguments.above.empty()) {
    if (!arguments.force) check_leap(config, arguments.to);
    return arguments.to;
  }
  if (!is_serial(config)) {
    throw UsageError(
        "--above is a serial, whose pattern says how it is written: give --config and --name of a table with "
        "kind = \"serial\", or --kind serial and --pattern");
  }
  const idgen_text_parts_t parts = read_by(pattern_of(config), arguments.above);
  if (!arguments.force) check_date(arguments, config, parts);
  return number_of(parts.id);
}

int advance(const SegmentArguments& arguments) {
  const Config config = configuration(arguments);
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_advance(config.get(), target_of(arguments, config), &info, error), error);
  print(config, info, arguments.json);
  return kExitOk;
}

int set_step(const SegmentArguments& arguments) {
  const Config config = configuration(arguments);
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_set_step(config.get(), arguments.to, &info, error), error);
  print(config, info, arguments.json);
  return kExitOk;
}

Option json_option(SegmentArguments& arguments, const std::string& help = "One JSON object.") {
  return {.names = "--json", .help = help, .target = &arguments.json};
}

Command create_command() {
  auto arguments = std::make_shared<SegmentArguments>();
  Command command{
      .name = "create",
      .summary = "Make a tag, and its store if that is missing.",
      .usage = {"--store URL --tag TAG [--namespace NAMESPACE] [--above N] [--if-missing]",
                "--store URL --tag TAG [--namespace NAMESPACE] --print"},
      .details = R"(
The counter begins at 0: the first id is 1. With --above it begins there, in one step: a tag that takes over ids
which are in use can at no moment issue a lower one. A tag that exists is an error (TAG_EXISTS) and changes nothing;
with --if-missing it is as good as made, so that a deployment may run this each time.
On a server it prints the statements that it ran. With --print it only prints them and connects to no server.
)",
      .examples = {"idgen segment create --store sqlite:ids.db --tag orders",
                   "idgen segment create --store sqlite:ids.db --tag carts --above 5000000",
                   "idgen segment create --config idgen.toml --name orders",
                   "idgen segment create --store mysql://app@db/ids --tag orders --schema leaf --print"},
      .options = {{.names = "--above",
                   .placeholder = "N",
                   .help = "The first id is above N.",
                   .target = &arguments->above_number},
                  {.names = "--if-missing",
                   .help = "Leave a tag alone that exists, and exit with 0.",
                   .target = &arguments->if_missing},
                  {.names = "--print",
                   .help = "Only print the statements, for a migration.",
                   .target = &arguments->only_print}},
  };
  return segment_action(command, create, arguments);
}

Command show_command() {
  auto arguments = std::make_shared<SegmentArguments>();
  Command command{
      .name = "show",
      .summary = "Show the state of a tag, or of all tags of a store.",
      .usage = {"--store URL [--tag TAG] [--namespace NAMESPACE] [--json]"},
      .details = R"(
max_id is the highest number granted to any generator so far; the next range begins above it.
Not all numbers up to it have been issued. Nothing is changed, and a missing store is not made.

step is how many numbers a grant has, as set by the operator; rate is how many ids per second the holder drew;
holder is who took the latest grant. All three may be unset.

Without --tag: all tags of all namespaces, one per line, with - for what is unset.

With --json: namespace, tag, max_id, grants, updated (RFC 3339), updated_unix_ms, step, rate, holder
(0, 0 and "" where unset).
)",
      .examples = {"idgen segment show --store sqlite:ids.db --tag orders --json",
                   "idgen segment show --store postgres://app@db/ids"},
      .options = {json_option(*arguments, "One JSON object per tag.")},
  };
  return segment_action(command, show, arguments);
}

Command advance_command() {
  auto arguments = std::make_shared<SegmentArguments>();
  arguments->to = kNoTarget;
  Command command{
      .name = "advance",
      .summary = "Raise a tag's counter above numbers that are already in use.",
      .usage = {"--store URL --tag TAG --to N [--force] [--namespace NAMESPACE] [--json]",
                "--config FILE --name NAME --above SERIAL [--force] [--json]"},
      .details = R"(
The next range begins above N. A counter is never lowered, so this cannot be undone. One that is at N or above
moves up by 1, so that no generator can give numbers below it back. Prints the new state, as `show` does.

Generators keep issuing from the range they hold, which may be below N: stop those of this tag first.
A leap of more than 1000000000 needs --force.

Serials (kind = "serial") go on above the one that --above names, as it is written. One of a time to
come needs --force.

A SQLite store that was restored from an older copy grants nothing (STORE_REGRESSED) while its PATH-lock is
kept. Stop all users, advance every tag, then delete PATH-lock. Delete it first only if the error says so
(STORE_MISSING: another store replaced it).
)",
      .example_title = "Example, before a table with ids up to 5000000 moves to this counter",
      .examples = {"idgen segment advance --store sqlite:ids.db --tag orders --to 5000000"},
      .options = {{.names = "--to", .placeholder = "N", .help = "The highest number in use.", .target = &arguments->to},
                  {.names = "--above",
                   .placeholder = "SERIAL",
                   .help = "The latest serial in use, as it is written: SO20261121000417.",
                   .target = &arguments->above},
                  {.names = "--force",
                   .help = "Skip more than 1000000000 numbers. They are lost for good.",
                   .target = &arguments->force},
                  json_option(*arguments)},
  };
  return segment_action(command, advance, arguments);
}

Command set_step_command() {
  auto arguments = std::make_shared<SegmentArguments>();
  Command command{
      .name = "set-step",
      .summary = "Set how many numbers all generators of a tag reserve at once.",
      .usage = {"--store URL --tag TAG --step N [--namespace NAMESPACE] [--json]"},
      .details = R"(
Replaces each generator's own segment.step, from its next range on; none needs a restart.
0 leaves it to the generators again. Prints the new state, as `show` does.
)",
      .examples = {"idgen segment set-step --store sqlite:ids.db --tag orders --step 50000"},
      .options = {{.names = "--step",
                   .placeholder = "N",
                   .help = "Numbers, 0 to 1000000000.",
                   .target = &arguments->to,
                   .is_required = true},
                  json_option(*arguments)},
  };
  return segment_action(command, set_step, arguments);
}

}  // namespace

Command segment_command() {
  return {
      .name = "segment",
      .summary = "Create, show, advance, tune, import, move or end the counter behind segment ids.",
      .usage = {"create|show|advance|set-step|import|move|retire --store URL --tag TAG [OPTIONS]"},
      .details = R"(
A segment generator draws ranges of numbers from a counter. A store keeps one counter for each tag.
)",
      .examples = {"idgen segment create --store sqlite:ids.db --tag orders",
                   "idgen segment show --store sqlite:ids.db --tag orders --json",
                   "idgen segment advance --store sqlite:ids.db --tag orders --to 5000000"},
      .commands = {create_command(), show_command(), advance_command(), set_step_command(), import_command(),
                   segment_move_command(), segment_retire_command()},
  };
}

}  // namespace idgen_tool
