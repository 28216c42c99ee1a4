// The real core on simulated machines: one seed decides everything. Processes are killed at any point, taken over while
// they are paused, their clocks jump, acknowledgements are lost, the store fails. The oracle knows every id ever
// issued.
//
// IDGEN_SIM_SEEDS=N runs N seeds; IDGEN_SIM_SEED=S runs seed S alone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>

#include "idgen/handle.hpp"
#include "sim/held_locks.hpp"
#include "sim/sim_runtime.hpp"
#include "sim/sim_store.hpp"

namespace idgen::sim {
namespace {

// A machine with its own clock, running at most one process.
struct Machine {
  std::shared_ptr<SimRuntime> runtime;
  std::shared_ptr<SimStore> store;
  std::unique_ptr<Handle> handle;
  bool timed = false;
  bool strict = false;
  std::string tag;  // empty: snowflake
  std::uint64_t last = 0;
};

struct Outcome {
  std::uint64_t ids = 0;
  std::uint64_t kills = 0;
  std::uint64_t takeovers = 0;
  std::optional<std::string> violation;
};

// Host code that ran while its thread held a lock, which could deadlock with the host's own locks.
std::uint64_t host_calls = 0, host_calls_under_a_lock = 0;

class Simulation {
 public:
  Simulation(std::uint64_t seed, SimDisk disk) : random_(seed), disk_(std::move(disk)) {
    for (auto& machine : machines_) machine.runtime = std::make_shared<SimRuntime>(random_());
    in_host_code = [] {
      ++host_calls;
      host_calls_under_a_lock += held_locks() != 0;
    };
  }
  ~Simulation() {
    for (auto& machine : machines_) machine.runtime->drop_all();
    in_host_code = nullptr;
  }

  Outcome run() {
    for (int step = 0; step < 80 && !outcome_.violation; ++step) act(machines_[below(3)]);
    for (auto& machine : machines_) kill(machine);
    return outcome_;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }

