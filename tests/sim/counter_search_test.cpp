// Everything that two or three threads can do to one counter, step by step: counter.hpp's argument, searched. The slow
// path is what Supply does with the counter under its lock, in a few lines.
//
// Each fault of faults.txt that the search must catch is planted in a copy of counter.hpp, and is caught.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#undef IDGEN_ASSERTIONS  // they would be steps
#define IDGEN_ASSERTIONS 0
#include "reserve/counter.hpp"
#include "sim/search.hpp"

namespace idgen {

// The words, as other languages read them.
struct WordsOfView : Counter {
  std::uint64_t first() const { return first_.load(std::memory_order_acquire); }
  std::uint64_t step() { return next_.fetch_add(1, std::memory_order_acq_rel); }
  std::uint64_t stands() const { return next_.load(std::memory_order_relaxed); }
  bool step_from(std::uint64_t seen) {
    return next_.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_relaxed);
  }
};

}  // namespace idgen

namespace idgen::search {
namespace {

struct Grant {
  std::uint64_t first, end, mark;
  bool is_returned = false;  // it begins where the last one that was given up was given back
};

// A counter and what feeds it.
class Pump {
 public:
  // `late`: so many of the grants are not there yet.
  Pump(std::vector<Grant> grants, std::size_t late) : grants_(std::move(grants)), arrived_(grants_.size() - late) {}

  // Opens the first range before the threads begin.
  Action start() {
    return [this] {
      lock();
      open_next();
      unlock();
    };
  }

  // Handle::next().
  Action one(bool may_wait = true) {
    return [this, may_wait] {
      std::uint64_t n = 0;
      if (counter_.draw(n)) return tell(Event::issued, n);
      if (n < Counter::kParked && make_room(&n, may_wait)) return tell(Event::issued, n);
      if (may_wait) draw(1);
    };
  }
  // View.java, next(): between bounds that were open once.
  Action remembered() {
    return [this] {
      const std::uint64_t limit = counter_.limit();
      const std::uint64_t first = counter_.first();
      for (int i = 0; i < 2; ++i) {
        const std::uint64_t n = counter_.step();
        if (first <= n && n < limit) tell(Event::issued, n);
      }
    };
  }
  // View.java, nextNow(): where the counter stands, below a limit that was one once.
  Action remembered_in_tick() {
    return [this] {
      const std::uint64_t limit = counter_.limit();
      for (int i = 0; i < 2; ++i) {
        const std::uint64_t seen = counter_.stands();
        if (seen < limit && counter_.step_from(seen)) tell(Event::issued, seen);
      }
    };
  }
  // Handle::fill().
  Action batch(std::uint64_t want) {
    return [this, want] { draw(want); };
  }
  // Handle::fill() with a floor: the clock's.
  Action from(std::uint64_t floor, std::uint64_t ceiling) {
    return [this, floor, ceiling] {
      std::uint64_t first = 0;
      issue(first, counter_.draw_between(floor, ceiling, {.mask = 1, .salt = 0}, 2, first));
    };
  }
  // Supply::retire().
  Action retire() {
    return [this] {
      lock();
      if (counter_.next() < end_.get()) {
        const std::uint64_t first = std::max(counter_.give_up(), first_.get());
        give_back(first);
        returned_.set(first);
      }
      unlock();
    };
  }
  // Supply::close().
  Action close() {
    return [this] {
      lock();
      closed_.set(1);
      give_back(std::max(counter_.seal(), first_.get()));
      unlock();
    };
  }
  // Supply::accept() of a grant that lies below an earlier one: what is left may be somebody else's.
  Action stop() {
    return [this] {
      lock();
      closed_.set(1);
      counter_.set_limit(0);
      counter_.park();
      give_back(std::max(counter_.next(), first_.get()));
      unlock();
    };
  }
  // The slow path of a thread that only opens.
  Action refill() {
    return [this] { make_room(nullptr, true); };
  }
  // The loader comes back with a grant.
  Action arrive() {
    return [this] {
      lock();
      arrived_.set(arrived_.get() + 1);
      unlock();
    };
  }
  // With everything used up: Supply::open_range() before it waits.
  Action park() {
    return [this] {
      lock();
      if (counter_.next() >= end_.get()) {
        counter_.set_limit(0);
        counter_.park();
      }
      unlock();
    };
  }

 private:
  static constexpr std::uint64_t kMistake = 0;  // in no range

