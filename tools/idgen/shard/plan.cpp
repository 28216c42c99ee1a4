#include "shard/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>

#include "shared/failure.hpp"

namespace idgen_tool {
namespace {

std::string in_quotes(const std::string& text) { return "'" + text + "'"; }

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Nodes next to each other that one shard owns.
struct Stretch {
  std::uint32_t first, last;
};

std::vector<Stretch> stretches_of(const ShardTable& table, std::uint32_t shard) {
  std::vector<Stretch> all;
  std::uint32_t first = 0;
  for (const ShardRange& range : table.ranges) {
    if (range.shard == shard) all.push_back({first, range.upto});
    first = range.upto + 1;
  }
  return all;
}

double sum(const NodeLoad& load, std::uint32_t first, std::uint32_t last) {
  return std::accumulate(load.begin() + first, load.begin() + last + 1, 0.0);
}

ShardPlan begun(const ShardTable& table, const NodeLoad& load, const std::string& unit, const std::string& what) {
  if (!table.moves.empty()) {
    throw UsageError("nodes " + nodes_text(table.moves[0].first, table.moves[0].last) + " are in cut-over to " +
                     table.shards[table.moves[0].to] +
                     "; finish that, or take it back, before the next plan: `idgen shard cutover`");
  }
  ShardPlan plan;
  plan.base_version = table.version;
  plan.bits = table.bits;
  plan.what = what;
  plan.unit = unit;
  plan.shards = table.shards;
  plan.before = load_of_shards(table, load);
  return plan;
}

// Fills in what follows from the runs.
ShardPlan finished(ShardPlan plan, const NodeLoad& load) {
  std::sort(plan.runs.begin(), plan.runs.end(), [](const NodeRun& a, const NodeRun& b) { return a.first < b.first; });
  // Neighbours that go the same way are one run.
  std::vector<NodeRun> joined;
  for (const NodeRun& run : plan.runs) {
    if (!joined.empty() && joined.back().last + 1 == run.first && joined.back().from == run.from &&
        joined.back().to == run.to) {
      joined.back().last = run.last;
    } else {
      joined.push_back(run);
    }
  }
  plan.runs = std::move(joined);
  plan.before.resize(plan.shards.size());
  plan.after = plan.before;
  for (NodeRun& run : plan.runs) {
    run.load = sum(load, run.first, run.last);
    plan.after[run.from] -= run.load;
    plan.after[run.to] += run.load;
  }
  // What differences of large numbers leave behind is nothing.
  const double total = std::accumulate(plan.before.begin(), plan.before.end(), 0.0);
  for (double& after : plan.after) {
    if (std::abs(after) < total * 1e-12) after = 0;
  }
  return plan;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- tables

std::uint32_t ShardTable::owner(std::uint32_t node) const {
  return std::lower_bound(ranges.begin(), ranges.end(), node,
                          [](const ShardRange& range, std::uint32_t wanted) { return range.upto < wanted; })
      ->shard;
}

std::uint32_t ShardTable::find(const std::string& shard) const {
  const auto found = std::find(shards.begin(), shards.end(), shard);
  if (found != shards.end()) return static_cast<std::uint32_t>(found - shards.begin());
  std::string known;
  for (const std::string& name : shards) known += (known.empty() ? "" : ", ") + name;
  throw UsageError("there is no shard " + in_quotes(shard) + "; the table has " + known);
}

std::uint32_t ShardTable::find_or_add(const std::string& shard) {
  const auto found = std::find(shards.begin(), shards.end(), shard);
  if (found == shards.end()) {
    shards.push_back(shard);
    return static_cast<std::uint32_t>(shards.size() - 1);
  }
  return static_cast<std::uint32_t>(found - shards.begin());
}

void ShardTable::give(std::uint32_t first, std::uint32_t last, std::uint32_t to) {
  std::vector<ShardRange> changed;
  const auto add = [&](std::uint32_t upto, std::uint32_t shard) {
    if (!changed.empty() && changed.back().shard == shard) {
      changed.back().upto = upto;
    } else {
      changed.push_back({upto, shard});
    }
  };
  std::uint32_t start = 0;
  for (const ShardRange& range : ranges) {
    if (start < first) add(std::min(range.upto, first - 1), range.shard);
    if (range.upto >= first && start <= last) add(std::min(range.upto, last), to);
    if (range.upto > last) add(range.upto, range.shard);
    start = range.upto + 1;
  }
  ranges = std::move(changed);
}

// --------------------------------------------------------------------------------------------------------------- load

NodeLoad even_load(const ShardTable& table) { return NodeLoad(table.nodes(), 1.0); }

std::vector<double> load_of_shards(const ShardTable& table, const NodeLoad& load) {
  std::vector<double> all(table.shards.size());
  std::uint32_t first = 0;
  for (const ShardRange& range : table.ranges) {
    all[range.shard] += sum(load, first, range.upto);
    first = range.upto + 1;
  }
  return all;
}

NodeLoad read_load(const ShardTable& table, const std::string& text, const std::string& where) {
  NodeLoad load(table.nodes());
  std::istringstream lines(text);
  std::map<std::string, std::size_t> seen;
  std::string line;
  std::size_t at = 0;
  bool by_node = false, has_heading = false;
  while (std::getline(lines, line)) {
    ++at;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    const std::string place = where + ", line " + std::to_string(at) + ": ";
    if (!has_heading) {
      by_node = line == "node,load";
      if (!by_node && line != "shard,load") {
        throw UsageError(place + "the heading is " + in_quotes(line) + "; write node,load or shard,load");
      }
      has_heading = true;
      continue;
    }
    const std::size_t comma = line.rfind(',');
    if (comma == std::string::npos)
      throw UsageError(place + in_quotes(line) + " is not two values with a comma between");
    const std::string key = line.substr(0, comma);
    const auto value = number_in<double>(std::string_view(line).substr(comma + 1));
    if (!value || !std::isfinite(*value) || *value < 0) {
      throw UsageError(place + in_quotes(line.substr(comma + 1)) + " is not a load: a number of 0 or more");
    }
    if (const auto [first, is_new] = seen.emplace(key, at); !is_new) {
      throw UsageError(place + in_quotes(key) + " was in line " + std::to_string(first->second) + " already");
    }
    if (by_node) {
      const auto node = number_in<std::uint32_t>(key);
      if (!node || *node >= table.nodes()) {
        throw UsageError(place + in_quotes(key) + " is not a node; they are 0 to " + std::to_string(table.nodes() - 1));
      }
      load[*node] = *value;
      continue;
    }
    const std::vector<Stretch> stretches = stretches_of(table, table.find(key));
    double nodes = 0;
    for (const Stretch& stretch : stretches) nodes += stretch.last - stretch.first + 1;
    if (nodes == 0 && *value > 0) throw UsageError(place + "shard " + in_quotes(key) + " has a load, but no nodes");
    for (const Stretch& stretch : stretches) {
      std::fill(load.begin() + stretch.first, load.begin() + stretch.last + 1, *value / nodes);
    }
  }
  if (!has_heading) throw UsageError(where + " is empty; it begins with a line node,load or shard,load");
  return load;
}

// -------------------------------------------------------------------------------------------------------------- plans

ShardPlan plan_split(const ShardTable& table, const NodeLoad& load, const std::string& unit, const std::string& shard,
                     const std::string& into) {
  const std::uint32_t from = table.find(shard);
  if (shard == into)
    throw UsageError("a shard is split into itself and another one; " + in_quotes(into) + " is itself");
  ShardPlan plan = begun(table, load, unit, "split " + shard + " into " + shard + " and " + into);
  ShardTable larger = table;
  const std::uint32_t to = larger.find_or_add(into);
  plan.shards = larger.shards;
  const double half = plan.before[from] / 2;
  // From the last node down, up to where what is taken comes closest to half.
  std::vector<Stretch> stretches = stretches_of(table, from);
  std::uint32_t nodes = 0;
  for (const Stretch& stretch : stretches) nodes += stretch.last - stretch.first + 1;
  if (nodes < 2) throw UsageError("shard " + in_quotes(shard) + " has fewer than two nodes, so it cannot be split");
  double taken = 0;
  bool is_done = false;
  for (auto stretch = stretches.rbegin(); stretch != stretches.rend() && !is_done; ++stretch) {
    std::uint32_t first = stretch->last + 1;
    while (first > stretch->first && nodes > 1) {  // one node stays
      const double node = load[first - 1];
      if (taken + node - half > half - taken && taken > 0) {
        is_done = true;
        break;
      }
      taken += node;
      --first;
      --nodes;
    }
    if (first <= stretch->last) plan.runs.push_back({first, stretch->last, from, to, 0});
    if (nodes <= 1) is_done = true;
  }
  return finished(std::move(plan), load);
}

ShardPlan plan_merge(const ShardTable& table, const NodeLoad& load, const std::string& unit, const std::string& shard,
                     const std::string& into) {
  const std::uint32_t from = table.find(shard), to = table.find(into);
  if (from == to) throw UsageError("a shard is merged into another one, not into itself");
  ShardPlan plan = begun(table, load, unit, "merge " + shard + " into " + into);
  for (const Stretch& stretch : stretches_of(table, from)) {
    plan.runs.push_back({stretch.first, stretch.last, from, to, 0});
  }
  if (plan.runs.empty()) throw UsageError("shard " + in_quotes(shard) + " has no nodes, so there is nothing to merge");
  return finished(std::move(plan), load);
}

namespace {

// A run that a shard could give.
struct Window {
  std::uint32_t first = 0, last = 0;
  double load = 0;
};

// Of all runs of at most `most`, one that comes close to it: within `near` if there is one, and then rather at the
// border of a stretch, rather next to the receiver, rather with few nodes. Else the largest.
std::optional<Window> best_window(const ShardTable& table, const NodeLoad& load, std::uint32_t from, std::uint32_t to,
                                  double most, double near) {
  std::optional<Window> best;
  std::array<double, 4> best_rank{};
  const auto consider = [&](const Stretch& stretch, std::uint32_t first, std::uint32_t last, double total) {
    if (total <= 0) return;
    const bool is_border = first == stretch.first || last == stretch.last;
    const bool touches = (first == stretch.first && first > 0 && table.owner(first - 1) == to) ||
                         (last == stretch.last && last + 1 < table.nodes() && table.owner(last + 1) == to);
    const bool is_near = most - total <= near;
    // Lower is better.
    const std::array<double, 4> rank{is_near ? 0.0 : most - total, touches ? 0.0 : 1.0, is_border ? 0.0 : 1.0,
                                     static_cast<double>(last - first)};
    if (best && !(rank < best_rank)) return;
    best = Window{first, last, total};
    best_rank = rank;
  };
  for (const Stretch& stretch : stretches_of(table, from)) {
    // All largest runs of at most `most`: the end moves up, and the beginning follows.
    std::uint32_t first = stretch.first;
    double total = 0;
    for (std::uint32_t last = stretch.first; last <= stretch.last; ++last) {
      total += load[last];
      while (total > most && first <= last) total -= load[first++];
      if (first > last) {
        total = 0;
        continue;
      }
      // Without the nodes at its ends that have nothing to give.
      std::uint32_t begin = first, end = last;
      while (begin < end && load[begin] == 0) ++begin;
      while (end > begin && load[end] == 0) --end;
      consider(stretch, begin, end, total);
    }
  }
  return best;
}

}  // namespace

ShardPlan plan_rebalance(const ShardTable& table, const NodeLoad& load, const std::string& unit, double tolerance) {
  ShardPlan plan = begun(table, load, unit, "rebalance");
  const std::size_t shards = table.shards.size();
  const double total = std::accumulate(plan.before.begin(), plan.before.end(), 0.0);
  if (total <= 0) throw UsageError("no node has any load, so there is nothing to rebalance");
  const double mean = total / static_cast<double>(shards);
  const double limit = mean * (1 + tolerance);
  ShardTable now = table;
  std::vector<double> left = plan.before;
  std::vector<bool> is_stuck(shards);
  for (;;) {
    std::optional<std::uint32_t> from;
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      if (left[shard] > limit && !is_stuck[shard] && (!from || left[shard] > left[*from])) from = shard;
    }
    if (!from) break;
    // The emptiest first: the largest amounts go together, so there are few runs.
    std::vector<std::uint32_t> receivers(shards);
    std::iota(receivers.begin(), receivers.end(), 0u);
    std::sort(receivers.begin(), receivers.end(),
              [&](std::uint32_t a, std::uint32_t b) { return left[a] != left[b] ? left[a] < left[b] : a < b; });
    bool has_moved = false;
    for (const std::uint32_t to : receivers) {
      if (left[to] >= mean || to == *from) break;
      // Never more than is above the mean: so not more moves than must. A receiver may get what is tolerated on top,
      // which saves runs of crumbs.
      const double most = std::min(left[*from] - mean, limit - left[to]);
      const auto window = best_window(now, load, *from, to, most, mean * tolerance / 2);
      if (!window) continue;
      plan.runs.push_back({window->first, window->last, *from, to, window->load});
      now.give(window->first, window->last, to);
      left[*from] -= window->load;
      left[to] += window->load;
      has_moved = true;
      break;
    }
    if (!has_moved) is_stuck[*from] = true;
  }
  return finished(std::move(plan), load);
}

// ----------------------------------------------------------------------------------------------------- a plan's file

namespace {

std::string load_text(double load) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, load).ptr);
}

