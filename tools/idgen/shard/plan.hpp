// Which nodes should go to which shard: plans, from a table and the load of its nodes. Pure: values in, values out.
//
// A plan moves runs: nodes next to each other, from one shard to another. Few runs keep the table short, and each needs
// a cut-over of its own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace idgen_tool {

struct ShardRange {
  std::uint32_t upto = 0;
  std::uint32_t shard = 0;
  bool operator==(const ShardRange&) const = default;
};

struct ShardMove {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t to = 0;
  std::uint32_t share = 0;  // ten-thousandths
  bool operator==(const ShardMove&) const = default;
};

// A table of routes, as the library checked it.
struct ShardTable {
  std::uint64_t version = 0;
  std::uint32_t bits = 0;
  std::vector<std::string> shards;
  std::vector<ShardRange> ranges;
  std::vector<ShardMove> moves;

  std::uint32_t nodes() const { return 1u << bits; }
  std::uint32_t owner(std::uint32_t node) const;
  // Its number. Throws UsageError naming those there are.
  std::uint32_t find(const std::string& shard) const;
  // The same; a name that is new is added.
  std::uint32_t find_or_add(const std::string& shard);
  // From now on these nodes belong to the shard.
  void give(std::uint32_t first, std::uint32_t last, std::uint32_t to);
};

// How much each node is asked for: requests per second, rows, bytes. Not negative.
using NodeLoad = std::vector<double>;

// Every node alike.
NodeLoad even_load(const ShardTable& table);
// From text of lines NODE,LOAD or SHARD,LOAD under a heading "node,load" or "shard,load". Nodes and shards without a
// line have none; a shard's load is spread evenly over its nodes. Throws UsageError with `where` and the line.
NodeLoad read_load(const ShardTable& table, const std::string& text, const std::string& where);
std::vector<double> load_of_shards(const ShardTable& table, const NodeLoad& load);

struct NodeRun {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double load = 0;
};

struct ShardPlan {
  std::uint64_t base_version = 0;  // of the table that it changes
  std::uint32_t bits = 0;
  std::string what;  // "split db0 into db0 and db2"
  std::string unit;  // of the loads: "nodes", or "load" as measured
  std::vector<std::string> shards;
  std::vector<double> before;  // load of each shard
  std::vector<double> after;
  std::vector<NodeRun> runs;
};

// The upper half of a shard's nodes, or of its load, goes to another one, which may be new.
ShardPlan plan_split(const ShardTable& table, const NodeLoad& load, const std::string& unit, const std::string& shard,
                     const std::string& into);
// All nodes of a shard go to another one.
ShardPlan plan_merge(const ShardTable& table, const NodeLoad& load, const std::string& unit, const std::string& shard,
                     const std::string& into);
// Shards above the mean give away what they have above it, and no more, until none has more than mean * (1 +
// tolerance), or no node that is left is small enough to help.
ShardPlan plan_rebalance(const ShardTable& table, const NodeLoad& load, const std::string& unit, double tolerance);

// A plan as the content of a file, and back. Throws UsageError with `where` and the line.
std::string text_of(const ShardPlan& plan);
ShardPlan read_plan(const std::string& text, const std::string& where);

// The table with the plan's moves: begun at a share of 0, or, at_once, done. One version higher. Throws UsageError if
// the plan does not fit the table.
ShardTable applied(const ShardTable& table, const ShardPlan& plan, bool at_once);

// "35%", "0.25%" in ten-thousandths; "0-1023", "7". Throw UsageError naming `what`.
std::uint32_t read_share(const std::string& text, const std::string& what);
std::pair<std::uint32_t, std::uint32_t> read_nodes(const std::string& text, const std::string& what);
std::string share_text(std::uint32_t share);
std::string nodes_text(std::uint32_t first, std::uint32_t last);

}  // namespace idgen_tool
