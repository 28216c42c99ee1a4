// AES-128 under FF1, in two ways: the processor's instructions, or OpenSSL's libcrypto where it has none that we know.
#pragma once

#include <cstdint>

#include "ff1.hpp"

namespace idgen::cipher {

// The round keys; the first is the key itself. Whoever keeps one wipes it.
struct alignas(16) AesKey {
  std::uint8_t rounds[11][16];
};

// FF1 with AES in one of the ways.
struct Engine {
  const char* name;  // for describe
  // Completes the round keys; rounds[0] is set. NULL: they are not needed.
  void (*expand)(AesKey& key);
  // Encrypts one block.
  Block (*encrypt)(const AesKey& key, Block block);
  // As ff1_apply_all. Throws Error{internal} if libcrypto refuses.
  void (*ff1)(const AesKey& key, const Ff1Shape& shape, Block p, const Block* tweaks, Block* numbers, std::size_t count,
              Direction direction);
};

const Engine* aes_instructions() noexcept;  // NULL: this processor has none
const Engine& aes_of_libcrypto() noexcept;

inline const Engine& best_engine() noexcept {
  const Engine* const fast = aes_instructions();
  return fast != nullptr ? *fast : aes_of_libcrypto();
}

}  // namespace idgen::cipher
