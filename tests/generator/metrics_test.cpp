#include "generator/metrics.hpp"

#include <unistd.h>

#include <cmath>
#include <limits>

#include "generator/world.hpp"

namespace idgen::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Stats some_stats() {
  Stats stats;
  stats.handles = 1;
  stats.granted = 3000;
  stats.remaining = 1750;
  stats.issued = stats.issued_ids = 1250;
  stats.stock_seconds = 3.5;
  stats.refills = 3;
  stats.refill_failures = 2;
  stats.refill_ns_max = 4'500'000;
  stats.waits = 7;
  stats.wait_ns = 1'250'000'000;
  stats.store_waits = 6;
  stats.forks = 1;
  stats.rate = 500;
  stats.last_failure = Status::store_unavailable;
  stats.last_failure_unix_ms = 1'790'000'000'125;
  stats.layout_left = 4000;
  return stats;
}

Stats some_snowflake_stats() {
  Stats stats = some_stats();
  stats.stock_seconds = std::numeric_limits<double>::infinity();
  stats.clock_back_events = 4;
  stats.lead_ms = 20;
  stats.rate = 0;
  stats.issued_ids = 700'000;
  stats.stopped = Status::clock_back;
  stats.last_failure = Status::ok;
  stats.layout_left = 86'400'500;
  return stats;
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(Metrics, AreWrittenInThePrometheusTextFormat) {
  const Metered generators[] = {{"orders", "shop", "segment", some_stats()},
                                {"events", "shop", "snowflake", some_snowflake_stats()}};
  EXPECT_EQ(metrics_text(generators, "7@db-3"), R"(# HELP idgen_stopped 1 = no ids, for the reason in status.
# TYPE idgen_stopped gauge
idgen_stopped{name="events",namespace="shop",kind="snowflake",process="7@db-3",status="CLOCK_BACK"} 1
idgen_stopped{name="orders",namespace="shop",kind="segment",process="7@db-3",status="OK"} 0
# HELP idgen_last_failure_timestamp_seconds When a call of the store failed last.
# TYPE idgen_last_failure_timestamp_seconds gauge
idgen_last_failure_timestamp_seconds{name="orders",namespace="shop",kind="segment",process="7@db-3",)"
                                                R"(status="STORE_UNAVAILABLE"} 1790000000.125
# HELP idgen_issued_total Ids issued by this process.
# TYPE idgen_issued_total counter
idgen_issued_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 700000
idgen_issued_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 1250
# HELP idgen_granted_total Ids reserved for this process.
# TYPE idgen_granted_total counter
idgen_granted_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 3000
# HELP idgen_stock Ids reserved and not yet issued.
# TYPE idgen_stock gauge
idgen_stock{name="orders",namespace="shop",kind="segment",process="7@db-3"} 1750
# HELP idgen_rate Ids per second at the refills; 0 = unknown.
# TYPE idgen_rate gauge
idgen_rate{name="orders",namespace="shop",kind="segment",process="7@db-3"} 500
# HELP idgen_layout_ids_left Ids left in the layout at the latest refill.
# TYPE idgen_layout_ids_left gauge
idgen_layout_ids_left{name="orders",namespace="shop",kind="segment",process="7@db-3"} 4000
# HELP idgen_tag_ids_left Ids left below 2^63 at the latest refill.
# TYPE idgen_tag_ids_left gauge
idgen_tag_ids_left{name="orders",namespace="shop",kind="segment",process="7@db-3"} +Inf
# HELP idgen_issued_seconds_total Reserved worker time that is used up or has passed.
# TYPE idgen_issued_seconds_total counter
idgen_issued_seconds_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 1.25
# HELP idgen_granted_seconds_total Worker time reserved for this process.
# TYPE idgen_granted_seconds_total counter
idgen_granted_seconds_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 3
# HELP idgen_layout_seconds_left Time left in the layout.
# TYPE idgen_layout_seconds_left gauge
idgen_layout_seconds_left{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 86400.5
# HELP idgen_stock_seconds How long ids last without the store; +Inf = idle, or unknown.
# TYPE idgen_stock_seconds gauge
idgen_stock_seconds{name="events",namespace="shop",kind="snowflake",process="7@db-3"} +Inf
idgen_stock_seconds{name="orders",namespace="shop",kind="segment",process="7@db-3"} 3.5
# HELP idgen_refills_total Reservations taken from the store.
# TYPE idgen_refills_total counter
idgen_refills_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 3
idgen_refills_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 3
# HELP idgen_refill_failures_total Calls of the store that failed.
# TYPE idgen_refill_failures_total counter
idgen_refill_failures_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 2
idgen_refill_failures_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 2
# HELP idgen_refill_seconds_max The slowest call of the store so far.
# TYPE idgen_refill_seconds_max gauge
idgen_refill_seconds_max{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 0.0045
idgen_refill_seconds_max{name="orders",namespace="shop",kind="segment",process="7@db-3"} 0.0045
# HELP idgen_waits_total Calls that had to wait, for the clock or the store.
# TYPE idgen_waits_total counter
idgen_waits_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 7
idgen_waits_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 7
# HELP idgen_wait_seconds_total Time spent in these waits.
# TYPE idgen_wait_seconds_total counter
idgen_wait_seconds_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 1.25
idgen_wait_seconds_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 1.25
# HELP idgen_store_waits_total Those of idgen_waits_total that were for the store.
# TYPE idgen_store_waits_total counter
idgen_store_waits_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 6
idgen_store_waits_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 6
# HELP idgen_clock_back_events_total Times that the clock was behind ids already issued.
# TYPE idgen_clock_back_events_total counter
idgen_clock_back_events_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 4
idgen_clock_back_events_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 0
# HELP idgen_forks_total Times it was started over in a child process.
# TYPE idgen_forks_total counter
idgen_forks_total{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 1
idgen_forks_total{name="orders",namespace="shop",kind="segment",process="7@db-3"} 1
# HELP idgen_lead_seconds How far the time of the last id is ahead of the clock.
# TYPE idgen_lead_seconds gauge
idgen_lead_seconds{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 0.02
idgen_lead_seconds{name="orders",namespace="shop",kind="segment",process="7@db-3"} 0
# HELP idgen_handles Open handles on the generator.
# TYPE idgen_handles gauge
idgen_handles{name="events",namespace="shop",kind="snowflake",process="7@db-3"} 1
idgen_handles{name="orders",namespace="shop",kind="segment",process="7@db-3"} 1
)");
}

TEST(Metrics, OfNoGeneratorAreNoText) { EXPECT_EQ(metrics_text({}, "7@db-3"), ""); }

TEST(Metrics, AreNotDescribedWhereThereIsNoSample) {
  const Metered segment[] = {{"orders", "shop", "segment", some_stats()}};
  EXPECT_THAT(metrics_text(segment, "7@db-3"), Not(HasSubstr("idgen_granted_seconds_total")));
  const Metered snowflake[] = {{"events", "shop", "snowflake", some_snowflake_stats()}};
  EXPECT_THAT(metrics_text(snowflake, "7@db-3"), Not(HasSubstr("idgen_granted_total")));
}

TEST(Metrics, EscapeTheirLabelsAndAreAlwaysUtf8) {
  const Metered generators[] = {{"a\"b\\c\nd", "caf\xc3\xa9 \xff", "segment", some_stats()}};
  EXPECT_THAT(metrics_text(generators, "7@db-3"),
              HasSubstr("\nidgen_stock{name=\"a\\\"b\\\\c\\nd\",namespace=\"caf\xc3\xa9 "
                        "?\",kind=\"segment\",process=\"7@db-3\"} 1750\n"));
}

TEST(Metrics, OfDifferentGeneratorsWithTheSameLabelsAreOneSample) {
  Stats other = some_stats();
  other.stock_seconds = 1.5;
  other.refill_ns_max = 9'000'000;
  const Metered generators[] = {{"orders", "shop", "segment", some_stats()}, {"orders", "shop", "segment", other}};
  const std::string text = metrics_text(generators, "7@db-3");
  const std::string labels = "{name=\"orders\",namespace=\"shop\",kind=\"segment\",process=\"7@db-3\"} ";
  EXPECT_THAT(text, HasSubstr("\nidgen_issued_total" + labels + "2500\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_stock" + labels + "3500\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_rate" + labels + "1000\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_stock_seconds" + labels + "1.5\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_refill_seconds_max" + labels + "0.009\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_handles" + labels + "2\n"));
  EXPECT_EQ(times(text, "\nidgen_issued_total{"), 1);
}

TEST(Metrics, OfDifferentGeneratorsWithTheSameLabelsSayThatOneIsStopped) {
  Stats well = some_stats(), closed = some_stats(), failing = some_stats();
  closed.stopped = Status::closed;
  failing.stopped = Status::exhausted;
  failing.layout_left = 7;
  const Metered replaced[] = {{"orders", "shop", "segment", closed}, {"orders", "shop", "segment", well}};
  EXPECT_THAT(metrics_text(replaced, "7@db-3"), HasSubstr("status=\"OK\"} 0\n")) << "the closed one was followed";
  const Metered both[] = {{"orders", "shop", "segment", well}, {"orders", "shop", "segment", failing}};
  EXPECT_THAT(metrics_text(both, "7@db-3"), HasSubstr("status=\"EXHAUSTED\"} 1\n"));
  EXPECT_THAT(metrics_text(both, "7@db-3"), HasSubstr("process=\"7@db-3\"} 7\n"));
}

TEST(Metrics, OfABufferSayHowItsSidesAre) {
  Stats stats = some_stats();
  stats.has_buffer = true;
  stats.breaker_redis = 2;
  stats.buffer_stock = 700;
  stats.redis_failures = 5;
  const Metered both[] = {{"orders", "shop", "segment", stats}, {"plain", "shop", "segment", some_stats()}};
  const std::string text = metrics_text(both, "7@db-3");
  const std::string labels = "{name=\"orders\",namespace=\"shop\",kind=\"segment\",process=\"7@db-3\"";
  EXPECT_THAT(text, HasSubstr("\nidgen_buffer_stock" + labels + "} 700\n"));
  EXPECT_THAT(text, HasSubstr("\n# TYPE idgen_buffer_breaker gauge\nidgen_buffer_breaker" + labels +
                              ",side=\"redis\"} 2\nidgen_buffer_breaker" + labels + ",side=\"database\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_buffer_failures_total" + labels +
                              ",side=\"redis\"} 5\nidgen_buffer_failures_total" + labels + ",side=\"database\"} 0\n"));
  EXPECT_EQ(times(text, "\nidgen_buffer_stock{"), 1);  // not of the plain one
  stats.breaker_redis = 0;
  stats.breaker_database = 1;
  stats.buffer_stock = 800;
  const Metered same[] = {both[0], {"orders", "shop", "segment", stats}};
  EXPECT_THAT(metrics_text(same, "7@db-3"), HasSubstr("idgen_buffer_stock" + labels + "} 700\n"));
  EXPECT_THAT(metrics_text(same, "7@db-3"), HasSubstr("side=\"database\"} 1\n"));
}

class MetricsOfHandles : public World {
 protected:
  const std::string process = "process=\"" + std::to_string(getpid()) + "@" + system_runtime().host_name() + "\"";
};

TEST_F(MetricsOfHandles, ThatShareAGeneratorCountOnce) {
  const auto a = open({{"worker", "1"}, {"name", "events"}});
  const auto b = open({{"worker", "1"}, {"name", "same"}});
  const Handle* handles[] = {a.get(), b.get(), a.get()};
  const std::string text = Handle::metrics(handles);
  EXPECT_EQ(times(text, "\nidgen_refills_total{"), 1);
  EXPECT_THAT(text, HasSubstr("idgen_refills_total{name=\"events\",namespace=\"default\",kind=\"snowflake\"," +
                              process + "} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("idgen_handles{name=\"events\",namespace=\"default\",kind=\"snowflake\"," + process + "} 2\n"));
}

TEST_F(MetricsOfHandles, AreThereWhenClosed) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"name", "orders"}, {"segment.step", "100"}});
  draw(*orders, 30);
  orders->close();
  const Handle* handles[] = {orders.get()};
  const std::string text = Handle::metrics(handles);
  EXPECT_THAT(text, HasSubstr("idgen_issued_total{name=\"orders\",namespace=\"default\",kind=\"segment\"," + process +
                              "} 30\n"));
  EXPECT_THAT(text,
              HasSubstr("idgen_stock{name=\"orders\",namespace=\"default\",kind=\"segment\"," + process + "} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("idgen_handles{name=\"orders\",namespace=\"default\",kind=\"segment\"," + process + "} 0\n"));
}

class StatsOf : public World {};

TEST_F(StatsOf, ASegmentSayHowManyIdsWereIssued) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}});
  EXPECT_EQ(orders->stats().issued, 0u);
  for (int i = 1; i <= 250; ++i) {
    orders->next();
    ASSERT_EQ(orders->stats().issued, static_cast<std::uint64_t>(i));
    ASSERT_EQ(orders->stats().issued, orders->stats().granted - orders->stats().remaining);
    runtime->run_all();
  }
}

