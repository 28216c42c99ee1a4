#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

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

// What the machine allows a thread that waits for each next tick and does nothing else: the share of ticks in which it
// is awake. It sleeps until `early_ns` before the tick, and waits for the rest awake.
Sample waiter(std::int64_t early_ns) {
  const auto wall_ns = [] {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  };
  constexpr std::int64_t kTickNs = 1'000'000;
  const auto next_tick = [&](std::int64_t tick) {
    std::int64_t now = wall_ns();
    if (const std::int64_t left = kTickNs - now % kTickNs - early_ns; now / kTickNs == tick && left > 0) {
      const timespec asleep{0, left};
      nanosleep(&asleep, nullptr);
    }
    while ((now = wall_ns()) / kTickNs == tick) {
    }
    return now / kTickNs;
  };
  std::int64_t tick = next_tick(wall_ns() / kTickNs);
  const double cpu = cpu_ns();
  const auto start = Clock::now();
  int awake = 0;
  double ns;
  do {
    tick = next_tick(tick);
    ++awake;
    ns = ns_since(start);
  } while (ns < 1e9);
  return {awake / (ns / 1e6), 0, (cpu_ns() - cpu) / ns};
}

// Processes that want the processors, two for each.
class Crowd {
 public:
  Crowd() {
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    for (long i = 0; i < 2 * processors; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned turns = 0;;) turns = turns + 1;
      }
      children_.push_back(child);
    }
  }
  ~Crowd() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::vector<pid_t> children_;
};

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
  std::vector<std::pair<const char*, std::function<Sample()>>> subjects{
      {"asleep", [] { return waiter(0); }},
      {"early", [] { return waiter(150'000); }},
      {"awake", [] { return waiter(1'000'000); }},
      {"next", [&] { return one_second(generator.get(), singly); }},
      {"batch", [&] { return one_second(generator.get(), batch); }}};

  Json json;
  json.open();
  for (const bool is_crowded : {false, true}) {
    std::optional<Crowd> crowd;
    if (is_crowded) crowd.emplace();
    std::vector<std::vector<Sample>> samples(subjects.size());
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < subjects.size(); ++i) samples[i].push_back(subjects[i].second());
    }
    json.open(is_crowded ? "crowded" : "quiet");
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      std::vector<double> share, per_id, of_core;
      for (const Sample& sample : samples[i]) {
        share.push_back(sample.share);
        per_id.push_back(sample.cpu_per_id);
        of_core.push_back(sample.cpu_share);
      }
      json.open(subjects[i].first)
          .numbers("share_of_cap", share)
          .numbers("cpu_ns_per_id", per_id)
          .numbers("cpu_share", of_core)
          .close();
    }
    json.close();
  }
  json.close().print();
}

}  // namespace bench
