#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>

#include "shard/picture.hpp"
#include "shard/plan.hpp"
#include "shared/failure.hpp"

namespace idgen_tool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ShardTable two_shards() { return {7, 4, {"db0", "db1"}, {{7, 0}, {15, 1}}, {}}; }

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

double moved(const ShardPlan& plan) {
  double all = 0;
  for (const NodeRun& run : plan.runs) all += run.load;
  return all;
}

// What holds for every plan: the runs are of the shards that they name, and the loads are those of the table after it.
void check_plan(const ShardTable& table, const NodeLoad& load, const ShardPlan& plan) {
  if (plan.runs.empty()) return;
  const ShardTable after = applied(table, plan, true);
  const std::vector<double> loads = load_of_shards(after, load);
  ASSERT_EQ(loads.size(), plan.after.size());
  for (std::size_t i = 0; i < loads.size(); ++i) ASSERT_NEAR(loads[i], plan.after[i], 1e-6 * (1 + loads[i]));
  const ShardPlan again = read_plan(text_of(plan), "plan");
  ASSERT_EQ(text_of(again), text_of(plan));
}

TEST(ShardPlan, ASplitGivesTheUpperHalfAway) {
  const ShardTable table = two_shards();
  const ShardPlan plan = plan_split(table, even_load(table), "nodes", "db0", "db2");
  ASSERT_EQ(plan.runs.size(), 1u);
  EXPECT_EQ(nodes_text(plan.runs[0].first, plan.runs[0].last), "4-7");
  EXPECT_THAT(plan.shards, ElementsAre("db0", "db1", "db2"));
  EXPECT_THAT(plan.before, ElementsAre(8, 8, 0));
  EXPECT_THAT(plan.after, ElementsAre(4, 8, 4));
  check_plan(table, even_load(table), plan);
}

TEST(ShardPlan, ASplitByLoadLooksAtTheLoad) {
  const ShardTable table = two_shards();
  NodeLoad load = even_load(table);
  load[7] = 20;
  load[6] = 9;
  ShardPlan plan = plan_split(table, load, "load", "db0", "db2");
  EXPECT_EQ(nodes_text(plan.runs.at(0).first, plan.runs.at(0).last), "7");
  load[7] = 0;
  plan = plan_split(table, load, "load", "db0", "db2");
  EXPECT_EQ(nodes_text(plan.runs.at(0).first, plan.runs.at(0).last), "6-7");
  check_plan(table, load, plan);
}

TEST(ShardPlan, ASplitLeavesBothSidesSomethingWhateverTheLoad) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    ShardTable table{1, 6, {"a", "b"}, {{63, 0}}, {}};
    for (std::uint32_t cuts = static_cast<std::uint32_t>(random() % 4); cuts > 0; --cuts) {
      const auto first = static_cast<std::uint32_t>(random() % 60);
      table.give(first, first + static_cast<std::uint32_t>(random() % 4), 1);
    }
    NodeLoad load(64);
    for (double& node : load) node = random() % 3 == 0 ? 0 : static_cast<double>(random() % 100);
    const ShardPlan plan = plan_split(table, load, "load", "a", "c");
    check_plan(table, load, plan);
    const ShardTable after = applied(table, plan, true);
    ASSERT_TRUE(std::any_of(after.ranges.begin(), after.ranges.end(), [](auto& r) { return r.shard == 0; }));
    ASSERT_TRUE(std::any_of(after.ranges.begin(), after.ranges.end(), [](auto& r) { return r.shard == 2; }));
    // No other place to cut is better by more than a node.
    const double most = *std::max_element(load.begin(), load.end());
    ASSERT_LE(std::abs(plan.after[0] - plan.after[2]), most + 1e-9);
  }
}

TEST(ShardPlan, AMergeGivesAllAway) {
  const ShardTable table{7, 4, {"a", "b", "c"}, {{3, 0}, {7, 1}, {11, 0}, {15, 2}}, {}};
  const ShardPlan plan = plan_merge(table, even_load(table), "nodes", "a", "b");
  EXPECT_THAT(plan.after, ElementsAre(0, 12, 4));
  EXPECT_EQ(plan.runs.size(), 2u);
  check_plan(table, even_load(table), plan);
  const ShardTable after = applied(table, plan, true);
  EXPECT_EQ(after.ranges, (std::vector<ShardRange>{{11, 1}, {15, 2}}));
  EXPECT_EQ(after.version, 8u);
}

TEST(ShardPlan, ARebalanceOfWhatIsBalancedMovesNothing) {
  const ShardTable table = two_shards();
  EXPECT_TRUE(plan_rebalance(table, even_load(table), "nodes", 0.05).runs.empty());
}

