// The real core on simulated machines: see docs/simulation.md.
//
// Each day has seeds of its own, which begin at its number. IDGEN_SIM_SEEDS=N runs N seeds, IDGEN_SIM_FIRST=F those
// from F on. IDGEN_SIM_SEED=S runs seed S as each test does that --gtest_filter names, and prints each step.
// IDGEN_SIM_TABLE=N counts in how many of N seeds each fault is caught.
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "sim/rivals.hpp"

#if defined(__SANITIZE_ADDRESS__)
// Threads of a process that forks are gone wherever they were, and so is what they held.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace idgen::sim {
namespace {

// A seed fails again whenever it is run: nothing here is a failure by chance.
constexpr const char* kViolation = "DUPLICATE or another violation: ";

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::uint64_t seeds(std::uint64_t otherwise) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  otherwise /= 20;
#endif
  return number_from("IDGEN_SIM_SEEDS", otherwise);
}

std::uint64_t first_seed() {
  return number_from("IDGEN_SIM_FIRST", static_cast<std::uint64_t>(std::time(nullptr)) / 86'400 * 10'000);
}

// Fails for each seed with a violation, up to 20, and if there were not more ids, or fewer copies of the machine, than
// expected.
void no_violation(std::uint64_t count, Options options, std::uint64_t least_ids, std::uint64_t least_copies = 0) {
  if (const char* const one = std::getenv("IDGEN_SIM_SEED")) {
    options.is_traced = true;
    const Outcome outcome = simulate(std::strtoull(one, nullptr, 10), options);
    ASSERT_FALSE(outcome.violation) << *outcome.violation;
    return;
  }
  const std::uint64_t first = first_seed();
  Outcome all;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < 20; ++seed) {
    const Outcome outcome = simulate(seed, options);
    if (outcome.violation) {
      ADD_FAILURE() << kViolation << "IDGEN_SIM_FIRST=" << seed << " IDGEN_SIM_SEEDS=10: " << *outcome.violation;
      ++failures;
    }
    all.add(outcome);
  }
  std::printf(
      "from seed %llu: %llu seeds, %llu steps, %.3f simulated days, %llu ids, %llu reservations, %llu processes",
      static_cast<unsigned long long>(first), static_cast<unsigned long long>(count),
      static_cast<unsigned long long>(all.steps), static_cast<double>(all.ns) / 86'400e9,
      static_cast<unsigned long long>(all.ids), static_cast<unsigned long long>(all.reservations),
      static_cast<unsigned long long>(all.processes));
  for (std::size_t i = 0; i < kFaults; ++i)
    std::printf(", %llu %s", static_cast<unsigned long long>(all.faults[i]), name_of(static_cast<Fault>(i)));
  std::printf(", %llu copies\n", static_cast<unsigned long long>(all.copies));
  EXPECT_GT(all.ids, least_ids);
  EXPECT_GE(all.copies, least_copies);
}

TEST(Simulation, NoSeedIssuesAnIdTwiceOrLeavesAProcessStuck) {
  const std::uint64_t count = seeds(2'000);
  no_violation(count, {}, count * 50);
}

TEST(Simulation, NoSeedIssuesAnIdTwiceOrLeavesAProcessStuckWhereMachinesSayThatTheyWereCopied) {
  const std::uint64_t count = seeds(2'000) / 10;
  no_violation(count, {.is_copied = true}, count * 20, count + 1);
}

TEST(Simulation, NoSeedIssuesAnIdTwiceOrLeavesAProcessStuckWhereRelaxedGeneratorsLoseTheirWorkers) {
  const std::uint64_t count = seeds(2'000) / 5;
  no_violation(count, {.loses_workers = true}, count * 20);
}

TEST(Simulation, ASeedDecidesEverything) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Outcome once = simulate(seed), again = simulate(seed);
    EXPECT_EQ(once.ids, again.ids) << seed;
    EXPECT_EQ(once.steps, again.steps) << seed;
    EXPECT_EQ(once.ns, again.ns) << seed;
  }
}

// --- faults: an oracle that never fails proves nothing

struct Planted {
  const char* name;
  const char* by;
  const char* what;
  std::uint64_t id;
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }
constexpr Planted kPlanted[] = {
#define FAULT(name, by, what) {#name, #by, what, planted::id_of(#name)},
#include "planted_faults.inc"
#undef FAULT
};
std::vector<Planted> planted_for_simulation() {
  std::vector<Planted> found;
  for (const Planted& each : kPlanted)
    if (std::string_view(each.by) != "search") found.push_back(each);
  return found;
}

class ACoreWithAFault : public ::testing::TestWithParam<Planted> {};

TEST_P(ACoreWithAFault, IsCaught) {
  const std::uint64_t most = seeds(4'000);
  // IDGEN_SIM_TABLE: how many of so many seeds catch it, as a row of docs/simulation.md.
  const char* const table = std::getenv("IDGEN_SIM_TABLE");
  const std::uint64_t count = table ? std::strtoull(table, nullptr, 10) : most;
  std::uint64_t caught = 0, first = 0;
  std::string how;
  planted::active = GetParam().id;
  for (std::uint64_t seed = 1; seed <= (caught ? count : most) && (table || !caught); ++seed) {
    const Outcome outcome = simulate(seed, {.loses_workers = std::string_view(GetParam().by) == "relaxed"});
    if (!outcome.violation) continue;
    if (!caught++) first = seed, how = *outcome.violation;
  }
  planted::active = 0;
  ASSERT_GT(caught, 0u) << GetParam().what << ": not caught in " << most << " seeds";
  if (table) {
    std::printf("| %s | %llu of %llu | %s |\n", GetParam().what, static_cast<unsigned long long>(caught),
                static_cast<unsigned long long>(std::max(count, first)), how.c_str());
  } else {
    std::printf("caught at seed %llu: %s\n", static_cast<unsigned long long>(first), how.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Simulation, ACoreWithAFault, ::testing::ValuesIn(planted_for_simulation()),
                         [](const auto& info) { return std::string(info.param.name); });

// --- other generators' rules

class ARival : public ::testing::TestWithParam<RivalKind> {};

TEST_P(ARival, IsCaught) {
  const char* const table = std::getenv("IDGEN_SIM_TABLE");
  const std::uint64_t most = 4'000;
  const std::uint64_t count = table ? std::strtoull(table, nullptr, 10) : most;
  std::uint64_t caught = 0, first = 0;
  std::string how;
  for (std::uint64_t seed = 1; seed <= (caught ? count : most) && (table || !caught); ++seed) {
    const Outcome outcome = simulate(seed, {.rival = GetParam().make()});
    if (!outcome.violation || outcome.violation->find("twice") == std::string::npos) continue;
    if (!caught++) first = seed, how = *outcome.violation;
  }
  ASSERT_GT(caught, 0u) << GetParam().name << ": not caught in " << most << " seeds";
  if (table) {
    std::printf("| %s: %s | %llu of %llu | %s |\n", GetParam().name, GetParam().rule,
                static_cast<unsigned long long>(caught), static_cast<unsigned long long>(std::max(count, first)),
                how.c_str());
  } else {
    std::printf("caught at seed %llu: %s\n", static_cast<unsigned long long>(first), how.c_str());
  }
}

INSTANTIATE_TEST_SUITE_P(Simulation, ARival, ::testing::ValuesIn(rival_kinds()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace idgen::sim
