// idgen plan: layouts for a team's own numbers, with their arithmetic.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "layout/layout_plan.hpp"
#include "shared/command.hpp"
#include "shared/decoded.hpp"
#include "shared/layout_fields.hpp"
#include "shared/output.hpp"
#include "shared/terminal.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
A snowflake's bits are divided between the time, which worker made the id, and a count within the tick. Of the layouts
that do, the one with the finest tick is the best: ids of different processes are in order down to its tick. What is
left over goes to bursts, growth and time.

The busiest process is taken to draw twice an even share; --busiest says it if you know. Workers are planned for twice
the processes: while one replaces another, both have a number (worker = "auto").

With --json: one object per line: kind, layout, fits, missing_bits, tick_ms, bits, needed_time, needed_worker,
needed_sequence, last, last_unix_ms, workers, ids_per_second (of one process), for each snowflake; then kind, bits,
years (how long they last at the rate) for counting (kind = "segment").
)";

constexpr std::uint64_t kMostRate = 1'000'000'000'000;
constexpr std::uint64_t kMostHosts = 1'000'000'000;
constexpr std::uint64_t kMostYears = 1000;
constexpr double kMsPerYear = 365.25 * 86'400'000;

struct Arguments {
  std::uint64_t rate = 0;
  std::uint64_t hosts = 1;
  std::uint64_t years = 10;
  std::uint64_t busiest = 0;
  std::string epoch;
  bool js_safe = false;
  bool json = false;
};

struct Candidate {
  LayoutPlan plan;
  unsigned missing = 0;
  idgen_layout_info_t info = IDGEN_LAYOUT_INFO_INIT;  // if it fits
};

struct Plan {
  LayoutRequest request;
  std::vector<Candidate> candidates;
  std::vector<std::string> presets;  // that do as they are
  double segment_years = 0;

  const Candidate* best() const {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [](const auto& c) { return c.missing == 0; });
    return found == candidates.end() ? nullptr : &*found;
  }
};

void expect_between(const char* option, std::uint64_t given, std::uint64_t least, std::uint64_t most) {
  if (given >= least && given <= most) return;
  throw UsageError(std::string(option) + ": " + std::to_string(given) +
                   " is out of range; allowed: " + std::to_string(least) + " to " + std::to_string(most));
}

bool does(const idgen_layout_info_t& info, const LayoutRequest& request) {
  constexpr std::uint32_t needed = IDGEN_FIELD_TIME | IDGEN_FIELD_SEQUENCE;
  return (info.fields & needed) == needed && info.bits <= request.bits && info.is_unsigned == 0 &&
         info.last_unix_ms >= request.end_unix_ms && info.workers >= 2 * request.hosts &&
         info.ids_per_second >= static_cast<double>(request.busiest);
}

Plan plan_for(const Arguments& arguments) {
  expect_between("--rate", arguments.rate, 1, kMostRate);
  expect_between("--hosts", arguments.hosts, 1, kMostHosts);
  expect_between("--years", arguments.years, 1, kMostYears);
  if (arguments.busiest > arguments.rate) {
    throw UsageError("--busiest: " + std::to_string(arguments.busiest) + " is more than --rate, " +
                     std::to_string(arguments.rate) + ", which is what all processes draw together");
  }
  Plan plan;
  LayoutRequest& request = plan.request;
  const std::uint64_t twice_a_share = 2 * (arguments.rate / arguments.hosts + (arguments.rate % arguments.hosts != 0));
  request.busiest = arguments.busiest != 0 ? arguments.busiest : std::min(arguments.rate, twice_a_share);
  request.hosts = arguments.hosts;
  request.bits = arguments.js_safe ? 53 : 63;
  request.epoch_unix_ms = info_of(make_layout("default", arguments.epoch)).epoch_unix_ms;
  request.end_unix_ms = now_unix_ms() + static_cast<std::int64_t>(static_cast<double>(arguments.years) * kMsPerYear);
  for (const LayoutPlan& layout : plan_layouts(request)) {
    Candidate candidate{layout, layout.missing(request.bits), IDGEN_LAYOUT_INFO_INIT};
    if (candidate.missing == 0) candidate.info = info_of(make_layout(layout.text(), arguments.epoch));
    plan.candidates.push_back(candidate);
  }
  for (const std::string& preset : preset_names()) {
    if (does(info_of(make_layout(preset)), request)) plan.presets.push_back(preset);
  }
  const double numbers = static_cast<double>(largest(request.bits));
  plan.segment_years = numbers / static_cast<double>(arguments.rate) * 1000 / kMsPerYear;
  return plan;
}