  void act(Machine& machine) {
    if (!machine.handle) return start(machine);
    switch (below(12)) {
      case 0:
        kill(machine);
        break;
      case 1:
        close(machine);
        break;
      case 2:
        machine.runtime->set_clock_by((static_cast<std::int64_t>(below(2001)) - 1000) * kMs);
        break;
      case 3:
        machine.runtime->set_clock_by((chance(50) ? -1 : 1) * 3600 * kSecond);
        break;
      case 4:
        machine.runtime->pass(static_cast<std::int64_t>(below(12'000)) * kMs);
        break;
      case 5:
        machine.runtime->hold_back(chance(50));
        break;  // paused: what was posted happens after others have gone on
      case 6:
        machine.runtime->run_one();
        break;
      case 7:
        make_store_fail(*machine.store);
        machine.runtime->has_no_threads(chance(20));
        break;
      default:
        draw(machine);
        break;
    }
  }

  void start(Machine& machine) {
    machine.store = std::make_shared<SimStore>(disk_);
    machine.runtime->run_all();  // nothing of the old process is left
    machine.runtime->hold_back(false);
    if (chance(20)) make_store_fail(*machine.store);
    machine.timed = chance(60);
    machine.strict = chance(70);
    machine.last = 0;
    Config config;
    config.runtime = machine.runtime;
    config.store = machine.store;
    config.log = std::make_shared<const Log>([](LogLevel, const std::string&) { host_code_runs(); });
    config.set("kind", machine.timed ? "snowflake" : "segment");
    config.set("order", machine.strict ? "strict" : "relaxed");
    config.set("wait_max", chance(50) ? "0" : "2s");
    if (machine.timed) {
      static constexpr const char* kPolicies[] = {"wait", "continue", "fail"};
      static constexpr const char* kStarts[] = {"carry", "zero", "random"};
      config.set("layout", "time:41ms worker:4 sequence:4");  // a narrow sequence: ticks are used up often
      config.set("worker", std::to_string(below(2)));  // taken over, live owner or not: the fence alone must hold
      config.set("on_clock_back", kPolicies[below(3)]);
      config.set("sequence_start", kStarts[below(3)]);
      config.set("on_overflow", chance(50) ? "wait" : "borrow");
      config.set("window", chance(50) ? "100ms" : "10s");
    } else {
      config.set("tag", chance(50) ? "a" : "b");
      config.set("segment.step", std::to_string(1 + below(40)));
      config.set("segment.runway", chance(50) ? "0" : "10s");
      config.set("segment.max_age", chance(50) ? "0" : "3s");
      if (chance(30)) {
        config.set("segment.stride", "3");
        config.set("segment.offset", std::to_string(below(3)));
      }
      if (chance(10)) disk_.step = below(60);
    }
    try {
      machine.handle = std::make_unique<Handle>(config);
      machine.tag = machine.timed ? "" : config.get("tag");
      if (machine.timed) ++outcome_.takeovers;
    } catch (const Error&) {
      machine.store->dead = true;
    }
  }

  void make_store_fail(SimStore& store) {
    const auto error = [] { throw Error(Status::store_unavailable, "simulated"); };
    store.before = chance(40) ? std::function<void()>(error) : [] {};
    store.after = chance(40) ? std::function<void()>(error) : [] {};
  }

  void draw(Machine& machine) {
    std::uint64_t ids[64];
    std::size_t written = 0;
    try {
      switch (below(4)) {
        case 0:
          machine.handle->fill({ids, 1 + below(64)}, written);
          break;
        case 1:
          written = machine.handle->try_next(ids[0]) == Status::ok;
          break;
        case 2: {
          const Block block = machine.handle->next_block(1 + below(64));
          for (; written < block.count; ++written) ids[written] = block.first + written * block.stride;
          break;
        }
        default:
          for (std::uint64_t wanted = 1 + below(40); written < wanted; ++written) ids[written] = machine.handle->next();
      }
    } catch (const Error&) {
    }
    for (std::size_t i = 0; i < written; ++i) check(machine, ids[i]);
  }

  void check(Machine& machine, std::uint64_t id) {
    ++outcome_.ids;
    auto& issued = issued_[machine.tag];
    if (!issued.insert(id).second) outcome_.violation = "id " + std::to_string(id) + " was issued twice";
    if (machine.strict && id <= machine.last) outcome_.violation = "id " + std::to_string(id) + " does not rise";
    machine.last = id;
    if (!machine.timed && id > disk_.tags[machine.tag])
      outcome_.violation = "I1: id " + std::to_string(id) + " was not reserved";
    if (machine.timed &&
        machine.handle->layout().decode(id).unix_ms >= disk_.workers[machine.handle->layout().decode(id).worker].hw) {
      outcome_.violation = "I1: id " + std::to_string(id) + " lies beyond what was reserved";
    }
  }

  void kill(Machine& machine) {
    if (!machine.handle) return;
    ++outcome_.kills;
    machine.store->dead = true;
    machine.handle.reset();
  }
  void close(Machine& machine) {
    try {
      machine.handle->close();
    } catch (const Error&) {
    }
    machine.handle.reset();
  }

  std::mt19937_64 random_;
  SimDisk disk_;
  Machine machines_[3];
  std::map<std::string, std::unordered_set<std::uint64_t>> issued_;
  Outcome outcome_;
};

std::uint64_t seeds() {
  const char* wanted = std::getenv("IDGEN_SIM_SEEDS");
  if (wanted) return std::strtoull(wanted, nullptr, 10);
#if defined(__SANITIZE_THREAD__)
  return 500;  // one thread: there is little for it to check
#else
  return 10'000;
#endif
}

TEST(Simulation, NoSeedIssuesAnIdTwice) {
  Outcome total;
  if (const char* one = std::getenv("IDGEN_SIM_SEED")) {
    const Outcome outcome = Simulation(std::strtoull(one, nullptr, 10), {}).run();
    ASSERT_FALSE(outcome.violation) << *outcome.violation;
    return;
  }
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    const Outcome outcome = Simulation(seed, {}).run();
    ASSERT_FALSE(outcome.violation) << "seed " << seed << ": " << *outcome.violation;
    total.ids += outcome.ids;
    total.kills += outcome.kills;
    total.takeovers += outcome.takeovers;
  }
  std::printf("%llu seeds: %llu ids, %llu kills, %llu takeovers of a worker, no duplicate\n",
              static_cast<unsigned long long>(seeds()), static_cast<unsigned long long>(total.ids),
              static_cast<unsigned long long>(total.kills), static_cast<unsigned long long>(total.takeovers));
  EXPECT_GT(total.ids, seeds() * 50);
  EXPECT_GT(total.kills, seeds());
  EXPECT_EQ(host_calls_under_a_lock, 0u) << "of " << host_calls << " calls of the host's clock, store or log";
  EXPECT_GT(host_calls, seeds() * 100);
}

TEST(Simulation, NoticesALockThatIsHeld) {
  EXPECT_EQ(held_locks(), 0);
  std::mutex mutex;
  const std::lock_guard lock(mutex);
  EXPECT_EQ(held_locks(), 1);
}

// Negative controls: an oracle that never fails proves nothing.
class NegativeControl : public ::testing::TestWithParam<std::pair<const char*, bool SimDisk::*>> {};

TEST_P(NegativeControl, AStoreThatBreaksARuleIsCaught) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SimDisk disk;
    disk.*GetParam().second = true;
    if (const Outcome outcome = Simulation(seed, disk).run(); outcome.violation) {
      std::printf("%s: caught at seed %llu: %s\n", GetParam().first, static_cast<unsigned long long>(seed),
                  outcome.violation->c_str());
      return;
    }
  }
  FAIL() << GetParam().first << " was not caught in 500 seeds";
}

INSTANTIATE_TEST_SUITE_P(Rules, NegativeControl,
                         ::testing::Values(std::pair("forgets_high_water", &SimDisk::forgets_high_water),
                                           std::pair("returns_blindly", &SimDisk::returns_blindly),
                                           std::pair("grants_before_commit", &SimDisk::grants_before_commit)),
                         [](const auto& info) { return info.param.first; });

}  // namespace
}  // namespace idgen::sim
