#include "route/tables.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::HasSubstr;

TEST(RouteMap, FindsWhatAWalkOverTheTableFindsForEveryNode) {
  std::mt19937_64 random(2);
  std::size_t in_cutover = 0;
  for (int i = 0; i < 100; ++i) {
    const RouteTable table(random_table(random, i % 10 == 0 ? 2'000 : 40));
    const auto router = Router::make(table, {});
    const std::uint32_t nodes = 1u << table.data().bits;
    const std::uint32_t step = std::max(1u, nodes / 2'000);
    std::vector<std::uint32_t> asked;
    for (std::uint32_t node = 0; node < nodes; node += step) asked.push_back(node);
    for (const RouteRange& range : table.data().ranges) {
      asked.push_back(range.upto);
      if (range.upto + 1 < nodes) asked.push_back(range.upto + 1);
    }
    for (const std::uint32_t node : asked) {
      const Route route = router->route_node(node);
      ASSERT_EQ(route, slow_route(table.data(), node)) << "table " << i;
      in_cutover += route.state == RouteState::id_decides;
    }
    std::vector<std::uint32_t> shards(asked.size()), seconds(asked.size());
    router->route_node_batch(asked.data(), asked.size(), shards.data(), seconds.data());
    for (std::size_t at = 0; at < asked.size(); ++at) {
      const Route one = slow_route(table.data(), asked[at]);
      ASSERT_EQ(shards[at], one.shard);
      ASSERT_EQ(seconds[at], one.second);
    }
  }
  EXPECT_GT(in_cutover, 1'000u);
}

TEST(RouteMap, ARingInWhichEveryNodeHasItsOwnRangeIsFoundToo) {
  RouteData data{1, 20, {"a", "b"}, {}, {}};
  for (std::uint32_t node = 0; node < 1u << 20; ++node) data.ranges.push_back({node, node & 1});
  const auto router = Router::make(RouteTable(data), {});
  for (std::uint32_t node = 0; node < 1u << 20; node += 97) ASSERT_EQ(router->route_node(node).shard, node & 1);
}

// The layout, the wide one, and a table whose ring their genes can hold.
void check_ids(const std::string& text, std::uint32_t ring_bits, std::uint64_t seed) {
  const Layout layout = Layout::parse(text);
  std::mt19937_64 random(seed);
  RouteData data = random_table(random);
  while (data.bits != ring_bits || data.moves.empty()) data = random_table(random);
  const RouteTable table(data);
  RouterOptions options;
  (layout.is_wide() ? options.wide_layout : options.layout) = layout;
  const auto router = Router::make(table, options);
  const Field gene = *layout.find(FieldKind::gene);
  std::vector<std::uint64_t> ids;
  std::vector<Id128> wide_ids;
  std::vector<Route> wanted;
  std::size_t moved = 0;
  for (int i = 0; i < 3'000; ++i) {
    const Id128 id = (Id128{random()} << 64 | random()) & ((Id128{1} << layout.bits()) - 1);
    // Bit by bit: the id without its gene.
    Id128 rest = 0;
    std::uint32_t node = 0;
    unsigned at = 0;
    for (unsigned bit = 0; bit < layout.bits(); ++bit) {
      const Id128 value = id >> bit & 1;
      if (bit < gene.shift || bit >= gene.shift + gene.bits) {
        rest |= value << at++;
      } else if (bit - gene.shift < ring_bits) {
        node |= static_cast<std::uint32_t>(value) << (bit - gene.shift);
      }
    }
    const Route slow = slow_route(table.data(), node, static_cast<std::uint32_t>(rest & 1023));
    const Route fast = layout.is_wide() ? router->route(id) : router->route(static_cast<std::uint64_t>(id));
    ASSERT_EQ(fast, slow) << text;
    moved += slow.state == RouteState::new_first;
    wanted.push_back(slow);
    ids.push_back(static_cast<std::uint64_t>(id));
    wide_ids.push_back(id);
  }
  std::vector<std::uint32_t> shards(ids.size()), seconds(ids.size());
  if (layout.is_wide()) {
    router->route_wide_batch(
        [&](std::size_t i) {
          return WideId{wide_ids[i], 16};
        },
        ids.size(), shards.data(), seconds.data());
  } else {
    router->route_batch(ids.data(), ids.size(), shards.data(), seconds.data());
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(shards[i], wanted[i].shard);
    ASSERT_EQ(seconds[i], wanted[i].second);
  }
  EXPECT_GT(moved, 0u) << text;
}

TEST(RouteMap, AnIdSaysItsNodeAndWhetherItHasMovedWhereverItsGeneLies) {
  check_ids("business64", 10, 3);
  check_ids("business64", 12, 4);
  check_ids("business128", 10, 5);
  check_ids("order", 4, 6);
  check_ids("order", 3, 7);
  check_ids("time:41ms sequence:10 gene:8 worker:4", 8, 8);
  check_ids("unsigned gene:56 sequence:8", 9, 9);
  check_ids("segment:40 gene:23", 11, 10);
}

TEST(RouteMap, AShareMovesAsManyIdsAsItSays) {
  const Layout layout = Layout::parse("order");
  RouteData data = two_shards();
  for (const std::uint32_t share : {0u, 1u, 500u, 3'333u, 5'000u, 9'999u, 10'000u}) {
    data.moves = {{0, 7, 1, share}};
    RouterOptions options;
    options.layout = layout;
    const auto router = Router::make(RouteTable(data), options);
    int moved = 0;
    for (std::uint64_t i = 0; i < 1'024; ++i) moved += router->route(i << 4 | 5).state == RouteState::new_first;
    EXPECT_EQ(moved, static_cast<int>((share * 1'024 + 9'999) / 10'000)) << share;
  }
}

TEST(RouteMap, AnIdOnceMovedStaysMovedWhileTheShareRises) {
  RouterOptions options;
  options.layout = Layout::parse("order");
  RouteData data = two_shards();
  std::vector<bool> before(1'024, false);
  for (std::uint32_t share = 0; share <= 10'000; share += 250) {
    data.moves = {{0, 7, 1, share}};
    const auto router = Router::make(RouteTable(data), options);
    for (std::uint64_t i = 0; i < 1'024; ++i) {
      const bool moved = router->route(i << 4).state == RouteState::new_first;
      ASSERT_TRUE(moved || !before[i]) << i << " at " << share;
      before[i] = moved;
    }
  }
  EXPECT_EQ(std::count(before.begin(), before.end(), true), 1'024);
}

TEST(RouteMap, RefusesIdsAndNodesThatAreNotOfTheRing) {
  RouterOptions options;
  options.layout = Layout::parse("order");
  const auto router = Router::make(RouteTable(two_shards()), options);
  EXPECT_ERROR(VALUE, HasSubstr("bits outside the layout"), router->route(std::uint64_t{1} << 63));
  EXPECT_ERROR(UNSUPPORTED, HasSubstr("128-bit"), router->route(Id128{1}));
  EXPECT_ERROR(VALUE, HasSubstr("node 16 is beyond the ring, whose nodes are 0 to 15"), router->route_node(16));
  const std::uint64_t ids[] = {1, 2, ~std::uint64_t{0}};
  std::uint32_t shards[3];
  EXPECT_ERROR(VALUE, HasSubstr("ids[2]: "), router->route_batch(ids, 3, shards, nullptr));
  const std::uint32_t nodes[] = {1, 99};
  EXPECT_ERROR(VALUE, HasSubstr("nodes[1]: "), router->route_node_batch(nodes, 2, shards, nullptr));
  const auto bare = Router::make(RouteTable(two_shards()), {});
  EXPECT_ERROR(UNSUPPORTED, HasSubstr("without a layout"), bare->route(std::uint64_t{0}));
  EXPECT_EQ(bare->route_node(15).shard, 1u);
}

TEST(RouteMap, RefusesLayoutsThatDoNotFitTheRing) {
  const auto made_with = [](const char* text, std::uint32_t bits, bool wide = false) {
    RouterOptions options;
    (wide ? options.wide_layout : options.layout) = Layout::parse(text);
    return Router::make(RouteTable(two_shards(1, bits)), options);
  };
  EXPECT_ERROR(VALUE, HasSubstr("has only 4 bits"), made_with("order", 5));
  EXPECT_ERROR(VALUE, HasSubstr("has no gene"), made_with("default", 5));
  EXPECT_ERROR(VALUE, HasSubstr("give it as the wide layout"), made_with("business128", 5));
  EXPECT_ERROR(VALUE, HasSubstr("give it as the layout"), made_with("business64", 5, true));
  EXPECT_NO_THROW(made_with("order", 3));
}

TEST(RouteMap, AnOwnerIsWhereItsGeneIs) {
  RouterOptions options;
  options.layout = Layout::parse("order");
  const auto by_number = Router::make(RouteTable(two_shards()), options);
  EXPECT_EQ(by_number->route_owner("1820").node, 12u);  // the source's own example: mod 16
  options.layout = Layout::parse("business64");
  const auto by_hash = Router::make(RouteTable(two_shards(1, 16)), options);
  EXPECT_EQ(by_hash->route_owner("1820").node, gene_of("1820", GeneRule::hash, 16));
  options.rule = GeneRule::mod;
  EXPECT_EQ(Router::make(RouteTable(two_shards(1, 16)), options)->route_owner("1820").node, 1820u);
  EXPECT_ERROR(VALUE, HasSubstr("owner"), by_hash->route_owner(""));
}

}  // namespace
}  // namespace idgen
