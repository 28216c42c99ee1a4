// Ids from fields and back; capacity and lifetime.
#include "idgen/layout.hpp"

#include <limits>
#include <random>

#include "idgen/text.hpp"
#include "vectors/expect_error.hpp"

namespace idgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

Id128 max_of(unsigned bits) { return (Id128{1} << bits) - 1; }

constexpr FieldKind kAllKinds[] = {FieldKind::time,    FieldKind::datacenter, FieldKind::worker, FieldKind::process,
                                   FieldKind::shard,   FieldKind::sequence,   FieldKind::gene,   FieldKind::version,
                                   FieldKind::segment, FieldKind::fixed};

// A valid layout of at most 63 bits with a random choice, order and width of fields.
std::string random_layout(std::mt19937_64& rng) {
  std::vector<FieldKind> kinds(std::begin(kAllKinds), std::end(kAllKinds));
  std::shuffle(kinds.begin(), kinds.end(), rng);
  kinds.resize(1 + rng() % kinds.size());
  const bool counts = std::any_of(kinds.begin(), kinds.end(), [](FieldKind kind) {
    return kind == FieldKind::sequence || kind == FieldKind::segment;
  });
  if (!counts) kinds.back() = FieldKind::sequence;
  const char* const units[] = {"", "ms", "s", "x10ms", "x7ms", "x86400000ms"};
  std::string text;
  unsigned left = 63;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto after = static_cast<unsigned>(kinds.size() - 1 - i);
    const auto bits = static_cast<unsigned>(1 + rng() % (left - after));
    left -= bits;
    text.append(text.empty() ? "" : " ").append(field_name(kinds[i])).append(":").append(std::to_string(bits));
    if (kinds[i] == FieldKind::time) text += units[rng() % std::size(units)];
  }
  return text;
}

// --------------------------------------------------------------------------------------------- encode, decode

TEST(Layout, PublishedIdsComeOutAsPublished) {
  const Layout snowflake = Layout::parse("time:41ms worker:10 sequence:12", 0);
  EXPECT_EQ(snowflake.encode({.time = 1572057648000}), 6593687681236992000u);
  EXPECT_EQ(snowflake.encode({.time = 1572057648000 - 1569859200000}), 9220959240192000u);

  const Layout order = Layout::parse("order", 0);
  const std::uint64_t first = order.encode({.time = 1572070381000, .worker = 1, .gene = 1820 % 16});
  const std::uint64_t second = order.encode({.time = 1572070381000, .worker = 1, .gene = 5177331 % 16});
  EXPECT_EQ(first, 6593741087309889548u);
  EXPECT_EQ(second, 6593741087309889539u);
  EXPECT_EQ(first % 16, 1820u % 16);
  EXPECT_EQ(second % 16, 5177331u % 16);
}

TEST(Layout, AFieldOverflowNamesTheValueAndTheRange) {
  const Layout layout = Layout::parse("default");
  EXPECT_ERROR(VALUE,
               "worker 1024 is too large for its 10 bits; 0 to 1023 fit the layout 'time:41ms worker:10 sequence:12'",
               layout.encode({.worker = 1024}));
  EXPECT_ERROR(VALUE, HasSubstr("sequence 18446744073709551615 is too large"), layout.encode({.sequence = kMax64}));
}

TEST(Layout, FieldsOfSixtyFourBitsAndMoreAreCheckedWithoutWrapping) {
  const Layout full = Layout::parse("unsigned segment:64");
  EXPECT_EQ(full.encode({.segment = kMax64}), kMax64);
  EXPECT_ERROR(VALUE, HasSubstr("segment 18446744073709551616 is too large"), full.encode({.segment = Id128{1} << 64}));
  const Layout wide = Layout::parse("segment:127");
  EXPECT_EQ(wide.encode128({.segment = max_of(127)}), max_of(127));
  EXPECT_ERROR(VALUE, HasSubstr("too large for its 127 bits"), wide.encode128({.segment = Id128{1} << 127}));
  EXPECT_ERROR(VALUE, HasSubstr("outside the layout"), wide.decode128(~Id128{0}));
}

TEST(Layout, PartsThatTheLayoutLacksAreNotRead) {
  EXPECT_EQ(Layout::parse("default").encode({.fields = 0, .unix_ms = 5, .shard = kMax64, .segment = ~Id128{0}}), 0u);
}

