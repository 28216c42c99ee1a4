// Ids as text: round trips, order, and what is refused.
#include <limits>
#include <random>
#include <string>

#include "idgen/text.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Encoding kAll[] = {Encoding::decimal, Encoding::hex, Encoding::crockford, Encoding::base58, Encoding::base62};
constexpr Encoding kFixed[] = {Encoding::hex, Encoding::crockford, Encoding::base58, Encoding::base62};
constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint64_t>::max();

// As many small ids as large ones.
std::uint64_t random_id(std::mt19937_64& rng) { return rng() >> (rng() % 64); }

TEST(IdText, EveryIdReadsBackFromEveryEncoding) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 50000; ++i) {
    const std::uint64_t id = random_id(rng);
    for (Encoding encoding : kAll) ASSERT_EQ(parse_id(format_id(id, encoding), encoding), id);
  }
  for (Encoding encoding : kAll) {
    EXPECT_EQ(parse_id(format_id(0, encoding), encoding), 0u);
    EXPECT_EQ(parse_id(format_id(kMaxId, encoding), encoding), kMaxId);
  }
}

TEST(IdText, TheOrderOfFixedWidthTextsIsTheOrderOfIds) {
  std::mt19937_64 rng(2);
  for (int i = 0; i < 50000; ++i) {
    const std::uint64_t a = random_id(rng), b = random_id(rng);
    for (Encoding encoding : kFixed) ASSERT_EQ(format_id(a, encoding) < format_id(b, encoding), a < b) << a << " " << b;
  }
}

TEST(IdText, HexIsReadInEitherCase) { EXPECT_EQ(parse_id("DEADBEEFdeadbeef", Encoding::hex), 0xDEADBEEFDEADBEEFu); }

TEST(IdText, CrockfordIsReadInEitherCaseAndForgivesLookAlikes) {
  EXPECT_EQ(parse_id("fzzzzzzzzzzzz", Encoding::crockford), kMaxId);
  EXPECT_EQ(parse_id("00000000000OI", Encoding::crockford), 1u);
  EXPECT_EQ(parse_id("ooooooooooool", Encoding::crockford), 1u);
  EXPECT_EQ(parse_id("00000000000Li", Encoding::crockford), 33u);
}

TEST(IdText, Base58And62TellCasesApart) {
  EXPECT_NE(parse_id("1111111111A", Encoding::base58), parse_id("1111111111a", Encoding::base58));
  EXPECT_NE(parse_id("0000000000A", Encoding::base62), parse_id("0000000000a", Encoding::base62));
}

TEST(IdText, DecimalMayBePaddedToTwentyDigits) {
  EXPECT_EQ(parse_id("00000000000000000042", Encoding::decimal), 42u);
  EXPECT_ERROR(TEXT, HasSubstr("21 characters where 1 to 20"), parse_id("000000000000000000042", Encoding::decimal));
}

TEST(IdText, EveryByteIsADigitOrIsRefusedAtItsPosition) {
  for (Encoding encoding : kAll) {
    const std::string zero = format_id(0, encoding);
    int digits = 0;
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = zero;
      text.back() = static_cast<char>(byte);
      const auto outcome = vectors::outcome_of([&] { EXPECT_LT(parse_id(text, encoding), 62u); });
      if (outcome.status == "OK") {
        ++digits;
      } else {
        EXPECT_EQ(outcome.status, "TEXT");
        EXPECT_THAT(outcome.message, HasSubstr("position " + std::to_string(text.size() - 1)));
      }
    }
    constexpr int kDigits[] = {10, 22, 32 + 22 + 6, 58, 62};
    EXPECT_EQ(digits, kDigits[static_cast<int>(encoding)]);
  }
}

}  // namespace
}  // namespace idgen
