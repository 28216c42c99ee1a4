// The clock set back across a restart.
#include <unistd.h>

#include "support.hpp"

namespace idgen::faults {
namespace {

using Case = std::tuple<const char*, std::int64_t, bool>;

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const auto& [policy, back_ms, crash] = info.param;
  return std::string(crash ? "AfterACrash" : "AfterAClose") + "ByMs" + std::to_string(back_ms) + "With" + policy;
}

class ClockSetBackAcrossARestart : public testing::TestWithParam<Case> {};

TEST_P(ClockSetBackAcrossARestart, NeverRepeatsAnId) {
  const char* const policy = std::get<0>(GetParam());
  const std::int64_t back_ms = std::get<1>(GetParam());
  const bool crash = std::get<2>(GetParam());
  TempFolder folder;
  const Settings settings = {
      {"worker", "3"}, {"store", folder.url()}, {"store_create", "true"}, {"on_clock_back", policy}};
  const std::int64_t start_ms = kEpochMs + 100'000'000;
  Shared<std::uint64_t> last;
  const pid_t child = spawn([&] {
    Clock clock(start_ms);
    Ids ids(settings, &clock);
    for (int i = 0; i < 1000; ++i) last[0] = ids.next();
    if (!crash) ids.close();
    _exit(last[0] == 0);  // a crash: nothing is closed
    return 0;
  });
  ASSERT_EQ(wait_for(child), 0);

  Clock clock(start_ms - back_ms);
  Ids ids(settings, &clock);
  // Where the reservation of the first life ended: a window ahead after a crash, at the last ms used after a close.
  const std::int64_t lead_ms = back_ms + (crash ? 10'000 : 1);
  constexpr std::int64_t kMaxAheadMs = 20'000;
  if (lead_ms > kMaxAheadMs && std::string(policy) != "continue") {
    ASSERT_FALSE(ids);
    EXPECT_EQ(ids.outcome().status, IDGEN_E_CLOCK_BACK);
    EXPECT_NE(ids.outcome().message.find(std::to_string(lead_ms) + " ms ahead"), std::string::npos)
        << ids.outcome().message;
    EXPECT_EQ(ids.outcome().retry_after_ns, static_cast<std::uint64_t>(lead_ms - kMaxAheadMs) * 1'000'000);
    clock.now_ns += static_cast<std::int64_t>(ids.outcome().retry_after_ns);  // as soon as the error says
    ids = Ids(settings, &clock);
  }
  ASSERT_TRUE(ids) << ids.outcome().message;
  std::vector<std::uint64_t> drawn = {last[0]};
  for (int i = 0; i < 1000; ++i) drawn.push_back(ids.next());
  EXPECT_TRUE(is_strictly_rising(drawn));
  EXPECT_EQ(clock.slept_ns, 0) << "inside what is reserved nobody waits";
  if (std::string(policy) != "continue") {
    EXPECT_LE(ids.stats().lead_ms, kMaxAheadMs + 1);
  }
  report("%zu ids on both sides of a clock set back by %lld ms, rising", drawn.size(), static_cast<long long>(back_ms));
}

INSTANTIATE_TEST_SUITE_P(Policies, ClockSetBackAcrossARestart,
                         testing::Combine(testing::Values("wait", "continue", "fail"),
                                          testing::Values<std::int64_t>(1, 1000, 3'600'000), testing::Bool()),
                         name_of);

// Each start without a close in between reserves some ms more, until a start would be beyond max_ahead. Such a start
// waits, as for any clock that is behind, and is not refused.
TEST(StartAfterStart, WaitsForTheClockWhenTheWorkersTimeIsFurtherAheadThanAllowed) {
  for (const char* policy : {"wait", "fail"}) {
    TempFolder folder;
    const Settings settings = {{"worker", "3"},           {"store", folder.url()}, {"store_create", "true"},
                               {"on_clock_back", policy}, {"window", "1s"},        {"max_ahead", "1s"}};
    constexpr std::int64_t kStartMs = kEpochMs + 100'000'000;
    Shared<std::uint64_t> last;
    ASSERT_EQ(wait_for(spawn([&] {
                Clock clock(kStartMs);
                Ids ids(settings, &clock);
                last[0] = ids.next();
                _exit(last[0] == 0);
                return 0;
              })),
              0);
    Clock clock(kStartMs - 30);
    Ids ids(settings, &clock);
    if (*policy == 'f') {
      EXPECT_EQ(ids.outcome().status, IDGEN_E_CLOCK_BACK);
      EXPECT_EQ(clock.slept_ns, 0);
      continue;
    }
    ASSERT_TRUE(ids) << ids.outcome().message;
    EXPECT_EQ(clock.slept_ns, 30'000'000);
    EXPECT_GT(ids.next(), last[0]);
  }
}

}  // namespace
}  // namespace idgen::faults