// A line's words, of which some must be as given.
class Words {
 public:
  Words(const std::string& line, std::string where) : where_(std::move(where)), words_(line) {}
  std::string next() {
    std::string word;
    if (!(words_ >> word)) fail("it ends too early");
    return word;
  }
  void expect(const std::string& wanted) {
    if (const std::string word = next(); word != wanted) fail(in_quotes(word) + " stands where " + wanted + " should");
  }
  template <class Number>
  Number number() {
    const std::string word = next();
    const auto value = number_in<Number>(word);
    if (!value) fail(in_quotes(word) + " is not a number");
    return *value;
  }
  std::string rest() {
    std::string text;
    std::getline(words_ >> std::ws, text);
    return text;
  }
  [[noreturn]] void fail(const std::string& reason) const { throw UsageError(where_ + reason); }

 private:
  const std::string where_;
  std::istringstream words_;
};

}  // namespace

std::string text_of(const ShardPlan& plan) {
  std::string out = "idgen-plan 1\nwhat " + plan.what + "\nchanges version " + std::to_string(plan.base_version) +
                    " bits " + std::to_string(plan.bits) + "\nunit " + plan.unit + '\n';
  for (std::size_t i = 0; i < plan.shards.size(); ++i) {
    out += "shard " + plan.shards[i] + " before " + load_text(plan.before[i]) + " after " + load_text(plan.after[i]) +
           '\n';
  }
  for (const NodeRun& run : plan.runs) {
    out += "move " + nodes_text(run.first, run.last) + " from " + plan.shards[run.from] + " to " + plan.shards[run.to] +
           " load " + load_text(run.load) + '\n';
  }
  return out + "end\n";
}