TEST_F(StatsOf, AClosedSegmentDoNotCountWhatWasGivenBack) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}});
  draw(*orders, 30);  // beyond the mark: a second range is ready, or on its way
  orders->close();
  EXPECT_EQ(disk.tags["t"], 30u);
  EXPECT_EQ(orders->stats().issued, 30u);
}

TEST_F(StatsOf, ASegmentThatNothingWasAskedOfDoNotSayHowLongItLasts) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}});
  EXPECT_EQ(orders->stats().rate, 0u);
  EXPECT_TRUE(std::isinf(orders->stats().stock_seconds));
}

TEST_F(StatsOf, ASnowflakeSayHowLongItsTimeLastsByTheClock) {
  const auto events = open({{"worker", "1"}, {"window", "10s"}});
  EXPECT_NEAR(events->stats().stock_seconds, 10, 0.01);
  events->next();
  runtime->pass(4 * kSecond);  // idle, and yet the window goes by
  EXPECT_NEAR(events->stats().stock_seconds, 6, 0.01);
  runtime->pass(7 * kSecond);
  EXPECT_TRUE(std::isinf(events->stats().stock_seconds)) << "it is idle: the next call reserves anew";
  events->next();
  EXPECT_NEAR(events->stats().stock_seconds, 10, 0.01);
  events->close();
  EXPECT_TRUE(std::isinf(events->stats().stock_seconds)) << "nothing is asked of it any more";
}