TEST(Layout, AnIdWithBitsOutsideTheLayoutIsRefused) {
  EXPECT_ERROR(
      VALUE,
      "id 9223372036854775808 has bits outside the layout 'time:41ms worker:10 sequence:12', whose ids are 0 to "
      "9223372036854775807; decode it with the layout that made it",
      Layout::parse("default").decode(std::uint64_t{1} << 63));
  const Layout js = Layout::parse("js53");
  EXPECT_EQ(js.encode(js.decode((std::uint64_t{1} << 52) - 1)), (std::uint64_t{1} << 52) - 1);
  EXPECT_ERROR(VALUE, HasSubstr("0 to 4503599627370495"), js.decode(std::uint64_t{1} << 52));
}

TEST(Layout, TheConstantOfALayoutIsInEveryIdAndAnIdWithAnotherIsOfAnotherLayout) {
  const Layout marked = Layout::parse("fixed:3=5 time:41ms worker:7 sequence:12", 0);
  const std::uint64_t id = marked.encode({.time = 1000, .worker = 3});
  EXPECT_EQ(id, std::uint64_t{5} << 60 | 1000 << 19 | 3 << 12);
  EXPECT_EQ(marked.decode(id).fixed, 5u);
  EXPECT_EQ(marked.encode(marked.decode(id)), id);
  EXPECT_EQ(marked.fixed_bits(), std::uint64_t{5} << 60);
  EXPECT_ERROR(VALUE,
               "an id with fixed 4, but those of layout 'fixed:3=5 time:41ms worker:7 sequence:12' have 5; use the "
               "layout that made it",
               marked.decode(std::uint64_t{4} << 60));
  EXPECT_ERROR(VALUE, HasSubstr("an id with fixed 4"), marked.encode({.fixed = 4}));
  EXPECT_ERROR(VALUE, HasSubstr("fixed 8 is too large for its 3 bits"), marked.encode({.fixed = 8}));

  const Layout zero = Layout::parse("fixed:3=0 time:41ms worker:7 sequence:12", 0);
  EXPECT_EQ(zero.text(), "fixed:3=0 time:41ms worker:7 sequence:12");
  EXPECT_ERROR(VALUE, HasSubstr("have 0"), zero.decode(id));
  const Layout any = Layout::parse("fixed:3 time:41ms worker:7 sequence:12", 0);
  EXPECT_EQ(any.decode(id).fixed, 5u);
  EXPECT_EQ(any.encode({.fixed = 5}), std::uint64_t{5} << 60);
  EXPECT_FALSE(any == zero || any == marked);
  EXPECT_NE(any.fingerprint(), zero.fingerprint());
}

TEST(Layout, RandomIdsOfRandomLayoutsDecodeAndEncodeToThemselves) {
  std::mt19937_64 rng(20261121);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_layout(rng);
    SCOPED_TRACE(text);
    const Layout layout = Layout::parse(text);
    for (int j = 0; j < 20; ++j) {
      const std::uint64_t id = rng() & static_cast<std::uint64_t>(max_of(layout.bits()));
      const Parts parts = layout.decode(id);
      ASSERT_EQ(layout.encode(parts), id);
      ASSERT_EQ(parts.fields, layout.field_bits());
    }
  }
}

// ------------------------------------------------------------------------------------- capacity and lifetime

TEST(Layout, TheDefaultLayoutLastsUntil2094AndGivesFourMillionIdsASecond) {
  const Layout layout = Layout::parse("default");
  EXPECT_EQ(format_instant(layout.last_unix_ms()), "2094-09-07T15:47:35.551Z");
  EXPECT_EQ(layout.ids_per_tick(), 4096u);
  EXPECT_DOUBLE_EQ(layout.ids_per_second(), 4096000.0);
  EXPECT_EQ(layout.workers(), 1024u);
  EXPECT_NEAR(layout.years_left(Layout::kDefaultEpochUnixMs), 69.68, 0.01);
}

