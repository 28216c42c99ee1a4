#include "reserve/range_chain.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace idgen {

std::uint64_t RangeChain::held(std::uint64_t next) const noexcept {
  std::uint64_t sum = is_in_use(next) ? current.end - std::max(next, current.first) : 0;
  for (std::size_t i = 0; i < ready.size(); ++i) sum += ready[i].size();
  return sum;
}

const Range* RangeChain::oldest(std::uint64_t next) const noexcept {
  if (is_in_use(next)) return &current;
  return ready.empty() ? nullptr : &ready.front();
}

Grant RangeChain::accept(Range range, std::int64_t now_ns, std::uint64_t next) noexcept {
  if (range.first >= range.end) return Grant::empty;
  if (range.first < highest_end) {
    has_regressed = true;
    forget(next);
    return Grant::below;
  }
  IDGEN_ASSERT("I7: a grant lies above all earlier ones", highest_end <= range.first && range.first < range.end);
  granted_at_ns = range.granted_at_ns = now_ns;
  granted += range.size();
  highest_end = range.end;
  last_size = range.size();
  is_starved = false;
  add(range);
  return Grant::accepted;
}

void RangeChain::forget(std::uint64_t next) noexcept {
  unused += held(next);
  used_end = highest_end;
  current = {};
  ready = {};
}

// The supply asks for no more than kLongestChain, unless it has to renew a lease while its clock stands still. Those
// grants follow each other. Of numbers with a stride, ids of others may lie between two such ranges; but no segment has
// a full chain.
void RangeChain::add(const Range& range) noexcept {
  if (ready.size() < kLongestChain) {
    ready.push(range);
  } else if (ready.back().end == range.first) {
    ready.back().end = range.end;
  } else {
    unused += range.size();  // a gap
  }
}

const Range& RangeChain::open_next(std::uint64_t next, bool leaves_rest) noexcept {
  if (leaves_rest && is_in_use(next)) unused += current.end - std::max(next, current.first);
  used_end = std::max(used_end, current.end);
  current = ready.front();
  ready.pop();
  IDGEN_ASSERT("I1: only what was granted is opened", current.end <= highest_end);
  return current;
}

void RangeChain::drop_passed(std::uint64_t need) noexcept {
  for (; ready.size() > 1 && ready.front().end <= need; ready.pop()) unused += ready.front().size();
}

void RangeChain::give_up(std::uint64_t first, Ranges& old) noexcept {
  if (first < current.end) {
    old.push({first, current.end, current.granted_at_ns});
    unused += current.end - first;
  }
  if (first <= current.end) ++unused;  // the number below is burned, unless callers have drawn all meanwhile
  current.first = current.end = std::min(first, current.end);  // what is below was drawn here, and stays so
}

void RangeChain::take_old(std::int64_t until_ns, Ranges& old) noexcept {
  for (; !ready.empty() && ready.front().granted_at_ns <= until_ns; ready.pop()) {
    unused += ready.front().size();
    old.push(ready.front());
  }
}

void RangeChain::lower_witness() noexcept {
  highest_end = current.end;
  used_end = std::max(used_end, current.end);
}

void RangeChain::seal(std::uint64_t next) noexcept {
  closed_at = next;
  rest = {std::max(next, current.first), current.end};
  if (rest.first < rest.end) unused += rest.size();
  if (next > current.first) used_end = std::max(used_end, std::min(next, current.end));
  current = {};
}

Ranges RangeChain::take_ready() noexcept {
  const Ranges taken = ready;
  for (; !ready.empty(); ready.pop()) unused += ready.front().size();
  return taken;
}

void RangeChain::measure(std::int64_t now_ns, std::uint64_t next) noexcept {
  const std::int64_t passed_ns = now_ns - measured_at_ns;
  const std::uint64_t numbers = drawn(next) - measured;
  if (passed_ns < kMeasureNs) {
    rate = std::max(rate, rate_of(numbers, kMeasureNs));  // at least that
    return;
  }
  rate = rate_of(numbers, passed_ns);
  measured += numbers;
  measured_at_ns = now_ns;
  measured_over_ns = passed_ns;
}

std::uint64_t RangeChain::rate_at(std::int64_t now_ns, std::uint64_t next) const noexcept {
  const std::int64_t passed_ns = now_ns - measured_at_ns;
  return passed_ns > measured_over_ns ? rate_of(drawn(next) - measured, passed_ns) : rate;
}

void RangeChain::check([[maybe_unused]] std::uint64_t next, [[maybe_unused]] std::uint64_t limit) const noexcept {
#if IDGEN_ASSERTIONS
  IDGEN_ASSERT("I1: the limit lies within what was granted", limit <= current.end);
  std::uint64_t end = current.end;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    IDGEN_ASSERT("I7: what is ready lies above what is in use", end <= ready[i].first && ready[i].first < ready[i].end);
    end = ready[i].end;
  }
  IDGEN_ASSERT("I7: the witness is no lower than what is held", end <= highest_end);
  IDGEN_ASSERT("I7: a store that went back stops issuing", !has_regressed || end == 0);
  IDGEN_ASSERT("I4: no more is drawn than was granted", unused + held(next) <= granted);
#endif
}

}  // namespace idgen