TEST_F(StatsOf, ASnowflakeCountTheTimeThatWasIssuedAndKnowNoRate) {
  const auto events = open({{"worker", "1"}, {"window", "10s"}});
  for (int i = 0; i < 3; ++i) {
    events->next();
    runtime->pass(kSecond);
  }
  const Stats stats = events->stats();
  EXPECT_EQ(stats.issued, stats.granted - stats.remaining);
  EXPECT_EQ(stats.issued, 2001u) << "two seconds, and the tick of the last id";
  EXPECT_EQ(stats.rate, 0u);
  events->close();
  EXPECT_EQ(events->stats().issued, 2001u);
}

class IssuedIds : public World {
 protected:
  // The clock passes, stands, and passes by some ticks at once; ids are drawn one by one, in batches and in blocks.
  std::uint64_t draw_some(Handle& handle, int rounds) {
    std::uint64_t drawn = 0;
    for (int round = 0; round < rounds; ++round) {
      runtime->pass(round % 3 * (kMs + round * kMs / 7));
      for (int i = 0; i < round % 5; ++i, ++drawn) handle.next();
      std::vector<std::uint64_t> ids(static_cast<std::size_t>(round) % 400);
      std::size_t written = 0;
      handle.fill(ids, written);
      Block block;
      if (handle.try_next_block(static_cast<std::uint64_t>(round) % 70 + 1, block) != Status::ok) block.count = 0;
      drawn += ids.size() + block.count;
      EXPECT_EQ(handle.stats().issued_ids, drawn) << round;
    }
    return drawn;
  }
};

