// XXH64: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md. MurmurHash64A: Austin Appleby, 2008, public
// domain (MurmurHash2.cpp in SMHasher). Written here and not taken from a library, because the core also compiles where
// there is nothing but a C++ compiler, as `go get` does; tests/layout compares with libxxhash.
#include "idgen/gene.hpp"

#include <bit>
#include <charconv>
#include <cstring>
#include <string>

#include "idgen/status.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

template <class Word>
Word read(const char* at) noexcept {  // little-endian
  Word word;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    word = sizeof word == 8 ? static_cast<Word>(__builtin_bswap64(word))
                            : static_cast<Word>(__builtin_bswap32(static_cast<std::uint32_t>(word)));
  }
  return word;
}

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

std::uint64_t round(std::uint64_t lane, std::uint64_t word) noexcept {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

}  // namespace

std::uint64_t xxh64(std::string_view bytes) noexcept {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t hash = kPrime5;
  if (left >= 32) {
    std::uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    for (; left >= 32; at += 32, left -= 32) {
      for (int i = 0; i < 4; ++i) lanes[i] = round(lanes[i], read<std::uint64_t>(at + 8 * i));
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
  }
  hash += bytes.size();
  for (; left >= 8; at += 8, left -= 8)
    hash = std::rotl(hash ^ round(0, read<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (left >= 4) {
    hash = std::rotl(hash ^ read<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4, left -= 4;
  }
  for (; left > 0; ++at, --left) hash = std::rotl(hash ^ static_cast<unsigned char>(*at) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

std::uint64_t murmur64a(std::string_view bytes) noexcept {
  constexpr std::uint64_t kFactor = 0xC6A4A7935BD1E995;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t hash = left * kFactor;
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = read<std::uint64_t>(at) * kFactor;
    word = (word ^ word >> 47) * kFactor;
    hash = (hash ^ word) * kFactor;
  }
  if (left > 0) {
    std::uint64_t tail = 0;
    while (left > 0) tail = tail << 8 | static_cast<unsigned char>(at[--left]);
    hash = (hash ^ tail) * kFactor;
  }
  hash = (hash ^ hash >> 47) * kFactor;
  return hash ^ hash >> 47;
}

std::uint64_t owner_hash(std::string_view owner) noexcept { return xxh64(owner) ^ murmur64a(owner); }

IntegerOwner::IntegerOwner(std::int64_t number) noexcept
    : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, number).ptr - digits_)) {}

bool find_owner_number(std::string_view owner, GeneRule rule, std::uint64_t& number) noexcept {
  if (owner.empty()) return false;
  if (rule == GeneRule::hash) {
    number = owner_hash(owner);
    return true;
  }
  const auto [end, error] = std::from_chars(owner.data(), owner.data() + owner.size(), number);
  const bool is_canonical = owner.size() == 1 || owner.front() != '0';
  return error == std::errc{} && end == owner.data() + owner.size() && is_canonical;
}

std::uint64_t owner_number(std::string_view owner, GeneRule rule) {
  std::uint64_t number;
  if (find_owner_number(owner, rule, number)) return number;
  if (owner.empty())
    throw Error(Status::value, "the owner is empty; an id with a gene needs one: an integer, or at least one byte");
  throw Error(Status::value,
              concat({"the owner ", quote(owner),
                      " is no integer from 0 to 18446744073709551615 in decimal, and gene = mod takes the "
                      "low bits of one; set gene = hash for other owners"}));
}

std::uint64_t gene_of(std::string_view owner, GeneRule rule, unsigned bits) {
  return owner_number(owner, rule) & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace idgen
