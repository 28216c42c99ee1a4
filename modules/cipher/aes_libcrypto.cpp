// AES by libcrypto, which chooses what suits the processor. Each call makes a context of its own: they are not for
// several threads, and freeing one wipes it.
#include <openssl/evp.h>

#include <memory>

#include "aes.hpp"
#include "idgen/status.hpp"

namespace idgen::cipher {
namespace {

class Libcrypto {
 public:
  explicit Libcrypto(const AesKey& key) : context_(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free) {
    if (!context_) throw std::bad_alloc();
    if (EVP_EncryptInit_ex(context_.get(), EVP_aes_128_ecb(), nullptr, key.rounds[0], nullptr) != 1) fail();
    EVP_CIPHER_CTX_set_padding(context_.get(), 0);
  }

  using State = Block;
  static State state(Block block) { return block; }
  using Half = std::uint64_t;
  static Half half(std::uint64_t number) { return number; }
  static std::uint64_t number(Half half) { return half; }

  template <std::size_t kLanes>
  void encrypt(Block (&blocks)[kLanes]) const {
    std::uint8_t bytes[kLanes][16];
    for (std::size_t i = 0; i < kLanes; ++i)
      for (int at = 0; at < 16; ++at) bytes[i][at] = static_cast<std::uint8_t>(blocks[i] >> (120 - 8 * at));
    int length = 0;
    if (EVP_EncryptUpdate(context_.get(), bytes[0], &length, bytes[0], sizeof bytes) != 1) fail();
    for (std::size_t i = 0; i < kLanes; ++i) {
      blocks[i] = 0;
      for (int at = 0; at < 16; ++at) blocks[i] = blocks[i] << 8 | bytes[i][at];
    }
  }

  template <unsigned kSumBytes, bool kAdds, std::size_t kLanes>
  void round(const State (&base)[kLanes], const Half (&known)[kLanes], Half (&changed)[kLanes], Half place,
             Half mask) const {
    State states[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) states[i] = base[i] ^ place ^ known[i];
    encrypt(states);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const auto sum = static_cast<std::uint64_t>(states[i] >> (128 - 8 * kSumBytes));
      changed[i] = (kAdds ? changed[i] + sum : changed[i] - sum) & mask;
    }
  }

 private:
  [[noreturn]] static void fail() { throw Error(Status::internal, "libcrypto refuses AES-128 in ECB mode"); }
  const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context_;
};

Block encrypt(const AesKey& key, Block block) {
  Block blocks[1] = {block};
  Libcrypto(key).encrypt(blocks);
  return blocks[0];
}

void ff1(const AesKey& key, const Ff1Shape& shape, Block p, const Block* tweaks, Block* numbers, std::size_t count,
         Direction direction) {
  ff1_apply_all(Libcrypto(key), shape, p, tweaks, numbers, count, direction);
}

constexpr Engine kLibcrypto = {"libcrypto's AES", nullptr, encrypt, ff1};

}  // namespace

const Engine& aes_of_libcrypto() noexcept { return kLibcrypto; }

}  // namespace idgen::cipher