TEST_F(IssuedIds, OfASnowflakeAreCountedWhateverItsTicksSkip) {
  for (const char* start : {"zero", "carry", "random"}) {
    const auto events = open({{"worker", "1"}, {"namespace", start}, {"sequence_start", start}});
    EXPECT_EQ(events->stats().issued_ids, 0u);
    const std::uint64_t drawn = draw_some(*events, 100);
    runtime->pass(100 * kSecond);  // another window
    events->next();
    EXPECT_EQ(events->stats().issued_ids, drawn + 1);
    events->close();
    EXPECT_EQ(events->stats().issued_ids, drawn + 1);
  }
}

TEST_F(IssuedIds, AreCountedWhereEachThreadHasTimeOrNumbersOfItsOwn) {
  for (const Settings& settings :
       {Settings{{"worker", "1"}, {"order", "relaxed"}},
        Settings{{"kind", "segment"}, {"tag", "t"}, {"order", "relaxed"}, {"segment.step", "1000"}}}) {
    const auto ids = open(settings);
    const std::uint64_t drawn = draw_some(*ids, 60);
    ids->close();
    EXPECT_EQ(ids->stats().issued_ids, drawn);
  }
}

TEST_F(IssuedIds, AreCountedOverAClockThatIsSetBackAndCatchesUp) {
  const auto events = open({{"worker", "1"}, {"on_clock_back", "continue"}, {"on_overflow", "borrow"}});
  std::uint64_t drawn = draw_some(*events, 30);
  runtime->set_clock_by(-3 * kSecond);
  const auto ids = many(*events, 20'000);
  EXPECT_EQ(events->stats().issued_ids, drawn += ids.size());
  runtime->pass(10 * kSecond);
  events->next();
  EXPECT_EQ(events->stats().issued_ids, drawn + 1);
}

TEST_F(IssuedIds, OfASegmentAreThoseThatWereGivenOut) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}});
  const std::uint64_t drawn = draw_some(*orders, 50);
  orders->close();
  EXPECT_EQ(orders->stats().issued_ids, drawn);
}

