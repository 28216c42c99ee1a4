// The golden vectors for texts, through the core. Columns: tests/vectors/README.md.
#include <string>
#include <vector>

#include "idgen/text.hpp"
#include "vectors/bad_input.hpp"
#include "vectors/expect_error.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

using ::testing::HasSubstr;
using Row = std::vector<std::string>;

std::vector<Row> rows_of(const std::string& name) {
  return vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/" + name);
}

TEST(TextVectors, EveryEncodingOfAnIdIsTheReferencesInBothDirections) {
  for (const Row& row : rows_of("encodings.tsv")) {
    ASSERT_EQ(row.size(), 6u) << row[0];
    const std::uint64_t id = std::stoull(row[0]);
    for (std::int32_t encoding = 0; encoding < 5; ++encoding) {
      EXPECT_EQ(format_id(id, static_cast<Encoding>(encoding)), row[1 + static_cast<std::size_t>(encoding)]);
      EXPECT_EQ(parse_id(row[1 + static_cast<std::size_t>(encoding)], static_cast<Encoding>(encoding)), id);
    }
  }
}

TEST(TextVectors, EveryEncodingOfAnIdOfEitherLengthIsTheReferencesInBothDirections) {
  std::vector<std::pair<WideId, Row>> ids;
  for (const Row& row : rows_of("encodings.tsv")) ids.push_back({{std::stoull(row[0]), 8}, row});
  for (const Row& row : rows_of("encodings_wide.tsv")) {
    const Id128 high = std::stoull(row[0].substr(0, 16), nullptr, 16);
    ids.push_back({{high << 64 | std::stoull(row[0].substr(16), nullptr, 16), 16}, row});
  }
  for (const auto& [id, row] : ids) {
    for (std::int32_t encoding = 0; encoding < 5; ++encoding) {
      const std::string& text = row[1 + static_cast<std::size_t>(encoding)];
      EXPECT_EQ(format_wide_id(id, static_cast<Encoding>(encoding)), text);
      const WideId parsed = parse_wide_id(text, static_cast<Encoding>(encoding));
      EXPECT_TRUE(parsed.value == id.value && parsed.bytes == id.bytes) << text;
    }
  }
}

TEST(TextVectors, ATextBetweenTheLengthsIsRefused) {
  for (const auto& bad : std::vector<std::pair<std::string, Encoding>>{{std::string(20, '0'), Encoding::hex},
                                                                       {std::string(21, '0'), Encoding::decimal},
                                                                       {std::string(38, '0'), Encoding::decimal},
                                                                       {std::string(33, '0'), Encoding::hex},
                                                                       {std::string(39, '9'), Encoding::decimal},
                                                                       {std::string(22, 'z'), Encoding::base62}}) {
    EXPECT_ERROR(TEXT, HasSubstr("is not an id in"), parse_wide_id(bad.first, bad.second));
  }
}

TEST(TextVectors, BadTextsAreRefusedWithTheRecordedMessage) {
  for (const Row& row : rows_of("bad_texts.tsv")) {
    ASSERT_EQ(row.size(), 4u) << row[0];
    const auto outcome = vectors::answer_to_bad_text(row);
    EXPECT_EQ(outcome.status, "TEXT") << row[0] << " " << row[1];
    EXPECT_EQ(outcome.status, row[2]) << row[0] << " " << row[1];
    EXPECT_EQ(outcome.message, row[3]) << row[0] << " " << row[1];
    EXPECT_LT(outcome.message.size(), 496u) << "idgen_error_t would cut it";
  }
}

TEST(TextVectors, BadPatternsAndWhatDoesNotFitThemAreRefusedWithTheRecordedMessage) {
  for (const Row& row : rows_of("bad_patterns.tsv")) {
    ASSERT_EQ(row.size(), 6u) << row[0];
    const auto outcome = vectors::answer_to_bad_pattern(row);
    EXPECT_EQ(outcome.status, row[4]) << row[0] << " " << row[2] << " " << row[3];
    EXPECT_EQ(outcome.message, row[5]) << row[0] << " " << row[2] << " " << row[3];
    EXPECT_LT(outcome.message.size(), 496u) << "idgen_error_t would cut it";
  }
}

TEST(TextVectors, InstantsAreReadAndWrittenAsTheReferenceDoes) {
  for (const Row& row : rows_of("instants.tsv")) {
    ASSERT_EQ(row.size(), 3u) << row[0];
    EXPECT_EQ(parse_instant(row[0]), std::stoll(row[1])) << row[0];
    EXPECT_EQ(format_instant(std::stoll(row[1])), row[2]) << row[0];
  }
}

}  // namespace
}  // namespace idgen
