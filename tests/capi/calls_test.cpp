// The golden vectors for configurations and for the calls that take one, through the C border.
#include "vectors/calls.hpp"

#include <gtest/gtest.h>

#include <string>

#include "temp_folder.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

TEST(CallVectors, EveryCallHasTheRecordedAnswer) {
  const TempFolder folder;
  vectors::Calls calls(folder.path(), IDGEN_VECTORS_DIR);
  for (const auto& row : vectors::read_tsv(std::string(IDGEN_VECTORS_DIR) + "/calls.tsv")) {
    ASSERT_EQ(row.size(), 5u) << row[0];
    const auto outcome = calls.answer(row);
    EXPECT_EQ(outcome.status, row[3]) << row[0] << " " << row[1] << " " << row[2];
    EXPECT_EQ(outcome.message, row[4]) << row[0] << " " << row[1] << " " << row[2];
  }
}

}  // namespace
}  // namespace idgen
