// How evenly the ids of a dump fall on shards, and whether chance alone would do so. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace idgen_tool {

struct Evenness {
  double chi_squared = 0;
  std::uint64_t degrees = 0;  // of freedom
  double p = 1;               // how often chance alone gives a chi-squared at least as large
  double fullest = 1;         // relative to what it should have
  double emptiest = 1;
  bool is_enough = true;  // ids, for p to mean something: five for each shard
};

// `weights`: what each shard should have, in any unit; none is 0.
Evenness evenness_of(const std::vector<std::uint64_t>& counts, const std::vector<double>& weights);

// What it means, in a sentence.
std::string sentence_of(const Evenness& evenness);

// P(X >= chi_squared) for X with that many degrees of freedom: the regularized upper incomplete gamma function
// Q(degrees / 2, chi_squared / 2).
double chance_of(double chi_squared, std::uint64_t degrees);

}  // namespace idgen_tool
