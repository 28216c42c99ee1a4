#include "idgen/text_form.hpp"

#include "calendar/period.hpp"
#include "idgen/status.hpp"
#include "idgen/text.hpp"
#include "vectors/expect_error.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

using testing::HasSubstr;

std::string written(const TextForm& form, Id128 id, unsigned bytes = 8) {
  char text[TextPattern::kMostText];
  return {text, form.write({id, bytes}, text)};
}

std::uint64_t snowflake_of(const char* instant) {
  const Layout layout = Layout::parse("twitter");
  Parts parts;
  parts.time = static_cast<std::uint64_t>(parse_instant(instant) - layout.epoch_unix_ms());
  parts.sequence = 7;
  return layout.encode(parts);
}

TEST(TextForm, TheDateIsThatOfTheIdInTheZone) {
  const std::uint64_t id = snowflake_of("2026-11-21T16:30:00Z");
  const TextForm utc("{yyyyMMdd}-{base62:11}-{check}", open_zone("UTC"), Layout::parse("twitter"));
  const TextForm shanghai("{yyyyMMdd}-{base62:11}-{check}", open_zone("+08:00"), Layout::parse("twitter"));
  EXPECT_THAT(written(utc, id), testing::StartsWith("20261121-"));
  EXPECT_THAT(written(shanghai, id), testing::StartsWith("20261122-"));
  const TextParts read = shanghai.read(written(shanghai, id));
  EXPECT_TRUE(read.id.value == id);
  EXPECT_EQ(read.finest, TimeUnit::day);
  EXPECT_EQ(read.when, (LocalTime{.year = 2026, .month = 11, .day = 22}));
}

TEST(TextForm, WhatTheTextLacksOfTheDateTheIdKnows) {
  const TextForm form("{dd}-{decimal}", open_zone("UTC"), Layout::parse("twitter"));
  const TextParts read = form.read(written(form, snowflake_of("2026-11-21T16:30:00Z")));
  EXPECT_EQ(read.when, (LocalTime{.year = 2026, .month = 11, .day = 21}));
}

TEST(TextForm, IdsOf16BytesKeepTheirLength) {
  const TextForm any("O-{base62}", open_zone(""), {});
  EXPECT_EQ(written(any, 5, 16), "O-0000000000000000000005");
  EXPECT_EQ(any.read("O-0000000000000000000005").id.bytes, 16u);
  EXPECT_EQ(any.read("O-00000000005").id.bytes, 8u);
  const TextForm wide("O-{base62:3}", open_zone(""), Layout::parse("business128"));
  EXPECT_EQ(wide.read("O-005").id.bytes, 16u);
}

TEST(TextForm, OneTextIsReadForEachSerial) {
  const auto unread = [](const TextForm& form, const std::string& text) {
    return vectors::error_of(Status::text, [&] { form.read(text); });
  };
  const TextForm daily = TextForm::of_serials("SO{yyyyMMdd}{decimal}", open_zone(""));
  EXPECT_THAT(unread(daily, "SO20261121" + std::string(36, '0') + "417"), HasSubstr("that of an id of 16 bytes"));
  EXPECT_THAT(unread(TextForm::of_serials("SO{yyyyMMdd}{000}", open_zone("")), "SO20261121000"),
              HasSubstr("begin with 1"));
  const TextForm ever = TextForm::of_serials("{decimal}", open_zone(""));
  EXPECT_THAT(unread(ever, "9223372036854775808"), HasSubstr("no serial is so large"));
  EXPECT_TRUE(ever.read("9223372036854775807").number == ~std::uint64_t{0} >> 1);
}

TEST(TextForm, YearsThatThePatternDoesNotWriteAreRefused) {
  const TextForm far("{yyyy}-{hex}", open_zone(""), Layout::parse("time:54 worker:4 sequence:5"));
  EXPECT_ERROR(VALUE, HasSubstr("the years 0 to 9999"), written(far, ~std::uint64_t{0} >> 1));
  EXPECT_ERROR(VALUE, HasSubstr("its year would be 1999"),
               written(TextForm::of_serials("{yy}{000}", open_zone("")), std::uint64_t{1999} << kSerialBits | 1));
}