ShardPlan read_plan(const std::string& text, const std::string& where) {
  ShardPlan plan;
  std::istringstream lines(text);
  std::string line;
  std::size_t at = 0;
  bool is_whole = false;
  const auto shard = [&](Words& words, const std::string& name) {
    const auto found = std::find(plan.shards.begin(), plan.shards.end(), name);
    if (found == plan.shards.end()) words.fail("it names the unknown shard " + in_quotes(name));
    return static_cast<std::uint32_t>(found - plan.shards.begin());
  };
  while (std::getline(lines, line)) {
    ++at;
    if (line.empty() || line[0] == '#') continue;
    Words words(line, where + ", line " + std::to_string(at) + ": ");
    const std::string kind = words.next();
    if (at == 1) {
      if (kind != "idgen-plan") words.fail("this is no plan; it begins with idgen-plan 1");
      words.expect("1");
    } else if (is_whole) {
      words.fail("something follows the end");
    } else if (kind == "what") {
      plan.what = words.rest();
    } else if (kind == "changes") {
      words.expect("version");
      plan.base_version = words.number<std::uint64_t>();
      words.expect("bits");
      plan.bits = words.number<std::uint32_t>();
    } else if (kind == "unit") {
      plan.unit = words.rest();
    } else if (kind == "shard") {
      plan.shards.push_back(words.next());
      words.expect("before");
      plan.before.push_back(words.number<double>());
      words.expect("after");
      plan.after.push_back(words.number<double>());
    } else if (kind == "move") {
      NodeRun run;
      std::tie(run.first, run.last) = read_nodes(words.next(), where + ", line " + std::to_string(at));
      words.expect("from");
      run.from = shard(words, words.next());
      words.expect("to");
      run.to = shard(words, words.next());
      words.expect("load");
      run.load = words.number<double>();
      plan.runs.push_back(run);
    } else if (kind == "end") {
      is_whole = true;
    } else {
      words.fail(in_quotes(kind) + " is not known");
    }
  }
  if (at == 0) throw UsageError(where + " is empty; `idgen shard plan` writes plans");
  if (!is_whole) throw UsageError(where + ": the plan has no end; it was not written to its last line");
  return plan;
}

