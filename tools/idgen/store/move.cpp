// idgen segment move and retire: a tag that goes on in another store, and one that ends.
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/text.hpp"
#include "store/segment.hpp"

namespace idgen_tool {
namespace {

// The highest number that the tag ever granted.
std::uint64_t retired(const Config& config) {
  ErrorSlot error;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  check(idgen_segment_retire(config.get(), &info, error), error);
  return info.max_id;
}

int retire(const SegmentArguments& arguments) {
  const Config config = configuration(arguments);
  if (!arguments.force) {
    throw UsageError("nothing will ever be drawn again from " + shown_tag(config) + " of " + store_shown(config) +
                     ". If that is intended, add --force");
  }
  const std::uint64_t last = retired(config);
  Output out;
  if (arguments.json) {
    JsonObject object;
    object.text("namespace", value(config, "namespace")).text("tag", tag_of(config)).number("last", last);
    out.line(object.str());
  } else {
    out.line("retired " + shown_tag(config) + " of " + store_shown(config) + "; the last number that it granted is " +
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

// Where a tag was retired, if its row says so.
std::optional<std::uint64_t> retired_at(const idgen_segment_info_t& info) {
  constexpr std::string_view kBegin = "retired at ";
  const std::string_view holder = info.holder;
  if (!holder.starts_with(kBegin)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(holder.data() + kBegin.size(), holder.data() + holder.size(), number);
  return error == std::errc{} && end == holder.data() + holder.size() ? std::optional(number) : std::nullopt;
}

// Counters that hold the next free number end one earlier.
bool has_ended(const idgen_segment_info_t& info) { return info.max_id >= kLargestNumber - 1 || retired_at(info); }

[[noreturn]] void throw_ended(const Config& config) {
  throw Failure(IDGEN_E_EXHAUSTED, shown_tag(config) + " of " + store_shown(config) +
                                       " has no numbers left, or was retired before; nothing was changed");
}

// Lifts the tag by one, and returns where it stands then.
std::uint64_t lifted(const Config& config) {
  const Placed placed = placed_above(config, 1);
  if (placed.is_new) {
    throw Failure(IDGEN_E_TAG_UNKNOWN, "somebody has deleted " + shown_tag(config) + " of " + store_shown(config) +
                                           " meanwhile; it is there again, at 1, and nothing was retired");
  }
  return placed.info.max_id;
}

// Whether both name one row, by two names of a server, two nodes of a cluster or two paths of a file: then three
// changes by turns come one above the other, whoever draws meanwhile. If they are two, and nobody draws from `to` yet,
// it rises by one, and nothing lies between. They are changes, because a node may read what another one has changed
// since.
bool is_one_row(const Config& to, const Config& from) {
  const std::uint64_t first = lifted(to), second = lifted(from), third = lifted(to);
  return first < second && second < third;
}

// Throws unless the tag can be made, or goes on, in `to`. False: it is missing there, and is not made yet: whoever drew
// from it would draw what the old one still grants.
bool is_there(const Config& to, const Config& from, const idgen_segment_info_t& info) {
  ErrorSlot error;
  idgen_segment_info_t there = IDGEN_SEGMENT_INFO_INIT;
  const idgen_status_t shown = idgen_segment_show(to.get(), &there, error);
  if (shown == IDGEN_E_TAG_UNKNOWN || shown == IDGEN_E_STORE_MISSING) {
    const idgen_status_t made = idgen_store_create(to.get(), error);
    if (made != IDGEN_E_UNSUPPORTED) check(made, error);  // a buffer is made with its first tag
    return false;
  }
  check(shown, error);
  if (has_ended(there)) throw_ended(to);
  if (const auto ended = retired_at(info)) {
    if (there.max_id >= *ended) return true;
    throw Failure(IDGEN_E_TAG_EXISTS, shown_tag(to) + " of " + store_shown(to) + " exists and stands at " +
                                          std::to_string(there.max_id) + ", and the old one ended at " +
                                          std::to_string(*ended) +
                                          ": numbers up to there may be in use twice. If nobody has drawn from it, "
                                          "raise it with `idgen segment advance`");
  }
  placed_above(to, info.max_id);
  if (is_one_row(to, from)) {
    throw UsageError("--from and --to are two names of one store, or somebody draws from " + shown_tag(to) +
                     " there: a change of it in " + store_shown(to) + " is seen in " + store_shown(from) +
                     " too. It was not retired");
  }
  return true;
}

int move_tag(const SegmentArguments& arguments) {
  const auto with_store = [&](const std::string& url) {
    Config config = configuration(arguments);
    set(config, "store", url);
    if (value(config, "store").starts_with("memory")) {
      throw UsageError("a store in memory ends with this command: nothing can be moved from or to it");
    }
    return config;
  };
  const Config from = with_store(arguments.from.store), to = with_store(arguments.to_store);
  if (value(from, "store") == value(to, "store")) throw UsageError("--from and --to are the same store");
  const std::string schema = value(from, "segment.schema");
  if (schema == "key_producer" || schema == "incr") {
    throw UsageError("rows of segment.schema = " + schema + " begin anew in each period, and cannot be moved");
  }
  const idgen_segment_info_t info = row(from);
  const std::optional<std::uint64_t> ended = retired_at(info);
  if (ended && !arguments.resumes) {
    throw Failure(IDGEN_E_EXHAUSTED, shown_tag(from) + " of " + store_shown(from) + " was " + info.holder +
                                         ". If a move of it to " + store_shown(to) +
                                         " was stopped, and it goes on nowhere else, add --resume; nothing was "
                                         "changed");
  }
  if (!ended && has_ended(info)) throw_ended(from);
  const bool was_there = is_there(to, from, info);
  std::uint64_t last = 0, begins_above = 0;
  ErrorSlot error;
  if (!ended) {
    last = retired(from);
  } else {
    last = *ended;
    idgen_segment_info_t again = IDGEN_SEGMENT_INFO_INIT;
    const idgen_status_t status = idgen_segment_retire(from.get(), &again, error);  // ends what was stopped half way
    if (status != IDGEN_E_EXHAUSTED) check(status, error);
  }
  try {
    const Placed placed = placed_above(to, last);
    if (!placed.is_new && !was_there) {
      throw Failure(IDGEN_E_TAG_EXISTS, "somebody has made " + shown_tag(to) + " of " + store_shown(to) +
                                            " meanwhile: what was drawn from it before it was raised, to " +
                                            std::to_string(placed.info.max_id) + ", may be in use twice");
    }
    begins_above = placed.info.max_id;
    if (info.step > 0) check(idgen_segment_set_step(to.get(), info.step, nullptr, error), error);
  } catch (const Failure& failure) {
    throw Failure(failure.status(), std::string(failure.what()) + ". " + shown_tag(from) + " of " + store_shown(from) +
                                        " is retired, at " + std::to_string(last) +
                                        ". Run this again with --resume; until then nothing may draw from " +
                                        store_shown(to));
  }
  Output out;
  if (arguments.json) {
    JsonObject object;
    object.text("namespace", value(to, "namespace")).text("tag", tag_of(to));
    object.number("last", last).number("max_id", begins_above);
    out.line(object.str());
  } else {
    out.line("retired " + shown_tag(from) + " of " + store_shown(from) + "; the last number that it granted is " +
             std::to_string(last));
    out.line("it goes on in " + store_shown(to) + " above " + std::to_string(begins_above));
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
This cannot be undone, and needs --force. The row's holder says it too, "retired at 4711". Stop Leaf, tinyid or
CosId before their rows are retired: tinyid would go on with negative numbers.

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
      .usage = {"--from URL --to URL --tag TAG [--namespace NAMESPACE] [--resume] [--json]"},
      .details = R"(
Retires the tag in the old store, then makes it in the new one, in one step, above all that the old one granted.
In between it can be drawn from nowhere, so no number comes twice, whatever stops this command. If it was stopped,
run it again with --resume: the old row says where it ended. Nothing may make the tag in the new store meanwhile,
as a generator with store_create = true would.

A tag that the new store has already is lifted; nothing may draw from it before this command has ended.

Generators on the old store go on with what they hold, then get EXHAUSTED: restart them on the new store before
that, which is within segment.runway (10 s, unless it was raised for the move).

The row's step moves too. Rows of other programs cannot say where they ended: if this command is stopped after it
has retired such a row, find the highest id in use, and use `create --above` in the new store. Rows with a stride
and serials of other programs are not moved.

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
                  {.names = "--resume",
                   .help = "Go on with a move to this store that was stopped; the tag must go on nowhere else.",
                   .target = &arguments->resumes},
                  {.names = "--json", .help = "One JSON object.", .target = &arguments->json}},
  };
  command.options = joined(arguments->settings.options({"tag", "namespace"}), std::move(command.options));
  command.run = [arguments] { return move_tag(*arguments); };
  return command;
}

}  // namespace idgen_tool
