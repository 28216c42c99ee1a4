#include "standard_ids/random.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace idgen {
namespace {

// The numbers are those of math/rand/v2's NewChaCha8, an implementation by the authors of the format.
TEST(RandomStream, MakesTheNumbersOfChaCha8Rand) {
  constexpr std::string_view kSeed = "chacha8: 32-byte seed for idgen!";
  RandomStream::Seed seed;
  static_assert(kSeed.size() == sizeof seed);
  std::memcpy(seed.data(), kSeed.data(), sizeof seed);
  RandomStream random;
  random.seed(seed);
  std::vector<std::uint64_t> numbers(1000);
  for (std::uint64_t& number : numbers) number = random.next();
  EXPECT_EQ(numbers[0], 0xc4b29829bb7a5cfeu);
  EXPECT_EQ(numbers[1], 0xab257ce7a6e361b8u);
  EXPECT_EQ(numbers[123], 0x88943fcb84006f60u) << "the last of the first 1024 bytes";
  EXPECT_EQ(numbers[124], 0xf25a748bba64cf7fu) << "the first of the second seed";
  EXPECT_EQ(numbers[999], 0x3ac1c763998d0889u);
  std::uint64_t sum = 0;
  for (const std::uint64_t number : numbers) sum = sum * 31 + number;
  EXPECT_EQ(sum, 0xc5c0c83b0a26e2d4u);
}

}  // namespace
}  // namespace idgen