class Stopped : public World {
 protected:
  void bring_store_back() {
    store->before = [] {};
    runtime->pass(10 * kSecond);  // whatever pause there was
  }
  static Status try_next(Handle& handle) {
    std::uint64_t id;
    return handle.try_next(Handle::kNothing, id);
  }
};

TEST_F(Stopped, IsASegmentWithoutAStoreOnceItsReserveIsUsedUp) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "10"}, {"wait_max", "0"}});
  EXPECT_EQ(orders->stats().stopped, Status::ok);
  EXPECT_EQ(orders->stats().last_failure, Status::ok);
  take_store_down();
  const std::int64_t down_ms = now_ms();
  for (int i = 0; i < 10; ++i) {
    orders->next();
    runtime->run_all();
  }
  EXPECT_ERROR(STORE_UNAVAILABLE, _, orders->next());
  Stats stats = orders->stats();
  EXPECT_EQ(stats.stopped, Status::store_unavailable);
  EXPECT_EQ(stats.last_failure, Status::store_unavailable);
  EXPECT_EQ(stats.last_error, "no route to the host");
  EXPECT_NEAR(static_cast<double>(stats.last_failure_unix_ms), static_cast<double>(down_ms), 1000);
  const std::int64_t failed_ms = stats.last_failure_unix_ms;
  bring_store_back();
  EXPECT_EQ(orders->stats().last_failure_unix_ms, failed_ms) << "the same at each look";
  EXPECT_EQ(try_next(*orders), Status::would_block);
  runtime->run_all();
  EXPECT_EQ(try_next(*orders), Status::ok);
  stats = orders->stats();
  EXPECT_EQ(stats.stopped, Status::ok);
  EXPECT_EQ(stats.last_failure, Status::store_unavailable) << "it is over, and yet it was";
}

TEST_F(Stopped, IsNoSegmentThatStillHasIds) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}});
  take_store_down();
  draw(*orders, 30);
  runtime->run_all();
  EXPECT_GT(orders->stats().refill_failures, 0u);
  EXPECT_EQ(orders->stats().stopped, Status::ok);
}

TEST_F(Stopped, IsASegmentWhoseStoreLostACommit) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}});
  disk.tags["t"] = 5;
  draw(*orders, 30);
  runtime->run_all();
  EXPECT_ERROR(STORE_REGRESSED, _, orders->next());
  EXPECT_EQ(orders->stats().stopped, Status::store_regressed);
  EXPECT_EQ(orders->stats().remaining, 0u);
}

TEST_F(Stopped, IsASegmentWithNoIdsLeft) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::int64_t>::max();
  disk.tags["t"] = kLast - 30;
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "20"}});
  EXPECT_EQ(orders->stats().tag_left, 10u);
  EXPECT_EQ(orders->stats().layout_left, 10u);
  for (int i = 0; i < 20; ++i) {
    orders->next();
    runtime->run_all();
  }
  EXPECT_ERROR(EXHAUSTED, _, orders->next());
  EXPECT_EQ(orders->stats().stopped, Status::exhausted);
  EXPECT_EQ(orders->stats().layout_left, 0u) << "what is left is too little for a grant";
}

TEST_F(Stopped, IsAClosedGeneratorButNotTheOtherHandleOnIt) {
  const auto a = open({{"worker", "1"}});
  const auto b = open({{"worker", "1"}});
  a->close();
  EXPECT_EQ(a->stats().stopped, Status::closed);
  EXPECT_EQ(b->stats().stopped, Status::ok);
  const Handle* handles[] = {a.get(), b.get()};
  EXPECT_THAT(Handle::metrics(handles), HasSubstr("status=\"OK\"} 0\n"));
  b->close();
  EXPECT_THAT(Handle::metrics(handles), HasSubstr("status=\"CLOSED\"} 1\n"));
}

