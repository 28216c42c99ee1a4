// Sorting keys in memory. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace idgen_tool {

// Sorts `count` keys; `scratch` has space for as many. Returns where they are now: `keys` or `scratch`. By digits from
// the lowest, without those in which no two keys differ. `from_bit`: keys that are equal from this bit on already stand
// in order, as those of each worker do in most dumps; then only the bits above are left to sort by.
std::uint64_t* sort_keys(std::uint64_t* keys, std::size_t count, std::uint64_t* scratch, unsigned from_bit = 0);

}  // namespace idgen_tool