TEST(ShardPlan, ARebalanceToANewShardTakesOneRunFromEach) {
  ShardTable table{1, 16, {"a", "b", "c", "new"}, {{21844, 0}, {43689, 1}, {65535, 2}}, {}};
  const ShardPlan plan = plan_rebalance(table, even_load(table), "nodes", 0.01);
  EXPECT_EQ(plan.runs.size(), 3u);
  for (const double load : plan.after) EXPECT_NEAR(load, 16384, 164);
  EXPECT_NEAR(moved(plan), 16384, 164);
  check_plan(table, even_load(table), plan);
}

// On any load: no more moves than what is above the mean, no less than what is above the tolerance, and nobody is above
// that afterwards.
TEST(ShardPlan, ARebalanceMovesWhatIsAboveTheMeanAndNoMore) {
  std::mt19937_64 random(2);
  double worst = 0, best = 2;
  std::size_t runs = 0, tables = 0;
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t bits = 10 + static_cast<std::uint32_t>(random() % 3);
    const auto shards = static_cast<std::uint32_t>(2 + random() % 12);
    ShardTable table{1, bits, {}, {{(1u << bits) - 1, 0}}, {}};
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      table.shards.push_back("db" + std::to_string(shard));
      const auto first = static_cast<std::uint32_t>(random() % table.nodes());
      const auto size = static_cast<std::uint32_t>(random() % (2 * table.nodes() / shards + 1));
      table.give(first, std::min(table.nodes() - 1, first + size), shard);
    }
    NodeLoad load(table.nodes());
    // Even, in waves, or with a long tail: hot nodes, none with more than a shard should have.
    const int shape = i % 3;
    for (std::uint32_t node = 0; node < load.size(); ++node) {
      const double part = static_cast<double>(random() % 1'000'000) / 1e6;
      load[node] = shape == 0 ? 1 : shape == 1 ? 2 + std::sin(node / 50.0) + part : std::pow(part + 1e-3, -0.7);
    }
    constexpr double kTolerance = 0.05;
    const ShardPlan plan = plan_rebalance(table, load, "load", kTolerance);
    check_plan(table, load, plan);
    const double mean = std::accumulate(load.begin(), load.end(), 0.0) / shards;
    double above_mean = 0, above_tolerance = 0;
    for (const double before : plan.before) {
      above_mean += std::max(0.0, before - mean);
      above_tolerance += std::max(0.0, before - mean * (1 + kTolerance));
    }
    ASSERT_LE(moved(plan), above_mean * (1 + 1e-9)) << "table " << i;
    ASSERT_GE(moved(plan), above_tolerance * (1 - 1e-9)) << "table " << i;
    for (const double after : plan.after) ASSERT_LE(after, mean * (1 + kTolerance) * (1 + 1e-9)) << "table " << i;
    // A shard with too much and one with too little meet once, whatever else they meet; stretches cut short add some.
    ASSERT_LE(plan.runs.size(), 6 * shards) << "table " << i;
    if (above_mean > 0) {
      worst = std::max(worst, moved(plan) / above_mean);
      best = std::min(best, moved(plan) / above_mean);
    }
    runs += plan.runs.size();
    tables += 1;
  }
  std::printf("%zu tables: %.3f to %.3f of what is above the mean was moved, in %.1f runs\n", tables, best, worst,
              static_cast<double>(runs) / static_cast<double>(tables));
}

TEST(ShardPlan, ANodeThatIsTooHotToHelpStaysWhereItIs) {
  ShardTable table{1, 3, {"a", "b"}, {{3, 0}, {7, 1}}, {}};
  const NodeLoad load{100, 1, 1, 1, 1, 1, 1, 1};
  const ShardPlan plan = plan_rebalance(table, load, "load", 0.05);
  check_plan(table, load, plan);
  for (const NodeRun& run : plan.runs) EXPECT_GT(run.first, 0u);
  EXPECT_THAT(plan.after, ElementsAre(100, 7));
}

TEST(ShardPlan, IsNotMadeDuringACutOverOrOfUnknownShards) {
  ShardTable table = two_shards();
  EXPECT_THAT(refusal([&] { plan_split(table, even_load(table), "nodes", "db7", "x"); }),
              HasSubstr("no shard 'db7'; the table has db0, db1"));
  EXPECT_THAT(refusal([&] { plan_merge(table, even_load(table), "nodes", "db1", "db1"); }), HasSubstr("into itself"));
  EXPECT_THAT(refusal([&] { plan_split(table, even_load(table), "nodes", "db1", "db1"); }), HasSubstr("is itself"));
  EXPECT_THAT(refusal([&] { plan_rebalance(table, NodeLoad(16), "load", 0.1); }), HasSubstr("no node has any load"));
  table.moves = {{0, 3, 1, 500}};
  EXPECT_THAT(refusal([&] { plan_rebalance(table, even_load(table), "nodes", 0.1); }),
              HasSubstr("nodes 0-3 are in cut-over to db1"));
}

