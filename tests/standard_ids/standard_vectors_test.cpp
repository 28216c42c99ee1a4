// The golden vectors for standard ids, through the core. Columns: tests/vectors/README.md. Bad texts are among those of
// text_vectors_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "idgen/standard.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

std::string name_of(Standard standard) {
  const std::vector<std::string> names = {"uuid", "uuid4", "uuid7", "ulid", "object_id"};
  return names.at(static_cast<std::size_t>(standard));
}

std::string hex_of(const ParsedStandard& parsed) {
  std::string text;
  for (std::size_t i = 0; i < standard_bytes(parsed.standard); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", parsed.id[i]);
    text += digits;
  }
  return text;
}

TEST(StandardVectors, EachTextIsReadTakenApartAndWrittenAsTheReferenceDoes) {
  for (const std::vector<std::string>& row : vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/standard.tsv")) {
    ASSERT_EQ(row.size(), 9u) << row[0];
    const ParsedStandard parsed = parse_standard(row[0]);
    EXPECT_EQ(name_of(parsed.standard), row[1]) << row[0];
    EXPECT_EQ(hex_of(parsed), row[8]) << row[0];
    char text[kMostStandardText];
    EXPECT_EQ(std::string(text, format_standard(parsed.standard, parsed.id, text)), row[7]) << row[0];
    const StandardParts parts = decode_standard(parsed.standard, parsed.id);
    EXPECT_EQ(parts.standard, parsed.standard);
    EXPECT_EQ(std::to_string(parts.version), row[2]) << row[0];
    EXPECT_EQ(parts.is_rfc ? "yes" : "no", row[3]) << row[0];
    EXPECT_EQ(parts.unix_ms ? std::to_string(*parts.unix_ms) : "", row[4]) << row[0];
    if (parsed.standard != Standard::object_id) continue;
    EXPECT_EQ(std::to_string(parts.process), row[5]) << row[0];
    EXPECT_EQ(std::to_string(parts.counter), row[6]) << row[0];
  }
}

}  // namespace
}  // namespace idgen