TEST(Layout, TheLastMillisecondIsTheOneBeforeTheTickThatDoesNotFit) {
  for (const char* text : {"default", "js53", "sonyflake", "time:3x7ms sequence:4"}) {
    const Layout layout = Layout::parse(text);
    const std::uint64_t ticks = std::uint64_t{1} << layout.find(FieldKind::time)->bits;
    EXPECT_EQ(layout.last_unix_ms() + 1, layout.tick_start_unix_ms(ticks)) << text;
    EXPECT_EQ(layout.tick_start_unix_ms(0), layout.epoch_unix_ms()) << text;
    EXPECT_EQ(layout.tick_start_unix_ms(1) - layout.tick_start_unix_ms(0), layout.tick_ms()) << text;
  }
}

TEST(Layout, TimesBeyondSixtyFourBitsSaturate) {
  const Layout layout = Layout::parse("time:62x86400000ms sequence:1", 0);
  constexpr std::uint64_t kDay = 86400000, kLastWholeDay = kNever / kDay;
  EXPECT_EQ(layout.tick_start_unix_ms(kLastWholeDay), static_cast<std::int64_t>(kLastWholeDay * kDay));
  EXPECT_EQ(layout.tick_start_unix_ms(kLastWholeDay + 1), kNever);
  EXPECT_EQ(layout.tick_start_unix_ms(kMax64), kNever);
  EXPECT_EQ(layout.last_unix_ms(), kNever);
  EXPECT_EQ(Layout::parse("unsigned time:63ms sequence:1", 0).last_unix_ms(), kNever);
  EXPECT_EQ(Layout::parse("unsigned time:63ms sequence:1", -1).last_unix_ms(), kNever - 1);
  EXPECT_EQ(Layout::parse("unsigned time:63ms sequence:1", 1).last_unix_ms(), kNever);
  EXPECT_GT(layout.years_left(std::numeric_limits<std::int64_t>::min()), 5e8);
}

TEST(Layout, AnEpochBefore1970CountsFromThere) {
  const Layout layout = Layout::parse("default", -1000);
  EXPECT_EQ(layout.decode(layout.encode({.time = 999})).unix_ms, -1);
  EXPECT_EQ(layout.decode(layout.encode({.time = 1000})).unix_ms, 0);
}

TEST(Layout, ALayoutWithoutTimeNeverEndsAndHasNoEpoch) {
  const Layout layout = Layout::parse("business64", 12345);
  EXPECT_EQ(layout.last_unix_ms(), kNever);
  EXPECT_EQ(layout.tick_ms(), 0);
  EXPECT_EQ(layout.epoch_unix_ms(), 0);
  EXPECT_EQ(layout.ids_per_second(), 0.0);
  EXPECT_EQ(layout.ids_per_tick(), std::uint64_t{1} << 42);
  EXPECT_EQ(layout.decode(1).unix_ms, 0);
  EXPECT_EQ(layout.preset(), "business64");
}

TEST(Layout, CountsThatDoNotFitSaturate) {
  EXPECT_EQ(Layout::parse("business128").ids_per_tick(), kMax64);
  EXPECT_EQ(Layout::parse("unsigned segment:64").ids_per_tick(), kMax64);
  EXPECT_EQ(Layout::parse("datacenter:30 worker:30 process:30 shard:30 sequence:7").workers(), kMax64);
  EXPECT_EQ(Layout::parse("datacenter:31 worker:31 sequence:1").workers(), std::uint64_t{1} << 62);
  EXPECT_EQ(Layout::parse("segment:63").workers(), 1u);
}

TEST(Layout, OnlyLayoutsOfAtMost53BitsAreSafeForJavaScript) {
  EXPECT_TRUE(Layout::parse("js53").is_js_safe());
  EXPECT_TRUE(Layout::parse("segment:53").is_js_safe());
  EXPECT_FALSE(Layout::parse("segment:54").is_js_safe());
  EXPECT_FALSE(Layout::parse("default").is_js_safe());
}

TEST(Layout, APlainSegmentUsesAll63Bits) {
  const Layout plain = Layout::plain_segment();
  EXPECT_EQ(plain, Layout::parse("segment:63"));
  EXPECT_EQ(static_cast<std::uint64_t>(plain.decode(kNever).segment), static_cast<std::uint64_t>(kNever));
}

TEST(Layout, AnEpochIsOfTheYears0To9999) {  // what is outside is in bad_layouts.tsv
  for (const char* epoch : {"0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"})
    EXPECT_EQ(Layout::parse("default", parse_instant(epoch)).epoch_unix_ms(), parse_instant(epoch));
}

}  // namespace
}  // namespace idgen
