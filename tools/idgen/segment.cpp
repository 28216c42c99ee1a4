// idgen segment: the rows behind segment ids, one for each tag.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "command.hpp"
#include "help.hpp"
#include "json.hpp"
#include "output.hpp"
#include "settings.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

struct Arguments {
  Settings settings;
  std::uint64_t to = 0;
  bool json = false;
  bool only_print = false;
  struct {
    std::string schema, name_space, tag, table, column;
    std::uint64_t margin = 0;
  } from;
};

std::string value(const Config& config, const char* key) {
  return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_get(config.get(), key, buffer, size, error);
  });
}

// The tag in force: a tag that was not set is the generator's name.
std::string tag_of(const Config& config) {
  const std::string tag = value(config, "tag");
  return tag.empty() ? value(config, "name") : tag;
}

bool names_a_tag(const Arguments& arguments, const Config& config) {
  return !value(config, "tag").empty() || !arguments.settings.name().empty() || !arguments.settings.file().empty();
}

Config configuration(const Arguments& arguments) {
  Config config = arguments.settings.make();
  if (!names_a_tag(arguments, config)) {
    throw UsageError("which tag? Name it with --tag, or with --config and --name");
  }
  return config;
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
    out.line("namespace   " + value(config, "namespace"));
    out.line("tag         " + tag_of(config));
    out.line("max_id      " + std::to_string(info.max_id));
    out.line("grants      " + std::to_string(info.grants));
    out.line("updated     " + instant(info.updated_unix_ms) + ", " + relative_to(now_unix_ms(), info.updated_unix_ms));
    out.line("step        " + (info.step ? std::to_string(info.step) : "each generator's own segment.step"));
    out.line("rate        " + (info.rate ? std::to_string(info.rate) + " ids a second" : "unknown"));
    out.line(std::string("holder      ") + (*info.holder ? info.holder : "unknown"));
  }
  out.flush();
}

// What create runs, a line each, without the line break at the end.
std::string statements(const Config& config) {
  std::string text = read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_segment_statements(config.get(), buffer, size, error);
  });
  if (!text.empty()) text.pop_back();
  return text;
}

int create(const Arguments& arguments) {
  const Config config = configuration(arguments);
  const bool is_server = value(config, "store").find("://") != std::string::npos;
  Output out;
  if (arguments.only_print) {
    out.line(statements(config));
    out.flush();
    return kExitOk;
  }
  ErrorSlot error;
  check(idgen_segment_create(config.get(), error), error);
  if (is_server) out.line(statements(config));
  out.line("created tag '" + tag_of(config) + "' in namespace '" + value(config, "namespace") + "' of " +
           without_secrets(value(config, "store")) + "; its first id is 1");
  out.flush();
  return kExitOk;
}

struct Row {
  std::string name_space;
  std::string tag;
  idgen_segment_info_t info;
};

// All tags of a store: a line each.
int show_all(const Config& config, bool json) {
  std::vector<Row> rows;
  const auto add = [](void* to, const char* name_space, const char* tag, const idgen_segment_info_t* info) {
    static_cast<std::vector<Row>*>(to)->push_back({name_space, tag, *info});
  };
  ErrorSlot error;
  check(idgen_segment_list(config.get(), add, &rows, error), error);
  Output out;
  if (json) {
    for (const Row& row : rows) out.line(as_json(row.name_space, row.tag, row.info));
  } else {
    const auto known = [](std::uint64_t number) { return number ? std::to_string(number) : std::string("-"); };
    const std::int64_t now = now_unix_ms();
    std::size_t names = 9, tags = 3, ages = 7;
    for (const Row& row : rows) {
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
           *row.info.holder ? row.info.holder : "-");
    }
  }
  out.flush();
  return kExitOk;
}

int show(const Arguments& arguments) {
  const Config config = arguments.settings.make();
  if (!names_a_tag(arguments, config)) return show_all(config, arguments.json);
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(config.get(), &info, error), error);
  print(config, info, arguments.json);
  return kExitOk;
}

int advance(const Arguments& arguments) {
  const Config config = configuration(arguments);
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_advance(config.get(), arguments.to, &info, error), error);
  print(config, info, arguments.json);
  return kExitOk;
}

int set_step(const Arguments& arguments) {
  const Config config = configuration(arguments);
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_set_step(config.get(), arguments.to, &info, error), error);
  print(config, info, arguments.json);
  return kExitOk;
}

