#include "generator/metrics.hpp"

#include <gmock/gmock.h>

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
  stats.issued = 1250;
  stats.stock_seconds = 3.5;
  stats.refills = 3;
  stats.refill_failures = 2;
  stats.refill_ns_max = 4'500'000;
  stats.waits = 7;
  stats.wait_ns = 1'250'000'000;
  stats.store_waits = 6;
  stats.forks = 1;
  stats.rate = 500;
  return stats;
}

Stats some_snowflake_stats() {
  Stats stats = some_stats();
  stats.stock_seconds = std::numeric_limits<double>::infinity();
  stats.clock_back_events = 4;
  stats.lead_ms = 20;
  stats.rate = 0;
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
  EXPECT_EQ(metrics_text(generators), R"(# HELP idgen_issued_total Ids issued by this process.
# TYPE idgen_issued_total counter
idgen_issued_total{name="orders",namespace="shop",kind="segment"} 1250
# HELP idgen_granted_total Ids that the store has reserved for this process.
# TYPE idgen_granted_total counter
idgen_granted_total{name="orders",namespace="shop",kind="segment"} 3000
# HELP idgen_stock Ids reserved and not yet issued.
# TYPE idgen_stock gauge
idgen_stock{name="orders",namespace="shop",kind="segment"} 1750
# HELP idgen_rate Ids per second, measured from refill to refill; 0 = unknown.
# TYPE idgen_rate gauge
idgen_rate{name="orders",namespace="shop",kind="segment"} 500
# HELP idgen_issued_seconds_total Reserved worker time that is used up or has passed.
# TYPE idgen_issued_seconds_total counter
idgen_issued_seconds_total{name="events",namespace="shop",kind="snowflake"} 1.25
# HELP idgen_granted_seconds_total Worker time that the store has reserved for this process.
# TYPE idgen_granted_seconds_total counter
idgen_granted_seconds_total{name="events",namespace="shop",kind="snowflake"} 3
# HELP idgen_stock_seconds How long the reserve lasts without the store; +Inf = no draws, or no known rate.
# TYPE idgen_stock_seconds gauge
idgen_stock_seconds{name="events",namespace="shop",kind="snowflake"} +Inf
idgen_stock_seconds{name="orders",namespace="shop",kind="segment"} 3.5
# HELP idgen_refills_total Reservations taken from the store.
# TYPE idgen_refills_total counter
idgen_refills_total{name="events",namespace="shop",kind="snowflake"} 3
idgen_refills_total{name="orders",namespace="shop",kind="segment"} 3
# HELP idgen_refill_failures_total Calls of the store that failed.
# TYPE idgen_refill_failures_total counter
idgen_refill_failures_total{name="events",namespace="shop",kind="snowflake"} 2
idgen_refill_failures_total{name="orders",namespace="shop",kind="segment"} 2
# HELP idgen_refill_seconds_max The slowest call of the store so far.
# TYPE idgen_refill_seconds_max gauge
idgen_refill_seconds_max{name="events",namespace="shop",kind="snowflake"} 0.0045
idgen_refill_seconds_max{name="orders",namespace="shop",kind="segment"} 0.0045
# HELP idgen_waits_total Calls that had to wait, for the clock or the store.
# TYPE idgen_waits_total counter
idgen_waits_total{name="events",namespace="shop",kind="snowflake"} 7
idgen_waits_total{name="orders",namespace="shop",kind="segment"} 7
# HELP idgen_wait_seconds_total Time spent in these waits.
# TYPE idgen_wait_seconds_total counter
idgen_wait_seconds_total{name="events",namespace="shop",kind="snowflake"} 1.25
idgen_wait_seconds_total{name="orders",namespace="shop",kind="segment"} 1.25
# HELP idgen_store_waits_total Those of idgen_waits_total that were for the store.
# TYPE idgen_store_waits_total counter
idgen_store_waits_total{name="events",namespace="shop",kind="snowflake"} 6
idgen_store_waits_total{name="orders",namespace="shop",kind="segment"} 6
# HELP idgen_clock_back_events_total Times that the clock was found behind ids already issued.
# TYPE idgen_clock_back_events_total counter
idgen_clock_back_events_total{name="events",namespace="shop",kind="snowflake"} 4
idgen_clock_back_events_total{name="orders",namespace="shop",kind="segment"} 0
# HELP idgen_forks_total Times that the generator was started over in a child process.
# TYPE idgen_forks_total counter
idgen_forks_total{name="events",namespace="shop",kind="snowflake"} 1
idgen_forks_total{name="orders",namespace="shop",kind="segment"} 1
# HELP idgen_lead_seconds How far the time of the last id is ahead of the clock.
# TYPE idgen_lead_seconds gauge
idgen_lead_seconds{name="events",namespace="shop",kind="snowflake"} 0.02
idgen_lead_seconds{name="orders",namespace="shop",kind="segment"} 0
# HELP idgen_handles Open handles on the generator.
# TYPE idgen_handles gauge
idgen_handles{name="events",namespace="shop",kind="snowflake"} 1
idgen_handles{name="orders",namespace="shop",kind="segment"} 1
)");
}

