// Numbers of a tag.
#include <set>
#include <thread>
#include <vector>

#ifdef IDGEN_TEST_SERVERS
#include "store/every_server.hpp"
#else
#include "store/store_test_support.hpp"
#endif

namespace idgen {
namespace {

using SegmentOfEveryStore = EveryStore;
INSTANTIATE_TEST_SUITE_P(Stores, SegmentOfEveryStore, IDGEN_EVERY_STORE, [](const auto& info) { return info.param; });

constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST_P(SegmentOfEveryStore, EachGrantBeginsWhereTheLastOneEnded) {
  const auto store = open();
  EXPECT_EQ(draw_from(store, "ns", "orders", 100), 1u);
  EXPECT_EQ(draw_from(store, "ns", "orders", 1), 101u);
  EXPECT_EQ(draw_from(store, "ns", "orders", 5), 102u);
}

TEST_P(SegmentOfEveryStore, AGrantBeginsAboveWhatIsAskedForAndTheCounterIsNeverLowered) {
  const auto store = open();
  const auto draw_above = [&](std::uint64_t above) {
    const SegmentGrant grant = store->segment_grant("ns", "orders", {.step = 10, .above = above});
    EXPECT_EQ(grant.count, 10u);
    return grant.first;
  };
  constexpr std::uint64_t kDay = std::uint64_t{20778} << 40;  // beyond what a double holds exactly
  EXPECT_EQ(draw_above(5), 6u);                               // also of a tag that is made by it
  EXPECT_EQ(draw_above(5), 16u);
  EXPECT_EQ(draw_above(24), 26u);
  EXPECT_EQ(draw_above(kDay), kDay + 1);
  EXPECT_EQ(draw_above(kDay), kDay + 11);
  EXPECT_EQ(draw_above(0), kDay + 21);
  EXPECT_EQ(draw_above(kDay + 31), kDay + 32);
  EXPECT_EQ(store->segment_show("ns", "orders").max_id, kDay + 41);
  store->segment_return("ns", "orders", kDay + 41, 10);
  EXPECT_EQ(draw_above(kDay), kDay + 32);
  EXPECT_FAILS(draw_above(kMax), Status::exhausted, "2^63 - 1");
  EXPECT_EQ(draw_above(kDay), kDay + 42);
}

TEST_P(SegmentOfEveryStore, TagsAndNamespacesCountSeparately) {
  const auto store = open();
  EXPECT_EQ(draw_from(store, "ns", "orders", 100), 1u);
  EXPECT_EQ(draw_from(store, "ns", "users", 10), 1u);
  EXPECT_EQ(draw_from(store, "other", "orders", 10), 1u);
  EXPECT_EQ(draw_from(store, "ns", "orders", 1), 101u);
}

TEST_P(SegmentOfEveryStore, AnotherHandleGoesOnWhereTheFirstStopped) {
  EXPECT_EQ(draw_from(open(), "ns", "orders", 100), 1u);
  EXPECT_EQ(draw_from(open(), "ns", "orders", 100), 101u);
}

TEST_P(SegmentOfEveryStore, ATagThatWasNotCreatedIsRefusedUnlessCreatingWasAskedFor) {
  open()->segment_create("ns", "another");
  const auto store = open(not_creating());
  EXPECT_FAILS(draw_from(store, "ns", "orders", 1), Status::tag_unknown, "store_create = true");
  EXPECT_FAILS(store->segment_show("ns", "orders"), Status::tag_unknown, "'orders'");
  EXPECT_FAILS(store->segment_advance("ns", "orders", 5), Status::tag_unknown, "'orders'");
  EXPECT_FAILS(store->segment_return("ns", "orders", 5, 1), Status::tag_unknown, "'orders'");
  EXPECT_FAILS(open()->segment_show("ns", "orders"), Status::tag_unknown, "'orders'");  // looking does not create it
  EXPECT_EQ(draw_from(open(), "ns", "orders", 1), 1u);
  EXPECT_EQ(draw_from(store, "ns", "orders", 1), 2u);
}

TEST_P(SegmentOfEveryStore, CreatingATagTwiceIsRefusedAndChangesNothing) {
  const auto store = open();
  store->segment_create("ns", "orders");
  draw_from(store, "ns", "orders", 42);
  EXPECT_FAILS(store->segment_create("ns", "orders"), Status::tag_exists, "stands at 42");
  EXPECT_EQ(store->segment_show("ns", "orders").max_id, 42u);
}

TEST_P(SegmentOfEveryStore, ShowSaysHowFarTheTagIsAndHowOftenItWasGranted) {
  const auto store = open();
  store->segment_create("ns", "orders");
  const SegmentInfo fresh = store->segment_show("ns", "orders");
  EXPECT_EQ(fresh.max_id, 0u);
  EXPECT_EQ(fresh.grants, 0u);
  draw_from(store, "ns", "orders", 10);
  draw_from(store, "ns", "orders", 10);
  const SegmentInfo used = store->segment_show("ns", "orders");
  EXPECT_EQ(used.max_id, 20u);
  EXPECT_EQ(used.grants, 2u);
  EXPECT_GE(used.updated_unix_ms, fresh.updated_unix_ms);
  EXPECT_GT(used.updated_unix_ms, 1'600'000'000'000);
}

TEST_P(SegmentOfEveryStore, TheUnusedTailIsGivenBackIfNobodyHasDrawnSince) {
  const auto store = open();
  draw_from(store, "ns", "orders", 100);
  store->segment_return("ns", "orders", 100, 60);
  EXPECT_EQ(draw_from(store, "ns", "orders", 10), 41u);
}

TEST_P(SegmentOfEveryStore, TheUnusedTailIsLostIfSomebodyHasDrawnSince) {
  const auto store = open();
  draw_from(store, "ns", "orders", 100);
  draw_from(store, "ns", "orders", 100);
  store->segment_return("ns", "orders", 100, 60);
  EXPECT_EQ(draw_from(store, "ns", "orders", 10), 201u);
}

TEST_P(SegmentOfEveryStore, AReturnOfMoreThanThereWasIsRefused) {
  const auto store = open();
  draw_from(store, "ns", "orders", 10);
  EXPECT_FAILS(store->segment_return("ns", "orders", 10, 11), Status::argument, "11");
  EXPECT_FAILS(store->segment_return("ns", "orders", kMax + 1, 1), Status::argument, "9223372036854775808");
  store->segment_return("ns", "orders", 10, 0);
  EXPECT_EQ(store->segment_show("ns", "orders").max_id, 10u);
}

TEST_P(SegmentOfEveryStore, AdvanceLiftsAndNeverLowers) {
  const auto store = open();
  store->segment_create("ns", "orders");
  EXPECT_EQ(store->segment_advance("ns", "orders", 1000).max_id, 1000u);
  EXPECT_EQ(store->segment_advance("ns", "orders", 10).max_id, 1001u);
  EXPECT_EQ(store->segment_advance("ns", "orders", 10).grants, 3u);
  EXPECT_EQ(draw_from(store, "ns", "orders", 1), 1003u);
  EXPECT_FAILS(store->segment_advance("ns", "orders", kMax + 1), Status::value, "9223372036854775807");
}

// Otherwise numbers that the operator has just declared used would be granted again.
TEST_P(SegmentOfEveryStore, AfterAnAdvanceNothingBelowItIsGivenBack) {
  const auto store = open();
  store->segment_create("ns", "orders");
  for (const std::uint64_t to : {800u, 1000u, 5000u}) {
    const std::uint64_t first = draw_from(store, "ns", "orders", 1000);
    store->segment_advance("ns", "orders", to);
    store->segment_return("ns", "orders", first + 999, 1000);
    EXPECT_GT(draw_from(store, "ns", "orders", 1), std::max(to, first + 999)) << to;
  }
}

TEST_P(SegmentOfEveryStore, NoNumberPassesTheLargestSignedOne) {
  const auto store = open();
  store->segment_create("ns", "orders");
  store->segment_advance("ns", "orders", kMax - 10);
  EXPECT_FAILS(draw_from(store, "ns", "orders", 11), Status::exhausted, "2^63 - 1");
  EXPECT_FAILS(draw_from(store, "ns", "orders", std::numeric_limits<std::uint64_t>::max()), Status::exhausted,
               "2^63 - 1");
  EXPECT_EQ(store->segment_show("ns", "orders").max_id, kMax - 10);  // nothing changed
  EXPECT_EQ(draw_from(store, "ns", "orders", 10), kMax - 9);
  EXPECT_FAILS(draw_from(store, "ns", "orders", 1), Status::exhausted, std::to_string(kMax));
}

TEST_P(SegmentOfEveryStore, ASegmentOfNothingIsRefused) {
  EXPECT_FAILS(draw_from(open(), "ns", "orders", 0), Status::argument, "at least 1");
}

TEST_P(SegmentOfEveryStore, ListNamesAllTagsInTheOrderOfTheirNames) {
  const auto store = open();
  draw_from(store, "ns", "orders", 10);
  draw_from(store, "ns", "invoices", 20);
  draw_from(store, "another", "orders", 30);
  const std::vector<SegmentInfo> rows = store->segment_list();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name_space + "/" + rows[0].tag, "another/orders");
  EXPECT_EQ(rows[0].max_id, 30u);
  EXPECT_EQ(rows[1].name_space + "/" + rows[1].tag, "ns/invoices");
  EXPECT_EQ(rows[1].grants, 1u);
  EXPECT_EQ(rows[2].name_space + "/" + rows[2].tag, "ns/orders");
}

TEST_P(SegmentOfEveryStore, NamesAreBytesAndNeverSql) {
  const auto store = open();
  const std::string odd = "'; DROP TABLE idgen_segment; --\x01 ü 号";
  EXPECT_EQ(draw_from(store, odd, odd, 3), 1u);
  EXPECT_EQ(draw_from(store, odd, "", 3), 1u);
  EXPECT_EQ(draw_from(store, odd, odd, 3), 4u);
}

TEST_P(SegmentOfEveryStore, ThreadsThatDrawAtOnceGetDisjointNumbers) {
  constexpr int kThreads = 4;
  constexpr int kGrants = 10;
  constexpr std::uint64_t kCount = 3;
  const auto store = open();
  store->segment_create("ns", "orders");
  std::vector<std::vector<std::uint64_t>> firsts(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : firsts) {
    threads.emplace_back([&] {
      for (int i = 0; i < kGrants; ++i) mine.push_back(draw_from(store, "ns", "orders", kCount));
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& mine : firsts) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), static_cast<std::size_t>(kThreads * kGrants));
  for (const std::uint64_t first : all) EXPECT_EQ(first % kCount, 1u);
  EXPECT_EQ(store->segment_show("ns", "orders").max_id, kThreads * kGrants * kCount);
}

TEST_P(SegmentOfEveryStore, ATagThatIsMadeAboveANumberNeverGrantsALowerOne) {
  const auto store = open();
  store->segment_create("ns", "above", 500);
  EXPECT_EQ(store->segment_show("ns", "above").max_id, 500u);
  EXPECT_FAILS(store->segment_create("ns", "above", 900), Status::tag_exists, "stands at 500");
  EXPECT_EQ(draw_from(store, "ns", "above", 10), 501u);
  EXPECT_FAILS(store->segment_create("ns", "beyond", std::uint64_t{1} << 63), Status::value, "allowed: 0 to");
  EXPECT_FAILS(store->segment_show("ns", "beyond"), Status::tag_unknown, "beyond");
}

TEST_P(SegmentOfEveryStore, ARowSaysWhereItsTagWasRetired) {
  const auto store = open();
  store->segment_create("ns", "ended");
  draw_from(store, "ns", "ended", 42);
  EXPECT_EQ(retire_segment(*store, "ns", "ended", std::chrono::seconds(5)).max_id, 42u);
  EXPECT_EQ(store->segment_show("ns", "ended").holder, "retired at 42");
  EXPECT_FAILS(retire_segment(*store, "ns", "ended", std::chrono::seconds(5)), Status::exhausted, "was retired at 42");
  EXPECT_FAILS(draw_from(store, "ns", "ended", 1), Status::exhausted, "It was retired, or is used up");
}

TEST_P(SegmentOfEveryStore, AGrantIsTheStepOfTheRequestOrWhatIsWantedIfThatIsMore) {
  const auto store = open();
  SegmentGrant grant = store->segment_grant("ns", "orders", {.step = 10, .wanted = 4});
  EXPECT_EQ(grant.first, 1u);
  EXPECT_EQ(grant.count, 10u);
  grant = store->segment_grant("ns", "orders", {.step = 10, .wanted = 25});
  EXPECT_EQ(grant.first, 11u);
  EXPECT_EQ(grant.count, 25u);
  EXPECT_EQ(grant.stride, 1u);
  EXPECT_EQ(store->segment_show("ns", "orders").max_id, 35u);
}

TEST_P(SegmentOfEveryStore, TheRowsStepStandsInPlaceOfTheRequestsForEveryHandle) {
  const auto store = open();
  const auto other = open();
  EXPECT_EQ(draw_from(store, "ns", "orders", 10), 1u);
  EXPECT_EQ(other->segment_set_step("ns", "orders", 3).step, 3u);
  SegmentGrant grant = store->segment_grant("ns", "orders", {.step = 10});
  EXPECT_EQ(grant.first, 11u);
  EXPECT_EQ(grant.count, 3u);
  grant = store->segment_grant("ns", "orders", {.step = 10, .wanted = 50});
  EXPECT_EQ(grant.count, 50u);
  EXPECT_EQ(store->segment_show("ns", "orders").step, 3u);
  store->segment_set_step("ns", "orders", 0);
  EXPECT_EQ(other->segment_grant("ns", "orders", {.step = 10}).count, 10u);
}

TEST_P(SegmentOfEveryStore, AStepOutOfRangeOrOfAnUnknownTagIsRefused) {
  const auto store = open();
  store->segment_create("ns", "orders");
  EXPECT_FAILS(store->segment_set_step("ns", "orders", 1'000'000'001), Status::value, "1000000000");
  EXPECT_FAILS(store->segment_set_step("ns", "nobody", 5), Status::tag_unknown, "'nobody'");
}

TEST_P(SegmentOfEveryStore, TheRowSaysWhoTookTheLatestGrantAndHowFast) {
  const auto store = open();
  store->segment_grant("ns", "orders", {.step = 10, .rate = 250, .holder = "process 7 on \"db\" 'x'"});
  SegmentInfo info = store->segment_show("ns", "orders");
  EXPECT_EQ(info.rate, 250u);
  EXPECT_EQ(info.holder, "process 7 on \"db\" 'x'");
  info = store->segment_advance("ns", "orders", 100);
  EXPECT_EQ(info.rate, 250u);
  EXPECT_EQ(info.holder, "process 7 on \"db\" 'x'");
  const std::vector<SegmentInfo> all = store->segment_list();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].holder, info.holder);
}

}  // namespace
}  // namespace idgen
