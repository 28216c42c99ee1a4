// What a store knows about a tag, through the C border.
#include <gtest/gtest.h>
#include <idgen/admin.h>

#include <memory>
#include <string>
#include <vector>

#include "border.hpp"
#include "sim/sim_store.hpp"

namespace idgen {
namespace {

class OneTag final : public sim::SimStore {
 public:
  explicit OneTag(SegmentInfo row) : SimStore(disk_), row_(std::move(row)) {}
  SegmentInfo segment_show(const std::string&, const std::string&) override { return row_; }
  std::vector<SegmentInfo> segment_list() override { return {row_}; }
  SegmentInfo segment_advance(const std::string&, const std::string&, std::uint64_t) override { return row_; }
  LoggedGrant segment_grant_of(const std::string&, const std::string& tag, std::uint64_t number) override {
    if (number > row_.max_id) return {};
    return {
        .grant = 7, .first = 4001, .last = number, .granted_unix_ms = 1'767'225'600'000, .holder = tag + row_.holder};
  }

 private:
  sim::SimDisk disk_;
  const SegmentInfo row_;
};

SegmentInfo row(const std::string& holder) {
  SegmentInfo row;
  row.name_space = "shop";
  row.tag = "orders";
  row.max_id = 5000;
  row.grants = 7;
  row.updated_unix_ms = 1'767'225'600'000;
  row.step = 1000;
  row.rate = 250;
  row.holder = holder;
  return row;
}

void expect_row(const idgen_segment_info_t& info) {
  EXPECT_EQ(info.struct_size, sizeof info);
  EXPECT_EQ(info.max_id, 5000u);
  EXPECT_EQ(info.grants, 7u);
  EXPECT_EQ(info.updated_unix_ms, 1'767'225'600'000);
  EXPECT_EQ(info.step, 1000u);
  EXPECT_EQ(info.rate, 250u);
  EXPECT_STREQ(info.holder, "process 4711 on db-3");
}

TEST(SegmentInfoAtTheBorder, AGrantIsThatOfTheTagAndTheNumberOrNone) {
  idgen_config config;
  config.value.set("tag", "orders");
  config.value.store = std::make_shared<OneTag>(row(std::string(300, 'h')));
  idgen_segment_grant_t grant = IDGEN_SEGMENT_GRANT_INIT;
  ASSERT_EQ(idgen_segment_grant_of(&config, 4242, &grant, nullptr), IDGEN_OK);
  EXPECT_EQ(grant.grant, 7u);
  EXPECT_EQ(grant.first, 4001u);
  EXPECT_EQ(grant.last, 4242u);
  EXPECT_EQ(grant.granted_unix_ms, 1'767'225'600'000);
  EXPECT_EQ(std::string(grant.holder), "orders" + std::string(sizeof grant.holder - 7, 'h')) << "cut, with its NUL";
  ASSERT_EQ(idgen_segment_grant_of(&config, 5001, &grant, nullptr), IDGEN_OK);
  EXPECT_EQ(grant.grant, 0u);
  EXPECT_EQ(idgen_segment_grant_of(&config, 1, nullptr, nullptr), IDGEN_E_ARGUMENT);
  EXPECT_EQ(idgen_segment_grant_of(nullptr, 1, &grant, nullptr), IDGEN_E_HANDLE);
  config.value.set("segment.grant_log", "5");
  EXPECT_EQ(idgen_segment_grant_of(&config, 1, &grant, nullptr), IDGEN_E_UNSUPPORTED) << "a store of the host has none";
}

TEST(SegmentInfoAtTheBorder, HasAllThatTheStoreKnows) {
  idgen_config config;
  config.value.store = std::make_shared<OneTag>(row("process 4711 on db-3"));
  idgen_segment_info_t shown = IDGEN_SEGMENT_INFO_INIT, lifted = IDGEN_SEGMENT_INFO_INIT, listed;
  ASSERT_EQ(idgen_segment_show(&config, &shown, nullptr), IDGEN_OK);
  expect_row(shown);
  ASSERT_EQ(idgen_segment_advance(&config, 1, &lifted, nullptr), IDGEN_OK);
  expect_row(lifted);
  const auto keep = [](void* to, const char* name_space, const char* tag, const idgen_segment_info_t* info) {
    EXPECT_STREQ(name_space, "shop");
    EXPECT_STREQ(tag, "orders");
    *static_cast<idgen_segment_info_t*>(to) = *info;
  };
  ASSERT_EQ(idgen_segment_list(&config, keep, &listed, nullptr), IDGEN_OK);
  expect_row(listed);
}

TEST(SegmentInfoAtTheBorder, CutsAHolderThatIsTooLong) {
  idgen_config config;
  config.value.store = std::make_shared<OneTag>(row("process 1 on " + std::string(200, 'x')));
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  ASSERT_EQ(idgen_segment_show(&config, &info, nullptr), IDGEN_OK);
  EXPECT_EQ(std::string(info.holder), "process 1 on " + std::string(127 - 13, 'x'));
}

TEST(SegmentInfoAtTheBorder, AStoreOfTheHostHasNoOtherSchemaNoTablesAndNoStatements) {
  idgen_config config;
  config.value.store = std::make_shared<OneTag>(row(""));
  std::uint64_t max_id = 7;
  std::size_t size = 0;
  idgen_error_t error = IDGEN_ERROR_INIT;
  EXPECT_EQ(idgen_segment_max_of(&config, "orders", "id", &max_id, &error), IDGEN_E_UNSUPPORTED);
  EXPECT_EQ(max_id, 7u);
  EXPECT_EQ(idgen_segment_statements(&config, nullptr, &size, &error), IDGEN_E_UNSUPPORTED);
  config.value.set("segment.schema", "leaf");
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  EXPECT_EQ(idgen_segment_show(&config, &info, &error), IDGEN_E_UNSUPPORTED);
  EXPECT_NE(std::string(error.message).find("mysql"), std::string::npos);
}

TEST(SegmentInfoAtTheBorder, WhatIsRequiredIsAskedFor) {
  idgen_config config;
  std::uint64_t max_id = 0;
  EXPECT_EQ(idgen_segment_max_of(&config, nullptr, "id", &max_id, nullptr), IDGEN_E_ARGUMENT);
  EXPECT_EQ(idgen_segment_max_of(&config, "orders", nullptr, &max_id, nullptr), IDGEN_E_ARGUMENT);
  EXPECT_EQ(idgen_segment_max_of(&config, "orders", "id", nullptr, nullptr), IDGEN_E_ARGUMENT);
  idgen_segment_column_t column = IDGEN_SEGMENT_COLUMN_INIT;
  EXPECT_EQ(idgen_segment_column_of(&config, nullptr, "id", nullptr, &column, nullptr), IDGEN_E_ARGUMENT);
  EXPECT_EQ(idgen_segment_column_of(&config, "orders", nullptr, nullptr, &column, nullptr), IDGEN_E_ARGUMENT);
  EXPECT_EQ(idgen_segment_column_of(&config, "orders", "id", nullptr, nullptr, nullptr), IDGEN_E_ARGUMENT);
  EXPECT_EQ(idgen_segment_statements(&config, nullptr, nullptr, nullptr), IDGEN_E_ARGUMENT);
  std::size_t size = 0;
  EXPECT_EQ(idgen_segment_statements(&config, nullptr, &size, nullptr), IDGEN_E_BUFFER);
  EXPECT_GT(size, 100u);
}

}  // namespace
}  // namespace idgen
