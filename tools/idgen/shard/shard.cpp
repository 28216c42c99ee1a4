// idgen shard: which shard has which ids, and how that changes.
#include <algorithm>
#include <memory>

#include "shard/cutover.hpp"
#include "shard/picture.hpp"
#include "shard/plan.hpp"
#include "shard/table.hpp"
#include "shared/command.hpp"
#include "shared/failure.hpp"
#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

struct Arguments {
  std::string file;
  std::string plan;
  std::string split;
  std::string merge;
  std::string into;
  std::string load;
  std::string tolerance = "5%";
  std::string out;
  std::string svg;
  std::vector<std::string> added;
  bool is_rebalance = false;
  bool is_at_once = false;
  bool is_confirmed = false;
  bool json = false;
};

Option file_argument(std::string& target) {
  return {.names = "FILE",
          .placeholder = "FILE",
          .help = "The table of routes, a TOML file.",
          .target = &target,
          .value = Value::file,
          .is_required = true};
}

Option load_option(std::string& target) {
  return {.names = "--load",
          .placeholder = "CSV",
          .help = "The load as measured: lines node,load or shard,load under that heading. Default: each node alike.",
          .target = &target,
          .value = Value::file};
}

// The load to plan with, and what it is called.
struct Load {
  NodeLoad nodes;
  std::string unit;
};

Load load_for(const ShardTable& table, const std::string& file) {
  if (file.empty()) return {even_load(table), "nodes"};
  return {read_load(table, read_file(file), file), "load"};
}

// --------------------------------------------------------------------------------------------------------------- show

std::string as_json(const ShardTable& table) {
  std::string out = JsonObject()
                        .text("is", "table")
                        .number("version", table.version)
                        .number("bits", table.bits)
                        .number("nodes", table.nodes())
                        .str() +
                    '\n';
  const std::vector<double> nodes = load_of_shards(table, even_load(table));
  for (std::size_t i = 0; i < table.shards.size(); ++i) {
    out += JsonObject()
               .text("is", "shard")
               .text("shard", table.shards[i])
               .number("nodes", static_cast<std::uint64_t>(nodes[i]))
               .str() +
           '\n';
  }
  std::uint32_t first = 0;
  for (const ShardRange& range : table.ranges) {
    out += JsonObject()
               .text("is", "range")
               .number("first", first)
               .number("last", range.upto)
               .text("shard", table.shards[range.shard])
               .str() +
           '\n';
    first = range.upto + 1;
  }
  for (const ShardMove& move : table.moves) {
    out += JsonObject()
               .text("is", "move")
               .number("first", move.first)
               .number("last", move.last)
               .text("to", table.shards[move.to])
               .real("percent", move.share / 100.0)
               .str() +
           '\n';
  }
  return out;
}

std::string as_lines(const ShardTable& table) {
  std::string out = "version  " + std::to_string(table.version) + "\nring     2^" + std::to_string(table.bits) + " = " +
                    grouped(table.nodes()) + " nodes\n\n";
  std::size_t width = 5;
  for (const std::string& name : table.shards) width = std::max(width, name.size());
  const std::vector<double> nodes = load_of_shards(table, even_load(table));
  out += padded("shard", width) + "       nodes    share  ranges\n";
  for (std::uint32_t shard = 0; shard < table.shards.size(); ++shard) {
    std::string ranges;
    std::uint32_t first = 0;
    std::size_t count = 0;
    for (const ShardRange& range : table.ranges) {
      if (range.shard == shard && ++count <= 4) ranges += (ranges.empty() ? "" : ", ") + nodes_text(first, range.upto);
      first = range.upto + 1;
    }
    if (count > 4) ranges += ", ... (" + std::to_string(count) + ")";
    out += padded(table.shards[shard], width) + right_aligned(grouped(static_cast<std::uint64_t>(nodes[shard])), 12) +
           right_aligned(fixed(nodes[shard] / table.nodes() * 100, 1) + " %", 9) + "  " +
           (ranges.empty() ? "none" : ranges) + '\n';
  }
  if (table.moves.empty()) return out;
  out += "\nin cut-over     moved  from -> to\n";
  for (const ShardMove& move : table.moves) {
    std::string from;
    std::uint32_t first = 0;
    for (const ShardRange& range : table.ranges) {
      if (range.upto >= move.first && first <= move.last && from.find(table.shards[range.shard]) == std::string::npos)
        from += (from.empty() ? "" : ", ") + table.shards[range.shard];
      first = range.upto + 1;
    }
    out += padded(nodes_text(move.first, move.last), 14) + right_aligned(share_text(move.share), 7) + "  " + from +
           " -> " + table.shards[move.to] + '\n';
  }
  return out;
}