std::string as_json(const Candidate& candidate) {
  const LayoutPlan& plan = candidate.plan;
  JsonObject object;
  object.text("kind", "snowflake").text("layout", plan.text()).boolean("fits", candidate.missing == 0);
  object.number("missing_bits", candidate.missing).signed_number("tick_ms", plan.tick_ms);
  object.number("bits", plan.bits.sum()).number("needed_time", plan.needed.time);
  object.number("needed_worker", plan.needed.worker).number("needed_sequence", plan.needed.sequence);
  if (candidate.missing == 0) {
    date(object, "last", candidate.info.last_unix_ms).signed_number("last_unix_ms", candidate.info.last_unix_ms);
    object.number("workers", candidate.info.workers).real("ids_per_second", candidate.info.ids_per_second);
  }
  return object.str();
}

std::string day(std::int64_t unix_ms) {
  const auto time = rfc3339(unix_ms);
  return time ? time->substr(0, 10) : "after 9999";
}

std::string row(const Candidate& candidate, const Terminal& terminal) {
  const std::string layout = padded(candidate.plan.text(), 42);
  if (candidate.missing > 0) {
    const std::string bits = std::to_string(candidate.missing) + (candidate.missing == 1 ? " bit" : " bits");
    return layout + terminal.paint(ink::red, bits + " too many") + '\n';
  }
  const idgen_layout_info_t& info = candidate.info;
  return layout + padded(day(info.last_unix_ms), 12) + right_aligned(grouped(info.workers), 12) +
         right_aligned(approximate(info.ids_per_second), 16) + '\n';
}

std::string processes(std::uint64_t count) { return grouped(count) + (count == 1 ? " process" : " processes"); }

std::string arithmetic(const Plan& plan, const Candidate& best, const Terminal& terminal) {
  const LayoutPlan& layout = best.plan;
  std::string out;
  const auto line = [&](const char* name, unsigned bits, unsigned needed, const std::string& what) {
    const std::string spare = bits > needed ? ", " + std::to_string(bits - needed) + " more than needed" : "";
    out += "  " + terminal.paint(ink::dim, padded(name, 10)) + right_aligned(std::to_string(bits), 2) + " bits  " +
           what + spare + '\n';
  };
  const std::uint64_t per_tick = largest(layout.bits.sequence) + 1;
  line("time", layout.bits.time, layout.needed.time,
       "2^" + std::to_string(layout.bits.time) + " ticks of " + grouped(static_cast<std::uint64_t>(layout.tick_ms)) +
           " ms from " + day(best.info.epoch_unix_ms) + " last until " + day(best.info.last_unix_ms));
  line("worker", layout.bits.worker, layout.needed.worker,
       grouped(best.info.workers) + " numbers for " + processes(plan.request.hosts) + " and as many successors");
  line("sequence", layout.bits.sequence, layout.needed.sequence,
       grouped(per_tick) + " ids in a tick, for " + grouped(plan.request.busiest) + " a second");
  return out;
}

