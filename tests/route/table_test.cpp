#include "route/tables.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RouteTable with(void (*change)(RouteData&)) {
  RouteData data = two_shards();
  change(data);
  return RouteTable(std::move(data));
}

TEST(RouteTable, NeighboursOfOneShardAreOneRangeAndMovesAreSorted) {
  const RouteTable table({3, 4, {"a", "b"}, {{1, 0}, {3, 0}, {7, 1}, {15, 1}}, {{6, 7, 0, 5}, {0, 1, 1, 9}}});
  EXPECT_EQ(table.data().ranges, (std::vector<RouteRange>{{3, 0}, {15, 1}}));
  EXPECT_EQ(table.data().moves, (std::vector<RouteMove>{{0, 1, 1, 9}, {6, 7, 0, 5}}));
}

TEST(RouteTable, RefusesWhatIsNoRingAndSaysWhatIsAllowed) {
  EXPECT_ERROR(VALUE, HasSubstr("nodes 8-15 have no shard"), with([](RouteData& d) { d.ranges.pop_back(); }));
  EXPECT_ERROR(VALUE, HasSubstr("there are no ranges"), with([](RouteData& d) { d.ranges.clear(); }));
  EXPECT_ERROR(VALUE, HasSubstr("ascending order"), with([](RouteData& d) { std::swap(d.ranges[0], d.ranges[1]); }));
  EXPECT_ERROR(VALUE, HasSubstr("one owner"), with([](RouteData& d) { d.ranges[0].upto = 15; }));
  EXPECT_ERROR(VALUE, HasSubstr("beyond the ring of 2^4"), with([](RouteData& d) { d.ranges[1].upto = 16; }));
  EXPECT_ERROR(VALUE, HasSubstr("shard number 2; there are 2"), with([](RouteData& d) { d.ranges[1].shard = 2; }));
  EXPECT_ERROR(VALUE, HasSubstr("bits 0 is out of range"), with([](RouteData& d) { d.bits = 0; }));
  EXPECT_ERROR(VALUE, HasSubstr("bits 24 is out of range"), with([](RouteData& d) { d.bits = 24; }));
  EXPECT_ERROR(VALUE, HasSubstr("version 0 is out of range"), with([](RouteData& d) { d.version = 0; }));
}

TEST(RouteTable, RefusesNamesThatCannotBeNames) {
  EXPECT_ERROR(VALUE, HasSubstr("empty name"), with([](RouteData& d) { d.shards[1] = ""; }));
  EXPECT_ERROR(VALUE, HasSubstr("named twice"), with([](RouteData& d) { d.shards[1] = "db0"; }));
  EXPECT_ERROR(VALUE, HasSubstr("129 bytes; at most 128"),
               with([](RouteData& d) { d.shards[1] = std::string(129, 'x'); }));
  EXPECT_ERROR(VALUE, HasSubstr("a quote"), with([](RouteData& d) { d.shards[1] = "a\"b"; }));
  EXPECT_ERROR(VALUE, HasSubstr("'a\\x0Ab'"), with([](RouteData& d) { d.shards[1] = "a\nb"; }));
  EXPECT_ERROR(VALUE, HasSubstr("there are no shards"), with([](RouteData& d) { d.shards.clear(); }));
  EXPECT_ERROR(VALUE, HasSubstr("65536 shards; at most 65535"), with([](RouteData& d) {
                 d.shards.clear();
                 for (int i = 0; i < 65'536; ++i) d.shards.push_back(std::to_string(i));
               }));
  EXPECT_NO_THROW(with([](RouteData& d) { d.shards[1] = std::string(128, 'x'); }));
}

TEST(RouteTable, RefusesMovesThatMeanNothing) {
  const auto moving = [](std::vector<RouteMove> moves) {
    RouteData data = two_shards();
    data.moves = std::move(moves);
    return RouteTable(data);
  };
  EXPECT_ERROR(VALUE, HasSubstr("'db1', which already owns nodes 8-9"), moving({{4, 9, 1, 0}}));
  EXPECT_ERROR(VALUE, HasSubstr("'db0', which already owns nodes 7"), moving({{7, 9, 0, 0}}));
  EXPECT_ERROR(VALUE, HasSubstr("nodes 0-3 and 3-4 overlap"), moving({{3, 4, 1, 0}, {0, 3, 1, 0}}));
  EXPECT_ERROR(VALUE, HasSubstr("ends before it begins"), moving({{3, 2, 1, 0}}));
  EXPECT_ERROR(VALUE, HasSubstr("beyond the ring"), moving({{3, 16, 1, 0}}));
  EXPECT_ERROR(VALUE, HasSubstr("shard number 7"), moving({{3, 3, 7, 0}}));
  EXPECT_ERROR(VALUE, HasSubstr("10001 ten-thousandths"), moving({{3, 3, 1, 10'001}}));
  EXPECT_NO_THROW(moving({{0, 7, 1, 10'000}, {8, 15, 0, 0}}));
}

TEST(RouteTable, RandomTablesAreAccepted) {  // or the tests with them would test nothing
  std::mt19937_64 random(1);
  std::size_t moves = 0, ranges = 0;
  for (int i = 0; i < 500; ++i) {
    const RouteTable table(random_table(random));
    moves += table.data().moves.size();
    ranges += table.data().ranges.size();
  }
  EXPECT_GT(moves, 500u);
  EXPECT_GT(ranges, 2'000u);
}

TEST(RouteTable, SharesHaveTwoDecimalsAndNoOtherForm) {
  for (std::uint32_t share = 0; share <= RouteTable::kWholeShare; ++share) {
    ASSERT_EQ(parse_share(share_text(share)), share) << share_text(share);
  }
  EXPECT_EQ(share_text(3500), "35%");
  EXPECT_EQ(share_text(25), "0.25%");
  EXPECT_EQ(share_text(50), "0.5%");
  EXPECT_EQ(share_text(10'000), "100%");
  for (const char* text : {"", "%", "35", "35 %", " 35%", "-1%", "+1%", "100.01%", "101%", "1.%", ".5%", "1.234%",
                           "1e1%", "0035%", "35%%", "0x1%"}) {
    EXPECT_EQ(parse_share(text), std::nullopt) << text;
  }
}

TEST(RouteTable, NodesAreOneNumberOrTwo) {
  EXPECT_EQ(parse_nodes("0-1023"), (std::pair<std::uint64_t, std::uint64_t>(0, 1023)));
  EXPECT_EQ(parse_nodes("7"), (std::pair<std::uint64_t, std::uint64_t>(7, 7)));
  for (const char* text : {"", "-", "-7", "7-", "7 - 8", "a", "7-8-9", "+7", "18446744073709551616"}) {
    EXPECT_EQ(parse_nodes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace idgen
