// Genes: the bits of an id that come from its owner, so that all rows of one owner live in one shard.
//
// An owner is a string of bytes. An integer is the owner that its decimal text is, so that 42 and "42" are one owner in
// every language.
#pragma once

#include <cstdint>
#include <string_view>

namespace idgen {

// XXH64(owner, 0) ^ MurmurHash64A(owner, 0): the low bits of it are the gene.
std::uint64_t owner_hash(std::string_view owner) noexcept;

// The two halves, which tests compare with the libraries that they come from.
std::uint64_t xxh64(std::string_view bytes) noexcept;
std::uint64_t murmur64a(std::string_view bytes) noexcept;

// An integer as the owner that it is.
class IntegerOwner {
 public:
  explicit IntegerOwner(std::int64_t number) noexcept;
  // Of this object: not to be asked of one that ends with the expression.
  operator std::string_view() const& noexcept { return {digits_, size_}; }  // NOLINT(google-explicit-constructor)
  operator std::string_view() const&& = delete;                             // NOLINT(google-explicit-constructor)

 private:
  char digits_[20];  // "-9223372036854775808"
  std::size_t size_;
};

// How a gene comes from an owner. The order of the property's choices, after "auto".
enum class GeneRule {
  hash,  // low bits of owner_hash()
  mod,   // low bits of the integer that the owner is
};

// What the gene is the low bits of. Throws Error{value} for an owner without bytes, or, with GeneRule::mod, for one
// that is not an integer from 0 to 2^64 - 1.
std::uint64_t owner_number(std::string_view owner, GeneRule rule);
// The same; false where that throws.
bool find_owner_number(std::string_view owner, GeneRule rule, std::uint64_t& number) noexcept;

// Its low bits.
std::uint64_t gene_of(std::string_view owner, GeneRule rule, unsigned bits);

}  // namespace idgen
