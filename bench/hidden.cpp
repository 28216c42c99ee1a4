// Hidden ids, beside the AES instructions that FF1 cannot do without: ten encryptions of ten rounds for an id. One by
// one each waits for the one before; in a batch eight stand side by side.
#include <idgen/cipher.h>
#include <idgen/host.h>

#include "commands.hpp"
#include "generator.hpp"
#include "harness.hpp"
#include "json.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

constexpr std::size_t kBatch = 1024;
constexpr int kAesRounds = 100;

class Cipher {
 public:
  explicit Cipher(const Properties& properties) {
    const Config config(properties);
    idgen_keys_t keys{};
    keys.struct_size = sizeof keys;
    keys.read = [](void*, idgen_key_fn each, void* to, idgen_error_t*) -> idgen_status_t {
      constexpr std::uint8_t kKey[32] = {1, 2, 3};
      each(to, 1, kKey, sizeof kKey, 0);
      return IDGEN_OK;
    };
    idgen_error_t error = IDGEN_ERROR_INIT;
    check(idgen_config_set_keys(config.get(), &keys, nullptr, &error), error);
    check(idgen_cipher_create(config.get(), &cipher_, &error), error);
  }
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;
  ~Cipher() { idgen_cipher_destroy(cipher_); }
  idgen_cipher_t* get() const { return cipher_; }

 private:
  idgen_cipher_t* cipher_ = nullptr;
};

// `reveals`: of the forms of a few ids, made before; else each form is the next id, so that calls wait for each other.
void one_by_one(const Cipher& cipher, bool reveals, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  std::uint64_t hidden[64];
  for (std::uint64_t i = 0; i < 64; ++i) check(idgen_cipher_hide(cipher.get(), i, &hidden[i], &error), error);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t id = reveals ? hidden[(i + (last & 1)) & 63] : (i << 1 | (last & 1));
    check(reveals ? idgen_cipher_reveal(cipher.get(), id, &last, &error)
                  : idgen_cipher_hide(cipher.get(), id, &last, &error),
          error);
    keep(last);
  }
}

void in_batches(const Cipher& cipher, bool is_wide, std::size_t count) {
  idgen_error_t error = IDGEN_ERROR_INIT;
  static std::uint64_t ids[2 * kBatch], hidden[2 * kBatch];
  for (std::size_t i = 0; i < kBatch; ++i) {
    if (is_wide) {
      ids[2 * i] = 0;
      ids[2 * i + 1] = __builtin_bswap64(i);
    } else {
      ids[i] = i;
    }
  }
  for (std::size_t i = 0; i < count; i += kBatch) {
    if (is_wide) {
      check(idgen_cipher_hide_wide(cipher.get(), reinterpret_cast<const std::uint8_t*>(ids),
                                   reinterpret_cast<std::uint8_t*>(hidden), kBatch, &error),
            error);
    } else {
      check(idgen_cipher_hide_batch(cipher.get(), ids, hidden, kBatch, &error), error);
    }
    keep(hidden[0]);
  }
}

#if defined(__x86_64__)
[[gnu::target("aes")]] void aes_in_a_row(std::size_t count) {
  __m128i state = _mm_setzero_si128();
  const __m128i key = _mm_set1_epi8(3);
  for (std::size_t i = 0; i < count; ++i) {
    for (int round = 0; round < kAesRounds; ++round) state = _mm_aesenc_si128(state, key);
    asm volatile("" : "+x"(state));
  }
}

[[gnu::target("aes")]] void aes_side_by_side(std::size_t count) {
  __m128i a = _mm_setzero_si128(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  const __m128i key = _mm_set1_epi8(3);
  for (std::size_t i = 0; i < count; i += 8) {
    for (int round = 0; round < kAesRounds; ++round) {
      a = _mm_aesenc_si128(a, key), b = _mm_aesenc_si128(b, key), c = _mm_aesenc_si128(c, key),
      d = _mm_aesenc_si128(d, key), e = _mm_aesenc_si128(e, key), f = _mm_aesenc_si128(f, key),
      g = _mm_aesenc_si128(g, key), h = _mm_aesenc_si128(h, key);
    }
    asm volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h));
  }
}

void add_floors(std::vector<Subject>& subjects) {
  if (!__builtin_cpu_supports("aes")) return;
  subjects.push_back({"AES rounds in a row", aes_in_a_row});
  subjects.push_back({"AES rounds side by side", aes_side_by_side, 8});
}
#else
void add_floors(std::vector<Subject>&) {}
#endif

}  // namespace

void hidden(int rounds) {
  const Properties business = {{"store", "memory:bench-hidden"}, {"layout", "business64"}, {"namespace", "business"}};
  const Cipher narrow(business), wide(with(with(business, "layout", "business128"), "namespace", "wide")),
      snowflakes(with(with(business, "layout", "default"), "namespace", "snowflake"));
  std::vector<Subject> subjects;
  add_floors(subjects);
  subjects.push_back({"hide, 42 bits", [&](std::size_t count) { one_by_one(narrow, false, count); }});
  subjects.push_back({"reveal, 42 bits", [&](std::size_t count) { one_by_one(narrow, true, count); }});
  subjects.push_back({"hide, 63 bits", [&](std::size_t count) { one_by_one(snowflakes, false, count); }});
  subjects.push_back({"batch, 42 bits", [&](std::size_t count) { in_batches(narrow, false, count); }, kBatch});
  subjects.push_back({"batch, 63 bits", [&](std::size_t count) { in_batches(snowflakes, false, count); }, kBatch});
  subjects.push_back({"batch, 84 bits", [&](std::size_t count) { in_batches(wide, true, count); }, kBatch});
  take_turns(subjects, rounds, 5);

  Json json;
  json.open().open("ns");
  for (const Subject& subject : subjects) json.numbers(subject.name, subject.ns);
  json.close().close().print();
}

}  // namespace bench
