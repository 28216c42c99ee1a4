// idgen segment move and retire: a tag that goes on in another store, and one that ends.
#include <utility>

#include "json.hpp"
#include "output.hpp"
#include "segment.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

// The highest number that the tag ever granted.
std::uint64_t retired(const Config& config) {
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_retire(config.get(), &info, error), error);
  return info.max_id;
}

std::string shown_store(const Config& config) { return one_line(without_secrets(value(config, "store"))); }

int retire(const SegmentArguments& arguments) {
  const Config config = configuration(arguments);
  if (!arguments.force) {
    throw UsageError("nothing will ever be drawn again from " + shown_tag(config) + " of " + shown_store(config) +
                     ". If that is intended, add --force");
  }
  const std::uint64_t last = retired(config);
  Output out;
  if (arguments.json) {
    JsonObject object;
    object.text("namespace", value(config, "namespace")).text("tag", tag_of(config)).number("last", last);
    out.line(object.str());
  } else {
    out.line("retired " + shown_tag(config) + " of " + shown_store(config) + "; the last number that it granted is " +
             std::to_string(last));
  }
  out.flush();
  return kExitOk;
}

idgen_segment_info_t row(const Config& config) {
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_show(config.get(), &info, error), error);
  return info;
}

// Lifts the tag above `to`, by one at least, so that nobody gives numbers below back. Returns where it stands then.
std::uint64_t advanced(const Config& config, std::uint64_t to) {
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_advance(config.get(), to, &info, error), error);
  return info.max_id;
}

// Makes the tag first, if it is missing, and leaves it at 0 if nothing is to be above.
std::uint64_t lifted(const Config& config, std::uint64_t to) {
  ErrorSlot error;
  const idgen_status_t made = idgen_segment_create(config.get(), error);
  if (made != IDGEN_E_TAG_EXISTS) check(made, error);
  return to > 0 ? advanced(config, to) : row(config).max_id;
}

// Whether both name one row, by two names of a server, two nodes of a cluster or two paths of a file: then three
// changes by turns come one above the other, whoever draws meanwhile. If they are two, and nobody draws from `to` yet,
// it rises by one, and nothing lies between. They are changes, because a node may read what another one has changed
// since.
bool is_one_row(const Config& to, const Config& from) {
  const std::uint64_t first = advanced(to, 1), second = advanced(from, 1), third = advanced(to, 1);
  return first < second && second < third;
}

int move_tag(const SegmentArguments& arguments) {
  const auto with_store = [&](const std::string& url) {
    Config config = configuration(arguments);
    set(config, "store", url);
    return config;
  };
  const Config from = with_store(arguments.from.store), to = with_store(arguments.to_store);
  if (value(from, "store") == value(to, "store")) throw UsageError("--from and --to are the same store");
  const idgen_segment_info_t info = row(from);
  if (info.max_id >= kLargestNumber) {
    throw Failure(IDGEN_E_EXHAUSTED, shown_tag(from) + " of " + shown_store(from) +
                                         " has no numbers left, or was retired before; nothing was changed");
  }
  // First there, as far as it goes: what fails here has skipped one number here at most.
  lifted(to, info.max_id + std::min(arguments.from.margin, kLargestNumber - info.max_id - 1));
  if (is_one_row(to, from)) {
    throw UsageError("--from and --to are two names of one store: a change of " + shown_tag(to) + " of " +
                     shown_store(to) + " is seen in " + shown_store(from) + " too. It was not retired");
  }
  Output out;
  const std::uint64_t last = retired(from);
  const std::string stopped = "retired " + shown_tag(from) + " of " + shown_store(from) +
                              "; the last number that it granted is " + std::to_string(last);
  if (!arguments.json) {  // at once: whatever happens now, this number must not be lost
    out.line(stopped);
    out.flush();
  }
  std::uint64_t begins_above = 0;
  try {
    begins_above = lifted(to, last);
  } catch (const Failure& failure) {
    throw Failure(failure.status(), std::string(failure.what()) + ". " + stopped +
                                        ". BEFORE anything draws from the new store, run: idgen segment advance "
                                        "--store URL --tag " +
                                        one_line(tag_of(to)) + " --to " + std::to_string(last));
  }
  if (arguments.json) {
    JsonObject object;
    object.text("namespace", value(to, "namespace")).text("tag", tag_of(to));
    object.number("last", last).number("max_id", begins_above);
    out.line(object.str());
  } else {
    out.line("it goes on in " + shown_store(to) + " above " + std::to_string(begins_above));
  }
  out.flush();
  return kExitOk;
}

}  // namespace

Command segment_retire_command() {
  auto arguments = std::make_shared<SegmentArguments>();
  Command command{
      .name = "retire",
      .summary = "End a tag: nobody draws from it again.",
      .usage = {"--store URL --tag TAG --force [--namespace NAMESPACE] [--json]"},
      .details = R"(
Takes all numbers that are left in one grant, and prints the last one that anybody was granted before: a tag
that goes on elsewhere begins above that. Generators go on with what they hold, then get EXHAUSTED.
This cannot be undone, and needs --force.

With --json: namespace, tag, last.
)",
      .examples = {"idgen segment retire --store sqlite:ids.db --tag orders --force"},
      .options = {{.names = "--force", .help = "Do it.", .target = &arguments->force},
                  {.names = "--json", .help = "One JSON object.", .target = &arguments->json}},
  };
  return segment_action(command, retire, arguments);
}

Command segment_move_command() {
  auto arguments = std::make_shared<SegmentArguments>();
  Command command{
      .name = "move",
      .summary = "Move a tag to another store, while it is being drawn from.",
      .usage = {"--from URL --to URL --tag TAG [--namespace NAMESPACE] [--margin N] [--json]"},
      .details = R"(
Makes the tag in the new store, retires the old one, and lifts the new one above all that the old one granted.
The old one stops granting first, so no number comes twice, whoever draws meanwhile.

Generators on the old store go on with what they hold, then get EXHAUSTED: restart them on the new store before
that, which is within segment.runway (10 s, unless it was raised for the move).

--margin makes the move safe against a crash of this command: the new tag then begins at least so far above
what the old one had granted at the beginning. It costs these numbers.

With --json: namespace, tag, last (granted by the old store), max_id (of the new one).
)",
      .examples = {"idgen segment move --from sqlite:ids.db --to postgres://app@db/ids --tag orders"},
      .options = {{.names = "--from",
                   .placeholder = "URL",
                   .help = "The store that has the tag.",
                   .target = &arguments->from.store,
                   .is_required = true},
                  {.names = "--to",
                   .placeholder = "URL",
                   .help = "The store in which it goes on.",
                   .target = &arguments->to_store,
                   .is_required = true},
                  {.names = "--margin",
                   .placeholder = "N",
                   .help = "Numbers to leave free above what was granted at the beginning. Default: 0.",
                   .target = &arguments->from.margin},
                  {.names = "--json", .help = "One JSON object.", .target = &arguments->json}},
  };
  command.options = joined(arguments->settings.options({"tag", "namespace"}), std::move(command.options));
  command.run = [arguments] { return move_tag(*arguments); };
  return command;
}

}  // namespace idgen_tool
