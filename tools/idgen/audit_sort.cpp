#include "audit_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace idgen_tool {
namespace {

constexpr unsigned kDigitBits = 8;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
using Counts = std::array<std::size_t, kDigits>;

bool is_rising(const std::uint64_t* keys, std::size_t count) {
  constexpr std::size_t kPiece = 4096;
  for (std::size_t begin = 1; begin < count; begin += kPiece) {
    const std::size_t end = std::min(count, begin + kPiece);
    std::uint64_t breaks = 0;
    for (std::size_t i = begin; i < end; ++i) breaks += keys[i] < keys[i - 1];
    if (breaks > 0) return false;
  }
  return true;
}

}  // namespace

std::uint64_t* sort_keys(std::uint64_t* keys, std::size_t count, std::uint64_t* scratch, unsigned from_bit) {
  if (count < 2 || is_rising(keys, count)) return keys;
  if (count <= 64) {
    std::sort(keys, keys + count);
    return keys;
  }
  std::uint64_t either = 0, both = UINT64_MAX;
  for (std::size_t i = 0; i < count; ++i) {
    either |= keys[i];
    both &= keys[i];
  }
  std::uint64_t differing = (either ^ both) >> from_bit << from_bit;
  // The lowest bit of each digit.
  std::vector<unsigned> shifts;
  while (differing != 0) {
    const auto shift = static_cast<unsigned>(std::countr_zero(differing));
    shifts.push_back(shift);
    differing &= ~(std::uint64_t{kDigits - 1} << shift);
  }
  std::vector<Counts> counts(shifts.size());
  for (Counts& each : counts) each.fill(0);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t digit = 0; digit < shifts.size(); ++digit)
      ++counts[digit][keys[i] >> shifts[digit] & (kDigits - 1)];
  }
  for (std::size_t digit = 0; digit < shifts.size(); ++digit) {
    Counts& next = counts[digit];
    std::size_t sum = 0;
    for (std::size_t& each : next) each = std::exchange(sum, sum + each);
    const unsigned shift = shifts[digit];
    for (std::size_t i = 0; i < count; ++i) scratch[next[keys[i] >> shift & (kDigits - 1)]++] = keys[i];
    std::swap(keys, scratch);
  }
  return keys;
}

}  // namespace idgen_tool