  void draw(std::uint64_t want) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      std::uint64_t first = 0;
      if (const std::uint64_t count = counter_.draw(want, first)) return issue(first, count);
      if (attempt > 0 || !make_room(nullptr, true)) return;
    }
  }
  void issue(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) tell(Event::issued, first + i);
  }
  void give_back(std::uint64_t first) {
    if (first < end_.get()) tell(Event::given_back, first, end_.get());
    first_.set(0);
    end_.set(0);
  }
  // False: there is no further range.
  bool open_next() {
    const std::uint64_t at = opened_.get();
    if (at == arrived_.get()) return false;
    Grant grant = grants_[at];
    if (grant.is_returned) {
      const std::uint64_t by = returned_.get() - grant.first;
      grant = {grant.first + by, grant.end + by, grant.mark + by, true};
    }
    opened_.set(at + 1);
    tell(Event::opened, grant.first, grant.end);
    counter_.open(grant.first, grant.mark);
    first_.set(grant.first);
    end_.set(grant.end);
    return true;
  }
  // Supply::open_range().
  bool make_room(const std::uint64_t* claimed, bool may_wait) {
    lock();
    bool has_room = false;
    int waits = 0;
    while (closed_.get() == 0) {
      const std::uint64_t need = claimed ? *claimed : counter_.next();
      if (claimed && need < first_.get()) break;
      if (claimed && need >= counter_.next()) {  // it was drawn
        tell(Event::issued, kMistake);
        break;
      }
      has_room = need < counter_.limit();
      if (has_room) break;
      if (need < end_.get()) {
        counter_.set_limit(end_.get());
        has_room = true;
        break;
      }
      if (open_next()) continue;
      counter_.set_limit(0);
      counter_.park();
      if (claimed && !may_wait) counter_.park(need);
      if (!may_wait || waits++ > 0 || arrived_.get() == grants_.size()) break;
      unlock();  // it waits
      lock();
    }
    unlock();
    return has_room;
  }

  WordsOfView counter_;  // first: places 0 to 4 have the names of its members
  const std::vector<Grant> grants_;
  Guarded first_, end_, opened_, closed_, returned_;
  Guarded arrived_;
};

struct Case {
  const char* name;
  Program (*make)(std::shared_ptr<Pump>& pump);
};

using Threads = std::vector<std::vector<Action>>;
Program run(std::shared_ptr<Pump>& pump, std::vector<Grant> grants, Threads (*threads)(Pump&), std::size_t late = 0) {
  pump = std::make_shared<Pump>(std::move(grants), late);
  return {pump->start(), threads(*pump)};
}

const Case kCases[] = {
    {"a range with a mark, then one behind a gap: two threads, single ids",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 3, 2}, {6, 8, 8}}, [](Pump& p) {
         return Threads{{p.one(), p.one(), p.one()}, {p.one(), p.one(), p.one()}};
       });
     }},
    {"ranges behind a gap and right behind: single ids beside batches",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 3, 3}, {5, 6, 6}, {6, 9, 7}}, [](Pump& p) {
         return Threads{{p.one(), p.one(), p.one()}, {p.batch(2), p.batch(2)}};
       });
     }},
    {"three threads, one of them opens",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 2, 2}, {5, 7, 6}, {9, 10, 10}}, [](Pump& p) {
         return Threads{{p.one(), p.one()}, {p.batch(2)}, {p.refill(), p.park(), p.refill()}};
       });
     }},
    {"given up, and granted again in part: batches",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 6, 6}, {0, 2, 2, true}}, [](Pump& p) {
         return Threads{{p.batch(2), p.batch(1)}, {p.from(2, 9)}, {p.retire(), p.refill()}};
       });
     }},
    {"by what is remembered: a range with a mark, then one behind a gap",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 3, 2}, {6, 8, 8}}, [](Pump& p) {
         return Threads{{p.remembered()}, {p.one(), p.one(), p.one()}};
       });
     }},
    {"by what is remembered: ranges right behind each other, and parked in between",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 3, 3}, {3, 5, 4}, {7, 8, 8}}, [](Pump& p) {
         return Threads{{p.remembered()}, {p.one(false), p.one()}, {p.park(), p.refill(), p.park()}};
       });
     }},
    {"by what is remembered: the store has granted numbers once more, and issuing ends",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 5, 3}}, [](Pump& p) {
         return Threads{{p.remembered()}, {p.remembered_in_tick()}, {p.one(), p.stop()}};
       });
     }},
    {"by what is remembered, where the counter stands: a range with a mark, then one behind a gap",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 3, 2}, {6, 8, 8}}, [](Pump& p) {
         return Threads{{p.remembered_in_tick()}, {p.one(), p.one()}, {p.from(2, 9)}};
       });
     }},
    {"by what is remembered, where the counter stands: closed",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 5, 5}}, [](Pump& p) {
         return Threads{{p.remembered_in_tick()}, {p.one(), p.one()}, {p.batch(1), p.close()}};
       });
     }},
    {"by what is remembered: closed",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 5, 5}}, [](Pump& p) {
         return Threads{{p.remembered()}, {p.one(), p.one()}, {p.batch(1), p.close()}};
       });
     }},
    {"closed while others draw",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 4, 3}, {6, 8, 8}}, [](Pump& p) {
         return Threads{{p.one(), p.one()}, {p.batch(2), p.one()}, {p.close()}};
       });
     }},
    {"who may not wait gives its number up",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 2, 2}, {2, 4, 4}}, [](Pump& p) {
         return Threads{{p.one(false), p.one(false)}, {p.one(), p.one()}, {p.one(false)}};
       });
     }},
    {"who waits keeps its number, until the next range arrives",
     [](std::shared_ptr<Pump>& pump) {
       return run(
           pump, {{1, 2, 2}, {2, 5, 5}},
           [](Pump& p) {
             return Threads{{p.one()}, {p.one(), p.one()}, {p.arrive()}};
           },
           1);
     }},
    {"who may not wait gives its number up, unless another has drawn since",
     [](std::shared_ptr<Pump>& pump) {
       return run(
           pump, {{1, 2, 2}, {2, 6, 6}},
           [](Pump& p) {
             return Threads{{p.one(), p.one(false)}, {p.one()}, {p.arrive(), p.batch(2)}};
           },
           1);
     }},
    {"given up, and granted again in part",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 6, 6}, {0, 1, 1, true}, {10, 12, 12}}, [](Pump& p) {
         return Threads{{p.one(), p.one()}, {p.batch(3)}, {p.retire(), p.refill()}};
       });
     }},
    {"parked, opened, given up, closed: a slow path that does all of it",
     [](std::shared_ptr<Pump>& pump) {
       return run(pump, {{1, 3, 3}, {5, 8, 6}, {0, 1, 1, true}}, [](Pump& p) {
         return Threads{{p.one()}, {p.batch(2)}, {p.park(), p.refill(), p.retire(), p.refill(), p.close()}};
       });
     }},
};

