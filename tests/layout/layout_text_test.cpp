// Layouts as text: what is read, what is written, what is refused and why.
#include <random>
#include <string>

#include "idgen/layout.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string canonical(std::string_view text) { return Layout::parse(text).text(); }

TEST(LayoutText, FieldsAreReadFromTheMostSignificantDown) {
  const Layout layout = Layout::parse("time:41ms datacenter:5 worker:5 sequence:12");
  ASSERT_EQ(layout.fields().size(), 4u);
  EXPECT_EQ(layout.fields()[0], (Field{FieldKind::time, 41, 22}));
  EXPECT_EQ(layout.fields()[1], (Field{FieldKind::datacenter, 5, 17}));
  EXPECT_EQ(layout.fields()[2], (Field{FieldKind::worker, 5, 12}));
  EXPECT_EQ(layout.fields()[3], (Field{FieldKind::sequence, 12, 0}));
  EXPECT_EQ(layout.bits(), 63u);
  EXPECT_EQ(layout.find(FieldKind::gene), nullptr);
}

TEST(LayoutText, TimeHasItsTickAfterItsBits) {
  EXPECT_EQ(Layout::parse("time:41 sequence:12").tick_ms(), 1);
  EXPECT_EQ(Layout::parse("time:41ms sequence:12").tick_ms(), 1);
  EXPECT_EQ(Layout::parse("time:32s sequence:12").tick_ms(), 1000);
  EXPECT_EQ(Layout::parse("time:39x10ms sequence:12").tick_ms(), 10);
  EXPECT_EQ(Layout::parse("time:20x86400000ms sequence:12").tick_ms(), 86400000);
}

TEST(LayoutText, EveryWayToWriteALayoutHasOneCanonicalForm) {
  EXPECT_EQ(canonical("  time:41   worker:010  sequence:12 "), "time:41ms worker:10 sequence:12");
  EXPECT_EQ(canonical("time:41x1ms sequence:12"), "time:41ms sequence:12");
  EXPECT_EQ(canonical("time:32x1000ms sequence:12"), "time:32s sequence:12");
  EXPECT_EQ(canonical("time:39x010ms sequence:12"), "time:39x10ms sequence:12");
  EXPECT_EQ(canonical("unsigned  segment:64"), "unsigned segment:64");
  EXPECT_EQ(canonical(" twitter "), "time:41ms datacenter:5 worker:5 sequence:12");
}

TEST(LayoutText, RandomLayoutsReadBackAsThemselves) {
  std::mt19937_64 rng(7);
  const char* const kinds[] = {"time", "datacenter", "worker", "process", "shard", "gene", "version", "fixed"};
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    unsigned bits = 0;
    for (const char* kind : kinds) {
      if (rng() % 2 == 0) continue;
      const unsigned width = 1 + rng() % 7;
      bits += width;
      text += std::string(kind) + ":" + std::to_string(width);
      if (kind == kinds[0]) text += "x" + std::to_string(1 + rng() % 86400000) + "ms";
      text += ' ';
    }
    text += (rng() % 2 == 0 ? "sequence:" : "segment:") + std::to_string(1 + rng() % (63 - bits));
    const Layout layout = Layout::parse(text, static_cast<std::int64_t>(rng() % 253402300800000));
    SCOPED_TRACE(text);
    ASSERT_EQ(Layout::parse(layout.text(), layout.epoch_unix_ms()), layout);
  }
}

TEST(LayoutText, TheLongestCanonicalTextFitsItsBufferInTheCApi) {
  const std::string longest =
      "time:10x86400000ms datacenter:10 worker:10 process:10 shard:10 gene:10 version:2 sequence:1 segment:1 "
      "fixed:63=9223372036854775807";
  EXPECT_LT(Layout::parse(longest).text().size(), 160u);
  EXPECT_EQ(Layout::parse(longest).text(), longest);
}

TEST(LayoutText, ALayoutInFullIsRecognisedAsThePresetWithItsEpoch) {
  EXPECT_EQ(Layout::parse("time:41ms worker:10 sequence:12").preset(), "default");
  EXPECT_EQ(Layout::parse("time:41ms worker:10 sequence:12", 1288834974657).preset(), "leaf");
  EXPECT_EQ(Layout::parse("default", 1288834974657).preset(), "leaf");
  EXPECT_EQ(Layout::parse("time:41ms worker:10 sequence:12", 1).preset(), "");
  EXPECT_EQ(Layout::parse("time:40ms worker:10 sequence:12").preset(), "");
}

TEST(LayoutText, AnEpochGivenReplacesThePresets) {
  EXPECT_EQ(Layout::parse("twitter").epoch_unix_ms(), 1288834974657);
  EXPECT_EQ(Layout::parse("twitter", 0).epoch_unix_ms(), 0);
  EXPECT_EQ(Layout::parse("time:41ms sequence:12").epoch_unix_ms(), 1735689600000);
}

