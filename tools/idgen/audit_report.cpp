#include "audit_report.hpp"

#include <algorithm>
#include <cmath>

#include "decoded.hpp"
#include "json.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr std::size_t kShownFindings = 10;
constexpr std::size_t kShownWorkers = 10;
constexpr std::size_t kShownShards = 64;
constexpr std::size_t kWidth = 110;

std::string count_of(std::uint64_t number, const std::string& what) {
  return grouped(number) + ' ' + what + (number == 1 ? "" : "s");
}

// "     because   words, wrapped below themselves"
std::string entry(const std::string& name, const std::string& words) {
  return padded("     " + name, 15) + wrapped(words, 15, kWidth).substr(15);
}

std::string heading(const Terminal& terminal, const std::string& text) {
  return '\n' + terminal.paint(ink::bold, text) + '\n';
}

std::string when(const IdSpace& space, std::uint64_t key) { return instant(space.unix_ms_of(space.tick_of(key))); }

std::string ms_of(const IdSpace& space, std::uint64_t ticks) {
  const std::uint64_t ms = ticks * static_cast<std::uint64_t>(space.tick_ms());
  if (ms < 10'000) return grouped(ms) + " ms";
  if (ms < 600'000) return fixed(static_cast<double>(ms) / 1000, 1) + " s";
  if (ms < 36'000'000) return fixed(static_cast<double>(ms) / 60'000, 1) + " min";
  if (ms < 864'000'000) return fixed(static_cast<double>(ms) / 3'600'000, 1) + " h";
  return fixed(static_cast<double>(ms) / 86'400'000, 1) + " days";
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0 || part == 0) return "0 %";
  const double share = static_cast<double>(part) / static_cast<double>(whole) * 100;
  return (share < 0.01 ? "<0.01" : fixed(share, share < 1 ? 2 : 1)) + " %";
}

std::string range_of(const AuditResult& result, const Incident& incident) {
  const IdSpace& space = result.space;
  if (space.has_time()) {
    const std::string first = when(space, incident.first), last = when(space, incident.last);
    return first == last ? "at " + first : "from " + first + " to " + last;
  }
  if (incident.ids == 1) return std::to_string(space.id_of(incident.first));
  return "from " + std::to_string(space.id_of(incident.first)) + " to " + std::to_string(space.id_of(incident.last));
}

std::string whose(const AuditResult& result, const Finding& finding) {
  if (finding.workers > 1) return " of " + grouped(finding.workers) + " workers";
  return result.space.has_nodes() ? " of " + result.space.name_of(finding.incident.node) : "";
}

std::string causes_of(const Verdict& verdict) {
  std::string out;
  for (const Cause cause : verdict.causes) out += (out.empty() ? "" : "; or ") + std::string(sentence_of(cause));
  return out;
}

std::string joined_words(const std::vector<std::string>& words, const std::string& between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::string of_finding(const AuditResult& result, const Finding& finding, std::size_t number,
                       const Terminal& terminal) {
  const Incident& incident = finding.incident;
  std::string out = padded(std::to_string(number), 5) +
                    terminal.paint(ink::red, count_of(incident.ids, "id") + whose(result, finding)) + ' ' +
                    (result.space.has_time() || incident.ids > 1 ? range_of(result, incident) : "") +
                    (incident.most_copies > 2 ? ", up to " + times(incident.most_copies) : "") + '\n';
  out += entry(finding.verdict.causes.size() == 1 ? "likely" : "possible", causes_of(finding.verdict));
  for (const std::string& sentence : finding.verdict.evidence)
    out += entry(&sentence == &finding.verdict.evidence.front() ? "because" : "", sentence);
  out += entry("do", advice_of(finding.verdict.causes.front(), result.space.has_time()));
  if (!finding.places.empty())
    out += entry("such as", std::to_string(finding.example) + " at " + joined_words(finding.places, " and "));
  return out;
}

std::string of_duplicates(const AuditResult& result, const Terminal& terminal) {
  const SortedPass& sorted = *result.sorted;
  if (sorted.duplicated() == 0) return '\n' + terminal.paint(ink::green, "No id was issued twice.") + '\n';
  std::string out = heading(terminal, "Duplicates");
  std::uint64_t in_findings = 0;
  for (std::size_t i = 0; i < result.findings.size(); ++i) {
    in_findings += result.findings[i].incident.ids;
    if (i < kShownFindings) out += of_finding(result, result.findings[i], i + 1, terminal);
  }
  if (result.findings.size() > kShownFindings) {
    out +=
        "     and " + count_of(result.findings.size() - kShownFindings, "smaller group") + "; --json has all of them\n";
  }
  if (in_findings < sorted.duplicated())
    out += "     and " + count_of(sorted.duplicated() - in_findings, "id") + " of more workers than are kept apart\n";
  return out;
}

std::string of_step(const AuditResult& result, const StepBack& step) {
  const IdSpace& space = result.space;
  std::string size = space.has_time() ? ms_of(space, space.tick_of(step.from) - space.tick_of(step.to)) : "";
  if (!space.has_time()) size = grouped(step.from - step.to);
  if (space.has_time() && space.tick_of(step.from) == space.tick_of(step.to)) size = "less than a tick";
  return size + " at " + result.place(step.dump, step.row);
}

const StepBack* largest_step(const AuditResult& result, std::uint64_t& node) {
  const StepBack* largest = nullptr;
  for (const auto& [which, steps] : result.flow.workers_with_steps()) {
    for (const StepBack& step : steps.largest) {
      if (largest && size_of(step, result.space) <= size_of(*largest, result.space)) continue;
      largest = &step;
      node = which;
    }
  }
  return largest;
}

std::string of_order(const AuditResult& result, const Terminal& terminal) {
  const IdSpace& space = result.space;
  std::string out = heading(terminal, "Order");
  const auto line = [&out](const std::string& name, const std::string& text) {
    out += "  " + padded(name, 24) + text + '\n';
  };
  std::uint64_t node = 0;
  const StepBack* const largest = largest_step(result, node);
  if (space.has_nodes()) {
    line("ids of one worker", !largest ? "always rise"
                                       : "step back " + times(result.flow.steps_back()) + ", by at most " +
                                             of_step(result, *largest) + " (" + space.name_of(node) + ')');
  }
  if (result.flow.not_followed() > 0)
    line("", "not counting " + count_of(result.flow.not_followed(), "id") + " of workers beyond the first 16 384");
  const WorkerSteps& overall = result.flow.overall();
  std::string text = "always rise";
  if (overall.count > 0) {
    const StepBack& step = overall.largest.front();
    text = "step back " + times(overall.count) + ", by at most " + of_step(result, step);
    if (space.has_nodes()) text += "; no order is promised between workers";
  }
  line(space.has_nodes() ? "ids of all workers" : "ids", text);
  return out;
}

std::string of_workers(const AuditResult& result, const Terminal& terminal) {
  const IdSpace& space = result.space;
  if (!space.has_time()) return "";
  std::vector<WorkerSummary> workers = result.sorted->workers();
  std::ranges::stable_sort(workers, [](const WorkerSummary& a, const WorkerSummary& b) {
    return std::pair(a.duplicated, a.ids) > std::pair(b.duplicated, b.ids);
  });
  const bool has_more = result.sorted->worker_count() > kShownWorkers;
  std::string out = heading(terminal, "Workers") + "  " +
                    padded(count_of(result.sorted->worker_count(), "worker"), 24) + right_aligned("ids", 16) +
                    right_aligned("twice", 14) + right_aligned("peak", 8) + right_aligned("full", 9) +
                    right_aligned("longest gap", 14) + "  first and last\n";
  for (std::size_t i = 0; i < std::min(workers.size(), kShownWorkers); ++i) {
    const WorkerSummary& worker = workers[i];
    out += "  " + padded(result.worker(worker.node), 24) + right_aligned(grouped(worker.ids), 16) +
           right_aligned(grouped(worker.duplicated), 14) + right_aligned(grouped(worker.peak), 8) +
           right_aligned(share_of(worker.full_ticks, worker.ticks), 9) +
           right_aligned(worker.longest_gap > 1 ? ms_of(space, worker.longest_gap) : "none", 14) + "  " +
           when(space, worker.first) + "  " + when(space, worker.last) + '\n';
  }
  if (has_more) out += "  and " + count_of(result.sorted->worker_count() - kShownWorkers, "more worker") + '\n';
  return out + "  peak: ids in one tick, of " + grouped(space.ids_per_tick()) + "; full: ticks without room for more\n";
}

std::string of_rates(const AuditResult& result, const Terminal& terminal) {
  const IdSpace& space = result.space;
  const Rates& rates = result.sorted->rates();
  if (!space.has_time()) return "";
  std::string out = heading(terminal, "Rate");
  const double seconds_per_stretch = rates.ticks_per_stretch * static_cast<double>(space.tick_ms()) / 1000;
  const auto most = std::ranges::max_element(rates.all);
  const auto ticks = static_cast<double>(result.flow.last_likely() - result.flow.first_likely() + 1);
  std::uint64_t sum = 0;
  for (const std::uint64_t ids : rates.all) sum += ids;
  out += "  " + padded("on average", 24) +
         approximate(std::round(static_cast<double>(sum) / ticks * 1000 / static_cast<double>(space.tick_ms()))) +
         " ids per second\n";
  if (rates.all.size() > 1) {
    const auto tick = rates.first_tick + static_cast<std::uint64_t>(static_cast<double>(most - rates.all.begin()) *
                                                                    rates.ticks_per_stretch);
    out += "  " + padded("at most", 24) + approximate(std::round(static_cast<double>(*most) / seconds_per_stretch)) +
           " ids per second, over " + fixed(seconds_per_stretch, seconds_per_stretch < 10 ? 3 : 0) + " s from " +
           instant(space.unix_ms_of(tick)) + '\n';
  }
  return out;
}

std::string of_shards(const AuditResult& result, const Terminal& terminal) {
  if (!result.shards) return "";
  const ShardCounts& shards = *result.shards;
  const Evenness& even = shards.evenness;
  std::string out = heading(terminal, "Shards: " + one_line(shards.title));
  const double mean = static_cast<double>(result.flow.ids()) / static_cast<double>(shards.counts.size());
  const std::uint64_t most = *std::ranges::max_element(shards.counts);
  for (std::size_t i = 0; i < shards.counts.size() && shards.counts.size() <= kShownShards; ++i) {
    const auto cells = static_cast<std::size_t>(
        most > 0 ? std::llround(static_cast<double>(shards.counts[i]) / static_cast<double>(most) * 40) : 0);
    std::string bar;
    for (std::size_t j = 0; j < cells; ++j) bar += "█";
    out += "  " + padded(one_line(shards.names[i]), 12) + right_aligned(grouped(shards.counts[i]), 16) + "  " +
           terminal.paint(ink::blue, bar) + '\n';
  }
  out += "  " + padded("fullest, emptiest", 24) + fixed(even.fullest, 3) + " and " + fixed(even.emptiest, 3) +
         " of what they should have; " + approximate(mean < 1000 ? mean : std::round(mean)) + " ids each on average\n";
  out += "  " + padded("chi-squared", 24) + fixed(even.chi_squared, 1) + " with " + count_of(even.degrees, "degree") +
         " of freedom, p " + (even.p < 0.0001 ? "< 0.0001" : "= " + fixed(even.p, 4)) + ": " + sentence_of(even) + '\n';
  if (result.space.has_time() && even.is_enough && even.p < 0.001 && even.fullest >= 1.1 &&
      shards.title.starts_with("id mod")) {
    out += wrapped(
        "Snowflakes whose sequence starts at 0 in each tick mostly end in the same bits at low rates. "
        "sequence_start = carry, idgen's default, spreads them; so does sharding by a hash or by a gene.",
        2, kWidth);
  }
  return out;
}

std::string of_dumps(const AuditResult& result, const Terminal& terminal) {
  const IdSpace& space = result.space;
  std::string out;
  for (const DumpSummary& dump : result.dumps) {
    out += terminal.paint(ink::bold, one_line(dump.name)) + "  " + dump.format + ", " + count_of(dump.ids, "id") + '\n';
  }
  if (space.title().empty()) {
    out += "plain numbers; --layout LAYOUT or --config FILE would say more about snowflakes\n";
  } else {
    out += "layout " + space.title() + '\n';
  }
  if (result.broken.count > 0) {
    out += terminal.paint(ink::yellow, count_of(result.broken.count, "row")) + " without an id";
    out += result.broken.count > result.broken.first.size() ? ", the first of them:\n" : ":\n";
    for (const BrokenRows::Row& row : result.broken.first) {
      out += "  " + one_line(row.dump) + ", row " + grouped(row.row) + ": " + row.why + '\n';
    }
  }
  const SortedPass& sorted = *result.sorted;
  out += '\n' + count_of(result.flow.ids(), "id") + ", " + grouped(sorted.different()) + " of them different";
  if (sorted.duplicated() > 0) out += "; " + grouped(sorted.duplicated()) + " came more than once";
  out += '\n';
  if (space.has_time()) {
    out += "from " + instant(space.unix_ms_of(result.flow.earliest())) + " to " +
           instant(space.unix_ms_of(result.flow.latest())) + '\n';
  } else {
    out += "from " + std::to_string(space.id_of(sorted.least())) + " to " +
           std::to_string(space.id_of(sorted.largest())) + '\n';
  }
  const auto odd = [&](std::uint64_t count, const std::string& what) {
    if (count == 0) return;
    out += terminal.paint(ink::yellow, count_of(count, "id")) + ' ' + what +
           (2 * count > result.flow.ids() ? ": is this their layout?" : "") + '\n';
  };
  odd(result.flow.in_future(), "from the future");
  odd(result.flow.in_first_day(), "of the first day of the layout's epoch, " + instant(space.epoch_unix_ms()));
  return out;
}

// ---- JSON

void add_time(JsonObject& object, const IdSpace& space, const std::string& name, std::uint64_t tick) {
  date(object, name.c_str(), space.unix_ms_of(tick));
}

std::string json_of_summary(const AuditResult& result) {
  const IdSpace& space = result.space;
  JsonObject object;
  object.text("record", "summary").text("layout", space.title());
  object.number("ids", result.flow.ids()).number("different", result.sorted->different());
  object.number("duplicated", result.sorted->duplicated()).number("extra_copies", result.sorted->extra());
  object.number("broken_rows", result.broken.count);
  object.number("steps_back", result.flow.steps_back()).number("steps_back_overall", result.flow.overall().count);
  std::uint64_t node = 0;
  if (const StepBack* const step = largest_step(result, node)) {
    const std::uint64_t size = size_of(*step, space);
    object.number("largest_step_back", space.has_time() ? size * static_cast<std::uint64_t>(space.tick_ms()) : size);
    object.text("largest_step_back_at", result.place(step->dump, step->row));
  }
  if (space.has_time()) {
    add_time(object, space, "first", result.flow.earliest());
    add_time(object, space, "last", result.flow.latest());
    object.number("in_future", result.flow.in_future()).number("in_first_day", result.flow.in_first_day());
    object.number("workers", result.sorted->worker_count());
  } else {
    object.text("first", std::to_string(space.id_of(result.sorted->least())));
    object.text("last", std::to_string(space.id_of(result.sorted->largest())));
  }
  return object.real("seconds", rounded(result.seconds, 3)).str() + '\n';
}

std::string json_of_finding(const AuditResult& result, const Finding& finding) {
  const IdSpace& space = result.space;
  const Incident& incident = finding.incident;
  JsonObject object;
  object.text("record", "duplicates");
  std::vector<std::string> names;
  for (const Cause cause : finding.verdict.causes) names.emplace_back(name_of(cause));
  object.text("likely", names.size() == 1 ? names.front() : "");
  object.text("possible", joined_words(names, " "));
  object.number("ids", incident.ids).number("extra_copies", incident.extra).number("single", incident.single);
  object.text("worker", finding.workers == 1 ? space.name_of(incident.node) : "");
  object.number("workers", finding.workers);
  object.text("first_id", std::to_string(space.id_of(incident.first)));
  object.text("last_id", std::to_string(space.id_of(incident.last)));
  if (space.has_time()) {
    add_time(object, space, "first", space.tick_of(incident.first));
    add_time(object, space, "last", space.tick_of(incident.last));
  }
  object.text("example", std::to_string(finding.example)).text("places", joined_words(finding.places, "; "));
  object.text("evidence", joined_words(finding.verdict.evidence, ". "));
  return object.text("advice", advice_of(finding.verdict.causes.front(), space.has_time())).str() + '\n';
}

std::string json_of_worker(const AuditResult& result, const WorkerSummary& worker) {
  const IdSpace& space = result.space;
  JsonObject object;
  object.text("record", "worker").text("worker", space.name_of(worker.node));
  object.number("ids", worker.ids).number("duplicated", worker.duplicated);
  add_time(object, space, "first", space.tick_of(worker.first));
  add_time(object, space, "last", space.tick_of(worker.last));
  const auto tick_ms = static_cast<std::uint64_t>(space.tick_ms());
  object.number("ticks", worker.ticks).number("full_ticks", worker.full_ticks).number("peak", worker.peak);
  add_time(object, space, "peak_at", worker.peak_tick);
  object.number("longest_gap_ms", worker.longest_gap * tick_ms);
  const auto steps = result.flow.workers_with_steps().find(worker.node);
  const bool has_steps = steps != result.flow.workers_with_steps().end();
  object.number("steps_back", has_steps ? steps->second.count : 0);
  object.number("largest_step_back_ms", has_steps && !steps->second.largest.empty()
                                            ? size_of(steps->second.largest.front(), space) * tick_ms
                                            : 0);
  return object.str() + '\n';
}

std::string json_of_rates(const AuditResult& result) {
  const Rates& rates = result.sorted->rates();
  std::string out;
  for (std::size_t i = 0; i < rates.all.size(); ++i) {
    JsonObject object;
    object.text("record", "rate");
    const auto tick = static_cast<std::uint64_t>(static_cast<double>(i) * rates.ticks_per_stretch);
    add_time(object, result.space, "from", rates.first_tick + tick);
    object.real("seconds", rounded(rates.ticks_per_stretch * static_cast<double>(result.space.tick_ms()) / 1000, 6));
    out += object.number("ids", rates.all[i]).number("duplicated", rates.duplicated[i]).str() + '\n';
  }
  return out;
}

}  // namespace

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : grouped(count) + " times";
}

std::string AuditResult::worker(std::uint64_t node) const { return space.has_nodes() ? space.name_of(node) : "all"; }

std::string AuditResult::place(std::size_t dump, std::uint64_t row) const {
  return (dumps[dump].has_lines ? "line " : "id number ") + grouped(row) +
         (dumps.size() > 1 ? " of " + one_line(dumps[dump].name) : "");
}

std::string report_of(const AuditResult& result, const Terminal& terminal) {
  return of_dumps(result, terminal) + of_duplicates(result, terminal) + of_order(result, terminal) +
         of_workers(result, terminal) + of_rates(result, terminal) + of_shards(result, terminal);
}

std::string json_of(const AuditResult& result) {
  std::string out = json_of_summary(result);
  for (const DumpSummary& dump : result.dumps) {
    JsonObject object;
    object.text("record", "dump").text("name", dump.name).text("format", dump.format);
    out += object.number("ids", dump.ids).str() + '\n';
  }
  for (const BrokenRows::Row& row : result.broken.first) {
    JsonObject object;
    object.text("record", "broken_row").text("dump", row.dump).number("row", row.row);
    out += object.text("why", row.why).str() + '\n';
  }
  for (const Finding& finding : result.findings) out += json_of_finding(result, finding);
  if (result.space.has_time()) {
    for (const WorkerSummary& worker : result.sorted->workers()) out += json_of_worker(result, worker);
    out += json_of_rates(result);
  }
  if (result.shards) {
    const Evenness& even = result.shards->evenness;
    JsonObject object;
    object.text("record", "evenness").text("by", result.shards->title).real("chi_squared", even.chi_squared);
    object.number("degrees_of_freedom", even.degrees).real("p", even.p);
    object.real("fullest", even.fullest).real("emptiest", even.emptiest);
    out += object.text("meaning", sentence_of(even)).str() + '\n';
    for (std::size_t i = 0; i < result.shards->counts.size(); ++i) {
      JsonObject shard;
      shard.text("record", "shard").text("shard", result.shards->names[i]);
      out += shard.number("ids", result.shards->counts[i]).str() + '\n';
    }
  }
  return out;
}

}  // namespace idgen_tool
