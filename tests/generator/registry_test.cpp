#include "generator/world.hpp"

namespace idgen::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TwoHandles : public World {};

TEST_F(TwoHandles, OnOneWorkerWithOneConfigurationShareTheGenerator) {
  auto a = open({{"worker", "1"}});
  auto b = open({{"worker", "1"}});
  std::uint64_t last = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t id = (i % 2 ? a : b)->next();
    ASSERT_GT(id, last);
    last = id;
  }
  EXPECT_EQ(store->calls, 1);
  EXPECT_EQ(a->stats().handles, 2u);
}

TEST_F(TwoHandles, WithAnotherConfigurationTheSecondIsRefused) {
  auto a = open({{"worker", "1"}});
  EXPECT_ERROR(WORKER_BUSY, AllOf(HasSubstr("worker 1"), HasSubstr("in this process")),
               open({{"worker", "1"}, {"sequence_start", "zero"}}));
}

TEST_F(TwoHandles, WhatIsNoPromiseOfTheWorkersDoesNotPartThem) {
  auto a = open({{"worker", "1"}, {"directory", "/srv/app"}, {"name", "a"}, {"segment.step", "5"}});
  auto b =
      open({{"worker", "1"}, {"directory", "."}, {"name", "b"}, {"module.path", "/elsewhere"}, {"witness", "/tmp"}});
  EXPECT_EQ(a->stats().handles, 2u);
}

TEST_F(TwoHandles, AreBothToldWhatIsLoggedOnceEachUntilTheyClose) {
  std::vector<std::string> first, second;
  const auto with_log = [&](std::vector<std::string>& lines) {
    Config settings = config({{"worker", "1"}, {"on_clock_back", "continue"}});
    settings.log = log_to(lines);
    return settings;
  };
  const Config one = with_log(first), other = with_log(second);
  Handle a(one), same(one), b(other);
  const auto set_back = [&] {
    b.next();
    runtime->set_clock_by(-kSecond);
    b.next();
  };
  set_back();
  EXPECT_EQ(first.size(), 1u) << "two handles with one log";
  EXPECT_EQ(second.size(), 1u);
  a.close();
  set_back();
  EXPECT_EQ(first.size(), 2u) << "one of them is still open";
  same.close();
  set_back();
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(second.size(), 3u);
}

TEST_F(TwoHandles, ClosingOneLeavesTheOtherAtWork) {
  auto a = open({{"worker", "1"}});
  auto b = open({{"worker", "1"}});
  a->close();
  EXPECT_ERROR(CLOSED, _, a->next());
  EXPECT_NO_THROW(b->next());
  EXPECT_EQ(b->stats().handles, 1u);
  b->close();
  EXPECT_EQ(disk.workers[1].hw, kStartNs / kMs + 1) << "the last one gives the window back";
}

TEST_F(TwoHandles, OnDifferentWorkersHaveNothingInCommon) {
  auto a = open({{"worker", "1"}});
  auto b = open({{"worker", "2"}});
  EXPECT_NE(a->next(), b->next());
  EXPECT_EQ(store->calls, 2);
}

TEST_F(TwoHandles, AfterTheLastCloseAWorkerCanBeTakenWithAnotherConfiguration) {
  open({{"worker", "1"}})->close();
  EXPECT_NO_THROW(open({{"worker", "1"}, {"sequence_start", "zero"}})->next());
}

}  // namespace
}  // namespace idgen::sim