TEST(LayoutText, AFingerprintIsTheSameExactlyWhenIdsMeanTheSame) {
  EXPECT_EQ(Layout::parse("default").fingerprint(), "time:41ms worker:10 sequence:12 epoch:1735689600000");
  EXPECT_EQ(Layout::parse("default").fingerprint(), Layout::parse("time:41x1ms worker:10 sequence:12").fingerprint());
  EXPECT_NE(Layout::parse("default").fingerprint(), Layout::parse("leaf").fingerprint());
  EXPECT_NE(Layout::parse("time:32ms sequence:12").fingerprint(), Layout::parse("time:32s sequence:12").fingerprint());
  EXPECT_EQ(Layout::parse("business64", 5).fingerprint(), Layout::parse("business64").fingerprint());
}

TEST(LayoutText, ASmallerSumLeavesTheTopBitsClear) {
  const Layout layout = Layout::parse("time:32s worker:8 sequence:12");
  EXPECT_EQ(layout.bits(), 52u);
  EXPECT_EQ(layout.fields()[0].shift, 20u);
}

TEST(LayoutText, EveryFieldHasItsNameAndOtherNumbersHaveNone) {
  for (unsigned bit = 0; bit < 10; ++bit) {
    const auto kind = static_cast<FieldKind>(1u << bit);
    ASSERT_NE(field_name(kind), "");
    const std::string suffix = kind == FieldKind::sequence ? "" : " sequence:1";
    const Layout layout = Layout::parse(std::string(field_name(kind)) + ":7" + suffix);
    EXPECT_EQ(layout.fields()[0].kind, kind);
  }
  EXPECT_EQ(field_name(static_cast<FieldKind>(1024)), "");
  EXPECT_EQ(field_name(static_cast<FieldKind>(3)), "");
}

// ------------------------------------------------------------------------------------------------- refusals

TEST(LayoutText, NumbersOfAnyLengthAreRefusedWithoutWrapping) {
  for (const char* number : {"18446744073709551617", "4294967337", "99999999999999999999999999999999999999"}) {
    EXPECT_ERROR(LAYOUT, HasSubstr("are allowed"), Layout::parse("time:" + std::string(number) + "ms sequence:12"));
    EXPECT_ERROR(LAYOUT, HasSubstr("tick"), Layout::parse("time:41x" + std::string(number) + "ms sequence:12"));
  }
  // 2^32 + 10 bits must not read as 10.
  EXPECT_ERROR(LAYOUT, HasSubstr("4294967306 bits"), Layout::parse("time:41ms worker:4294967306 sequence:12"));
}

TEST(LayoutText, AMegabyteOfTextIsRefusedWithAShortMessage) {
  const std::size_t mega = 1 << 20;
  EXPECT_ERROR(LAYOUT, HasSubstr("..."), Layout::parse(std::string(mega, 'a')));
  EXPECT_ERROR(LAYOUT, HasSubstr("..."), Layout::parse("time:" + std::string(mega, '9') + " sequence:1"));
  EXPECT_ERROR(LAYOUT, HasSubstr("..."), Layout::parse(std::string(mega, ':')));
  EXPECT_ERROR(LAYOUT, HasSubstr("is empty"), Layout::parse(std::string(mega, ' ')));
  EXPECT_ERROR(LAYOUT, HasSubstr("..."), Layout::parse(std::string(mega, '\xFF')));
  std::string many;
  for (int i = 0; i < 100000; ++i) many += "worker:1 ";
  EXPECT_ERROR(LAYOUT, HasSubstr("worker occurs twice"), Layout::parse(many));
}

TEST(LayoutText, BytesThatAreNoTextAppearEscapedInTheMessage) {
  EXPECT_ERROR(LAYOUT, HasSubstr("\\xFF\\xFE"), Layout::parse("\xFF\xFE:41 sequence:12"));
  EXPECT_ERROR(LAYOUT, AllOf(HasSubstr("\\x0A"), Not(HasSubstr("\n"))), Layout::parse("time:41ms\nsequence:12"));
  EXPECT_ERROR(LAYOUT, HasSubstr("\\x00"), Layout::parse(std::string_view("time:41ms sequence:12\0", 22)));
  EXPECT_ERROR(LAYOUT, HasSubstr("\\x09"), Layout::parse("time:41ms\tsequence:12"));
}

TEST(LayoutText, RandomTextIsReadOrRefusedButNeverAnythingElse) {
  std::mt19937_64 rng(99);
  const char* const pieces[] = {"time:",    "worker:", "sequence:", "segment:", "unsigned", "default", "41",
                                "ms",       "s",       "x10",       " ",        "12",       ":",       "-",
                                "\xC3\xA9", "0",       "64",        "127",      "x",        "gene:"};
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = rng() % 9; n > 0; --n) text += pieces[rng() % std::size(pieces)];
    const auto outcome = vectors::outcome_of([&] {
      const Layout layout = Layout::parse(text);
      ASSERT_EQ(Layout::parse(layout.text(), layout.epoch_unix_ms()), layout) << text;
      ++read;
    });
    ASSERT_TRUE(outcome.status == "OK" || outcome.status == "LAYOUT") << text;
  }
  EXPECT_GT(read, 20) << "the pieces must make some layouts";
}

}  // namespace
}  // namespace idgen
