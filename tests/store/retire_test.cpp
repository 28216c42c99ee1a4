// The end of a tag, whatever others do at the same time.
#include <atomic>
#include <chrono>
#include <thread>

#include "sim/sim_store.hpp"
#include "store/store_test_support.hpp"

namespace idgen {
namespace {

using sim::SimDisk;
using sim::SimStore;
using std::chrono::milliseconds;

constexpr milliseconds kWaitMax{60'000};

// What is given back between the look at the row and the grant of all that is left would be left.
TEST(Retire, EndsATagWhollyWhoeverGivesBackMeanwhile) {
  const auto store = open_store("memory:retire", {});
  for (int i = 0; i < 200; ++i) {
    const std::string tag = "tag" + std::to_string(i);
    store->segment_create("ns", tag);
    std::atomic<bool> has_begun = false;
    std::thread other([&] {
      try {
        while (true) {
          const SegmentGrant grant = store->segment_grant("ns", tag, {.step = 1000});
          has_begun = true;
          store->segment_return("ns", tag, grant.first + grant.count - 1, grant.count - 1);
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::exhausted);
      }
    });
    while (!has_begun) std::this_thread::yield();
    const std::uint64_t end = retire_segment(*store, "ns", tag, kWaitMax).max_id;
    other.join();
    EXPECT_GE(end, 1u);
    EXPECT_EQ(store->segment_show("ns", tag).max_id, std::uint64_t{INT64_MAX});
    EXPECT_EQ(store->segment_show("ns", tag).holder.rfind("retired at ", 0), 0u);
  }
}

TEST(Retire, RefusesAStrideBeforeItTakesAllThatIsLeft) {
  SimDisk disk;
  disk.tags["t"] = 100;
  disk.stride = 2;
  SimStore store(disk);
  EXPECT_FAILS(retire_segment(store, "ns", "t", kWaitMax), Status::unsupported, "stride of 2");
  EXPECT_EQ(store.grants.size(), 1u);
  EXPECT_EQ(disk.tags["t"], 101u);
}

// A grant of all that is left, which is less than all if somebody has lowered the row since the look.
TEST(Retire, LetsNobodyGiveBackWhatWasGrantedBefore) {
  SimDisk disk;
  disk.tags["t"] = 200;
  SimStore store(disk), owner(disk);
  store.before = [&] {
    if (store.calls == 2) owner.segment_return("ns", "t", 200, 50);
  };
  EXPECT_EQ(retire_segment(store, "ns", "t", kWaitMax).max_id, 200u);
  EXPECT_EQ(store.grants.size(), 2u);
  EXPECT_EQ(store.grants.back().holder, "retired at 200");
  EXPECT_EQ(disk.tags["t"], std::uint64_t{INT64_MAX});
}

// Others draw between each look and the grant that follows it.
TEST(Retire, WaitsForAMomentInWhichNobodyDrawsAndLeavesTheTagAsItIsIfThereIsNone) {
  SimDisk disk;
  disk.tags["t"] = 0;
  SimStore store(disk), others(disk);
  int draws = 1000;
  store.before = [&] {
    if (draws-- > 0) others.segment_grant("ns", "t", {.step = 20});
  };
  const SegmentInfo ended = retire_segment(store, "ns", "t", kWaitMax);
  EXPECT_EQ(ended.max_id, 1000 * 20 + 1u);
  EXPECT_EQ(store.grants.back().holder, "retired at " + std::to_string(ended.max_id));
  EXPECT_EQ(disk.tags["t"], std::uint64_t{INT64_MAX});

  disk.tags["t"] = 0;
  draws = 1'000'000'000;
  EXPECT_FAILS(retire_segment(store, "ns", "t", milliseconds(50)), Status::store_unavailable, "without a pause");
  EXPECT_LT(disk.tags["t"], 1'000'000'000'000u);
}

// The row's step is more than the counter has left.
TEST(Retire, SaysAtOnceThatNothingIsLeftWhereNobodyIsGrantedTheRest) {
  const auto store = open_store("memory:retire-rest", {});
  store->segment_create("ns", "t", std::uint64_t{INT64_MAX} - 500);
  store->segment_set_step("ns", "t", 1000);
  EXPECT_FAILS(retire_segment(*store, "ns", "t", kWaitMax), Status::exhausted, "no numbers left");
}

// Which began after this one had looked, and ended before it took the rest.
TEST(Retire, LeavesTheMarkOfAnotherOneAsItIs) {
  const auto store = open_store("memory:retire-twice", {});
  store->segment_create("ns", "t");
  store->segment_grant("ns", "t", {.step = 150});
  struct Second final : SimStore {
    Second(SimDisk& disk, Store& behind) : SimStore(disk), behind_(behind) {}
    SegmentGrant segment_grant(const std::string& ns, const std::string& tag, const SegmentRequest& request) override {
      if (++calls == 2) retire_segment(behind_, ns, tag, kWaitMax);
      return behind_.segment_grant(ns, tag, request);
    }
    SegmentInfo segment_show(const std::string& ns, const std::string& tag) override {
      return behind_.segment_show(ns, tag);
    }
    Store& behind_;
  };
  SimDisk none;
  Second second(none, *store);
  EXPECT_FAILS(retire_segment(second, "ns", "t", kWaitMax), Status::exhausted, "was retired at 151");
  EXPECT_EQ(store->segment_show("ns", "t").holder, "retired at 151");
}

}  // namespace
}  // namespace idgen