TEST(ShardPlan, IsAppliedOnlyToATableThatItFits) {
  const ShardTable table = two_shards();
  const ShardPlan plan = plan_split(table, even_load(table), "nodes", "db0", "db2");
  const ShardTable begun = applied(table, plan, false);
  EXPECT_EQ(begun.ranges, table.ranges) << "nothing changes hands yet";
  EXPECT_EQ(begun.moves, (std::vector<ShardMove>{{4, 7, 2, 0}}));
  ShardTable other = table;
  other.give(5, 5, 1);
  EXPECT_THAT(refusal([&] { applied(other, plan, false); }), HasSubstr("some of them belong to db1"));
  other = table;
  other.bits = 5;
  EXPECT_THAT(refusal([&] { applied(other, plan, false); }), HasSubstr("2^4"));
}

TEST(ShardPlan, ACutOffPlanIsNoPlan) {
  const ShardTable table = two_shards();
  const std::string text = text_of(plan_split(table, even_load(table), "nodes", "db0", "db2"));
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_THAT(refusal([&] { read_plan(text.substr(0, size), "p"); }), HasSubstr("p")) << text.substr(0, size);
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 3'000; ++i) {
    std::string changed = text;
    changed[random() % changed.size()] = static_cast<char>(random() % 256);
    try {
      read_plan(changed, "p");
    } catch (const UsageError&) {
    }
  }
}

TEST(ShardLoad, ComesFromLinesOfNodesOrShards) {
  const ShardTable table = two_shards();
  const NodeLoad by_node = read_load(table, "# measured\nnode,load\n3,2.5\r\n15,1e3\n", "f");
  EXPECT_EQ(by_node[3], 2.5);
  EXPECT_EQ(by_node[15], 1000);
  EXPECT_EQ(by_node[0], 0);
  const NodeLoad by_shard = read_load(table, "shard,load\ndb0,80\ndb1,8\n", "f");
  EXPECT_EQ(by_shard[0], 10);
  EXPECT_EQ(by_shard[15], 1);
  for (const auto& [text, part] : std::vector<std::pair<std::string, std::string>>{
           {"", "is empty"},
           {"3,2\n", "line 1: the heading is '3,2'"},
           {"node,load\n16,1\n", "line 2: '16' is not a node; they are 0 to 15"},
           {"node,load\n-1,1\n", "is not a node"},
           {"node,load\n1,-1\n", "not a load"},
           {"node,load\n1,nan\n", "not a load"},
           {"node,load\n1,inf\n", "not a load"},
           {"node,load\n1,x\n", "not a load"},
           {"node,load\n1\n", "not two values"},
           {"node,load\n1,1\n1,2\n", "line 3: '1' was in line 2 already"},
           {"shard,load\ndb9,1\n", "no shard 'db9'"}}) {
    EXPECT_THAT(refusal([&, &load = text] { read_load(table, load, "f"); }), HasSubstr(part));
  }
}

TEST(ShardPlan, SharesAndNodesAreReadAsTheyAreWritten) {
  for (std::uint32_t share = 0; share <= 10'000; ++share) ASSERT_EQ(read_share(share_text(share), "--step"), share);
  for (const char* text : {"", "%", "5", "-1%", "101%", "0.001%", "nan%", "5%%", "inf%"}) {
    EXPECT_THAT(refusal([&] { read_share(text, "--step"); }), HasSubstr("--step is '")) << text;
  }
  EXPECT_EQ(read_nodes("0-1023", "x"), std::pair(0u, 1023u));
  for (const char* text : {"", "-", "5-3", "a", "1-2-3", "1-", "-1"}) {
    EXPECT_THAT(refusal([&] { read_nodes(text, "x"); }), HasSubstr("are not nodes")) << text;
  }
}

TEST(LoadPicture, HasATitleAxesAndBothStatesSideBySide) {
  const LoadPicture picture{"rebalance <a>", "requests per second", {"db0", "db1"}, {1200, 300.5}, {750, 750.5}};
  const std::string svg = draw_load_svg(picture);
  for (const char* part :
       {"<title>rebalance &lt;a&gt;</title>", "requests per second", ">shard<", "mean 750", "class=\"before\"",
        "class=\"after\"", "db0, before: 1 200 requests per second", "db1 301 before, 751 after"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  const std::string text = draw_load(picture, Terminal(stdout), 80);
  for (const char* part : {"db0  before", "1 200  80.0 %", "after", "750  50.0 %", "█"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  // Nothing at all must not divide by zero.
  EXPECT_THAT(draw_load_svg({"none", "nodes", {"a"}, {0}, {0}}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace idgen_tool
