// Five million ids per second, paced, from one thread, while refills run in the background. Counts the calls that
// waited, and times every single call, beside a bare fetch_add that is paced and timed in the same way and shows what
// is due to the machine.
#include <idgen/host.h>

#include <atomic>
#include <memory>
#include <thread>

#include "commands.hpp"
#include "floors.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"
#include "paced.hpp"

namespace bench {
namespace {

constexpr const char* kStep = "1000000";  // a fifth of a second

// A store that answers late and never fails.
struct SlowStore {
  std::chrono::milliseconds delay;
  std::atomic<std::uint64_t> last{0};
};

idgen_status_t take_slowly(void* ctx, const idgen_segment_request_t* request, idgen_segment_t* segment,
                           idgen_error_t*) {
  auto& store = *static_cast<SlowStore*>(ctx);
  std::this_thread::sleep_for(store.delay);
  segment->first = store.last.fetch_add(request->count) + 1;
  return IDGEN_OK;
}

void release_store(void* ctx) { delete static_cast<SlowStore*>(ctx); }

Generator on_slow_store(int ms, bool adapts) {
  Config config({{"kind", "segment"}, {"tag", "slow"}});
  if (!adapts) {
    config.set("segment.step", kStep);
    config.set("segment.runway", "0");
  }
  idgen_store_t store{};
  store.struct_size = sizeof store;
  store.segment_take = take_slowly;
  store.release = release_store;
  auto context = std::make_unique<SlowStore>();
  context->delay = std::chrono::milliseconds(ms);
  idgen_error_t error = IDGEN_ERROR_INIT;
  check(idgen_config_set_store(config.get(), &store, context.get(), &error), error);
  context.release();  // the library's from here on
  return Generator(config);
}

}  // namespace

void refill(const std::string& folder, int seconds) {
  const std::string store = "sqlite:" + folder + "/refill.db";
  struct Contest {
    std::string name;
    Generator generator;
    idgen_stats_t before{};
    Tally tally{};
  };
  std::vector<Contest> contests;
  contests.push_back({"segment, SQLite", Generator({{"kind", "segment"},
                                                    {"tag", "refill"},
                                                    {"store", store},
                                                    {"store_create", "true"},
                                                    {"segment.step", kStep},
                                                    {"segment.runway", "0"}})});
  contests.push_back(
      {"snowflake, SQLite",
       Generator({{"layout", "time:41ms sequence:22"}, {"store", store}, {"store_create", "true"}, {"window", "1s"}})});
  for (const int ms : {1, 20, 100}) {
    contests.push_back({"segment, a store that answers in " + std::to_string(ms) + " ms", on_slow_store(ms, false)});
  }
  contests.push_back({"segment as it is by default, a store that answers in 100 ms", on_slow_store(100, true)});

  Shared counter;
  Tally floor;
  for (Contest& contest : contests) {
    idgen_error_t error = IDGEN_ERROR_INIT;
    const auto draw = [&] { next(contest.generator.get(), error); };
    // Without a pause: a snowflake generator that is idle for longer than its window must first request another.
    paced(seconds / static_cast<double>(contests.size()), floor, [&] { fetch_add(counter, 1); });
    Tally warm;
    paced(3, warm, draw);  // by default segments begin small, and double until they are large enough
    contest.before = contest.generator.stats();
    paced(seconds, contest.tally, draw);
  }

  Json json;
  json.open();
  write(json, "fetch_add", floor);
  json.close();
  for (const Contest& contest : contests) {
    const idgen_stats_t after = contest.generator.stats();
    write(json, contest.name, contest.tally);
    json.number("store_waits", static_cast<double>(after.store_waits - contest.before.store_waits));
    json.number("refills", static_cast<double>(after.refills - contest.before.refills));
    json.number("refill_ms_max", static_cast<double>(after.refill_ns_max) / 1e6);
    json.close();
  }
  json.close().print();
}

}  // namespace bench