TEST(TextForm, IdsAreWrittenAndReadAsTheReferenceDoes) {
  for (const auto& row : vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/patterns.tsv")) {
    ASSERT_EQ(row.size(), 6u) << row[0];
    const TextForm form(row[0], open_zone(row[1]),
                        row[2].empty() ? std::nullopt : std::optional(Layout::parse(row[2])));
    Id128 id = 0;
    for (const char c : row[4]) id = id * 10 + static_cast<unsigned>(c - '0');
    const auto bytes = static_cast<unsigned>(std::stoi(row[3]));
    EXPECT_EQ(written(form, id, bytes), row[5]) << row[0];
    const WideId read = form.read(row[5]).id;
    EXPECT_TRUE(read.value == id && read.bytes == bytes) << row[5];
  }
}

TEST(TextForm, ASerialIsADayAndANumber) {
  const TextForm form = TextForm::of_serials("SO{yyyyMMdd}{000000}", open_zone(""));
  const TextParts read = form.read("SO20261121000001");
  EXPECT_TRUE(read.number == 1);
  EXPECT_EQ(static_cast<std::uint64_t>(read.id.value) >> kSerialBits, 20778u);  // days since 1970-01-01
  EXPECT_EQ(written(form, read.id.value), "SO20261121000001");
  EXPECT_ERROR(TEXT, HasSubstr("no serial is so old"), form.read("SO19691231000001"));
  EXPECT_ERROR(VALUE, HasSubstr("its year would be"), written(form, ~std::uint64_t{0} >> 1));
  const TextForm plain = TextForm::of_serials("INV-{000000+}{check}", open_zone(""));
  EXPECT_EQ(written(plain, 1), "INV-0000018");
  EXPECT_TRUE(plain.read("INV-0000018").id.value == 1);
}

TEST(TextForm, APeriodIsWrittenAlikeHoweverOftenItIsAndWhateverWasWrittenBefore) {
  for (const char* pattern : {"{yyyy}-{000}", "{yyyyMM}-{000}", "{yyyyMMdd}-{000}", "{yyyyMMddHH}-{000}"}) {
    const TextForm form = TextForm::of_serials(pattern, open_zone(""));
    for (std::uint64_t period = 1; period < std::uint64_t{1} << 23; period = period * 3 / 2 + 1) {
      const Id128 id = Id128{period} << kSerialBits | 7;
      const LocalTime when = begin_of(period, form.pattern().finest());
      for (int i = 0; i < 3; ++i) {
        if (when.year >= 1970 && when.year <= 9999) {
          char text[TextPattern::kMostText];
          EXPECT_EQ(written(form, id), std::string(text, form.pattern().write(7, 8, when, text)));
        } else {
          EXPECT_ERROR(VALUE, HasSubstr("its year would be"), written(form, id));
        }
      }
    }
  }
  const TextForm form = TextForm::of_serials("{yyyy}-{000}", open_zone(""));
  EXPECT_EQ(written(form, Id128{2026} << kSerialBits | 7), "2026-007");
  // Years with the low bits of that one.
  for (const std::uint64_t year : {2026u + (1u << 14), 2026u + (1u << 18), 2026u}) {
    for (int i = 0; i < 2; ++i) {
      if (year == 2026) {
        EXPECT_EQ(written(form, Id128{year} << kSerialBits | 7), "2026-007");
      } else {
        EXPECT_ERROR(VALUE, HasSubstr("its year would be"), written(form, Id128{year} << kSerialBits | 7));
      }
    }
  }
}

TEST(TextForm, APatternThatWouldRepeatItsSerialsIsRefused) {
  const auto refused = [](const char* pattern) {
    return vectors::error_of(Status::value, [&] { TextForm::of_serials(pattern, open_zone("")); });
  };
  EXPECT_THAT(refused("{dd}{000}"), HasSubstr("its date comes again"));
  EXPECT_THAT(refused("{MMdd}{000}"), HasSubstr("its date comes again"));
  EXPECT_THAT(refused("{yyyyMMddHHmm}{000}"), HasSubstr("minutes and seconds cannot be in its pattern"));
  // Two digits of a year are those of one century.
  const TextForm form = TextForm::of_serials("{yy}{000}", open_zone(""));
  EXPECT_EQ(written(form, std::uint64_t{2099} << kSerialBits | 1), "99001");
  EXPECT_ERROR(VALUE, HasSubstr("its year would be 2100"), written(form, std::uint64_t{2100} << kSerialBits | 1));
}

}  // namespace
}  // namespace idgen
