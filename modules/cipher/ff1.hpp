// FF1 of NIST SP 800-38G with AES-128 and radix 2: a permutation of the numbers of 20 to 112 bits, chosen by a key and
// a tweak. Pure: numbers in, numbers out. Radix 2 makes every step of the standard a shift, a mask or an addition.
//
// A number's upper half is the standard's A, of u = bits / 2 bits, and the lower one B, of v = bits - u. Each of the
// ten rounds encrypts  P || T || 0...0 || round || half  with AES in CBC-MAC mode, and adds the result to the other
// half. P depends on the lengths alone, so its encryption is done once for a key. The tweak has at most 11 bytes, so
// with halves of up to 32 bits the rest is one block; else two, and the first of these is the same in all rounds.
#pragma once

#include <cstddef>
#include <cstdint>

namespace idgen::cipher {

// 16 bytes as one number, the first byte the most significant: byte order is the business of whoever encrypts.
using Block = unsigned __int128;

constexpr unsigned kFf1LeastBits = 20;  // SP 800-38G Rev. 1 demands a domain of at least a million
constexpr unsigned kFf1MostBits = 112;  // a half and the number of the round fit into 64 bits
constexpr std::size_t kMostTweakBytes = 11;

enum class Direction { hide, reveal };

// What the lengths alone decide.
struct Ff1Shape {
  unsigned u, v;             // bits of the two halves
  unsigned half_bytes;       // the standard's b: bytes of the half that is encrypted
  unsigned sum_bytes;        // its d: how much of the result is added
  unsigned tweak_bytes;      // its t
  bool tweak_has_own_block;  // the tweak does not fit into one block with the round and the half
  Block p;                   // its P
};

constexpr Ff1Shape ff1_shape(unsigned bits, unsigned tweak_bytes) {
  const unsigned u = bits / 2, v = bits - u;
  const unsigned b = (v + 7) / 8;
  const Block head = Block{0x01020100} << 96 | Block{0x00020A00 | (u & 0xFF)} << 64;
  return {.u = u,
          .v = v,
          .half_bytes = b,
          .sum_bytes = 4 * ((b + 3) / 4) + 4,
          .tweak_bytes = tweak_bytes,
          .tweak_has_own_block = tweak_bytes + 1 + b > 16,
          .p = head | Block{bits} << 32 | tweak_bytes};
}

constexpr std::uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// Applies the permutation to kLanes numbers at once, in place: AES has a latency of many cycles, in which it could
// begin other blocks. Aes has
//   State                              a block, as it likes it best
//   Half                               a half of a number
//   State state(Block), encrypt(State (&)[n]), Half half(std::uint64_t), std::uint64_t number(Half)
//   round<sum_bytes, adds>(base, known, changed, place, mask)
//     encrypts base ^ place ^ known, takes the first sum_bytes bytes of the result as a number, adds that to `changed`
//     or subtracts it, and keeps the bits of `mask`.
//   p: the encrypted P. tweaks: the tweak of each lane, as a number of tweak_bytes bytes.
template <unsigned kSumBytes, Direction kDirection, std::size_t kLanes, class Aes>
[[gnu::always_inline]] inline void ff1_apply(const Aes& aes, const Ff1Shape& shape, Block p,
                                             const Block (&tweaks)[kLanes], Block (&numbers)[kLanes]) {
  typename Aes::State base[kLanes];  // what the rounds have in common
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Block tweak = shape.tweak_bytes == 0 ? 0 : tweaks[i] << (128 - 8 * shape.tweak_bytes);
    base[i] = aes.state(p ^ tweak);
  }
  if (shape.tweak_has_own_block) aes.encrypt(base);

  using Half = typename Aes::Half;
  const std::uint64_t low = low_bits(shape.v);
  const Half masks[2] = {aes.half(low_bits(shape.u)), aes.half(low)};
  Half a[kLanes], b[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    a[i] = aes.half(static_cast<std::uint64_t>(numbers[i] >> shape.v));
    b[i] = aes.half(static_cast<std::uint64_t>(numbers[i]) & low);
  }
  // Rounds in pairs, in which the halves change places: nothing has to be moved.
  for (unsigned step = 0; step < 10; step += 2) {
    const auto place = [&](unsigned round) { return aes.half(std::uint64_t{round} << (8 * shape.half_bytes)); };
    if constexpr (kDirection == Direction::hide) {
      aes.template round<kSumBytes, true>(base, b, a, place(step), masks[0]);
      aes.template round<kSumBytes, true>(base, a, b, place(step + 1), masks[1]);
    } else {
      aes.template round<kSumBytes, false>(base, a, b, place(9 - step), masks[1]);
      aes.template round<kSumBytes, false>(base, b, a, place(8 - step), masks[0]);
    }
  }
  for (std::size_t i = 0; i < kLanes; ++i) numbers[i] = Block{aes.number(a[i])} << shape.v | aes.number(b[i]);
}

// As many as the vector registers hold beside a round key: each round of FF1 waits once for AES, whatever their number.
constexpr std::size_t kBatchLanes = 12;
constexpr std::size_t kWorthABatch = 4;  // fewer are faster one by one

// Any number of numbers. A rest is filled up.
template <unsigned kSumBytes, Direction kDirection, class Aes>
inline void ff1_apply_some(const Aes& aes, const Ff1Shape& shape, Block p, const Block* tweaks, Block* numbers,
                           std::size_t count) {
  using Lanes = Block[kBatchLanes];
  for (; count >= kBatchLanes; count -= kBatchLanes, tweaks += kBatchLanes, numbers += kBatchLanes) {
    ff1_apply<kSumBytes, kDirection>(aes, shape, p, *reinterpret_cast<const Lanes*>(tweaks),
                                     *reinterpret_cast<Lanes*>(numbers));
  }
  if (count >= kWorthABatch) {
    Lanes some_tweaks = {}, some = {};
    for (std::size_t i = 0; i < count; ++i) some_tweaks[i] = tweaks[i];
    for (std::size_t i = 0; i < count; ++i) some[i] = numbers[i];
    ff1_apply<kSumBytes, kDirection>(aes, shape, p, some_tweaks, some);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = some[i];
    return;
  }
  for (; count > 0; --count, ++tweaks, ++numbers) {
    ff1_apply<kSumBytes, kDirection>(aes, shape, p, *reinterpret_cast<const Block(*)[1]>(tweaks),
                                     *reinterpret_cast<Block(*)[1]>(numbers));
  }
}

template <class Aes>
inline void ff1_apply_all(const Aes& aes, const Ff1Shape& shape, Block p, const Block* tweaks, Block* numbers,
                          std::size_t count, Direction direction) {
  const bool hides = direction == Direction::hide;
  if (shape.sum_bytes == 8) {
    if (hides) return ff1_apply_some<8, Direction::hide>(aes, shape, p, tweaks, numbers, count);
    return ff1_apply_some<8, Direction::reveal>(aes, shape, p, tweaks, numbers, count);
  }
  if (hides) return ff1_apply_some<12, Direction::hide>(aes, shape, p, tweaks, numbers, count);
  ff1_apply_some<12, Direction::reveal>(aes, shape, p, tweaks, numbers, count);
}

}  // namespace idgen::cipher