Result search_case(const Case& each) {
  std::shared_ptr<Pump> pump;
  return search([&] { return each.make(pump); });
}

TEST(CounterSearch, NothingThatThreadsCanDoIssuesANumberTwiceOrOneThatIsNotOurs) {
  Result all;
  for (const Case& each : kCases) {
    const Result found = search_case(each);
    ASSERT_FALSE(found.mistake) << each.name << ": " << *found.mistake;
    std::printf("%9llu states, %10llu steps, %.1e interleavings: %s\n", static_cast<unsigned long long>(found.states),
                static_cast<unsigned long long>(found.steps), found.interleavings, each.name);
    EXPECT_GT(found.states, 1000u) << each.name << ": nothing happens there";
    all.states += found.states;
    all.steps += found.steps;
    all.interleavings += found.interleavings;
  }
  std::printf("%9llu states, %10llu steps, %.1e interleavings in all\n", static_cast<unsigned long long>(all.states),
              static_cast<unsigned long long>(all.steps), all.interleavings);
}

// Why idgen_view says so: with segment.max_age it is not IDGEN_VIEW_LASTING.
TEST(CounterSearch, ThatTheBoundsOfARangeWhichIsGivenUpAreRememberedIsCaught) {
  std::shared_ptr<Pump> pump;
  const Result found = search([&] {
    return run(pump, {{1, 7, 7}, {0, 1, 1, true}, {6, 7, 7}}, [](Pump& p) {
      return Threads{{p.remembered()}, {p.retire(), p.refill(), p.one(), p.refill()}};
    });
  });
  ASSERT_TRUE(found.mistake);
  std::printf("%s\n", found.mistake->c_str());
}

// --- faults

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

class ACounterWithAFault : public ::testing::TestWithParam<Planted> {};

TEST_P(ACounterWithAFault, IsCaught) {
  planted::active = GetParam().id;
  std::optional<std::string> mistake;
  const char* where = "";
  for (const Case& each : kCases) {
    where = each.name;
    mistake = search_case(each).mistake;
    if (mistake) break;
  }
  planted::active = 0;
  ASSERT_TRUE(mistake) << GetParam().what << ": not caught";
  std::printf("%s (%s): %s\n", GetParam().what, where, mistake->c_str());
}

std::vector<Planted> planted_for_search() {
  std::vector<Planted> found;
  for (const Planted& each : kPlanted)
    if (std::string_view(each.by) == "search") found.push_back(each);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Search, ACounterWithAFault, ::testing::ValuesIn(planted_for_search()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace idgen::search
