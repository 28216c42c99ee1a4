#include "java_format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "idgen/status.hpp"
#include "vectors/expect_error.hpp"

namespace idgen::module {
namespace {

using testing::HasSubstr;

std::string formats(const char* pattern) {
  const JavaFormats found = java_formats(TextPattern::parse(pattern));
  return found.date + "|" + found.number;
}

TEST(JavaFormat, SaysWhatAPatternSays) {
  EXPECT_EQ(formats("SO{yyyyMMdd}{000000}"), "'SO'yyyyMMdd|000000");
  EXPECT_EQ(formats("{yyMM}{decimal:4}"), "yyMM|0000");
  EXPECT_EQ(formats("{yyyy}-{DDD}/{0}"), "yyyy-DDD/|0");
  EXPECT_EQ(formats("{yyyy-MM-dd HH}{00+}"), "yyyy-MM-dd HH|00");
  EXPECT_EQ(formats("#{00000}"), "#|00000");
  EXPECT_EQ(formats("it's{yyyy}{0}"), "'it''s'yyyy|0");
  EXPECT_EQ(formats("{{{yyyy}}}{0}"), "{yyyy}|0");
}

TEST(JavaFormat, RefusesWhatARowCannotSay) {
  for (const char* pattern : {"{yyyy}{base62:6}", "{yyyy}{decimal}", "{yyyy}{000}{check}", "{check}{yyyy}{000}",
                              "{yyyy}{000}X", "{000}{yyyy}", "{decimal}"}) {
    EXPECT_ERROR(UNSUPPORTED, HasSubstr("key_producer"), java_formats(TextPattern::parse(pattern)));
  }
}

TEST(JavaFormat, IsTheSameHoweverItIsQuoted) {
  for (const char* quoted : {"'INV-'yyyy", "'INV'-yyyy", "'I''NV-'yyyy", "'INV''-'yyyy"}) {
    const bool has_quote = std::string(quoted).find("''") != std::string::npos;
    EXPECT_EQ(canonical_date_format(quoted) == "'INV-'yyyy", !has_quote) << quoted;
  }
  EXPECT_EQ(canonical_date_format("'a''b'yyyy"), "'a''b'yyyy");
  EXPECT_EQ(canonical_date_format("'a'''yyyy"), "'a'''yyyy");
  EXPECT_EQ(canonical_date_format("''yyyy"), "''yyyy");
  EXPECT_EQ(canonical_date_format("yyyy'-'MM"), "yyyy-MM");
  EXPECT_EQ(canonical_date_format("''''yyyy"), "''''yyyy") << "two quotes";
  EXPECT_EQ(canonical_date_format(""), "");
  EXPECT_EQ(canonical_date_format("'unfinished"), "'unfinished'");
}

TEST(JavaFormat, TellsFormatsThatCannotWriteTheSameText) {
  EXPECT_EQ(leading_literal("'INV-'yyyy"), "INV-");
  EXPECT_EQ(leading_literal("#'it''s!'yyyy"), "#it's!");
  EXPECT_EQ(leading_literal("yyyy'x'"), "");
  EXPECT_EQ(leading_literal("'C'"), "C");
  const auto alike = [](const char* one, const char* other) {
    EXPECT_EQ(may_write_alike(one, other), may_write_alike(other, one));
    return may_write_alike(one, other);
  };
  EXPECT_TRUE(alike("yyyy", "yyyyMMdd"));
  EXPECT_TRUE(alike("'A'yyyy", "A"));  // AM or PM, not a literal: nobody knows what it writes
  EXPECT_TRUE(alike("'A'yyyy", "'A2'yyyy"));
  EXPECT_TRUE(alike("yyyy", "'20'yy"));
  EXPECT_FALSE(alike("yyyy", "'SO'yyyy"));
  EXPECT_FALSE(alike("'SO'yyyy", "'SOX'yyyy"));
  EXPECT_FALSE(alike("'A'yyyy", "'B'yyyy"));
}

TEST(JavaFormat, OfAPatternIsCanonicalAlready) {
  for (const char* pattern : {"SO{yyyyMMdd}{000000}", "it's{yyyy}{0}", "a-{yyyy}-b{MM}''{0}", "'{0}", "{yyyy} {0}"}) {
    const std::string date = java_formats(TextPattern::parse(pattern)).date;
    EXPECT_EQ(canonical_date_format(date), date) << pattern;
  }
}

}  // namespace
}  // namespace idgen::module