TEST_F(Stopped, IsASnowflakeWithoutAStoreOnceItsWindowHasPassed) {
  const auto events = open({{"worker", "1"}, {"window", "10s"}, {"wait_max", "0"}});
  take_store_down();
  runtime->pass(6 * kSecond);
  events->next();  // beyond the mark: the store is asked
  runtime->run_all();
  EXPECT_EQ(events->stats().stopped, Status::ok);
  EXPECT_NEAR(events->stats().stock_seconds, 4, 0.1) << "it fails, so what is left counts";
  runtime->pass(5 * kSecond);
  EXPECT_EQ(events->stats().stopped, Status::store_unavailable);
  EXPECT_EQ(events->stats().stock_seconds, 0);
  EXPECT_EQ(try_next(*events), Status::would_block);
  bring_store_back();
  EXPECT_EQ(try_next(*events), Status::would_block);
  runtime->run_all();
  EXPECT_EQ(try_next(*events), Status::ok);
  EXPECT_EQ(events->stats().stopped, Status::ok);
}

TEST_F(Stopped, IsASnowflakeWhoseClockWasSetBackForLongerThanCallsWait) {
  const auto events = open({{"worker", "1"}, {"wait_max", "2s"}});
  events->next();
  runtime->set_clock_by(-kSecond);
  EXPECT_EQ(events->stats().stopped, Status::ok) << "calls wait";
  runtime->set_clock_by(-5 * kSecond);
  EXPECT_EQ(events->stats().stopped, Status::clock_back);
  EXPECT_ERROR(CLOCK_BACK, _, events->next());
  const auto going_on = open({{"worker", "2"}, {"on_clock_back", "continue"}});
  going_on->next();
  runtime->set_clock_by(-50 * kSecond);
  EXPECT_EQ(going_on->stats().stopped, Status::ok);
}

class Left : public World {};

TEST_F(Left, InALayoutIsWhatItsSegmentFieldHoldsAndInATagWhatIsBelow63Bits) {
  disk.tags["t"] = 1000;
  const auto orders =
      open({{"kind", "business"}, {"tag", "t"}, {"layout", "gene:16 version:5 segment:42"}, {"segment.step", "24"}});
  EXPECT_EQ(orders->stats().layout_left, (std::uint64_t{1} << 42) - 1 - 1024);
  EXPECT_EQ(orders->stats().tag_left, (std::uint64_t{1} << 63) - 1 - 1024);
}

TEST_F(Left, IsCountedInTheIdsThatAStrideIssues) {
  const auto orders = open(
      {{"kind", "segment"}, {"tag", "t"}, {"segment.step", "100"}, {"segment.stride", "4"}, {"segment.offset", "3"}});
  EXPECT_EQ(orders->stats().tag_left, ((std::uint64_t{1} << 63) - disk.tags["t"]) / 4);
}

TEST_F(Left, InASnowflakesLayoutIsTimeAndOfATagNothing) {
  const auto events = open({{"worker", "1"}});
  const Stats stats = events->stats();
  EXPECT_EQ(stats.layout_left, static_cast<std::uint64_t>(events->layout().last_unix_ms() - now_ms()));
  EXPECT_EQ(stats.tag_left, Stats::kUnknown);
}

TEST_F(Left, OfSerialsEndsWithTheirPeriod) {
  const auto bills =
      open({{"kind", "serial"}, {"tag", "t"}, {"pattern", "{yyyyMMdd}-{decimal:4}"}, {"segment.step", "50"}});
  EXPECT_EQ(bills->stats().layout_left, 9999u - 50);
}

class Summary : public World {};

TEST_F(Summary, SaysKindNameAndPlace) {
  const auto orders = open({{"kind", "segment"}, {"name", "orders"}, {"tag", "t"}, {"namespace", "shop"}});
  EXPECT_EQ(orders->summary(), "segment 'orders', tag 't' of namespace 'shop'");
  const auto events = open({{"name", "events"}, {"worker", "3"}});
  EXPECT_EQ(events->summary(), "snowflake 'events', worker 3 of namespace 'default'");
  events->close();
  EXPECT_EQ(events->summary(), "snowflake 'events', worker 3 of namespace 'default', closed");
}

}  // namespace
}  // namespace idgen::sim
