// The guarantees are checked where tests run (IDGEN_TEST_WANTS_ASSERTIONS, decided in CMake), and nothing of that is
// left in what users get.
#include <gtest/gtest.h>

#include "reserve/supply.hpp"
#include "runtime/assert.hpp"
#include "sim/sim_runtime.hpp"

namespace idgen {
namespace {

class EndlessSource final : public Source {
 public:
  Range draw(const Demand&) override {
    const std::uint64_t first = std::exchange(next_, next_ + 100);
    return {first, next_};
  }
  void give_back(const Range&) override {}
  std::string after_regress() const override { return ""; }

 private:
  std::uint64_t next_ = 1;
};

// A mistake of each kind, as the slow path might make it.
void open_below_an_earlier_range() {
  Counter counter;
  counter.open(100, 200);
  counter.open(50, 60);
}
void open_beyond_all_numbers() {
  Counter counter;
  counter.open(1, Counter::kEnd + 1);
}
void open_once_sealed() {
  Counter counter;
  counter.open(1, 10);
  counter.seal();
  counter.open(10, 20);
}
void give_up_what_was_not_drawn() {
  Counter counter;
  counter.open(1, 10);
  counter.park(5);
}
// In supply.cpp, so it also says how the core's own objects were compiled.
void raise_the_limit_beyond_what_was_granted() {
  const auto runtime = std::make_shared<sim::SimRuntime>();
  const auto page = std::make_shared<ForkPage<HotPage>>();
  const auto supply =
      std::make_shared<Supply>(runtime, page, std::make_unique<EndlessSource>(),
                               Supply::Options{.carry_mask = 0, .draws_first = true, .subject = "test"}, Log());
  supply->prime();
  (*page)->counter.set_limit(1'000);
  supply->stats();
}

struct Mistake {
  const char* guarantee;
  void (*make)();
};
constexpr Mistake kMistakes[] = {
    {"not kept: I7: a range lies above all earlier ones", open_below_an_earlier_range},
    {"not kept: I1: a range is one of numbers that there are", open_beyond_all_numbers},
    {"not kept: I1: nothing is opened once all is sealed", open_once_sealed},
    {"not kept: I4: the counter stands above what was drawn", give_up_what_was_not_drawn},
    {"not kept: I1: the limit lies within what was granted", raise_the_limit_beyond_what_was_granted},
};

#if IDGEN_TEST_WANTS_ASSERTIONS

static_assert(IDGEN_ASSERTIONS == 1, "use a preset of CMake, or -DIDGEN_ASSERTIONS=ON");

TEST(GuaranteesDeathTest, WhatIsNotKeptEndsAProcessThatIsTested) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const Mistake& mistake : kMistakes) EXPECT_DEATH(mistake.make(), mistake.guarantee);
}

#else

static_assert(IDGEN_ASSERTIONS == 0, "users get a library that never ends their process");

TEST(Guarantees, NothingEndsAUsersProcess) {
  for (const Mistake& mistake : kMistakes) mistake.make();
}

#endif

}  // namespace
}  // namespace idgen