std::string as_lines(const Arguments& arguments, const Plan& plan, const Terminal& terminal) {
  constexpr std::size_t kWidth = 100;
  const LayoutRequest& request = plan.request;
  std::string asked = grouped(arguments.rate) + " ids/s";
  if (request.hosts > 1) asked += ", at most " + grouped(request.busiest) + " from one of " + processes(request.hosts);
  asked += ", until " + day(request.end_unix_ms) + ", in " + std::to_string(request.bits) + " bits";
  if (arguments.js_safe) asked += ", which JavaScript's numbers hold";
  std::string out = wrapped(asked, 0, kWidth) + '\n';
  out += terminal.paint(ink::bold, padded("snowflake", 42) + padded("last id", 12) + right_aligned("workers", 12) +
                                       right_aligned("ids/s of one", 16)) +
         '\n';
  for (const Candidate& candidate : plan.candidates) out += row(candidate, terminal);
  out += '\n';
  const Candidate* const best = plan.best();
  if (best != nullptr) {
    out += terminal.paint(ink::bold, best->plan.text()) + '\n' + arithmetic(plan, *best, terminal) + '\n';
  } else {
    const std::string wider = arguments.js_safe ? ", 63 bits (without --js-safe: then send ids as texts)" : "";
    out += wrapped("None fits. Fewer years, processes or ids per second" + wider + ", or counted ids:", 0, kWidth);
    out += '\n';
  }
  if (!plan.presets.empty())
    out += wrapped("Presets that do as they are: " + listed(plan.presets) + ".", 0, kWidth) + '\n';
  const std::string years =
      plan.segment_years < 100 ? fixed(plan.segment_years, 1) : approximate(std::floor(plan.segment_years));
  out +=
      wrapped("Counted ids (kind = \"segment\") need no worker and no clock, are short, and show how many there are: " +
                  std::to_string(request.bits) + " bits last " + years + " years at this rate.",
              0, kWidth);
  if (best == nullptr) return out;
  out += "\n[ids]\nkind = \"snowflake\"\nlayout = \"" + best->plan.text() + "\"\n";
  if (!arguments.epoch.empty()) out += "epoch = " + instant(best->info.epoch_unix_ms) + '\n';
  return out + "worker = \"auto\"\nstore = \"postgres://user@host/ids\"  # or mysql, redis, etcd, zookeeper, sqlite\n";
}

int show(const Arguments& arguments) {
  const Plan plan = plan_for(arguments);
  Output out;
  if (arguments.json) {
    for (const Candidate& candidate : plan.candidates) out.line(as_json(candidate));
    JsonObject counted;
    counted.text("kind", "segment").number("bits", plan.request.bits).real("years", plan.segment_years);
    out.line(counted.str());
  } else {
    out.write(as_lines(arguments, plan, Terminal(stdout)));
  }
  out.flush();
  return kExitOk;
}

}  // namespace

Command plan_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "plan",
      .summary = "Propose layouts for a rate, a number of processes and a time to last, with their arithmetic.",
      .usage = {"--rate N [--hosts N] [--years N] [--busiest N] [--epoch TIME] [--js-safe] [--json]"},
      .details = kDetails,
      .examples = {"idgen plan --rate 2000 --hosts 3 --years 30 --js-safe", "idgen plan --rate 400000 --hosts 200",
                   "idgen plan --rate 3000000 --years 20", "idgen plan --rate 50000 --hosts 40 --json | jq .layout"},
      .options = {{.names = "--rate",
                   .placeholder = "N",
                   .help = "Ids per second at the peak, of all processes together.",
                   .target = &arguments->rate,
                   .is_required = true},
                  {.names = "--hosts",
                   .placeholder = "N",
                   .help = "Processes that make ids at the same time. Default: 1.",
                   .target = &arguments->hosts},
                  {.names = "--years",
                   .placeholder = "N",
                   .help = "How long it is to last, from today. Default: 10.",
                   .target = &arguments->years},
                  {.names = "--busiest",
                   .placeholder = "N",
                   .help = "Ids per second of the busiest process. Default: twice an even share.",
                   .target = &arguments->busiest},
                  epoch_option(arguments->epoch),
                  {.names = "--js-safe",
                   .help = "Ids that JavaScript's numbers hold: 53 bits.",
                   .target = &arguments->js_safe},
                  {.names = "--json", .help = "JSON, one object per line.", .target = &arguments->json}},
      .run = [arguments] { return show(*arguments); },
  };
}

}  // namespace idgen_tool
