#include "generator/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "idgen/text.hpp"

namespace idgen {
namespace {

enum class Kinds : std::uint8_t { all, segment, snowflake, buffer, failed };
enum class Unit : std::uint8_t { count, ms, ns, stock_seconds, stopped };
// What becomes of two generators with the same labels.
enum class Merge : std::uint8_t { sum, largest, smallest, elsewhere };
enum class Label : std::uint8_t { none, redis, database, stopped, last_failure };

// A metric has one unit and one meaning. So there are two metrics for what is numbers in a segment and time in a
// snowflake. Rows of 24 bytes with one pointer: libidgen.so must stay small.
struct Metric {
  const char* text;  // its name, and what it says; a counter's name ends with _total
  std::uint64_t Stats::*field;
  Kinds kinds;
  Unit unit;
  Merge merge;
  Label label = Label::none;  // one more; lines of the same name must follow each other
};

constexpr const char* kBreaker = "idgen_buffer_breaker 0 closed, 1 half-open, 2 open.";
constexpr const char* kFailures = "idgen_buffer_failures_total Calls of a side of the buffer that failed.";

using enum Unit;
using enum Merge;

constexpr Metric kMetrics[] = {
    {"idgen_stopped 1 = no ids, for the reason in status.", nullptr, Kinds::all, stopped, elsewhere, Label::stopped},
    {"idgen_last_failure_timestamp_seconds When a call of the store failed last.", &Stats::last_failure_unix_ms,
     Kinds::failed, ms, elsewhere, Label::last_failure},
    {"idgen_issued_total Ids issued by this process.", &Stats::issued_ids, Kinds::all, count, sum},
    {"idgen_granted_total Ids reserved for this process.", &Stats::granted, Kinds::segment, count, sum},
    {"idgen_stock Ids reserved and not yet issued.", &Stats::remaining, Kinds::segment, count, sum},
    {"idgen_rate Ids per second at the refills; 0 = unknown.", &Stats::rate, Kinds::segment, count, sum},
    {"idgen_layout_ids_left Ids left in the layout at the latest refill.", &Stats::layout_left, Kinds::segment, count,
     smallest},
    {"idgen_tag_ids_left Ids left below 2^63 at the latest refill.", &Stats::tag_left, Kinds::segment, count, smallest},
    {"idgen_buffer_stock Numbers left in Redis when it was last seen.", &Stats::buffer_stock, Kinds::buffer, count,
     smallest},
    {kBreaker, &Stats::breaker_redis, Kinds::buffer, count, largest, Label::redis},
    {kBreaker, &Stats::breaker_database, Kinds::buffer, count, largest, Label::database},
    {kFailures, &Stats::redis_failures, Kinds::buffer, count, sum, Label::redis},
    {kFailures, &Stats::database_failures, Kinds::buffer, count, sum, Label::database},
    {"idgen_issued_seconds_total Reserved worker time that is used up or has passed.", &Stats::issued, Kinds::snowflake,
     ms, elsewhere},
    {"idgen_granted_seconds_total Worker time reserved for this process.", &Stats::granted, Kinds::snowflake, ms,
     elsewhere},
    {"idgen_layout_seconds_left Time left in the layout.", &Stats::layout_left, Kinds::snowflake, ms, elsewhere},
    {"idgen_stock_seconds How long ids last without the store; +Inf = idle, or unknown.", nullptr, Kinds::all,
     stock_seconds, elsewhere},
    {"idgen_refills_total Reservations taken from the store.", &Stats::refills, Kinds::all, count, sum},
    {"idgen_refill_failures_total Calls of the store that failed.", &Stats::refill_failures, Kinds::all, count, sum},
    {"idgen_refill_seconds_max The slowest call of the store so far.", &Stats::refill_ns_max, Kinds::all, ns, largest},
    {"idgen_waits_total Calls that had to wait, for the clock or the store.", &Stats::waits, Kinds::all, count, sum},
    {"idgen_wait_seconds_total Time spent in these waits.", &Stats::wait_ns, Kinds::all, ns, sum},
    {"idgen_store_waits_total Those of idgen_waits_total that were for the store.", &Stats::store_waits, Kinds::all,
     count, sum},
    {"idgen_clock_back_events_total Times that the clock was behind ids already issued.", &Stats::clock_back_events,
     Kinds::all, count, sum},
    {"idgen_forks_total Times it was started over in a child process.", &Stats::forks, Kinds::all, count, sum},
    {"idgen_lead_seconds How far the time of the last id is ahead of the clock.", &Stats::lead_ms, Kinds::all, ms,
     largest},
    {"idgen_handles Open handles on the generator.", &Stats::handles, Kinds::all, count, sum},
};

// A sample's value, without the locale's decimal comma.
[[gnu::cold]] std::string number(double value) {
  if (std::isinf(value)) return "+Inf";
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

[[gnu::cold]] std::string value_of(const Metric& metric, const Stats& stats) {
  if (metric.unit == stock_seconds) return number(stats.stock_seconds);
  const std::uint64_t value = metric.unit == Unit::stopped ? stats.stopped != Status::ok : stats.*metric.field;
  if (value == Stats::kUnknown) return "+Inf";
  if (metric.unit == ms || metric.unit == ns)
    return number(static_cast<double>(value) / (metric.unit == ms ? 1e3 : 1e9));
  return std::to_string(value);
}

bool has(const Metric& metric, bool is_snowflake, const Stats& stats) {
  switch (metric.kinds) {
    case Kinds::buffer:
      return stats.has_buffer;
    case Kinds::failed:
      return stats.last_failure != Status::ok;
    case Kinds::all:
      return true;
    default:
      return is_snowflake == (metric.kinds == Kinds::snowflake);
  }
}

// A label's value, in its quotes. The format is UTF-8, and one line of other bytes would fail the whole scrape.
[[gnu::cold]] std::string label(const std::string& value) {
  std::string clean(value.size() + 1, '\0');
  clean.resize(copy_text(value, clean.data(), clean.size()));
  std::string out = "\"";
  for (const char c : clean) {
    if (c == '\\' || c == '"' || c == '\n') out += '\\';
    out += c == '\n' ? 'n' : c;
  }
  return out + '"';
}

// The one more that a metric has.
[[gnu::cold]] std::string own_label(Label label, const Stats& stats) {
  switch (label) {
    case Label::none:
      return "";
    case Label::redis:
      return ",side=\"redis\"";
    case Label::database:
      return ",side=\"database\"";
    default:
      return concat(
          {",status=\"", status_text(label == Label::stopped ? stats.stopped : stats.last_failure).name, "\""});
  }
}

// One that fails comes before one that is well, and that before one that was closed and may have been replaced.
int gravity(Status stopped) { return stopped == Status::ok ? 1 : stopped == Status::closed ? 0 : 2; }

[[gnu::cold]] void merge(Stats& into, const Stats& other) {
  for (const Metric& metric : kMetrics) {
    if (metric.merge == elsewhere) continue;
    std::uint64_t& value = into.*metric.field;
    const std::uint64_t its = other.*metric.field;
    if (metric.kinds == Kinds::buffer && !(into.has_buffer && other.has_buffer)) {
      if (other.has_buffer) value = its;
    } else {
      value = metric.merge == sum ? value + its : metric.merge == largest ? std::max(value, its) : std::min(value, its);
    }
  }
  into.has_buffer = into.has_buffer || other.has_buffer;
  into.stock_seconds = std::min(into.stock_seconds, other.stock_seconds);
  if (gravity(other.stopped) > gravity(into.stopped)) into.stopped = other.stopped;
  if (other.last_failure_unix_ms > into.last_failure_unix_ms) {
    into.last_failure = other.last_failure;
    into.last_failure_unix_ms = other.last_failure_unix_ms;
  }
}

}  // namespace

[[gnu::cold]] std::string metrics_text(std::span<const Metered> generators, const std::string& process) {
  // By labels as written: two names can become the same there.
  std::map<std::string, Metered> samples;
  for (const Metered& generator : generators) {
    const std::string labels = concat({"name=", label(generator.name), ",namespace=", label(generator.name_space),
                                       ",kind=", label(generator.kind), ",process=", label(process)});
    const auto [at, is_new] = samples.try_emplace(labels, generator);
    if (!is_new) merge(at->second.stats, generator.stats);
  }
  std::string text;
  std::string described;
  for (const Metric& metric : kMetrics) {
    const std::string_view all = metric.text;
    const std::string name(all.substr(0, all.find(' ')));
    for (const auto& [labels, sample] : samples) {
      if (!has(metric, sample.kind == "snowflake", sample.stats)) continue;
      if (described != name) {
        text += concat({"# HELP ", all, "\n# TYPE ", name, name.ends_with("_total") ? " counter\n" : " gauge\n"});
        described = name;
      }
      text += concat(
          {name, "{", labels, own_label(metric.label, sample.stats), "} ", value_of(metric, sample.stats), "\n"});
    }
  }
  return text;
}

}  // namespace idgen
