// The only file that is compiled for processors with AES instructions (modules/CMakeLists.txt). It includes nothing
// whose inline functions another file could share, and is entered only after the processor was asked.
#include "aes.hpp"

#if defined(__x86_64__) && defined(__AES__) && defined(__SSSE3__)
#include <cpuid.h>
#include <immintrin.h>

namespace idgen::cipher {
namespace {

__m128i load(Block block) {
  const __m128i reversed = _mm_set_epi64x(static_cast<std::int64_t>(block >> 64), static_cast<std::int64_t>(block));
  return _mm_shuffle_epi8(reversed, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}

Block store(__m128i bytes) {
  bytes = _mm_shuffle_epi8(bytes, _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(bytes));
  const auto high = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(bytes, bytes)));
  return Block{high} << 64 | low;
}

class Instructions {
 public:
  explicit Instructions(const AesKey& key) : keys_(reinterpret_cast<const __m128i*>(key.rounds)) {}

  using State = __m128i;
  static State state(Block block) { return load(block); }

  // The number is in the lower 8 bytes, least significant first; the others are 0.
  using Half = __m128i;
  static Half half(std::uint64_t number) { return _mm_cvtsi64_si128(static_cast<std::int64_t>(number)); }
  static std::uint64_t number(Half half) { return static_cast<std::uint64_t>(_mm_cvtsi128_si64(half)); }

  template <std::size_t kLanes>
  [[gnu::always_inline]] void encrypt(State (&states)[kLanes]) const {
    for (std::size_t i = 0; i < kLanes; ++i) states[i] = _mm_xor_si128(states[i], keys_[0]);
#pragma GCC unroll 9
    for (int round = 1; round < 10; ++round) {
      const __m128i key = keys_[round];
#pragma GCC unroll 12
      for (std::size_t i = 0; i < kLanes; ++i) states[i] = _mm_aesenc_si128(states[i], key);
    }
    for (std::size_t i = 0; i < kLanes; ++i) states[i] = _mm_aesenclast_si128(states[i], keys_[10]);
  }

  // The halves never leave the vector registers: their way to the others and back takes longer than two rounds of AES.
  template <unsigned kSumBytes, bool kAdds, std::size_t kLanes>
  [[gnu::always_inline]] void round(const State (&base)[kLanes], const Half (&known)[kLanes], Half (&changed)[kLanes],
                                    Half place, Half mask) const {
    const __m128i to_end = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1);
    constexpr int kLast = static_cast<int>(kSumBytes) - 1;
    const __m128i to_number = _mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, kLast - 7, kLast - 6, kLast - 5, kLast - 4,
                                           kLast - 3, kLast - 2, kLast - 1, kLast);
    State states[kLanes];
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kLanes; ++i)
      states[i] = _mm_xor_si128(base[i], _mm_shuffle_epi8(_mm_or_si128(known[i], place), to_end));
    encrypt(states);
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kLanes; ++i) {
      const __m128i sum = _mm_shuffle_epi8(states[i], to_number);
      changed[i] = _mm_and_si128(kAdds ? _mm_add_epi64(changed[i], sum) : _mm_sub_epi64(changed[i], sum), mask);
    }
  }

 private:
  const __m128i* keys_;
};

template <int kConstant>
__m128i next_key(__m128i key) {
  const __m128i word = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(key, kConstant), 0xFF);
  key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  key = _mm_xor_si128(key, _mm_slli_si128(key, 8));
  return _mm_xor_si128(key, word);
}

void expand(AesKey& key) {
  auto* const keys = reinterpret_cast<__m128i*>(key.rounds);
  keys[1] = next_key<0x01>(keys[0]);
  keys[2] = next_key<0x02>(keys[1]);
  keys[3] = next_key<0x04>(keys[2]);
  keys[4] = next_key<0x08>(keys[3]);
  keys[5] = next_key<0x10>(keys[4]);
  keys[6] = next_key<0x20>(keys[5]);
  keys[7] = next_key<0x40>(keys[6]);
  keys[8] = next_key<0x80>(keys[7]);
  keys[9] = next_key<0x1B>(keys[8]);
  keys[10] = next_key<0x36>(keys[9]);
}

Block encrypt(const AesKey& key, Block block) {
  __m128i states[1] = {load(block)};
  Instructions(key).encrypt(states);
  return store(states[0]);
}

void ff1(const AesKey& key, const Ff1Shape& shape, Block p, const Block* tweaks, Block* numbers, std::size_t count,
         Direction direction) {
  ff1_apply_all(Instructions(key), shape, p, tweaks, numbers, count, direction);
}

constexpr Engine kInstructions = {"the processor's AES instructions", expand, encrypt, ff1};

}  // namespace

const Engine* aes_instructions() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool is_known = __get_cpuid(1, &a, &b, &c, &d) != 0;
  return is_known && (c & bit_AES) != 0 && (c & bit_SSSE3) != 0 ? &kInstructions : nullptr;
}

}  // namespace idgen::cipher
#else
namespace idgen::cipher {
const Engine* aes_instructions() noexcept { return nullptr; }
}  // namespace idgen::cipher
#endif
