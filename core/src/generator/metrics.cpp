#include "generator/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "idgen/text.hpp"

namespace idgen {
namespace {

// A sample's value, without the locale's decimal comma.
std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}
std::string number(std::uint64_t value) { return std::to_string(value); }

std::string seconds_of_ns(std::uint64_t ns) { return number(static_cast<double>(ns) / 1e9); }
std::string seconds_of_ms(std::uint64_t ms) { return number(static_cast<double>(ms) / 1e3); }

enum class Kinds { all, segment, snowflake, buffer };

// A metric has one unit and one meaning. So there are two metrics for what is numbers in a segment and time in a
// snowflake.
struct Metric {
  const char* name;
  const char* type;
  Kinds kinds;
  const char* help;
  std::string (*value)(const Stats&);
  const char* label = "";  // one more sample; lines of the same name must follow each other
};

constexpr const char* kBreakerHelp = "Breaker of a side of the buffer: 0 closed, 1 half-open, 2 open.";

constexpr Metric kMetrics[] = {
    {"idgen_issued_total", "counter", Kinds::segment, "Ids issued by this process.",
     [](const Stats& s) { return number(s.issued); }},
    {"idgen_granted_total", "counter", Kinds::segment, "Ids that the store has reserved for this process.",
     [](const Stats& s) { return number(s.granted); }},
    {"idgen_stock", "gauge", Kinds::segment, "Ids reserved and not yet issued.",
     [](const Stats& s) { return number(s.remaining); }},
    {"idgen_rate", "gauge", Kinds::segment, "Ids per second, measured from refill to refill; 0 = unknown.",
     [](const Stats& s) { return number(s.rate); }},
    {"idgen_buffer_stock", "gauge", Kinds::buffer, "Numbers left in Redis when it was last seen.",
     [](const Stats& s) { return number(s.buffer->stock); }},
    {"idgen_buffer_breaker", "gauge", Kinds::buffer, kBreakerHelp,
     [](const Stats& s) { return number(static_cast<std::uint64_t>(s.buffer->redis)); }, ",side=\"redis\""},
    {"idgen_buffer_breaker", "gauge", Kinds::buffer, kBreakerHelp,
     [](const Stats& s) { return number(static_cast<std::uint64_t>(s.buffer->database)); }, ",side=\"database\""},
    {"idgen_issued_seconds_total", "counter", Kinds::snowflake, "Reserved worker time that is used up or has passed.",
     [](const Stats& s) { return seconds_of_ms(s.issued); }},
    {"idgen_granted_seconds_total", "counter", Kinds::snowflake,
     "Worker time that the store has reserved for this process.",
     [](const Stats& s) { return seconds_of_ms(s.granted); }},
    {"idgen_stock_seconds", "gauge", Kinds::all,
     "How long the reserve lasts without the store; +Inf = no draws, or no known rate.",
     [](const Stats& s) { return number(s.stock_seconds); }},
    {"idgen_refills_total", "counter", Kinds::all, "Reservations taken from the store.",
     [](const Stats& s) { return number(s.refills); }},
    {"idgen_refill_failures_total", "counter", Kinds::all, "Calls of the store that failed.",
     [](const Stats& s) { return number(s.refill_failures); }},
    {"idgen_refill_seconds_max", "gauge", Kinds::all, "The slowest call of the store so far.",
     [](const Stats& s) { return seconds_of_ns(s.refill_ns_max); }},
    {"idgen_waits_total", "counter", Kinds::all, "Calls that had to wait, for the clock or the store.",
     [](const Stats& s) { return number(s.waits); }},
    {"idgen_wait_seconds_total", "counter", Kinds::all, "Time spent in these waits.",
     [](const Stats& s) { return seconds_of_ns(s.wait_ns); }},
    {"idgen_store_waits_total", "counter", Kinds::all, "Those of idgen_waits_total that were for the store.",
     [](const Stats& s) { return number(s.store_waits); }},
    {"idgen_clock_back_events_total", "counter", Kinds::all,
     "Times that the clock was found behind ids already issued.",
     [](const Stats& s) { return number(s.clock_back_events); }},
    {"idgen_forks_total", "counter", Kinds::all, "Times that the generator was started over in a child process.",
     [](const Stats& s) { return number(s.forks); }},
    {"idgen_lead_seconds", "gauge", Kinds::all, "How far the time of the last id is ahead of the clock.",
     [](const Stats& s) { return seconds_of_ms(static_cast<std::uint64_t>(s.lead_ms)); }},
    {"idgen_handles", "gauge", Kinds::all, "Open handles on the generator.",
     [](const Stats& s) { return number(std::uint64_t{s.handles}); }},
};

// A label's value, in its quotes. The format is UTF-8, and one line of other bytes would fail the whole scrape.
std::string label(const std::string& value) {
  std::string clean(value.size() + 1, '\0');
  clean.resize(copy_text(value, clean.data(), clean.size()));
  std::string out = "\"";
  for (const char c : clean) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + '"';
}

Stats together(const Stats& a, const Stats& b) {
  Stats sum = a;
  sum.handles += b.handles;
  sum.granted += b.granted;
  sum.remaining += b.remaining;
  sum.issued += b.issued;
  sum.stock_seconds = std::min(a.stock_seconds, b.stock_seconds);
  sum.refills += b.refills;
  sum.refill_failures += b.refill_failures;
  sum.refill_ns_max = std::max(a.refill_ns_max, b.refill_ns_max);
  sum.waits += b.waits;
  sum.wait_ns += b.wait_ns;
  sum.store_waits += b.store_waits;
  sum.clock_back_events += b.clock_back_events;
  sum.forks += b.forks;
  sum.lead_ms = std::max(a.lead_ms, b.lead_ms);
  sum.rate += b.rate;
  if (sum.buffer && b.buffer) {
    sum.buffer->redis = std::max(sum.buffer->redis, b.buffer->redis);
    sum.buffer->database = std::max(sum.buffer->database, b.buffer->database);
    sum.buffer->stock = std::min(sum.buffer->stock, b.buffer->stock);
  } else if (b.buffer) {
    sum.buffer = b.buffer;
  }
  return sum;
}

}  // namespace

std::string metrics_text(std::span<const Metered> generators) {
  // By labels as written: two names can become the same there.
  std::map<std::string, std::pair<Kinds, Stats>> samples;
  for (const Metered& generator : generators) {
    const std::string labels = "name=" + label(generator.name) + ",namespace=" + label(generator.name_space) +
                               ",kind=" + label(generator.kind);
    const Kinds kind = generator.kind == "snowflake" ? Kinds::snowflake : Kinds::segment;
    const auto [at, is_new] = samples.try_emplace(labels, kind, generator.stats);
    if (!is_new) at->second.second = together(at->second.second, generator.stats);
  }
  std::string text;
  std::string described;
  for (const Metric& metric : kMetrics) {
    for (const auto& [labels, sample] : samples) {
      const auto& [kind, stats] = sample;
      if (metric.kinds == Kinds::buffer ? !stats.buffer : metric.kinds != Kinds::all && metric.kinds != kind) continue;
      const std::string name = metric.name;
      if (described != name)
        text += "# HELP " + name + " " + metric.help + "\n# TYPE " + name + " " + metric.type + "\n";
      described = name;
      text += name + "{" + labels + metric.label + "} " + metric.value(stats) + "\n";
    }
  }
  return text;
}

}  // namespace idgen