// Where the numbers of the source end, and the source in words.
std::pair<std::uint64_t, std::string> end_of_source(const Arguments& arguments, const Config& config) {
  const auto& from = arguments.from;
  ErrorSlot error;
  if (!from.table.empty()) {
    if (from.column.empty()) throw UsageError("--from-table needs --from-column, the column with the ids");
    std::uint64_t max_id = 0;
    check(idgen_segment_max_of(config.get(), from.table.c_str(), from.column.c_str(), &max_id, error), error);
    return {max_id, "the largest " + from.column + " of " + from.table};
  }
  const Config source = arguments.settings.make();
  if (!from.schema.empty()) set(source, "segment.schema", from.schema);
  if (!from.tag.empty()) set(source, "tag", from.tag);
  const std::string schema = value(source, "segment.schema");
  if (!from.name_space.empty()) {
    set(source, "namespace", from.name_space);
  } else if (schema == "leaf" || schema == "tinyid") {
    set(source, "namespace", "default");  // they have no other
  }
  const std::string name_space = value(source, "namespace");
  if (schema == value(config, "segment.schema") && name_space == value(config, "namespace") &&
      tag_of(source) == tag_of(config)) {
    throw UsageError("the tag would be imported from itself: name another with --from-tag or --from-schema");
  }
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(source.get(), &info, error), error);
  return {info.max_id, "tag '" + tag_of(source) + "' in namespace '" + name_space + "', schema " + schema};
}

int import_tag(const Arguments& arguments) {
  const auto& from = arguments.from;
  const bool by_table = !from.table.empty() || !from.column.empty();
  if (by_table == (!from.tag.empty() || !from.schema.empty())) {
    throw UsageError("from where? Give --from-table and --from-column, or --from-tag and --from-schema");
  }
  if (by_table && from.table.empty()) throw UsageError("--from-column needs --from-table");
  const Config config = configuration(arguments);
  const auto [found, source] = end_of_source(arguments, config);
  constexpr std::uint64_t kLargest = INT64_MAX;
  if (from.margin > kLargest || found > kLargest - from.margin) {
    throw UsageError(source + " stands at " + std::to_string(found) + "; with --margin " + std::to_string(from.margin) +
                     " that passes 2^63 - 1");
  }
  const std::uint64_t to = found + from.margin;
  ErrorSlot error;
  const idgen_status_t made = idgen_segment_create(config.get(), error);
  if (made != IDGEN_E_TAG_EXISTS) check(made, error);
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  if (made == IDGEN_OK && to == 0) {
    check(idgen_segment_show(config.get(), &info, error), error);
  } else {
    check(idgen_segment_advance(config.get(), to, &info, error), error);
  }
  Output out;
  if (arguments.json) {
    JsonObject object;
    object.text("source", source).number("found", found).number("margin", from.margin);
    object.text("namespace", value(config, "namespace")).text("tag", tag_of(config));
    object.boolean("created", made == IDGEN_OK).number("max_id", info.max_id);
    out.line(object.str());
  } else {
    out.line("found " + std::to_string(found) + ", " + source);
    out.line(std::string(made == IDGEN_OK ? "created" : "lifted") + " tag '" + tag_of(config) + "' in namespace '" +
             value(config, "namespace") + "'; its max_id is " + std::to_string(info.max_id) +
             ", the next range begins above it");
  }
  out.flush();
  return kExitOk;
}

using Action = int (*)(const Arguments&);

CLI::App* add_action(CLI::App& parent, Run& run, Action action, const std::string& name, const std::string& summary,
                     const std::string& usage, const std::string& details, std::shared_ptr<Arguments>& arguments) {
  arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(parent, name, summary, "segment " + usage, details);
  arguments->settings.add_options(*command, {"store", "tag", "namespace", "segment.schema"});
  command->callback([arguments, &run, action] { run = [arguments, action] { return action(*arguments); }; });
  return command;
}

}  // namespace