ShardTable applied(const ShardTable& table, const ShardPlan& plan, bool at_once) {
  if (table.bits != plan.bits) {
    throw UsageError("the plan is for a ring of 2^" + std::to_string(plan.bits) + " nodes, and the table has 2^" +
                     std::to_string(table.bits));
  }
  if (plan.runs.empty()) throw UsageError("the plan moves nothing, so there is nothing to apply");
  ShardTable next = table;
  ++next.version;
  for (const NodeRun& run : plan.runs) {
    const std::string where = "the plan moves nodes " + nodes_text(run.first, run.last);
    if (run.last >= table.nodes() || run.first > run.last) throw UsageError(where + ", which are not in the ring");
    const std::uint32_t from = table.find(plan.shards[run.from]);
    const std::uint32_t to = next.find_or_add(plan.shards[run.to]);
    std::uint32_t first = 0;
    for (const ShardRange& range : table.ranges) {
      if (range.upto >= run.first && first <= run.last && range.shard != from) {
        throw UsageError(where + " from " + plan.shards[run.from] + ", and some of them belong to " +
                         table.shards[range.shard]);
      }
      first = range.upto + 1;
    }
    if (at_once) {
      next.give(run.first, run.last, to);
    } else {
      next.moves.push_back({run.first, run.last, to, 0});
    }
  }
  return next;
}

