#include "idgen/pattern.hpp"

#include <random>
#include <string>

#include "idgen/status.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using testing::HasSubstr;

constexpr LocalTime kDay{.year = 2026, .month = 11, .day = 21, .hour = 7, .minute = 36, .second = 5};

std::string written(const TextPattern& pattern, Id128 number, const LocalTime& when = kDay, unsigned bytes = 8) {
  char text[TextPattern::kMostText];
  return {text, pattern.write(number, bytes, when, text)};
}
std::string written(const char* pattern, Id128 number, const LocalTime& when = kDay, unsigned bytes = 8) {
  return written(TextPattern::parse(pattern), number, when, bytes);
}

TEST(TextPattern, WritesLiteralsTheDateAndTheNumber) {
  EXPECT_EQ(written("SO{yyyyMMdd}{000000}", 1), "SO20261121000001");
  EXPECT_EQ(written("{yyyy-MM-dd HH:mm:ss}/{decimal:3}", 7), "2026-11-21 07:36:05/007");
  EXPECT_EQ(written("{yy}{DDD}-{decimal}", 42), "26325-42");
  EXPECT_EQ(written("{{{hex:4}}}", 0xbeef), "{beef}");
  EXPECT_EQ(written("№{crockford:3}", 32 * 32 * 31), "№Z00");
  EXPECT_EQ(written("{base62}", ~std::uint64_t{0}), "LygHa16AHYF");
  EXPECT_EQ(written("{decimal}", 5, kDay, 16), "000000000000000000000000000000000000005");
}

TEST(TextPattern, HoldsNumbersOfItsDigitsOrWithAPlusOfMore) {
  EXPECT_EQ(written("A{000}", 999), "A999");
  EXPECT_EQ(written("A{000+}", 1000), "A1000");
  EXPECT_EQ(written("A{decimal:3+}", 7), "A007");
  EXPECT_EQ(TextPattern::parse("A{000}").last_number(), 999u);
  EXPECT_TRUE(TextPattern::parse("A{000+}").last_number() == ~Id128{0});
  EXPECT_TRUE(TextPattern::parse("A{hex:32}").last_number() == ~Id128{0});
  EXPECT_EQ(TextPattern::parse("A{base58:2}").last_number(), 58u * 58 - 1);
}

// The numbers of the examples that the algorithms' descriptions give.
TEST(TextPattern, ChecksAreThoseOfLuhnAndOfIso7064) {
  EXPECT_EQ(written("{decimal}{check}", 7992739871), "79927398713");
  EXPECT_EQ(written("{decimal}{check}", 1789372997), "17893729974");
  EXPECT_EQ(written("{decimal}{check:mod11_10}", 79462), "794623");  // ISO/IEC 7064
  EXPECT_EQ(written("{decimal}{check:mod97_10}", 794), "79444");     // ISO/IEC 7064
  EXPECT_EQ(written("{decimal}{check:mod97_10}", 1), "195");
}

TEST(TextPattern, ACheckCoversTheDateToo) {
  const TextPattern pattern = TextPattern::parse("SO{yyyyMMdd}{000000}{check}");
  const std::string right = written(pattern, 1);
  EXPECT_TRUE(pattern.read(right).number == 1);
  std::string other = right;
  std::swap(other[6], other[7]);  // 20261121: 1 and 1 are alike; so the month's digits are changed
  other = right;
  other[7] = '0';
  EXPECT_ERROR(TEXT, HasSubstr("its check character '"), pattern.read(other));
}

TEST(TextPattern, EveryChangedDigitAndNearlyEverySwapIsNoticed) {
  for (const char* const text : {"{base62:11}{check}", "{crockford:13}-{check}", "{decimal:12}{check:mod11_10}",
                                 "{decimal:12}{check:mod97_10}", "{base58:11}{check}", "{hex:16}{check}"}) {
    const TextPattern pattern = TextPattern::parse(text);
    std::mt19937_64 random(7);
    unsigned swaps = 0, unnoticed = 0;
    for (int round = 0; round < 300; ++round) {
      const std::uint64_t id = random() % 999'999'999'999;
      const std::string right = written(pattern, id);
      ASSERT_TRUE(pattern.read(right).number == id);
      for (std::size_t i = 0; i < right.size(); ++i) {
        if (right[i] == '-') continue;
        std::string wrong = right;
        wrong[i] = right[i] == '2' ? '3' : '2';
        EXPECT_THROW(pattern.read(wrong), Error) << wrong << " for " << right;
        if (i + 1 == right.size() || right[i + 1] == right[i] || right[i + 1] == '-') continue;
        wrong = right;
        std::swap(wrong[i], wrong[i + 1]);
        ++swaps;
        try {
          pattern.read(wrong);
          ++unnoticed;
        } catch (const Error&) {
        }
      }
    }
    EXPECT_LT(unnoticed * 40, swaps) << text;  // Luhn in decimal, the weakest, misses 2 of 90
  }
}

