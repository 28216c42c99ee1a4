// Random numbers that nobody can guess, in a few ns each: ChaCha8Rand (c2sp.org/chacha8rand), the generator of Go's
// runtime, published with test vectors. Written here because the kernel takes 300 ns a call, and no library on which
// libidgen.so may depend is faster.
#pragma once

#include <array>
#include <cstdint>

namespace idgen {

class RandomStream {
 public:
  using Seed = std::array<std::uint32_t, 8>;  // 32 bytes, little-endian words

  RandomStream() = default;  // used up: seed() comes first
  void seed(const Seed& seed) noexcept {
    seed_ = seed;
    refill();
  }

  std::uint64_t next() noexcept {
    if (used_ == kWords) [[unlikely]]
      refill();
    const std::uint64_t number = output_[used_];
    output_[used_++] = 0;  // nobody finds in memory what was put out
    return number;
  }

  // Leaves nothing in memory. Used up: seed() comes first.
  void wipe() noexcept;

 private:
  static constexpr unsigned kWords = 124;  // the rest of 1024 bytes is the next seed
  void refill() noexcept;

  unsigned used_ = kWords;
  Seed seed_{};
  std::array<std::uint64_t, 128> output_;
};

}  // namespace idgen
