// Genes: one rule for all languages, checked against libxxhash and against the reference of the golden vectors.
#define XXH_INLINE_ALL
#include "idgen/gene.hpp"

#include <xxhash.h>

#include <random>
#include <string>

#include "vectors/expect_error.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string failure_of_mod(const std::string& owner) {
  return vectors::error_of(Status::value, [&] { gene_of(owner, GeneRule::mod, 4); });
}

TEST(Genes, AreThoseOfTheReference) {
  for (const auto& row : vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/genes.tsv")) {
    SCOPED_TRACE(row[0] + " " + row[1]);
    const IntegerOwner integer(row[0] == "integer" ? std::stoll(row[1]) : 0);
    const std::string owner = row[0] == "integer" ? std::string(integer)
                              : row[0] == "bytes" ? from_hex(row[1])
                                                  : row[1];
    constexpr unsigned kWidths[] = {4, 16, 23, 63};
    for (std::size_t i = 0; i < std::size(kWidths); ++i)
      EXPECT_EQ(gene_of(owner, GeneRule::hash, kWidths[i]), std::stoull(row[3 + i])) << kWidths[i] << " bits";
    if (row[2] == "-")
      failure_of_mod(owner);
    else
      EXPECT_EQ(gene_of(owner, GeneRule::mod, 4), std::stoull(row[2]));
  }
}

TEST(Genes, XxHashIsThatOfItsLibraryForEveryLength) {
  std::mt19937_64 random(1);
  std::string bytes;
  for (int size = 0; size < 300; ++size) {
    EXPECT_EQ(xxh64(bytes), XXH64(bytes.data(), bytes.size(), 0)) << size;
    bytes += static_cast<char>(random());
  }
}

TEST(Genes, AnIntegerAndItsDecimalTextAreOneOwner) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const auto number = static_cast<std::int64_t>(random() >> random() % 64);
    const IntegerOwner above(number), below(-number);
    EXPECT_EQ(std::string_view(above), std::to_string(number));
    EXPECT_EQ(std::string_view(below), std::to_string(-number));
  }
}

TEST(Genes, TheLowBitsOfSomethingThatIsNoIntegerAreRefused) {
  EXPECT_EQ(failure_of_mod("acme"),
            "the owner 'acme' is no integer from 0 to 18446744073709551615 in decimal, and gene = mod takes the low "
            "bits of one; set gene = hash for other owners");
  for (const char* owner : {"-1", "007", "1.0", " 1", "1 ", "0x10", "18446744073709551616"}) failure_of_mod(owner);
}

// Chi-squared with 255 degrees of freedom: above 400 happens once in 10^8 tables.
double chi_squared(const std::vector<int>& counts, int total) {
  const double expected = static_cast<double>(total) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(Genes, AreEvenForSequentialRandomAndRealLookingOwners) {
  constexpr int kOwners = 200'000;
  std::mt19937_64 random(3);
  const std::pair<const char*, std::function<std::string(int)>> kinds[] = {
      {"sequential integers", [](int i) { return std::to_string(i); }},
      {"every 256th integer", [](int i) { return std::to_string(256LL * i); }},
      {"snowflakes", [](int i) { return std::to_string(7'000'000'000'000'000'000 + (std::int64_t{i} << 22)); }},
      {"random bytes", [&](int) { return std::to_string(random()) + static_cast<char>(random()); }},
      {"mail addresses", [](int i) { return "customer" + std::to_string(i) + "@example.com"; }},
      {"numbers with a prefix", [](int i) { return "DE-" + std::to_string(100'000'000 + i * 7); }},
      {"16 bytes that count", [](int i) {
         std::string owner(16, '\0');
         for (int at = 15; i != 0; i >>= 8) owner[static_cast<std::size_t>(at--)] = static_cast<char>(i);
         return owner;
       }}};
  for (const auto& [name, owner_at] : kinds) {
    std::vector<int> low(256), high(256);
    for (int i = 0; i < kOwners; ++i) {
      const std::uint64_t gene = gene_of(owner_at(i), GeneRule::hash, 16);
      ++low[gene & 255];
      ++high[gene >> 8];
    }
    EXPECT_LT(chi_squared(low, kOwners), 400) << name << ", low bits";
    EXPECT_LT(chi_squared(high, kOwners), 400) << name << ", high bits";
  }
}

}  // namespace
}  // namespace idgen
