#include "reserve/range_chain.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace idgen {
namespace {

constexpr std::int64_t kBegin = 1'000 * kNsPerSecond;

RangeChain chain_of(std::initializer_list<Range> grants) {
  RangeChain chain;
  for (const Range& grant : grants) EXPECT_EQ(chain.accept(grant, kBegin, 0), Grant::accepted);
  return chain;
}

TEST(RangeChain, WhatWasGrantedIsHeldUntilItIsDrawn) {
  RangeChain chain = chain_of({{1, 101}, {201, 301}});
  EXPECT_EQ(chain.held(1), 200u);
  EXPECT_EQ(chain.open_next(1, false).first, 1u);
  EXPECT_EQ(chain.held(1), 200u);
  EXPECT_EQ(chain.held(41), 160u);
  EXPECT_EQ(chain.drawn(41), 40u);
  EXPECT_EQ(chain.held(101), 100u);
  EXPECT_EQ(chain.open_next(101, false).first, 201u);
  EXPECT_EQ(chain.held(101), 100u) << "the counter has not come to it yet";
  EXPECT_EQ(chain.highest_end, 301u);
  EXPECT_EQ(chain.used_end, 101u) << "the rest may be given back";
}

TEST(RangeChain, AnEmptyGrantChangesNothing) {
  RangeChain chain = chain_of({{1, 101}});
  EXPECT_EQ(chain.accept({200, 200}, kBegin, 1), Grant::empty);
  EXPECT_EQ(chain.accept({300, 200}, kBegin, 1), Grant::empty);
  EXPECT_EQ(chain.highest_end, 101u);
  EXPECT_EQ(chain.granted, 100u);
}

TEST(RangeChain, AfterAGrantBelowAnEarlierOneNothingIsHeld) {
  RangeChain chain = chain_of({{1, 101}, {101, 201}});
  chain.open_next(1, false);
  EXPECT_EQ(chain.accept({150, 250}, kBegin, 41), Grant::below);
  EXPECT_TRUE(chain.has_regressed);
  EXPECT_EQ(chain.held(41), 0u);
  EXPECT_EQ(chain.drawn(41), 40u);
  EXPECT_FALSE(chain.is_in_use(41));
  EXPECT_EQ(chain.highest_end, 201u) << "for the message";
}

TEST(RangeChain, WhatATimedRangeHasLeftIsDrawnUnlessItsTimePasses) {
  RangeChain windows = chain_of({{1, 101}, {101, 201}});
  windows.open_next(1, false);
  windows.open_next(41, false);
  EXPECT_EQ(windows.drawn(101), 100u);
  RangeChain periods = chain_of({{1, 101}, {101, 201}});
  periods.open_next(1, true);
  periods.open_next(41, true);
  EXPECT_EQ(periods.drawn(101), 40u);
}

TEST(RangeChain, WhatHasPassedIsDroppedExceptTheLast) {
  RangeChain chain = chain_of({{1, 11}, {11, 21}, {21, 31}});
  chain.drop_passed(11);
  EXPECT_EQ(chain.ready.size(), 2u);
  EXPECT_EQ(chain.drawn(1), 0u);
  chain.drop_passed(100);
  ASSERT_EQ(chain.ready.size(), 1u);
  EXPECT_EQ(chain.ready.front().first, 21u);
}

TEST(RangeChain, GivingUpBurnsOneNumberAndLowersTheWitnessToIt) {
  RangeChain chain = chain_of({{1, 101}, {101, 201}});
  chain.open_next(1, false);
  Ranges old;
  chain.give_up(22, old);  // 20 were drawn, 21 is burned
  chain.take_old(kBegin - 1, old);
  ASSERT_EQ(old.size(), 1u);
  EXPECT_EQ(old[0].first, 22u);
  EXPECT_EQ(old[0].end, 101u);
  chain.take_old(kBegin, old);
  ASSERT_EQ(old.size(), 2u);
  EXPECT_EQ(old[1].first, 101u);
  chain.lower_witness();
  EXPECT_EQ(chain.highest_end, 22u);
  EXPECT_EQ(chain.used_end, 22u);
  EXPECT_EQ(chain.held(22), 0u);
  EXPECT_EQ(chain.drawn(22), 20u);
  EXPECT_EQ(chain.accept({22, 50}, kBegin, 22), Grant::accepted);
}

TEST(RangeChain, OnceSealedTheRestIsKnownAndWhatWasDrawnIsUsed) {
  RangeChain chain = chain_of({{1, 101}, {101, 201}});
  chain.open_next(1, false);
  chain.seal(21);
  EXPECT_EQ(chain.rest.first, 21u);
  EXPECT_EQ(chain.rest.end, 101u);
  EXPECT_EQ(chain.closed_at, 21u);
  EXPECT_EQ(chain.used_end, 21u);
  EXPECT_EQ(chain.held(21), 100u) << "what is ready";
  const Ranges ready = chain.take_ready();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].first, 101u);
  EXPECT_EQ(chain.held(21), 0u);
  EXPECT_EQ(chain.drawn(21), 20u);
}

