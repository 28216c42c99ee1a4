// The golden vectors for layouts, through the core. Columns: tests/vectors/README.md.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "idgen/layout.hpp"
#include "vectors/bad_input.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> rows_of(const std::string& name) {
  return vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/" + name);
}

Id128 to_number(const std::string& text) {
  Id128 value = 0;
  for (char c : text) value = value * 10 + static_cast<unsigned>(c - '0');
  return value;
}

constexpr std::size_t kId = 2, kUnixMs = 3, kFirstField = 4, kFieldCount = 10;
constexpr std::size_t kSegmentField = 8;

// In the order of the columns.
constexpr std::uint64_t Parts::*kMembers[kFieldCount] = {
    &Parts::time,     &Parts::datacenter, &Parts::worker,  &Parts::process, &Parts::shard,
    &Parts::sequence, &Parts::gene,       &Parts::version, nullptr,         &Parts::fixed};

Id128 part(const Parts& parts, std::size_t i) { return i == kSegmentField ? parts.segment : Id128{parts.*kMembers[i]}; }

Parts parts_of(const Row& row) {
  Parts parts;
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const std::string& column = row.at(kFirstField + i);
    if (column == "-") continue;
    parts.fields |= 1u << i;
    if (i == kSegmentField) {
      parts.segment = to_number(column);
    } else {
      parts.*kMembers[i] = std::stoull(column);
    }
  }
  return parts;
}

void expect_same(const Parts& decoded, const Row& row) {
  const Parts wanted = parts_of(row);
  EXPECT_EQ(decoded.fields, wanted.fields);
  EXPECT_EQ(decoded.unix_ms, row[kUnixMs] == "-" ? 0 : std::stoll(row[kUnixMs]));
  for (std::size_t i = 0; i < kFieldCount; ++i) EXPECT_EQ(part(decoded, i), part(wanted, i)) << "field " << i;
}

TEST(LayoutVectors, IdsAndFieldsAreThoseOfTheReference) {
  for (const Row& row : rows_of("layouts.tsv")) {
    SCOPED_TRACE(row[0] + " " + row[kId]);
    ASSERT_EQ(row.size(), kFirstField + kFieldCount);
    const Layout layout = Layout::parse(row[0], std::stoll(row[1]));
    const std::uint64_t id = std::stoull(row[kId]);
    EXPECT_EQ(layout.encode(parts_of(row)), id);
    expect_same(layout.decode(id), row);
  }
}

TEST(LayoutVectors, WideIdsAndFieldsAreThoseOfTheReference) {
  for (const Row& row : rows_of("layouts_wide.tsv")) {
    SCOPED_TRACE(row[0] + " " + row[kId]);
    ASSERT_EQ(row.size(), kFirstField + kFieldCount);
    const Layout layout = Layout::parse(row[0], std::stoll(row[1]));
    ASSERT_TRUE(layout.is_wide());
    EXPECT_EQ(layout.encode128(parts_of(row)), to_number(row[kId]));
    expect_same(layout.decode128(to_number(row[kId])), row);
  }
}

TEST(LayoutVectors, PresetsAreThoseOfTheReferenceInTheSameOrder) {
  const auto rows = rows_of("presets.tsv");
  ASSERT_EQ(rows.size(), presets().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    SCOPED_TRACE(row[0]);
    ASSERT_EQ(row.size(), 10u);
    EXPECT_EQ(presets()[i].name, row[0]);
    EXPECT_LT(row[0].size(), 32u) << "idgen_layout_info_t::preset";
    const Layout layout = Layout::parse(row[0]);
    EXPECT_EQ(layout.text(), row[1]);
    EXPECT_EQ(layout.preset(), row[0]);
    EXPECT_EQ(layout.epoch_unix_ms(), std::stoll(row[2]));
    EXPECT_EQ(layout.bits(), std::stoul(row[3]));
    EXPECT_EQ(layout.ids_per_tick(), std::stoull(row[4]));
    EXPECT_EQ(layout.workers(), std::stoull(row[5]));
    EXPECT_EQ(layout.last_unix_ms(), std::stoll(row[6]));
    EXPECT_EQ(layout.is_unsigned(), row[7] == "1");
    EXPECT_EQ(layout.is_js_safe(), row[8] == "1");
    EXPECT_EQ(layout.tick_ms(), std::stoll(row[9]));
  }
}

TEST(LayoutVectors, BadLayoutsAreRefusedWithTheRecordedMessage) {
  for (const Row& row : rows_of("bad_layouts.tsv")) {
    ASSERT_EQ(row.size(), 4u) << row[0];
    const auto outcome = vectors::answer_to_bad_layout(row);
    EXPECT_EQ(outcome.status, row[2]) << row[0] << " " << row[1];
    EXPECT_EQ(outcome.message, row[3]) << row[0] << " " << row[1];
    EXPECT_NE(outcome.status, "OK") << row[0];
    EXPECT_LT(outcome.message.size(), 496u) << "idgen_error_t would cut it";
  }
}

}  // namespace
}  // namespace idgen
