#include "standard_ids/random.hpp"

#include <atomic>
#include <bit>
#include <cstring>

#include "idgen/system_calls.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace idgen {
namespace {

// One word of several blocks at once; the compiler makes one instruction of each operation.
using Words4 = std::uint32_t __attribute__((vector_size(16)));
using Words8 = std::uint32_t __attribute__((vector_size(32)));

template <class Words>
struct Blocks {
  static constexpr unsigned kLanes = sizeof(Words) / 4;

  [[gnu::always_inline]] static void rotate(Words& x, int bits) noexcept { x = x << bits | x >> (32 - bits); }
  [[gnu::always_inline]] static void quarter_round(Words& a, Words& b, Words& c, Words& d) noexcept {
    a += b, d ^= a, rotate(d, 16);
    c += d, b ^= c, rotate(b, 12);
    a += b, d ^= a, rotate(d, 8);
    c += d, b ^= c, rotate(b, 7);
  }

  [[gnu::always_inline]] static void make(const RandomStream::Seed& seed, std::uint64_t* out) noexcept {
    for (std::uint32_t counter = 0; counter < 16; counter += kLanes) {
      Words x[16] = {};
      const std::uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
      for (unsigned i = 0; i < 4; ++i) x[i] += constants[i];
      for (unsigned i = 0; i < 8; ++i) x[4 + i] += seed[i];
      for (unsigned lane = 0; lane < kLanes; ++lane) x[12][lane] = counter + lane;
      for (int round = 0; round < 8; round += 2) {
        for (unsigned i = 0; i < 4; ++i) quarter_round(x[i], x[4 + i], x[8 + i], x[12 + i]);
        for (unsigned i = 0; i < 4; ++i)
          quarter_round(x[i], x[4 + (i + 1) % 4], x[8 + (i + 2) % 4], x[12 + (i + 3) % 4]);
      }
      for (unsigned i = 0; i < 8; ++i) x[4 + i] += seed[i];  // the other words held nothing secret
      // The format interlaces four blocks, however many are made at once.
      for (unsigned i = 0; i < 16; ++i)
        for (unsigned four = 0; four < kLanes / 4; ++four)
          std::memcpy(out + counter * 8 + four * 32 + i * 2, reinterpret_cast<const char*>(&x[i]) + four * 16, 16);
    }
  }
};

#if defined(__x86_64__)
[[gnu::target("avx2")]] void make_eight(const RandomStream::Seed& seed, std::uint64_t* out) noexcept {
  Blocks<Words8>::make(seed, out);
}
// Not __builtin_cpu_supports, which brings 3 KB with it.
bool has_eight() noexcept {
  static constinit std::atomic<int> known{-1};
  int has = known.load(std::memory_order_relaxed);
  if (has < 0) {
    unsigned a, b = 0, c = 0, d, saved = 0;
    constexpr unsigned kXsave = 1 << 27, kAvxState = 0x6;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & kXsave) != 0) __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    const bool has_cpu = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & 1 << 5) != 0;
    has = has_cpu && (saved & kAvxState) == kAvxState;
    known.store(has, std::memory_order_relaxed);
  }
  return has != 0;
}
#else
void make_eight(const RandomStream::Seed&, std::uint64_t*) noexcept {}
bool has_eight() noexcept { return false; }
#endif

}  // namespace

void RandomStream::wipe() noexcept {
  wipe_memory(seed_.data(), sizeof seed_);
  wipe_memory(output_.data(), sizeof output_);
  used_ = kWords;
}

void RandomStream::refill() noexcept {
  has_eight() ? make_eight(seed_, output_.data()) : Blocks<Words4>::make(seed_, output_.data());
  if constexpr (std::endian::native == std::endian::big)
    for (std::uint64_t& word : output_) word = word << 32 | word >> 32;
  for (unsigned i = 0; i < 4; ++i) {  // what was put out cannot be computed again from what is here
    seed_[2 * i] = static_cast<std::uint32_t>(output_[kWords + i]);
    seed_[2 * i + 1] = static_cast<std::uint32_t>(output_[kWords + i] >> 32);
  }
  used_ = 0;
}

}  // namespace idgen