int show(const Arguments& arguments) {
  const ShardTable table = read_shard_table(arguments.file);
  print(arguments.json ? as_json(table) : as_lines(table));
  return kExitOk;
}

// --------------------------------------------------------------------------------------------------------------- plans

LoadPicture picture_of(const ShardPlan& plan, const std::string& title) {
  return {title, plan.unit, plan.shards, plan.before, plan.after};
}

void print_plan(const ShardPlan& plan) {
  std::string out = draw_load(picture_of(plan, plan.what + ", on version " + std::to_string(plan.base_version)),
                              Terminal(stdout), Terminal(stdout).width()) +
                    '\n';
  double moved = 0, all = 0;
  for (const NodeRun& run : plan.runs) {
    out += "move nodes " + nodes_text(run.first, run.last) + " from " + plan.shards[run.from] + " to " +
           plan.shards[run.to] + ": " + load_label(run.load) + ' ' + plan.unit + '\n';
    moved += run.load;
  }
  for (const double load : plan.before) all += load;
  out += plan.runs.empty() ? "nothing moves\n"
                           : std::to_string(plan.runs.size()) + (plan.runs.size() == 1 ? " run, " : " runs, ") +
                                 fixed(all > 0 ? moved / all * 100 : 0, 1) + " % of all load\n";
  print(out);
}

// Names the shards that no plan could bring down.
void print_what_stays_hot(const ShardPlan& plan, double tolerance) {
  double mean = 0;
  for (const double load : plan.after) mean += load / static_cast<double>(plan.after.size());
  for (std::size_t i = 0; i < plan.shards.size(); ++i) {
    if (plan.after[i] <= mean * (1 + tolerance) * (1 + 1e-9)) continue;
    print("note: " + plan.shards[i] + " still has " + fixed(plan.after[i] / mean * 100, 0) +
          " % of the mean: each node that it could give away has more than is too much\n");
  }
}

int plan(const Arguments& arguments) {
  ShardTable table = read_shard_table(arguments.file);
  const int kinds = !arguments.split.empty() + !arguments.merge.empty() + arguments.is_rebalance;
  if (kinds != 1) throw UsageError("give one of --split SHARD, --merge SHARD and --rebalance");
  if (!arguments.is_rebalance && arguments.into.empty()) throw UsageError("say with --into where the nodes go");
  if (arguments.is_rebalance && !arguments.into.empty()) throw UsageError("--into is for --split and --merge");
  const Load load = load_for(table, arguments.load);
  const double tolerance = read_share(arguments.tolerance, "--tolerance") / 10'000.0;
  for (const std::string& shard : arguments.added) table.find_or_add(shard);
  const ShardPlan made =
      !arguments.split.empty()   ? plan_split(table, load.nodes, load.unit, arguments.split, arguments.into)
      : !arguments.merge.empty() ? plan_merge(table, load.nodes, load.unit, arguments.merge, arguments.into)
                                 : plan_rebalance(table, load.nodes, load.unit, tolerance);
  print_plan(made);
  if (arguments.is_rebalance) print_what_stays_hot(made, tolerance);
  if (!arguments.out.empty()) {
    write_file(arguments.out, text_of(made));
    print("written to " + one_line(arguments.out) + "; `idgen shard apply` puts it into the table\n");
  }
  return kExitOk;
}

int apply(const Arguments& arguments) {
  const ShardTable table = read_shard_table(arguments.file);
  const ShardPlan made = read_plan(read_file(arguments.plan), arguments.plan);
  if (table.version != made.base_version) {
    throw Failure(IDGEN_E_STALE, arguments.file + " has version " + std::to_string(table.version) +
                                     ", and the plan was made for version " + std::to_string(made.base_version) +
                                     ": the table has changed since. Nothing was written; plan again");
  }
  const ShardTable next = applied(table, made, arguments.is_at_once);
  print_plan(made);
  if (!arguments.is_confirmed) {
    throw UsageError(
        "nothing was written yet. " + one_line(arguments.file) + " would get version " + std::to_string(next.version) +
        (arguments.is_at_once
             ? ", in which the nodes belong to their new shards. Rows that are still on the old ones are not found any "
               "more; idgen moves no rows. If you are sure, add --yes"
             : ", in which the nodes are in cut-over at 0%: nothing moves before `idgen shard cutover`. Add --yes"));
  }
  write_shard_table(arguments.file, next, table.version);
  print("version " + std::to_string(next.version) + " is written; " +
        (arguments.is_at_once ? "the nodes belong to their new shards\n"
                              : "the cut-over begins with `idgen shard cutover " + one_line(arguments.file) + "`\n"));
  return kExitOk;
}

