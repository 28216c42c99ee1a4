// idgen segment import: a tag that continues above existing numbers, and what is left to do after that.
#include <algorithm>
#include <utility>
#include <vector>

#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/text.hpp"
#include "store/moving_over.hpp"
#include "store/segment.hpp"

namespace idgen_tool {
namespace {

// A table's column, or another tag.
struct Source {
  std::uint64_t end = 0;  // the highest of its numbers
  std::string name;
  std::string beside{};  // what else there is, for a line
  idgen_segment_column_t column = IDGEN_SEGMENT_COLUMN_INIT;
};

Config source_configuration(const SegmentArguments& arguments) {
  const auto& from = arguments.from;
  Config source = arguments.settings.make();
  if (!from.schema.empty()) set(source, "segment.schema", from.schema);
  if (!from.tag.empty()) set(source, "tag", from.tag);
  const std::string schema = value(source, "segment.schema");
  if (!from.name_space.empty()) {
    set(source, "namespace", from.name_space);
  } else if (schema == "leaf" || schema == "tinyid") {
    set(source, "namespace", "default");  // they have no other
  }
  return source;
}

// "'orders', 'invoices'": the tags of the source's namespace, so that a misspelt one is found.
std::string tags_beside(const Config& source) {
  struct Found {
    const std::string name_space;
    std::string list{};
    std::size_t count = 0;
  } found{value(source, "namespace")};
  const auto add = [](void* to, const char* name_space, const char* tag, const idgen_segment_info_t*) {
    constexpr std::size_t kEnough = 10;
    Found& found = *static_cast<Found*>(to);
    if (found.name_space != name_space || ++found.count > kEnough + 1) return;
    found.list += found.count > kEnough ? ", ..." : (found.list.empty() ? "'" : ", '") + one_line(tag) + "'";
  };
  ErrorSlot error;
  check(idgen_segment_list(source.get(), add, &found, error), error);
  return found.list;
}

// The library would advise making the tag, from 1 on: right for a tag to draw from, wrong for one to read.
[[noreturn]] void throw_no_source(const Config& source, const std::string& name) {
  const std::string tags = tags_beside(source);
  throw Failure(IDGEN_E_TAG_UNKNOWN, "the source, " + name + ", is not in " + without_secrets(value(source, "store")) +
                                         ". Nothing was imported, and no tag was made. Its namespace has " +
                                         (tags.empty() ? "no tags of that schema" : "the tags " + tags) +
                                         "; correct --from-tag, --from-schema or --from-namespace");
}

Source read_tag(const SegmentArguments& arguments, const Config& config) {
  const Config source = source_configuration(arguments);
  const std::string schema = value(source, "segment.schema");
  if (schema == value(config, "segment.schema") && value(source, "namespace") == value(config, "namespace") &&
      tag_of(source) == tag_of(config)) {
    throw UsageError("the tag would be imported from itself: name another with --from-tag or --from-schema");
  }
  const std::string name = shown_tag(source) + ", schema " + schema;
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  const idgen_status_t status = idgen_segment_show(source.get(), &info, error);
  if (status == IDGEN_E_TAG_UNKNOWN) throw_no_source(source, name);
  check(status, error);
  if (schema == "key_producer" && info.max_id == 0) {
    throw Failure(IDGEN_E_UNSUPPORTED, "the source, " + name +
                                           ", has not been drawn from (INIT), so where it stands is not known. Nothing "
                                           "was imported. Draw from it once before; it then begins above the highest "
                                           "number of its table");
  }
  return {.end = info.max_id, .name = name};
}

// True: the tag has granted as many, so the largest id may be one of idgen's.
bool are_granted(const Config& config, const idgen_segment_column_t& column) {
  ErrorSlot error;
  idgen_segment_info_t tag = IDGEN_SEGMENT_INFO_INIT;
  return idgen_segment_show(config.get(), &tag, error) == IDGEN_OK && column.largest <= tag.max_id;
}

// Throws Failure unless all that a program may have made of the counter is known. Each of its numbers may stand for a
// block, whose rest the program still holds: `increment` numbers that begin there, which in_use says; or --hilo numbers
// that begin at their product, which nothing in the database says.
std::uint64_t highest_in_use(const SegmentArguments& arguments, const Config& config,
                             const idgen_segment_column_t& column) {
  const auto& from = arguments.from;
  const std::string name = one_line(from.column) + " of " + one_line(from.table);
  const std::string_view counter = column.counter;
  if (counter.empty()) {
    if (from.hilo != 0) throw UsageError("--hilo needs the counter: name it with --sequence");
    if (*column.others == '\0') return column.in_use;
    throw Failure(IDGEN_E_VALUE, "the database does not number " + name +
                                     " itself, and has counters that no column owns: " + one_line(column.others) +
                                     ". A program (Hibernate, EF Core) may hold numbers of one of them. Name it with "
                                     "--sequence, or say --sequence none. Nothing was imported");
  }
  const std::string stands = one_line(column.counter) + ", which numbers " + name + ", stands at " +
                             std::to_string(column.issued) + ", and the largest id is " +
                             std::to_string(column.largest);
  if (from.hilo < 2) {
    // Of a step above 1 the block is known. Else only programs know, and a counter of the database's own is asked only
    // where its ids are not those in the rows; unless they may be of idgen, from an import before this one.
    const bool is_known = from.hilo == 1 || column.increment > 1;
    if (is_known || (from.sequence.empty() && (column.largest <= column.issued || are_granted(config, column))))
      return column.in_use;
    throw Failure(IDGEN_E_VALUE,
                  stands +
                      ". If a program multiplies its numbers (hilo), it holds more: say --hilo N, the "
                      "ids of a block (allocationSize; or max_lo + 1). Else say --hilo 1: the ids are its "
                      "numbers, or were inserted by hand. Nothing was imported");
  }
  if (column.issued >= kLargestNumber / from.hilo)
    throw UsageError("--hilo " + std::to_string(from.hilo) + " exceeds 2^63 - 1");
  const std::uint64_t held = (column.issued + 1) * from.hilo;
  if (column.largest <= held || are_granted(config, column)) return std::max(held, column.largest);
  throw Failure(IDGEN_E_VALUE, stands + "; blocks of " + std::to_string(from.hilo) + " end at " + std::to_string(held) +
                                   ": --hilo is too small, or the sequence is another's. Nothing was imported");
}

Source read_table(const SegmentArguments& arguments, const Config& config) {
  const auto& from = arguments.from;
  if (from.table.empty()) throw UsageError("--from-column needs --from-table");
  if (from.column.empty()) throw UsageError("--from-table needs --from-column, the column with the ids");
  ErrorSlot error;
  Source source;
  const std::string sequence = from.sequence == "none" ? "" : from.sequence;
  check(idgen_segment_column_of(config.get(), from.table.c_str(), from.column.c_str(),
                                from.sequence.empty() ? nullptr : sequence.c_str(), &source.column, error),
        error);
  const std::string name = one_line(from.column) + " of " + one_line(from.table);
  source.end = highest_in_use(arguments, config, source.column);
  const std::string counter = one_line(source.column.counter);
  source.name = source.end == source.column.largest ? "the largest " + name
                : source.end == source.column.issued
                    ? "the last number that " + counter + " has issued for " + name
                    : "the end of what programs may hold of " + counter + " for " + name;
  if (source.end != source.column.largest)
    source.beside = "; the largest row has " + std::to_string(source.column.largest);
  return source;
}

// The URL of the store that has the tables.
std::string database_of(const Config& config) {
  const std::string store = value(config, "store");
  return store == "buffer" ? value(config, "buffer.database") : store;
}

// Throws UsageError for a --margin above `end` that is impossible, or is probably a mistake. `name`: what stands there.
void check_margin(const std::string& name, std::uint64_t end, std::uint64_t margin, bool force) {
  const std::string asked = name + " stands at " + std::to_string(end) + "; --margin " + std::to_string(margin);
  if (margin > kLargestNumber || end > kLargestNumber - margin) throw UsageError(asked + " exceeds 2^63 - 1");
  if (margin > kLargestLeap && !force) {
    throw UsageError(asked +
                     " would leave that many numbers unused for good. If that is intended, add --force: it allows a "
                     "margin of more than " +
                     std::to_string(kLargestLeap) + ", and nothing else");
  }
}

int import_one(const SegmentArguments& arguments, const Config& config, Output& out);

// Each tag of another schema in the same store, under its own name.
int import_all(const SegmentArguments& arguments) {
  const auto& from = arguments.from;
  if (from.schema.empty() || !from.tag.empty() || !from.table.empty() || !from.column.empty())
    throw UsageError("--all imports every tag of --from-schema, and takes no other source");
  if (!value(arguments.settings.make(), "tag").empty())
    throw UsageError("--all names every tag itself: leave out --tag");
  const Config source = source_configuration(arguments);
  struct Found {
    const std::string name_space;
    std::vector<std::string> tags{};
  } found{value(source, "namespace")};
  const auto add = [](void* to, const char* name_space, const char* tag, const idgen_segment_info_t*) {
    Found& all = *static_cast<Found*>(to);
    if (all.name_space == name_space) all.tags.emplace_back(tag);
  };
  ErrorSlot error;
  check(idgen_segment_list(source.get(), add, &found, error), error);
  if (found.tags.empty()) {
    throw Failure(IDGEN_E_TAG_UNKNOWN, "namespace '" + one_line(found.name_space) + "', schema " + from.schema +
                                           ", of " + without_secrets(value(source, "store")) +
                                           " has no tags: nothing to import");
  }
  Output out;
  for (const std::string& tag : found.tags) {
    SegmentArguments one = arguments;
    one.from.tag = tag;
    Config config = arguments.settings.make();
    set(config, "tag", tag);
    import_one(one, config, out);
  }
  out.flush();
  return kExitOk;
}

int import_tag(const SegmentArguments& arguments) {
  if (arguments.all) return import_all(arguments);
  Output out;
  const int status = import_one(arguments, configuration(arguments), out);
  out.flush();
  return status;
}

int import_one(const SegmentArguments& arguments, const Config& config, Output& out) {
  const auto& from = arguments.from;
  const bool by_table = !from.table.empty() || !from.column.empty();
  if (by_table == (!from.tag.empty() || !from.schema.empty())) {
    throw UsageError("from where? Give --from-table and --from-column, or --from-tag and --from-schema");
  }
  if (!by_table && (!from.sequence.empty() || from.hilo != 0))
    throw UsageError("--sequence and --hilo say how a table is numbered: give --from-table");
  const Source source = by_table ? read_table(arguments, config) : read_tag(arguments, config);
  check_margin(source.name, source.end, from.margin, arguments.force);
  const std::uint64_t to = source.end + from.margin;
  const auto [info, is_new] = placed_above(config, to);
  if (arguments.json) {
    JsonObject object;
    object.text("source", source.name).number("found", source.end).number("margin", from.margin);
    if (by_table) {
      object.number("largest", source.column.largest).text("counter", source.column.counter);
      object.number("issued", source.column.issued).number("increment", source.column.increment);
    }
    object.text("namespace", value(config, "namespace")).text("tag", tag_of(config));
    object.boolean("created", is_new).number("max_id", info.max_id);
    out.line(object.str());
  } else {
    out.line("found " + std::to_string(source.end) + ", " + source.name + source.beside);
    out.line((is_new ? "created " : "raised ") + shown_tag(config) + "; its max_id is " + std::to_string(info.max_id) +
             ", the next range begins above it");
    if (by_table)
      out.write('\n' + moving_over({database_of(config), from.table, from.column, info.max_id, source.column, from.hilo,
                                    !from.sequence.empty()}));
  }
  return kExitOk;
}

}  // namespace

Command import_command() {
  auto arguments = std::make_shared<SegmentArguments>();
  auto& from = arguments->from;
  Command command{
      .name = "import",
      .summary = "Make or raise a tag, so that it continues above existing numbers.",
      .usage = {"--store URL --tag TAG --from-table TABLE --from-column COLUMN [--margin N]",
                "--store URL --tag TAG --from-table TABLE --from-column COLUMN --sequence NAME [--hilo N]",
                "--store URL --tag TAG --from-tag TAG [--from-schema SCHEMA] [--margin N]",
                "--store URL --all --from-schema leaf|tinyid|cosid [--margin N]"},
      .details = R"(
Reads where the numbers of a table of your own, or of another tag in the same store, end. Makes the tag if it
is missing. Then raises it as `advance` does; never lowers it.

The numbers of a table end with its largest id, or with what its AUTO_INCREMENT or sequence has issued, to rows that
are deleted too, whichever is larger. If a sequence counts in larger steps, a program may hold a block of its
numbers, and the tag begins above that. Programs that number the rows themselves are asked for: --sequence says
from where, and --hilo how many ids they make of one number.

With --all: every tag of the table of Leaf, tinyid or CosId, each under its own name.

Stop everything that still makes numbers at the source first, whatever the margin. For a table whose rows still
get their ids from AUTO_INCREMENT or a sequence it prints the two ways in which both can insert at once, with
the statements for that table.

With --json: source, found, margin, namespace, tag, created, max_id; of a table also largest, counter, issued and
increment.
)",
      .examples =
          {"idgen segment import --store mysql://app@db/ids --tag orders --from-table shop.orders --from-column id",
           "idgen segment import --store mysql://app@db/ids --tag orders --from-schema leaf --from-tag order"},
      .options =
          {{.names = "--from-table",
            .placeholder = "TABLE",
            .help = "A table of the store's database, or DATABASE.TABLE.",
            .target = &from.table},
           {.names = "--from-column", .placeholder = "COLUMN", .help = "Its column of ids.", .target = &from.column},
           {.names = "--sequence",
            .placeholder = "NAME",
            .help = "The sequence, or Hibernate's table, from which programs number the column; none: no program "
                    "does.",
            .target = &from.sequence},
           {.names = "--hilo",
            .placeholder = "N",
            .help = "Programs make N ids of each number of the counter, by multiplying; 1: they do not.",
            .target = &from.hilo},
           {.names = "--from-tag",
            .placeholder = "TAG",
            .help = "A tag of the same store; the tag's own name if not given.",
            .target = &from.tag},
           {.names = "--from-schema",
            .placeholder = "idgen|leaf|tinyid|cosid",
            .help = "The schema of that tag; segment.schema if not given.",
            .target = &from.schema,
            .values = {"idgen", "leaf", "tinyid", "cosid"}},
           {.names = "--from-namespace",
            .placeholder = "NAMESPACE",
            .help = "The namespace of that tag; the tag's own if not given.",
            .target = &from.name_space},
           {.names = "--all", .help = "Every tag of --from-schema.", .target = &arguments->all},
           {.names = "--margin",
            .placeholder = "N",
            .help = "Numbers to leave free above what was found. Default: 0.",
            .target = &from.margin},
           {.names = "--force",
            .help = "Allow a margin of more than 1000000000. It is lost for good.",
            .target = &arguments->force},
           {.names = "--json", .help = "One JSON object.", .target = &arguments->json}},
  };
  return segment_action(command, import_tag, arguments);
}

}  // namespace idgen_tool
