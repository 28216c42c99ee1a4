#include "layout/layout_plan.hpp"

#include <algorithm>
#include <bit>

namespace idgen_tool {
namespace {

// For `count` different values; at least 1.
unsigned bits_for(std::uint64_t count) { return count <= 2 ? 1 : static_cast<unsigned>(std::bit_width(count - 1)); }

std::uint64_t quotient_up(std::uint64_t number, std::uint64_t by) { return number / by + (number % by != 0); }

unsigned time_bits(const LayoutRequest& request, std::int64_t until_unix_ms, std::int64_t tick_ms) {
  const std::int64_t ms = std::max<std::int64_t>(until_unix_ms - request.epoch_unix_ms, 0);
  return bits_for(static_cast<std::uint64_t>(ms / tick_ms) + 1);
}

}  // namespace

std::string LayoutPlan::text() const {
  const std::string tick = tick_ms == 1 ? "ms" : tick_ms == 1000 ? "s" : "x" + std::to_string(tick_ms) + "ms";
  return "time:" + std::to_string(bits.time) + tick + " worker:" + std::to_string(bits.worker) +
         " sequence:" + std::to_string(bits.sequence);
}

LayoutPlan plan_layout(const LayoutRequest& request, std::int64_t tick_ms) {
  LayoutPlan plan;
  plan.tick_ms = tick_ms;
  plan.needed = {.time = time_bits(request, request.end_unix_ms, tick_ms),
                 .worker = bits_for(2 * request.hosts),
                 .sequence = bits_for(quotient_up(request.busiest * static_cast<std::uint64_t>(tick_ms), 1000))};
  plan.bits = plan.needed;
  unsigned left = request.bits - std::min(request.bits, plan.needed.sum());
  const auto give = [&left](unsigned& field, unsigned most) {
    const unsigned given = std::min(left, most);
    field += given;
    left -= given;
  };
  const std::int64_t twice_as_far = request.epoch_unix_ms + 2 * (request.end_unix_ms - request.epoch_unix_ms);
  give(plan.bits.sequence, 4);
  give(plan.bits.worker, 1);
  give(plan.bits.time, time_bits(request, twice_as_far, tick_ms) - plan.needed.time);
  give(plan.bits.worker, 3);
  give(plan.bits.sequence, left);
  return plan;
}

std::vector<LayoutPlan> plan_layouts(const LayoutRequest& request) {
  std::vector<LayoutPlan> plans;
  for (const std::int64_t tick_ms : {1, 10, 100, 1000}) plans.push_back(plan_layout(request, tick_ms));
  return plans;
}

}  // namespace idgen_tool
