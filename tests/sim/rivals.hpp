// How other generators keep ids apart, each in a few lines: rules as published, run by the same scheduler before the
// same oracle. Each must be caught, or the simulation proves nothing about ours.
#pragma once

#include <ostream>
#include <vector>

#include "sim/simulation.hpp"

namespace idgen::sim {

struct RivalKind {
  const char* name;
  const char* rule;
  // Makes one for each process; what their servers know is shared.
  MakeRival (*make)();
};
inline void PrintTo(const RivalKind& kind, std::ostream* out) { *out << kind.name; }
const std::vector<RivalKind>& rival_kinds();

}  // namespace idgen::sim