TEST(Metrics, OfNoGeneratorAreNoText) { EXPECT_EQ(metrics_text({}), ""); }

TEST(Metrics, AreNotDescribedWhereThereIsNoSample) {
  const Metered segment[] = {{"orders", "shop", "segment", some_stats()}};
  EXPECT_THAT(metrics_text(segment), Not(HasSubstr("idgen_granted_seconds_total")));
  const Metered snowflake[] = {{"events", "shop", "snowflake", some_snowflake_stats()}};
  EXPECT_THAT(metrics_text(snowflake), Not(HasSubstr("idgen_granted_total")));
}

TEST(Metrics, EscapeTheirLabelsAndAreAlwaysUtf8) {
  const Metered generators[] = {{"a\"b\\c\nd", "caf\xc3\xa9 \xff", "segment", some_stats()}};
  EXPECT_THAT(metrics_text(generators),
              HasSubstr("\nidgen_stock{name=\"a\\\"b\\\\c\\nd\",namespace=\"caf\xc3\xa9 ?\",kind=\"segment\"} 1750\n"));
}

TEST(Metrics, OfDifferentGeneratorsWithTheSameLabelsAreOneSample) {
  Stats other = some_stats();
  other.stock_seconds = 1.5;
  other.refill_ns_max = 9'000'000;
  const Metered generators[] = {{"orders", "shop", "segment", some_stats()}, {"orders", "shop", "segment", other}};
  const std::string text = metrics_text(generators);
  const std::string labels = "{name=\"orders\",namespace=\"shop\",kind=\"segment\"} ";
  EXPECT_THAT(text, HasSubstr("\nidgen_issued_total" + labels + "2500\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_stock" + labels + "3500\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_rate" + labels + "1000\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_stock_seconds" + labels + "1.5\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_refill_seconds_max" + labels + "0.009\n"));
  EXPECT_THAT(text, HasSubstr("\nidgen_handles" + labels + "2\n"));
  EXPECT_EQ(times(text, "\nidgen_issued_total{"), 1);
}

TEST(Metrics, OfABufferSayHowItsSidesAre) {
  Stats stats = some_stats();
  stats.buffer = BufferStats{.redis = BreakerState::open, .database = BreakerState::closed, .stock = 700};
  const Metered both[] = {{"orders", "shop", "segment", stats}, {"plain", "shop", "segment", some_stats()}};
  const std::string text = metrics_text(both);
  const std::string labels = "{name=\"orders\",namespace=\"shop\",kind=\"segment\"";
  EXPECT_THAT(text, HasSubstr("\nidgen_buffer_stock" + labels + "} 700\n"));
  EXPECT_THAT(text, HasSubstr("\n# TYPE idgen_buffer_breaker gauge\nidgen_buffer_breaker" + labels +
                              ",side=\"redis\"} 2\nidgen_buffer_breaker" + labels + ",side=\"database\"} 0\n"));
  EXPECT_EQ(times(text, "\nidgen_buffer_stock{"), 1);  // not of the plain one
  stats.buffer->redis = BreakerState::closed;
  stats.buffer->database = BreakerState::half_open;
  stats.buffer->stock = 800;
  const Metered same[] = {both[0], {"orders", "shop", "segment", stats}};
  EXPECT_THAT(metrics_text(same), HasSubstr("idgen_buffer_stock" + labels + "} 700\n"));
  EXPECT_THAT(metrics_text(same), HasSubstr("side=\"database\"} 1\n"));
}

class MetricsOfHandles : public World {};

TEST_F(MetricsOfHandles, ThatShareAGeneratorCountOnce) {
  const auto a = open({{"worker", "1"}, {"name", "events"}});
  const auto b = open({{"worker", "1"}, {"name", "same"}});
  const Handle* handles[] = {a.get(), b.get(), a.get()};
  const std::string text = Handle::metrics(handles);
  EXPECT_EQ(times(text, "\nidgen_refills_total{"), 1);
  EXPECT_THAT(text, HasSubstr("idgen_refills_total{name=\"events\",namespace=\"default\",kind=\"snowflake\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("idgen_handles{name=\"events\",namespace=\"default\",kind=\"snowflake\"} 2\n"));
}

TEST_F(MetricsOfHandles, AreThereWhenClosed) {
  const auto orders = open({{"kind", "segment"}, {"tag", "t"}, {"name", "orders"}, {"segment.step", "100"}});
  for (int i = 0; i < 30; ++i) orders->next();
  orders->close();
  const Handle* handles[] = {orders.get()};
  const std::string text = Handle::metrics(handles);
  EXPECT_THAT(text, HasSubstr("idgen_issued_total{name=\"orders\",namespace=\"default\",kind=\"segment\"} 30\n"));
  EXPECT_THAT(text, HasSubstr("idgen_stock{name=\"orders\",namespace=\"default\",kind=\"segment\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("idgen_handles{name=\"orders\",namespace=\"default\",kind=\"segment\"} 0\n"));
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
  for (int i = 0; i < 30; ++i) orders->next();  // beyond the mark: a second range is ready, or on its way
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
  EXPECT_EQ(events->stats().stock_seconds, 0);
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

}  // namespace
}  // namespace idgen::sim