int simulate(const Arguments& arguments) {
  const ShardTable table = read_shard_table(arguments.file);
  const Load load = load_for(table, arguments.load);
  LoadPicture picture{"load by version " + std::to_string(table.version),
                      load.unit,
                      table.shards,
                      load_of_shards(table, load.nodes),
                      {}};
  picture.after = picture.before;
  if (!arguments.plan.empty()) {
    const ShardPlan made = read_plan(read_file(arguments.plan), arguments.plan);
    const ShardTable next = applied(table, made, true);
    picture.title = made.what;
    picture.shards = next.shards;
    picture.before.resize(next.shards.size());
    picture.after = load_of_shards(next, load.nodes);
  } else if (!table.moves.empty()) {
    picture.title = "the cut-over of version " + std::to_string(table.version);
    ShardTable next = table;
    for (const ShardMove& move : table.moves) next.give(move.first, move.last, move.to);
    picture.after = load_of_shards(next, load.nodes);
  }
  print(draw_load(picture, Terminal(stdout), Terminal(stdout).width()));
  if (!arguments.svg.empty()) write_file(arguments.svg, draw_load_svg(picture));
  return kExitOk;
}

// ------------------------------------------------------------------------------------------------------------ commands

Command show_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "show",
      .summary = "Show a table of routes: its shards, their nodes, and what is in cut-over.",
      .usage = {"FILE [--json]"},
      .details = R"(
Changes nothing.

With --json one object per line, with the member "is": table (version, bits, nodes), shard (shard, nodes),
range (first, last, shard), move (first, last, to, percent).
)",
      .examples = {"idgen shard show routes.toml", "idgen shard show routes.toml --json"},
      .options = {file_argument(arguments->file),
                  {.names = "--json", .help = "One JSON object per line.", .target = &arguments->json}},
      .run = [arguments] { return show(*arguments); },
  };
}

Command shard_plan_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "plan",
      .summary = "Plan a split, a merge or a rebalance, and show it.",
      .usage = {"FILE --split SHARD --into SHARD [--load CSV] [--out PLAN]",
                "FILE --merge SHARD --into SHARD [--load CSV] [--out PLAN]",
                "FILE --rebalance [--add SHARD]... [--load CSV] [--tolerance SHARE] [--out PLAN]"},
      .details = R"(
Changes no table. The plan is printed, and written with --out: which runs of nodes go from which shard to
which, and each shard's load before and after. It is for one version of the table.

  --split      the upper half of a shard's nodes goes to another one, which may be new; with --load, half of
               its load.
  --merge      all nodes of a shard go to another one.
  --rebalance  shards above the mean give away what they have above it and no more, in as few runs as it
               finds, until none is further above than --tolerance. --add names new, empty shards.
)",
      .examples = {"idgen shard plan routes.toml --split db0 --into db2 --out split.plan",
                   "idgen shard plan routes.toml --rebalance --add db3 --load load.csv --out add.plan"},
      .options =
          {file_argument(arguments->file),
           {.names = "--split", .placeholder = "SHARD", .help = "Split this shard.", .target = &arguments->split},
           {.names = "--merge",
            .placeholder = "SHARD",
            .help = "Merge this shard into another one.",
            .target = &arguments->merge,
            .excludes = "--split"},
           {.names = "--rebalance", .help = "Even out the load of all shards.", .target = &arguments->is_rebalance},
           {.names = "--into", .placeholder = "SHARD", .help = "Where the nodes go.", .target = &arguments->into},
           {.names = "--add",
            .placeholder = "SHARD",
            .help = "A new shard that takes part in a rebalance.",
            .target = &arguments->added},
           load_option(arguments->load),
           {.names = "--tolerance",
            .placeholder = "SHARE",
            .help = "How far above the mean a shard may stay. Default: 5%.",
            .target = &arguments->tolerance},
           {.names = "--out",
            .placeholder = "PLAN",
            .help = "Write the plan to this file.",
            .target = &arguments->out,
            .value = Value::file}},
      .run = [arguments] { return plan(*arguments); },
  };
}

Command apply_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "apply",
      .summary = "Put a plan into the table.",
      .usage = {"FILE PLAN [--at-once] --yes"},
      .details = R"(
The nodes of the plan begin their cut-over at 0%: reads look on both shards from then on, and writes go where
they went. `idgen shard cutover` drives it from there. --at-once gives the nodes to their new shards instead:
for shards without rows, or rows that were moved while nobody wrote.

A plan for another version of the table than the file has is refused (STALE): the table has changed since. Of
two operators who apply at the same time one succeeds. Without --yes nothing is written.
)",
      .examples = {"idgen shard apply routes.toml split.plan --yes"},
      .options = {file_argument(arguments->file),
                  {.names = "PLAN",
                   .placeholder = "PLAN",
                   .help = "A file that `idgen shard plan --out` has written.",
                   .target = &arguments->plan,
                   .value = Value::file,
                   .is_required = true},
                  {.names = "--at-once",
                   .help = "Without a cut-over. Rows on the old shards are not found any more.",
                   .target = &arguments->is_at_once},
                  {.names = "--yes", .help = "Write it.", .target = &arguments->is_confirmed}},
      .run = [arguments] { return apply(*arguments); },
  };
}

