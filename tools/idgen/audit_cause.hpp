// Why ids were issued twice: what the copies of an incident's ids have in common, and which cause leaves that trace.
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "audit_copies.hpp"
#include "audit_flow.hpp"
#include "audit_sorted.hpp"
#include "audit_space.hpp"

namespace idgen_tool {

enum class Cause { same_worker, clock_back, fork, store_restored, two_stores, dumped_twice };

const char* name_of(Cause cause);      // "clock-back", for programs
const char* sentence_of(Cause cause);  // for people
const char* advice_of(Cause cause, bool has_time);

struct Verdict {
  // One: the likely one. Several: what is there does not decide between them, the likeliest first.
  std::vector<Cause> causes{};
  std::vector<std::string> evidence{};  // sentences
  std::uint64_t step = 0;               // the ordinal of the step back between first and second copies; 0: none
};

struct Circumstances {
  const IdSpace& space;
  const Flow& flow;
  std::function<std::string(std::size_t dump, std::uint64_t row)> place;  // "line 12 of a.csv"
  std::uint64_t worker_first = 0;                                         // the worker's first key
};

// copies: of each of the incident's samples, in the samples' order.
Verdict judge(const Incident& incident, const std::vector<const std::vector<Copy>*>& copies,
              const Circumstances& circumstances);

}  // namespace idgen_tool
