// The log of grants (segment.grant_log) of a SQLite store. On servers: tests/servers/test_grants.py.
#include "store/sqlite_test_support.hpp"

namespace idgen {
namespace {

using GrantLog = InAFolder;

StoreOptions logging(std::uint64_t length) {
  StoreOptions options = creating();
  options.grant_log = length;
  return options;
}

SegmentGrant take(const std::shared_ptr<Store>& store, std::uint64_t step, const std::string& holder,
                  std::uint64_t above = 0) {
  return store->segment_grant("ns", "t", {.step = step, .holder = holder, .above = above});
}

std::string holder_of(const std::shared_ptr<Store>& store, std::uint64_t number) {
  return store->segment_grant_of("ns", "t", number).holder;
}

TEST_F(GrantLog, ANumberIsOfTheGrantThatHadItAndOfNoOther) {
  const auto store = open_store(folder.url(), logging(10));
  take(store, 10, "a");
  take(store, 5, "b");
  EXPECT_EQ(holder_of(store, 1), "a");
  EXPECT_EQ(holder_of(store, 10), "a");
  EXPECT_EQ(holder_of(store, 11), "b");
  const LoggedGrant found = store->segment_grant_of("ns", "t", 15);
  EXPECT_EQ(found.grant, 2u);
  EXPECT_EQ(found.first, 11u);
  EXPECT_EQ(found.last, 15u);
  EXPECT_EQ(store->segment_grant_of("ns", "t", 16).grant, 0u);
  EXPECT_EQ(store->segment_grant_of("ns", "t", 0).grant, 0u);
}

TEST_F(GrantLog, NumbersThatWereSkippedAreOfNoGrant) {
  const auto store = open_store(folder.url(), logging(10));
  take(store, 10, "a", 100);  // as serials do on a new day
  EXPECT_EQ(holder_of(store, 100), "");
  EXPECT_EQ(holder_of(store, 101), "a");
  store->segment_advance("ns", "t", 500);
  EXPECT_EQ(holder_of(store, 500), "");
}

TEST_F(GrantLog, WhatIsGivenBackIsCutFromEveryGrantThatItIsOf) {
  const auto store = open_store(folder.url(), logging(10));
  take(store, 10, "a");
  take(store, 10, "a");
  take(store, 10, "a");
  store->segment_return("ns", "t", 30, 25);  // of all three
  EXPECT_EQ(store->segment_grant_of("ns", "t", 5).last, 5u);
  for (const std::uint64_t number : {6, 10, 11, 20, 21, 30}) EXPECT_EQ(holder_of(store, number), "") << number;
  take(store, 10, "b");
  EXPECT_EQ(holder_of(store, 6), "b");
  EXPECT_EQ(holder_of(store, 15), "b");
  store->segment_return("ns", "t", 5, 1);  // too late: nothing is given back
  EXPECT_EQ(holder_of(store, 5), "a");
}

TEST_F(GrantLog, OnlyTheLatestAreKeptAlsoWhenItsLengthChanges) {
  for (int i = 0; i < 4; ++i) take(open_store(folder.url(), logging(3)), 10, "a");
  EXPECT_EQ(run_sql(folder.file("ids.db"), "SELECT count(*) FROM idgen_grant"), "3");
  const auto shorter = open_store(folder.url(), logging(1));
  take(shorter, 10, "b");
  EXPECT_EQ(holder_of(shorter, 41), "b");
  EXPECT_EQ(holder_of(shorter, 31), "a") << "what is left of the longer log is still right";
  EXPECT_EQ(run_sql(folder.file("ids.db"), "SELECT count(*) FROM idgen_grant"), "3");
}

TEST_F(GrantLog, AStoreWithoutOneHasNoTableAndSaysThatItKnowsNoGrant) {
  const auto store = open_store(folder.url(), creating());
  take(store, 10, "a");
  EXPECT_EQ(store->segment_grant_of("ns", "t", 1).grant, 0u);
  EXPECT_EQ(run_sql(folder.file("ids.db"), "SELECT count(*) FROM sqlite_master WHERE name = 'idgen_grant'"), "0");
  EXPECT_FAILS(store->segment_grant_of("ns", "other", 1), Status::tag_unknown, "other");
}

TEST_F(GrantLog, AGrantThatFailsIsNotInIt) {
  const auto store = open_store(folder.url(), logging(3));
  take(store, 10, "a");
  run_sql(folder.file("ids.db"), "CREATE TRIGGER t BEFORE INSERT ON idgen_grant BEGIN SELECT RAISE(ABORT, 'no'); END");
  EXPECT_ANY_THROW(take(store, 10, "b"));
  run_sql(folder.file("ids.db"), "DROP TRIGGER t");
  EXPECT_EQ(store->segment_show("ns", "t").max_id, 10u) << "neither is the grant there";
  EXPECT_EQ(holder_of(store, 11), "");
}

}  // namespace
}  // namespace idgen
