// kill -9 at any moment, and a restart at once.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "patience.hpp"
#include "support.hpp"

namespace idgen::faults {
namespace {

constexpr int kKills = 100;
constexpr std::size_t kRoom = std::size_t{1} << 20;
constexpr std::int64_t kMaxAheadMs = 20'000;  // the default of max_ahead

struct Life {
  std::atomic<std::size_t> drawn;
  std::atomic<int> failed;
  std::int64_t start_to_first_id_ns;
  idgen_stats_t at_first_id;
  std::int64_t highest_lead_ms;
  char message[400];
  std::uint64_t ids[kRoom];
};

// One life: every id is in memory that outlives the process before the next one is drawn.
int live(const Settings& settings, Life& life) {
  const std::int64_t start = mono_ns();
  Ids ids(settings);
  std::uint64_t id = 0;
  if (!ids || (id = ids.next()) == 0) {
    std::snprintf(life.message, sizeof life.message, "%s", ids.outcome().message.c_str());
    life.failed = 1;
    return 1;
  }
  life.start_to_first_id_ns = mono_ns() - start;
  life.at_first_id = ids.stats();
  for (std::size_t drawn = 0;;) {
    life.ids[drawn++] = id;
    life.drawn.store(drawn, std::memory_order_release);
    if (drawn % 4096 == 0) life.highest_lead_ms = std::max(life.highest_lead_ms, ids.stats().lead_ms);
    if (drawn == kRoom) break;
    if ((id = ids.next()) == 0) {
      std::snprintf(life.message, sizeof life.message, "%s", ids.outcome().message.c_str());
      life.failed = 1;
      return 1;
    }
  }
  for (;;) pause();
}

void no_kill_repeats_an_id_or_makes_the_next_life_wait(const Settings& settings) {
  Shared<Life> life;
  std::mt19937 random(20261121);
  std::uint64_t last = 0;
  std::size_t total = 0;
  std::int64_t slowest_ns = 0, highest_lead_ms = 0;
  std::vector<std::vector<std::uint64_t>> lists;
  for (int kill_number = 0; kill_number < kKills; ++kill_number) {
    life->drawn = 0;
    life->failed = 0;
    const pid_t child = spawn([&] { return live(settings, *life.data()); });
    EXPECT_TRUE(becomes_true([&] { return life->drawn.load(std::memory_order_acquire) != 0 || life->failed; }))
        << "life " << kill_number << " has drawn nothing";
    if (!life->failed) usleep(random() % 8000);  // anywhere: while drawing, while reserving, at the start of either
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_EQ(life->failed, 0) << "life " << kill_number << ": " << life->message;
    ASSERT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL) << "life " << kill_number << " was to be killed";
    const std::size_t drawn = life->drawn.load();
    ASSERT_GE(drawn, 1u);
    EXPECT_EQ(life->at_first_id.waits, 0u) << "life " << kill_number << " waited before its first id";
    slowest_ns = std::max(slowest_ns, life->start_to_first_id_ns);
    highest_lead_ms = std::max({highest_lead_ms, life->at_first_id.lead_ms, life->highest_lead_ms});
    std::vector<std::uint64_t> ids(life->ids, life->ids + drawn);
    ASSERT_TRUE(is_strictly_rising(ids));
    ASSERT_GT(ids.front(), last) << "DUPLICATE or a broken order: life " << kill_number
                                 << " begins below the end of the one before";
    last = ids.back();
    total += drawn;
    lists.push_back(std::move(ids));
  }
  EXPECT_EQ(count_duplicates(std::move(lists)), 0u);
  EXPECT_LE(highest_lead_ms, kMaxAheadMs);
  report("%zu ids over %d kills, all different; slowest start to first id %.1f ms, highest lead %lld ms", total, kKills,
         static_cast<double>(slowest_ns) / 1e6, static_cast<long long>(highest_lead_ms));
}

// A restart must not have to wait for a lease to end or for the clock to catch up with the previous process's window:
// here it would fail at once.
TEST(Kill, NeverRepeatsASnowflakeNorMakesTheNextLifeWait) {
  TempFolder folder;
  no_kill_repeats_an_id_or_makes_the_next_life_wait({{"worker", "7"},
                                                     {"store", folder.url()},
                                                     {"store_create", "true"},
                                                     {"worker_wait", "0ms"},
                                                     {"on_clock_back", "fail"}});
}

TEST(Kill, NeverRepeatsASegmentIdNorMakesTheNextLifeWait) {
  StoreFolder folder;
  no_kill_repeats_an_id_or_makes_the_next_life_wait({{"kind", "segment"},
                                                     {"tag", "t"},
                                                     {"store", folder.url()},
                                                     {"segment.step", "100000"},
                                                     {"wait_max", "30s"},
                                                     {"store_timeout", "30s"}});
}

// Killed before the first id, between the commit of the reservation and its use.
TEST(Kill, DuringCreationLosesNothingButNumbers) {
  StoreFolder folder;
  std::mt19937 random(7);
  int killed_while_creating = 0;
  for (int round = 0; round < kKills; ++round) {
    Shared<std::atomic<int>> stage;
    const bool is_segment = round % 2 != 0;
    const pid_t child = spawn([&]() -> int {
      *stage.data() = 1;
      Ids ids(is_segment ? Settings{{"kind", "segment"}, {"tag", "t"}, {"store", folder.url()}}
                         : Settings{{"worker", "7"}, {"store", folder.url()}});
      *stage.data() = ids ? 2 : 3;
      for (;;) pause();
    });
    while (*stage.data() == 0) usleep(20);  // or until the test's time is over
    usleep(random() % 3000);
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    ASSERT_NE(stage->load(), 3);
    killed_while_creating += *stage.data() == 1;
    if (round % 10 == 9) {
      Ids ids({{"worker", "7"}, {"store", folder.url()}});
      ASSERT_TRUE(ids) << ids.outcome().message;
      ASSERT_NE(ids.next(), 0u) << ids.outcome().message;
    }
  }
  EXPECT_GT(killed_while_creating, kKills / 20) << "the kills came too late to hit what they were for";
  report("%d of %d kills hit a process that was creating its generator", killed_while_creating, kKills);
}

}  // namespace
}  // namespace idgen::faults
