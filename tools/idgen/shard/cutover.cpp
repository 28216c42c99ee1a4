#include "shard/cutover.hpp"

#include <time.h>

#include <algorithm>
#include <charconv>

#include "shard/plan.hpp"
#include "shard/table.hpp"
#include "shared/failure.hpp"
#include "shared/output.hpp"
#include "shared/stop.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr std::uint32_t kWhole = 10'000;

std::uint64_t read_duration_ms(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const std::pair<const char*, std::uint64_t> units[] = {
      {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  for (const auto& [name, ms] : units) {
    if (error == std::errc() && unit == name && number <= 366 * std::uint64_t{86'400'000} / ms) return number * ms;
  }
  throw UsageError("--every is '" + text + "'; write a duration such as 30s, 1m, 2h or 1d, up to a year");
}

// Which of the table's moves are meant.
struct Selection {
  std::vector<std::size_t> moves;
  bool is_new = false;  // none yet: they are to begin
};

Selection select(const ShardTable& table, const CutOver& arguments) {
  Selection selected;
  if (arguments.nodes.empty()) {
    for (std::size_t i = 0; i < table.moves.size(); ++i) {
      if (arguments.to.empty() || table.shards[table.moves[i].to] == arguments.to) selected.moves.push_back(i);
    }
    if (selected.moves.empty()) {
      throw UsageError("no nodes are in cut-over" + (arguments.to.empty() ? "" : " to " + arguments.to) +
                       "; name some with --nodes RANGE --to SHARD, or begin with a plan: `idgen shard apply`");
    }
    return selected;
  }
  const auto [first, last] = read_nodes(arguments.nodes, "--nodes");
  for (std::size_t i = 0; i < table.moves.size(); ++i) {
    const ShardMove& move = table.moves[i];
    if (move.last < first || move.first > last) continue;
    const std::string& to = table.shards[move.to];
    if (move.first < first || move.last > last || (!arguments.to.empty() && to != arguments.to)) {
      throw UsageError("nodes " + nodes_text(move.first, move.last) + " are in cut-over to " + to +
                       ", together; name them all, and that shard");
    }
    selected.moves.push_back(i);
  }
  selected.is_new = selected.moves.empty();
  if (selected.is_new && (arguments.to.empty() || arguments.is_back || arguments.is_finish)) {
    throw UsageError("nodes " + nodes_text(first, last) + " are not in cut-over" +
                     (arguments.to.empty() ? "; say with --to where they go" : ""));
  }
  return selected;
}

std::string described(const ShardTable& table, const Selection& selected) {
  std::string out;
  for (const std::size_t i : selected.moves) {
    const ShardMove& move = table.moves[i];
    out += (out.empty() ? "" : ", ") + std::string("nodes ") + nodes_text(move.first, move.last) + " to " +
           table.shards[move.to] + " at " + share_text(move.share);
  }
  return out;
}

bool all_at(const ShardTable& table, const Selection& selected, std::uint32_t share) {
  return std::all_of(selected.moves.begin(), selected.moves.end(),
                     [&](std::size_t i) { return table.moves[i].share == share; });
}

void report(const ShardTable& table, const std::string& what) {
  print(instant(now_unix_ms()) + "  version " + std::to_string(table.version) + "  " + what + '\n');
}

[[noreturn]] void stop(const CutOver& arguments) {
  std::fputs(("idgen: stopped between two steps; the same command goes on. The table stays as it is: " +
              one_line(arguments.file) + '\n')
                 .c_str(),
             stderr);
  throw Interrupted{};
}

// Until the file has not changed for so long, whoever changed it: each step must have reached every process that reads
// the file before the next one comes.
void wait_for_file(const CutOver& arguments, std::uint64_t every_ms) {
  const std::uint64_t age = age_ms(arguments.file);
  for (std::uint64_t left = age < every_ms ? every_ms - age : 0; left > 0;) {
    if (stop_signal() != 0) stop(arguments);
    const std::uint64_t part = std::min<std::uint64_t>(left, 100);
    const timespec pause{0, static_cast<long>(part * 1'000'000)};
    nanosleep(&pause, nullptr);
    left -= part;
  }
  if (stop_signal() != 0) stop(arguments);
}

// As the table has become, if nobody else has written it meanwhile.
ShardTable read_again(const CutOver& arguments, std::uint64_t version) {
  ShardTable table = read_shard_table(arguments.file);
  if (table.version == version) return table;
  throw Failure(IDGEN_E_STALE,
                arguments.file + ": the file has version " + std::to_string(table.version) + ", and version " +
                    std::to_string(version) +
                    " was the last one seen here: somebody else drives too. Nothing was changed; look at "
                    "`idgen shard show`, then give the same command to go on");
}

ShardTable begin(const CutOver& arguments, ShardTable table) {
  const auto [first, last] = read_nodes(arguments.nodes, "--nodes");
  const std::uint64_t seen = table.version++;
  const std::uint32_t to = table.find_or_add(arguments.to);
  table.moves.push_back({first, last, to, 0});
  write_shard_table(arguments.file, table, seen);
  report(table, "nodes " + nodes_text(first, last) + " to " + arguments.to +
                    " at 0%: reads look on both shards from now on, writes go where they went");
  return table;
}

int finish(const CutOver& arguments, ShardTable table, const Selection& selected, std::uint64_t every_ms) {
  const std::uint32_t needed = arguments.is_back ? 0 : kWhole;
  if (!all_at(table, selected, needed)) {
    throw UsageError("nothing was changed: " + described(table, selected) + ". A cut-over is finished at " +
                     (arguments.is_back ? "0%, after --back" : "100%") + "; drive it there first");
  }
  if (!arguments.is_confirmed) {
    throw UsageError("nothing was changed yet. " + described(table, selected) +
                     (arguments.is_back
                          ? ". Afterwards the nodes belong to their old shards alone, and a row that is still on the "
                            "new one is not found any more. "
                          : ". Afterwards the nodes belong to their new shards alone, and a row that is still on the "
                            "old one is not found any more. ") +
                     "idgen moves no rows, and cannot check that you have moved them all. If you are sure, add --yes");
  }
  wait_for_file(arguments, every_ms);
  table = read_again(arguments, table.version);
  const std::uint64_t seen = table.version++;
  std::vector<ShardMove> left;
  std::string what;
  for (std::size_t i = 0; i < table.moves.size(); ++i) {
    const ShardMove move = table.moves[i];
    if (std::find(selected.moves.begin(), selected.moves.end(), i) == selected.moves.end()) {
      left.push_back(move);
      continue;
    }
    if (!arguments.is_back) table.give(move.first, move.last, move.to);
    what += (what.empty() ? "nodes " : ", nodes ") + nodes_text(move.first, move.last) +
            (arguments.is_back ? " stay where they were" : " belong to " + table.shards[move.to]);
  }
  table.moves = std::move(left);
  write_shard_table(arguments.file, table, seen);
  report(table, what);
  return kExitOk;
}

}  // namespace

int drive(const CutOver& arguments) {
  const std::uint64_t every_ms = read_duration_ms(arguments.every);
  const std::uint32_t step = read_share(arguments.step, "--step");
  if (step == 0) throw UsageError("--step is 0%; a step moves something");
  catch_signals();
  ShardTable table = read_shard_table(arguments.file);
  Selection selected = select(table, arguments);
  if (arguments.is_finish) return finish(arguments, table, selected, every_ms);
  if (selected.is_new) {
    table = begin(arguments, table);
    if (arguments.is_once) return kExitOk;
    table = read_again(arguments, table.version);
    selected = select(table, arguments);
  }
  const std::uint32_t end = arguments.is_back ? 0 : kWhole;
  while (!all_at(table, selected, end)) {
    wait_for_file(arguments, every_ms);
    table = read_again(arguments, table.version);
    const std::uint64_t seen = table.version++;
    for (const std::size_t i : selected.moves) {
      std::uint32_t& share = table.moves[i].share;
      share = arguments.is_back ? share - std::min(share, step) : std::min(share + step, kWhole);
    }
    write_shard_table(arguments.file, table, seen);
    report(table, described(table, selected));
    if (arguments.is_once) return kExitOk;
  }
  print(arguments.is_back
            ? "All writes go to the old shards again. Bring back the rows that are on the new ones; then "
              "--back --finish ends the cut-over.\n"
            : "All writes go to the new shards. Move the rows that are left on the old ones; then --finish "
              "gives the nodes to the new shards.\n");
  return kExitOk;
}

}  // namespace idgen_tool
