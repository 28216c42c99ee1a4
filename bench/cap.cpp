#include <sys/resource.h>
#include <time.h>

#include "commands.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"

namespace bench {
namespace {

constexpr int kTimeShift = 22;
constexpr double kPerMs = 4096;

double cpu_ns() {  // of the whole process, including background threads
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

struct Sample {
  double share;
  double cpu_per_id;
  double cpu_share;
};

// One second of drawing as fast as possible. Starts at a tick, so that a partial tick does not count as a whole one.
template <class Draw>
Sample one_second(idgen_t* generator, Draw draw) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  const std::uint64_t tick = next(generator, error) >> kTimeShift;
  while (next(generator, error) >> kTimeShift == tick) {
  }
  const double cpu = cpu_ns();
  const auto start = Clock::now();
  std::uint64_t count = 1;
  double ns;
  do {
    count += draw();
    ns = ns_since(start);
  } while (ns < 1e9);
  const double used = cpu_ns() - cpu;
  const auto ids = static_cast<double>(count);
  return {ids / (ns / 1e6 * kPerMs), used / ids, used / ns};
}

// What the machine allows a thread that sleeps until the next tick: the share of ticks in which it is awake if it does
// nothing else. A missed tick is 4096 ids that cannot be made up for.
double sleeper() {
  const auto wall_ns = [] {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  };
  constexpr std::int64_t kTickNs = 1'000'000;
  const auto next_tick = [&](std::int64_t tick) {
    std::int64_t now = wall_ns();
    for (; now / kTickNs == tick; now = wall_ns()) {
      const timespec left{0, kTickNs - now % kTickNs};
      nanosleep(&left, nullptr);
    }
    return now / kTickNs;
  };
  std::int64_t tick = next_tick(wall_ns() / kTickNs);
  const auto start = Clock::now();
  int awake = 0;
  double ns;
  do {
    tick = next_tick(tick);
    ++awake;
    ns = ns_since(start);
  } while (ns < 1e9);
  return awake / (ns / 1e6);
}

}  // namespace

void cap(int rounds) {
  const Generator generator(twelve_bits());
  idgen_error_t error = IDGEN_ERROR_INIT;
  std::uint64_t ids[1024];
  const auto singly = [&] {
    for (int i = 0; i < 1024; ++i) ids[i] = next(generator.get(), error);
    return 1024;
  };
  const auto batch = [&] {
    fill(generator.get(), ids, 1024, error);
    return 1024;
  };
  std::vector<Sample> single, batched;
  std::vector<double> ticks;
  for (int round = 0; round < rounds; ++round) {
    ticks.push_back(sleeper());
    single.push_back(one_second(generator.get(), singly));
    batched.push_back(one_second(generator.get(), batch));
  }

  Json json;
  json.open();
  json.numbers("ticks_awake", ticks);
  const auto print = [&json](const char* name, const std::vector<Sample>& samples) {
    std::vector<double> share, per_id, of_core;
    for (const Sample& sample : samples) {
      share.push_back(sample.share);
      per_id.push_back(sample.cpu_per_id);
      of_core.push_back(sample.cpu_share);
    }
    json.open(name)
        .numbers("share_of_cap", share)
        .numbers("cpu_ns_per_id", per_id)
        .numbers("cpu_share", of_core)
        .close();
  };
  print("next", single);
  print("batch", batched);
  json.close().print();
}

}  // namespace bench