// -------------------------------------------------------------------------------------------------- shares and nodes

std::uint32_t read_share(const std::string& text, const std::string& what) {
  const std::size_t sign = text.find('%');
  const auto value = sign == text.size() - 1 && sign != std::string::npos
                         ? number_in<double>(std::string_view(text).substr(0, sign))
                         : std::nullopt;
  const double hundredths = value ? *value * 100 : -1;
  if (!(hundredths >= 0 && hundredths <= 10'000) || std::abs(hundredths - std::round(hundredths)) > 1e-6) {
    throw UsageError(what + " is " + in_quotes(text) +
                     "; write a percentage from 0% to 100% with at most two decimals, such as 5% or 0.25%");
  }
  return static_cast<std::uint32_t>(std::lround(hundredths));
}

std::pair<std::uint32_t, std::uint32_t> read_nodes(const std::string& text, const std::string& what) {
  const std::size_t dash = text.find('-');
  const auto first = number_in<std::uint32_t>(std::string_view(text).substr(0, dash));
  const auto last =
      dash == std::string::npos ? first : number_in<std::uint32_t>(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first > *last) {
    throw UsageError(what + ": " + in_quotes(text) + " are not nodes; write 0-1023, or 7");
  }
  return {*first, *last};
}

std::string share_text(std::uint32_t share) {
  std::string out = std::to_string(share / 100);
  if (share % 100 != 0) {
    out += '.' + std::to_string(share % 100 / 10);
    if (share % 10 != 0) out += std::to_string(share % 10);
  }
  return out + '%';
}

std::string nodes_text(std::uint32_t first, std::uint32_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + '-' + std::to_string(last);
}

}  // namespace idgen_tool