TEST(TextPattern, ReadsWhatItWrites) {
  std::mt19937_64 random(1);
  for (const char* const text : {"{decimal}", "{hex}", "{crockford}", "{base58}", "{base62}", "ORD-{base62:11}-{check}",
                                 "SO{yyyyMMdd}{decimal:20}", "{yyDDDHH}-{base58:11+}", "x{hex:3+}y{check}z",
                                 "{yyyy}{MM}{dd}{HH}{mm}{ss}{crockford:13}", "{{{decimal}}}"}) {
    const TextPattern pattern = TextPattern::parse(text);
    for (int round = 0; round < 2000; ++round) {
      const std::uint64_t id = random() >> random() % 64;
      const LocalTime when{.year = 2000 + static_cast<int>(random() % 100),
                           .month = static_cast<int>(random() % 12) + 1,
                           .day = static_cast<int>(random() % 28) + 1,
                           .hour = static_cast<int>(random() % 24),
                           .minute = static_cast<int>(random() % 60),
                           .second = static_cast<int>(random() % 60)};
      const std::string out = written(pattern, id, when);
      ASSERT_LE(out.size(), pattern.most_bytes());
      const TextPattern::Read read = pattern.read(out);
      ASSERT_TRUE(read.number == id) << out;
      ASSERT_EQ(written(pattern, read.number, read.when), out);
      const Id128 wide = Id128{random()} << 64 | random();
      const std::string longer = pattern.last_number() == ~Id128{0} ? written(pattern, wide, when, 16) : "";
      if (longer.empty()) continue;
      ASSERT_LE(longer.size(), pattern.most_bytes());
      ASSERT_TRUE(pattern.read(longer).number == wide) << longer;
      ASSERT_EQ(pattern.read(longer).id_bytes, 16u);
    }
  }
}

TEST(TextPattern, ReadsLettersInEitherCaseWhereTheEncodingDoes) {
  EXPECT_TRUE(TextPattern::parse("A-{crockford:4}-{check}").read(written("A-{crockford:4}-{check}", 31)).number == 31);
  EXPECT_TRUE(TextPattern::parse("A-{crockford:4}").read("A-ooil").number == 33);
  EXPECT_TRUE(TextPattern::parse("A-{hex:2}").read("A-Ff").number == 255);
}

// What else does not fit, and which patterns are refused: tests/vectors/bad_patterns.tsv.
TEST(TextPattern, ReadsADateThatThereIs) {
  EXPECT_TRUE(TextPattern::parse("{yyyyDDD}{000}").read("2024366001").when ==
              (LocalTime{.year = 2024, .month = 12, .day = 31}));
  EXPECT_TRUE(TextPattern::parse("{MMdd}{000}").read("0229001").number == 1);  // of some year
}

TEST(TextPattern, RefusesControlCharacters) {
  EXPECT_ERROR(VALUE, HasSubstr("at position 1, a control character"), TextPattern::parse("a\tb{decimal}"));
}

TEST(TextPattern, ItsShapeIsWithoutTheWidth) {
  EXPECT_EQ(TextPattern::parse("A{yyyyMMdd}{000+}{check}").shape(), "A{yyyyMMdd}{decimal}{check}");
  EXPECT_EQ(TextPattern::parse("{{{base62:11}}}").shape(), "{{{base62}}}");
}

TEST(TextPattern, KnowsHowOftenItsDateComesAgain) {
  const auto complete = [](const char* text) { return TextPattern::parse(text).is_complete(); };
  EXPECT_TRUE(complete("{yyyyMMdd}{000}"));
  EXPECT_TRUE(complete("{yyDDDHH}{000}"));
  EXPECT_TRUE(complete("{000}"));
  EXPECT_TRUE(complete("{yyyy}{000}"));
  EXPECT_FALSE(complete("{dd}{000}"));
  EXPECT_FALSE(complete("{MMdd}{000}"));
  EXPECT_FALSE(complete("{yyyydd}{000}"));
  EXPECT_FALSE(complete("{yyyyMMHH}{000}"));
  EXPECT_EQ(TextPattern::parse("{yyyyDDD}{000}").finest(), TimeUnit::day);
  EXPECT_EQ(TextPattern::parse("{yyyyMM}{000}").finest(), TimeUnit::month);
  EXPECT_EQ(TextPattern::parse("{000}").finest(), TimeUnit::none);
}

}  // namespace
}  // namespace idgen