Command cutover_command() {
  auto arguments = std::make_shared<CutOver>();
  return {
      .name = "cutover",
      .summary = "Move nodes from shard to shard in steps, forward or back.",
      .usage = {"FILE [--nodes RANGE --to SHARD] [--step SHARE] [--every DURATION] [--once]",
                "FILE [--nodes RANGE] --back [--step SHARE] [--every DURATION] [--once]",
                "FILE [--nodes RANGE] [--back] --finish --yes"},
      .details = R"(
Each step raises the share of ids that count as moved, chosen by their low bits, and writes a new version of
the table; routers take it within a second. An id that has moved is written to the new shard and looked up
there first, then on the old one; the others the other way round. So every step can be taken back.

It begins at 0%. Each step comes at the earliest --every after the file last changed, whoever changed it. When
it is interrupted, the same command goes on. If somebody else writes the table meanwhile, it stops (STALE).

idgen moves no rows. Copy them while the share rises; at 100%, when none is left on the old shards, --finish
gives the nodes to the new ones. --back lowers the share; at 0%, --back --finish ends the cut-over.
)",
      .examples = {"idgen shard cutover routes.toml --nodes 0-1023 --to db1 --step 5% --every 1m",
                   "idgen shard cutover routes.toml --back --once", "idgen shard cutover routes.toml --finish --yes"},
      .options = {file_argument(arguments->file),
                  {.names = "--nodes",
                   .placeholder = "RANGE",
                   .help = "These nodes, 0-1023 or 7. Default: all that are in cut-over.",
                   .target = &arguments->nodes},
                  {.names = "--to",
                   .placeholder = "SHARD",
                   .help = "Where they go; needed to begin, may be new.",
                   .target = &arguments->to},
                  {.names = "--step",
                   .placeholder = "SHARE",
                   .help = "How much a step moves. Default: 5%.",
                   .target = &arguments->step},
                  {.names = "--every",
                   .placeholder = "DURATION",
                   .help = "The time between two steps: 30s, 1m, 2h. Default: 1m.",
                   .target = &arguments->every},
                  {.names = "--once", .help = "One step, then end.", .target = &arguments->is_once},
                  {.names = "--back", .help = "Step back.", .target = &arguments->is_back},
                  {.names = "--finish",
                   .help = "At 100%: give the nodes to the new shards. With --back, at 0%: end the cut-over.",
                   .target = &arguments->is_finish},
                  {.names = "--yes",
                   .help = "All rows are where they will be looked for: finish.",
                   .target = &arguments->is_confirmed}},
      .run = [arguments] { return drive(*arguments); },
  };
}

Command simulate_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "simulate",
      .summary = "Draw each shard's load before and after a plan or a cut-over.",
      .usage = {"FILE [PLAN] [--load CSV] [--svg SVG]"},
      .details = R"(
Changes nothing. Draws two bars for each shard: by the table as it is, and as it will be after the plan, or,
without a plan, after what is in cut-over. --svg writes the same as a picture.
)",
      .examples = {"idgen shard simulate routes.toml split.plan --load load.csv --svg load.svg"},
      .options = {file_argument(arguments->file),
                  {.names = "PLAN",
                   .placeholder = "PLAN",
                   .help = "A file that `idgen shard plan --out` has written.",
                   .target = &arguments->plan,
                   .value = Value::file},
                  load_option(arguments->load),
                  {.names = "--svg",
                   .placeholder = "SVG",
                   .help = "Write the picture to this file.",
                   .target = &arguments->svg,
                   .value = Value::file}},
      .run = [arguments] { return simulate(*arguments); },
  };
}

}  // namespace

Command shard_command() {
  return {
      .name = "shard",
      .summary = "Show, plan and change which shard has which ids.",
      .usage = {"show|plan|apply|cutover|simulate FILE [OPTIONS]"},
      .details = R"(
A table of routes gives the nodes of a ring to shards. An id's gene says its node, so an owner's rows stay
together. FILE is the table's TOML file; routers in all processes watch it.
)",
      .examples = {"idgen shard show routes.toml",
                   "idgen shard plan routes.toml --split db0 --into db2 --out split.plan",
                   "idgen shard apply routes.toml split.plan --yes", "idgen shard cutover routes.toml"},
      .commands = {show_command(), shard_plan_command(), apply_command(), cutover_command(), simulate_command()},
  };
}

}  // namespace idgen_tool
