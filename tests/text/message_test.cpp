// Messages reach terminals and logs, so they are always one line of text.
#include <limits>

#include "store/grant_rules.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string said(const std::string& text) { return Error(Status::value, text).message(); }

TEST(Message, WhatAServerSaysInSeveralLinesIsOneLine) {
  EXPECT_EQ(said("ERROR:  no\nDETAIL:  really\r\n\tLINE 1\n"), "ERROR:  no DETAIL:  really LINE 1");
  EXPECT_EQ(said("\n\n"), "");
  EXPECT_EQ(said("two \n words"), "two  words");
}

TEST(Message, HoldsNoControlCharacter) {
  EXPECT_EQ(said("\x1B[31mred\x7F"), "\\x1B[31mred\\x7F");
  EXPECT_EQ(said(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(said("\xC2\x9B"
                 "31m"),
            "\\xC2\\x9B31m");  // U+009B begins a terminal's command as well
  for (int c = 0; c < 256; ++c) {
    for (const char found : said("a" + std::string(1, static_cast<char>(c)) + "b"))
      EXPECT_FALSE(found >= 0 && found < 32);
  }
}

TEST(Message, KeepsTheTextOfOtherLanguages) {
  EXPECT_EQ(said("K\xC3\xB6ln \xC2\xA7 5"), "K\xC3\xB6ln \xC2\xA7 5");
  EXPECT_EQ(said("\xC2"), "\xC2");
}

TEST(Message, NamesATagSoThatItCannotPassForMoreThanAName) {
  EXPECT_ERROR(TAG_UNKNOWN,
               AllOf(HasSubstr("tag 't\\x0A2026-11-22 ERROR forged' of namespace 'a\\x0Ab'"), Not(HasSubstr("\n"))),
               throw_tag_unknown("a\nb", "t\n2026-11-22 ERROR forged", "memory", "Make it"));
}

TEST(Concat, JoinsTextsQuotesAndNumbersOfEveryKind) {
  EXPECT_EQ(concat({}), "");
  EXPECT_EQ(concat({"a ", std::string("b"), std::string_view(" c "), quote("d\n"), " ", quote({}), 0, " ", -1}),
            "a b c 'd\\x0A' ''0 -1");
  EXPECT_EQ(concat({~std::uint64_t{0}, " ", std::numeric_limits<std::int64_t>::min(), " ", std::uint8_t{7}}),
            "18446744073709551615 -9223372036854775808 7");
}

}  // namespace
}  // namespace idgen
