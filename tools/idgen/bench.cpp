// idgen bench: how fast this machine makes ids, beside the cost of the steps that cannot be left out.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "shared/command.hpp"
#include "shared/handles.hpp"
#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/terminal.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Takes about three seconds on one thread, with the memory store, so that no disk is measured (and with
segments so large that no refill is). Rows are taken in turns, 7 times;
the figure is the median. Read the ratios: they hold on other machines, nanoseconds do not.

A floor is work that every generator must do, measured in the same run:
  one fetch_add          a counter that threads share
  clock + one CAS        clock_gettime(CLOCK_REALTIME) and one compare-and-set: a time-ordered counter
  storing 8 bytes        an array of 1024 ids filled by a loop
`share of the cap` draws with 41 bits of ms and 12 of sequence: the format itself allows 4096 ids per millisecond.

With --json each row is one object on a line: name, ns_per_id, ids_per_second, floor (the name of its floor; null for a
floor itself), times_floor (its time divided by the floor's), share_of_cap (1 is all that the format allows;
null in all rows but that one).
)";

constexpr int kRounds = 7;
constexpr std::size_t kBatch = 1024;
using Clock = std::chrono::steady_clock;

// Makes the compiler believe that the value is used.
template <typename T>
void keep(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

struct Row {
  std::string name;
  int floor;                             // index of its floor; -1: is one
  std::function<void(std::size_t)> run;  // makes this many ids
  std::size_t count = 0;
  std::vector<double> ns{};

  double median() {
    std::nth_element(ns.begin(), ns.begin() + kRounds / 2, ns.end());
    return ns[kRounds / 2];
  }
};

double time_ns(const Row& row, std::size_t count) {
  const auto begin = Clock::now();
  row.run(count);
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// As many ids as fit into about 30 ms.
void calibrate(Row& row) {
  std::size_t count = kBatch;
  for (;;) {
    const double ns = time_ns(row, count);
    if (ns >= 5e6) {
      row.count = static_cast<std::size_t>(static_cast<double>(count) * 30e6 / ns) / kBatch * kBatch + kBatch;
      return;
    }
    count *= 4;
  }
}

Generator make(std::initializer_list<std::pair<const char*, const char*>> properties) {
  const Config config = make_config();
  for (const auto& [key, value] : properties) set(config, key, value);
  return make_generator(config);
}

void next_loop(idgen_t* generator, std::size_t count) {
  ErrorSlot error;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t id;
    check(idgen_next(generator, &id, error), error);
    keep(id);
  }
}

void batch_loop(idgen_t* generator, std::size_t count) {
  ErrorSlot error;
  std::uint64_t ids[kBatch];
  for (std::size_t i = 0; i < count; i += kBatch) {
    std::size_t written = 0;
    check(idgen_next_batch(generator, ids, kBatch, &written, error), error);
    std::uint64_t* seen = ids;
    keep(seen);
  }
}

std::int64_t realtime_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Ids of whole ticks divided by their time: from the first id of one tick to the first id of another. Where the thread
// was stopped before it looked at the clock, the clock says less than the ticks, and the ticks count.
double share_of_cap() {
  constexpr int tick_shift = 22;
  const Generator generator =
      make({{"store", "memory:bench-cap"}, {"layout", "time:41ms worker:10 sequence:12"}, {"worker", "1"}});
  ErrorSlot error;
  std::uint64_t first;
  check(idgen_next(generator.get(), &first, error), error);
  std::uint64_t id = first;
  while (id >> tick_shift == first >> tick_shift) check(idgen_next(generator.get(), &id, error), error);
  const auto begin = Clock::now();
  std::uint64_t count = 0;
  const std::uint64_t first_tick = id >> tick_shift;
  std::uint64_t tick = first_tick;
  for (;;) {
    ++count;
    check(idgen_next(generator.get(), &id, error), error);
    if (id >> tick_shift == tick) continue;
    tick = id >> tick_shift;
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    if (ms >= 500) return static_cast<double>(count) / (std::max(ms, static_cast<double>(tick - first_tick)) * 4096);
  }
}

constexpr const char* kShareOfCap = "share of the cap, 12-bit sequence";

std::string as_table(std::vector<Row>& rows, double share, const Terminal& terminal) {
  std::string out = terminal.paint(ink::bold, padded("", 34) + right_aligned("ns an id", 10) +
                                                  right_aligned("ids/s", 16) + "  against its floor") +
                    '\n';
  for (Row& row : rows) {
    const double ns = row.median();
    std::string line =
        padded(row.name, 34) + right_aligned(fixed(ns, 2), 10) + right_aligned(approximate(1e9 / ns), 16);
    if (row.floor < 0) {
      out += terminal.paint(ink::dim, line + "  floor") + '\n';
    } else {
      Row& floor = rows[static_cast<std::size_t>(row.floor)];
      out += line + "  " + fixed(ns / floor.median(), 2) + " x " + floor.name + '\n';
    }
  }
  return out + padded(kShareOfCap, 34) + right_aligned(fixed(share * 100, 2), 10) + " % of 4096 a millisecond\n";
}

std::string as_json(std::vector<Row>& rows, double share) {
  std::string out;
  const auto line = [&](const std::string& name, double ns, Row* floor, bool is_share) {
    JsonObject object;
    object.text("name", name).real("ns_per_id", rounded(ns, 3)).real("ids_per_second", std::round(1e9 / ns));
    floor ? object.text("floor", floor->name) : object.null("floor");
    floor ? object.real("times_floor", rounded(ns / floor->median(), 3)) : object.null("times_floor");
    is_share ? object.real("share_of_cap", rounded(share, 4)) : object.null("share_of_cap");
    out += object.str() + '\n';
  };
  for (Row& row : rows) {
    line(row.name, row.median(), row.floor < 0 ? nullptr : &rows[static_cast<std::size_t>(row.floor)], false);
  }
  line(kShareOfCap, 1e6 / (4096 * share), nullptr, true);
  return out;
}

int bench(bool json) {
  std::atomic<std::uint64_t> shared{0};
  const Generator segment = make({{"kind", "segment"},
                                  {"store", "memory:bench"},
                                  {"tag", "bench"},
                                  {"store_create", "true"},
                                  {"segment.step", "100000000"}});
  const Generator snowflake =
      make({{"store", "memory:bench"}, {"layout", "time:40ms worker:1 sequence:22"}, {"worker", "1"}});

  std::vector<Row> rows = {
      {"one fetch_add", -1,
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; ++i) {
           std::uint64_t id = shared.fetch_add(1, std::memory_order_relaxed);
           keep(id);
         }
       }},
      {"clock + one CAS", -1,
       [&](std::size_t count) {
         for (std::size_t i = 0; i < count; ++i) {
           auto now = static_cast<std::uint64_t>(realtime_ns());
           std::uint64_t seen = shared.load(std::memory_order_relaxed);
           shared.compare_exchange_strong(seen, now, std::memory_order_relaxed);
           keep(now);
         }
       }},
      {"storing 8 bytes", -1,
       [&](std::size_t count) {
         std::uint64_t ids[kBatch];
         for (std::size_t i = 0; i < count; i += kBatch) {
           for (std::size_t j = 0; j < kBatch; ++j) ids[j] = i + j;
           std::uint64_t* seen = ids;
           keep(seen);
         }
       }},
      {"segment next", 0, [&](std::size_t count) { next_loop(segment.get(), count); }},
      {"snowflake next, 22-bit sequence", 1, [&](std::size_t count) { next_loop(snowflake.get(), count); }},
      {"segment batch of 1024", 2, [&](std::size_t count) { batch_loop(segment.get(), count); }},
      {"snowflake batch of 1024", 2, [&](std::size_t count) { batch_loop(snowflake.get(), count); }},
  };
  for (Row& row : rows) calibrate(row);
  for (int round = 0; round < kRounds; ++round) {
    for (Row& row : rows) row.ns.push_back(time_ns(row, row.count) / static_cast<double>(row.count));
  }

  const double share = share_of_cap();
  print(json ? as_json(rows, share) : as_table(rows, share, Terminal(stdout)));
  return kExitOk;
}

}  // namespace

Command bench_command() {
  auto json = std::make_shared<bool>(false);
  return {
      .name = "bench",
      .summary = "Measure id generation on this machine, beside its floors.",
      .usage = {"[--json]"},
      .details = kDetails,
      .examples = {"idgen bench"},
      .options = {{.names = "--json", .help = "One JSON object for each row.", .target = json.get()}},
      .run = [json] { return bench(*json); },
  };
}

}  // namespace idgen_tool
