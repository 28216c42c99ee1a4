// Which layouts do for a team's numbers: the arithmetic of `idgen plan`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace idgen_tool {

struct LayoutRequest {
  std::uint64_t busiest = 0;       // ids per second at the peak, from one process
  std::uint64_t hosts = 0;         // processes at once
  std::int64_t epoch_unix_ms = 0;  // what time 0 means
  std::int64_t end_unix_ms = 0;    // the last id is not before
  unsigned bits = 63;              // of an id
};

// The bits of a snowflake's fields.
struct FieldBits {
  unsigned time = 0;
  unsigned worker = 0;
  unsigned sequence = 0;

  unsigned sum() const { return time + worker + sequence; }
};

struct LayoutPlan {
  std::int64_t tick_ms = 0;
  FieldBits needed;
  FieldBits bits;  // with what was left over; as needed if that does not fit

  // By how many bits it does not; 0: it fits.
  unsigned missing(unsigned bits_of_id) const { return needed.sum() > bits_of_id ? needed.sum() - bits_of_id : 0; }
  std::string text() const;  // "time:41ms worker:10 sequence:12"
};

// What the request needs with ticks of this length:
//   time      up to the end
//   worker    twice the processes: while one replaces another, both have a number
//   sequence  what the busiest process draws in a tick
// Bits that are left over go, in this order, to a sequence for bursts of sixteen times that, to twice the workers, to
// time until twice as far away, to workers for growth (three bits more), and to the sequence.
LayoutPlan plan_layout(const LayoutRequest& request, std::int64_t tick_ms);

// With ticks of 1, 10, 100 and 1000 ms.
std::vector<LayoutPlan> plan_layouts(const LayoutRequest& request);

}  // namespace idgen_tool
