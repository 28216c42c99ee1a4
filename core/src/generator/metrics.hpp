// What generators have done, as text for Prometheus.
#pragma once

#include <span>
#include <string>

#include "idgen/handle.hpp"

namespace idgen {

// One generator: its labels and what it has done.
struct Metered {
  std::string name;
  std::string name_space;
  std::string kind;  // "segment", "business" or "snowflake"
  Stats stats;
};

// The text format 0.0.4. `process` is a label of all samples. A label set may occur only once, so generators with the
// same labels are one sample: counts are added, maxima show the largest, what is left the smallest.
std::string metrics_text(std::span<const Metered> generators, const std::string& process);

}  // namespace idgen