void add_segment(CLI::App& app, Run& run) {
  CLI::App* command =
      add_command(app, "segment", "Create, show, advance, tune or import the counter behind segment ids.",
                  "segment create|show|advance|set-step|import --store URL --tag TAG [OPTIONS]",
                  "A segment generator draws ranges of numbers from a counter, one for each tag, that a store keeps.\n"
                  "\n"
                  "Examples:\n"
                  "  idgen segment create --store sqlite:ids.db --tag orders\n"
                  "  idgen segment show --store sqlite:ids.db --tag orders --json\n"
                  "  idgen segment advance --store sqlite:ids.db --tag orders --to 5000000\n");
  command->require_subcommand(1);

  std::shared_ptr<Arguments> arguments;
  CLI::App* sub = add_action(
      *command, run, create, "create", "Make a tag, and its store if that is missing.",
      "create --store URL --tag TAG [--namespace NAMESPACE] [--print]",
      "The counter begins at 0: the first id is 1. A tag that exists is an error (TAG_EXISTS) and stays as it is.\n"
      "On a server it prints the statements that it ran. With --print it runs nothing and reaches for no server.\n"
      "\n"
      "Examples:\n"
      "  idgen segment create --store sqlite:ids.db --tag orders\n"
      "  idgen segment create --config idgen.toml --name orders\n"
      "  idgen segment create --store mysql://app@db/ids --tag orders --schema leaf --print\n",
      arguments);
  sub->add_flag("--print", arguments->only_print, "Only print the statements, for a migration.");

  sub = add_action(
      *command, run, show, "show", "Show the state of a tag, or of all tags of a store.",
      "show --store URL [--tag TAG] [--namespace NAMESPACE] [--json]",
      "max_id is the highest number granted to any generator so far; the next range begins above it.\n"
      "Not all numbers up to it have been issued. Nothing is changed, and a missing store is not made.\n"
      "\n"
      "step is the operator's word on how many numbers a grant has, rate how many ids a second the holder\n"
      "drew, holder who took the latest grant; all three may be unset.\n"
      "\n"
      "Without --tag: all tags of all namespaces, a line each, with - for what is unset.\n"
      "\n"
      "With --json: namespace, tag, max_id, grants, updated (RFC 3339), updated_unix_ms, step, rate, holder\n"
      "(0, 0 and \"\" where unset).\n"
      "\n"
      "Examples:\n"
      "  idgen segment show --store sqlite:ids.db --tag orders --json\n"
      "  idgen segment show --store postgres://app@db/ids\n",
      arguments);
  sub->add_flag("--json", arguments->json, "One JSON object a tag.");

  sub =
      add_action(*command, run, advance, "advance", "Lift a tag's counter above numbers that are in use already.",
                 "advance --store URL --tag TAG --to N [--namespace NAMESPACE] [--json]",
                 "The next range begins above N. A counter that is at N or above stays as it is: it is never lowered.\n"
                 "Generators that hold a range finish it first. Prints the state after, as `show` does.\n"
                 "\n"
                 "Example, before a table with ids up to 5000000 moves to this counter:\n"
                 "  idgen segment advance --store sqlite:ids.db --tag orders --to 5000000\n",
                 arguments);
  sub->add_option("--to", arguments->to, "The highest number in use.")->type_name("N")->check(whole_number)->required();
  sub->add_flag("--json", arguments->json, "One JSON object.");

  sub = add_action(
      *command, run, set_step, "set-step", "Say how many numbers are reserved at once, for all generators of a tag.",
      "set-step --store URL --tag TAG --step N [--namespace NAMESPACE] [--json]",
      "Stands in place of each generator's own segment.step, from its next range on; none has to be restarted.\n"
      "0 leaves it to the generators again. Prints the state after, as `show` does.\n"
      "\n"
      "Example:\n"
      "  idgen segment set-step --store sqlite:ids.db --tag orders --step 50000\n",
      arguments);
  sub->add_option("--step", arguments->to, "Numbers, 0 to 1000000000.")
      ->type_name("N")
      ->check(whole_number)
      ->required();
  sub->add_flag("--json", arguments->json, "One JSON object.");

  sub = add_action(
      *command, run, import_tag, "import", "Make a tag, or lift it, so that it goes on above numbers that exist.",
      "import --store URL --tag TAG --from-table TABLE --from-column COLUMN [--margin N]\n"
      "       idgen segment import --store URL --tag TAG --from-tag TAG [--from-schema SCHEMA] [--margin N]",
      "Reads where the numbers of a table of your own, or of another tag in the same store, end; makes the tag if it "
      "is\n"
      "missing; then lifts it as `advance` does, never lowers it. Whoever still makes numbers at the source must have\n"
      "stopped, or stay within --margin.\n"
      "\n"
      "With --json: source, found, margin, namespace, tag, created, max_id.\n"
      "\n"
      "Examples:\n"
      "  idgen segment import --store mysql://app@db/ids --tag orders --from-table shop.orders --from-column id\n"
      "  idgen segment import --store mysql://app@db/ids --tag orders --from-schema leaf --from-tag order\n",
      arguments);
  auto& from = arguments->from;
  sub->add_option("--from-table", from.table, "A table of the store's database, or DATABASE.TABLE.")
      ->type_name("TABLE");
  sub->add_option("--from-column", from.column, "Its column of ids.")->type_name("COLUMN");
  sub->add_option("--from-tag", from.tag, "A tag of the same store; the tag's own name if not given.")
      ->type_name("TAG");
  sub->add_option("--from-schema", from.schema, "The schema of that tag; segment.schema if not given.")
      ->type_name("idgen|leaf|tinyid|cosid");
  sub->add_option("--from-namespace", from.name_space, "The namespace of that tag; the tag's own if not given.")
      ->type_name("NAMESPACE");
  sub->add_option("--margin", from.margin, "Numbers to leave free above what was found. Default: 0.")
      ->type_name("N")
      ->check(whole_number);
  sub->add_flag("--json", arguments->json, "One JSON object.");
}

}  // namespace idgen_tool