TEST(RangeChain, AChainThatIsFullGrowsInItsLastRange) {
  RangeChain chain;
  std::uint64_t end = 1;
  for (std::size_t i = 0; i < kLongestChain + 10; ++i, end += 10)
    ASSERT_EQ(chain.accept({end, end + 10}, kBegin, 0), Grant::accepted);
  EXPECT_EQ(chain.ready.size(), kLongestChain);
  EXPECT_EQ(chain.held(0), end - 1);
  EXPECT_EQ(chain.ready.back().end, end);
  EXPECT_EQ(chain.accept({end + 1'000, end + 1'010}, kBegin, 0), Grant::accepted);
  EXPECT_EQ(chain.held(0), end - 1) << "a gap cannot be in a range: it is burned";
  EXPECT_EQ(chain.highest_end, end + 1'010);
  EXPECT_EQ(chain.drawn(0), 0u);
}

TEST(RangeChain, TheRateIsMeasuredOverASecondAtLeast) {
  RangeChain chain = chain_of({{1, 10'001}});
  chain.open_next(1, false);
  chain.measured_at_ns = kBegin;
  chain.measure(kBegin + kNsPerMs, 101);
  EXPECT_EQ(chain.rate, 100u);
  chain.measure(kBegin + 2 * kNsPerSecond, 1'001);
  EXPECT_EQ(chain.rate, 500u);
  EXPECT_EQ(chain.rate_at(kBegin + 4 * kNsPerSecond, 1'001), 500u);
  EXPECT_EQ(chain.rate_at(kBegin + 12 * kNsPerSecond, 2'001), 100u) << "it has fallen since";
}

// What has become of each number. It knows nothing of ranges.
class Model {
 public:
  enum class Fate { held, drawn, unused };

  bool is(std::uint64_t number, Fate fate) const {
    const auto found = numbers_.find(number);
    return found != numbers_.end() && found->second == fate;
  }
  void set(std::uint64_t number, Fate fate) {
    const auto [place, is_new] = numbers_.try_emplace(number, fate);
    if (!is_new) --counts_[static_cast<int>(place->second)];
    place->second = fate;
    ++counts_[static_cast<int>(fate)];
  }
  std::uint64_t count(Fate fate) const { return counts_[static_cast<int>(fate)]; }
  void all_held_are_unused() {
    for (const auto& [number, fate] : numbers_)
      if (fate == Fate::held) set(number, Fate::unused);
  }

 private:
  std::map<std::uint64_t, Fate> numbers_;
  std::uint64_t counts_[3] = {};
};

// The counter, one store that others use too, and a chain that is copied to shared memory and back at any time.
class Life {
 public:
  explicit Life(std::uint64_t seed) : random_(seed) {}
  ~Life() { munmap(memory_, sizeof(RangeChain)); }
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  void step() {
    now_ns_ += static_cast<std::int64_t>(below(3)) * kNsPerSecond;
    if (below(10) < grants_) return grant();
    switch (below(10)) {
      case 1:
        return retire();
      case 2:
        return move();
      case 3:
        return drop_passed();
      default:
        return draw();
    }
  }
  void go_back() {
    if (chain().highest_end < 2) return;
    const std::uint64_t highest = chain().highest_end;
    ASSERT_EQ(chain().accept({highest - 1, highest + 9}, now_ns_, next_), Grant::below);
    model_.all_held_are_unused();
  }
  void close() {
    chain().seal(next_);
    const Range rest = chain().rest;
    if (rest.first < rest.end) give_back(rest);
    const Ranges ready = chain().take_ready();
    for (std::size_t i = 0; i < ready.size(); ++i) give_back(ready[i]);
    EXPECT_EQ(chain().held(next_), 0u);
    check_counts();
  }
  void check() {
    check_counts();
    chain().check(next_, 0);
    if (chain().has_regressed) return;
    std::uint64_t end = chain().current.end;
    for (std::size_t i = 0; i < chain().ready.size(); ++i) {
      ASSERT_LE(end, chain().ready[i].first);
      end = chain().ready[i].end;
    }
    ASSERT_LE(end, chain().highest_end);
    ASSERT_LE(chain().used_end, chain().highest_end);
  }

 private:
  using Fate = Model::Fate;
  RangeChain& chain() { return *chain_; }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void check_counts() {
    ASSERT_EQ(chain().held(next_), model_.count(Fate::held));
    ASSERT_EQ(chain().drawn(next_), model_.count(Fate::drawn));
  }
  void grant() {
    const std::uint64_t first = std::max<std::uint64_t>(store_, 1) + (below(2) ? 0 : below(20)),
                        end = first + below(20);
    const Ranges& ready = chain().ready;
    const bool is_gap = ready.size() == kLongestChain && ready.back().end != first;
    const Grant grant = chain().accept({first, end}, now_ns_, next_);
    ASSERT_EQ(grant, first == end ? Grant::empty : Grant::accepted);
    if (first == end) return;
    for (std::uint64_t n = first; n < end; ++n) {
      ASSERT_FALSE(model_.is(n, Fate::drawn)) << n << " is granted again after it was drawn";
      model_.set(n, is_gap ? Fate::unused : Fate::held);
    }
    store_ = end;
  }
  void draw() {
    if (!chain().is_in_use(next_)) {
      if (chain().ready.empty()) return;
      const std::uint64_t first = chain().open_next(next_, true).first;
      ASSERT_GE(first, next_) << "the counter only moves up";
      next_ = std::max(next_, first);
    }
    const std::uint64_t count = std::min(1 + below(6), chain().current.end - next_);
    for (std::uint64_t i = 0; i < count; ++i, ++next_) {
      ASSERT_TRUE(model_.is(next_, Fate::held)) << next_ << " is not ours to draw";
      model_.set(next_, Fate::drawn);
    }
    chain().measure(now_ns_, next_);
  }
  void retire() {
    const std::int64_t until_ns = now_ns_ - 5 * kNsPerSecond;
    Ranges old;
    if (chain().is_in_use(next_) && chain().current.granted_at_ns <= until_ns) {
      model_.set(next_, Fate::unused);  // burned
      chain().give_up(++next_, old);
    }
    if (!chain().is_in_use(next_)) chain().take_old(until_ns, old);
    for (std::size_t i = 0; i < old.size(); ++i)
      for (std::uint64_t n = old[i].first; n < old[i].end; ++n) model_.set(n, Fate::unused);
    if (chain().is_in_use(next_) || !chain().ready.empty() || old.size() == 0) return;
    chain().lower_witness();
    ASSERT_LE(chain().highest_end, next_);
    for (std::size_t i = old.size(); i > 0; --i) give_back(old[i - 1]);
  }
  void drop_passed() {
    const std::uint64_t need = next_ + below(60);
    std::vector<Range> ready;
    for (std::size_t i = 0; i < chain().ready.size(); ++i) ready.push_back(chain().ready[i]);
    chain().drop_passed(need);
    const std::size_t dropped = ready.size() - chain().ready.size();
    for (std::size_t i = 0; i < dropped; ++i) {
      ASSERT_LE(ready[i].end, need);
      for (std::uint64_t n = ready[i].first; n < ready[i].end; ++n) model_.set(n, Fate::unused);
    }
  }
  // The store takes back what ends where its counter stands.
  void give_back(const Range& range) {
    for (std::uint64_t n = range.first; n < range.end; ++n) {
      ASSERT_FALSE(model_.is(n, Fate::drawn)) << n << " was drawn, and is given back";
      model_.set(n, Fate::unused);
    }
    if (range.end == store_) store_ = range.first;
  }
  // To another address, byte for byte.
  void move() {
    void* const other = mmap(nullptr, sizeof(RangeChain), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(other, MAP_FAILED);
    std::memcpy(other, static_cast<const void*>(chain_), sizeof(RangeChain));
    std::memset(static_cast<void*>(chain_), 0xff, sizeof(RangeChain));
    munmap(memory_, sizeof(RangeChain));
    memory_ = other;
    chain_ = static_cast<RangeChain*>(other);
  }

  std::mt19937_64 random_;
  void* memory_ = mmap(nullptr, sizeof(RangeChain), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  RangeChain* chain_ = new (memory_) RangeChain;
  const std::uint64_t grants_ = 1 + below(7);  // of ten steps: a chain that is drawn up, or one that grows
  Model model_;
  std::uint64_t next_ = 0;
  std::uint64_t store_ = 1;  // its counter: the next number
  std::int64_t now_ns_ = kBegin;
};

TEST(RangeChain, WhateverHappensNoNumberIsDrawnTwiceAndEachIsAccountedFor) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed);
    for (int i = 0; i < 400; ++i) {
      life.step();
      life.check();
      if (HasFatalFailure()) return;
    }
    if (seed % 5 == 0) life.go_back();
    life.check();
    life.close();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace idgen
