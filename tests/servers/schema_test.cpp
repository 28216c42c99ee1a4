// The tables of other generators and their arithmetic: the part that needs no database.
#include "schema.hpp"

#include "store/store_test_support.hpp"

namespace idgen::module {
namespace {

using sql::and_terms;
using sql::check_room;
using sql::counter_above;
using sql::grant_size;
using sql::grant_up_to;
using sql::RowTerms;
using sql::SchemaRow;
using sql::split_name;
using sql::Statement;
using sql::terms_of;

const Schema& schema(std::string_view name) {
  Settings settings;
  settings.schema = name;
  return schema_of(settings);
}

SchemaRow row(std::uint64_t counter, std::uint64_t step = 0, const std::string& delta = "1",
              const std::string& remainder = "0") {
  SchemaRow row;
  row.info.tag = "orders";
  row.info.step = step;
  row.counter = counter;
  row.stride = delta;
  row.offset = remainder;
  return row;
}

TEST(Schema, AGrantEndsWithTheCounterButLeafsEndsBeforeIt) {
  for (const char* const name : {"idgen", "tinyid", "cosid"}) {
    const SegmentGrant grant = grant_up_to(schema(name), 110, 10, {});
    EXPECT_EQ(grant.first, 101u) << name;
    EXPECT_EQ(grant.count, 10u) << name;
    EXPECT_EQ(counter_above(schema(name), 100), 100u) << name;
  }
  EXPECT_EQ(grant_up_to(schema("leaf"), 110, 10, {}).first, 100u);
  EXPECT_EQ(counter_above(schema("leaf"), 100), 101u);
}

TEST(Schema, TheLastNumbersAreGrantedAndNotOneMore) {
  EXPECT_EQ(counter_above(schema("leaf"), kLargestNumber - 1), kLargestNumber);
  EXPECT_FAILS(counter_above(schema("leaf"), kLargestNumber), Status::value, "9223372036854775806");
  EXPECT_FAILS(counter_above(schema("cosid"), kLargestNumber + 1), Status::value, "9223372036854775807");
  for (const Schema& each : kSchemas) {
    check_room(each, "default", "orders", row(kLargestNumber - 10), 10);
    EXPECT_FAILS(check_room(each, "default", "orders", row(kLargestNumber - 9), 10), Status::exhausted, "orders");
  }
  EXPECT_FAILS(check_room(schema("leaf"), "default", "orders", row(0), 10), Status::unsupported, "max_id = 0");
}

TEST(Schema, TheRowsStepAndStrideDecideHowMuchIsTaken) {
  EXPECT_EQ(grant_size(RowTerms{0, 1, 0}, {.step = 50}), 50u);
  EXPECT_EQ(grant_size(RowTerms{10, 1, 0}, {.step = 50}), 10u);
  EXPECT_EQ(grant_size(RowTerms{10, 1, 0}, {.step = 50, .wanted = 70}), 70u);
  EXPECT_EQ(grant_size(RowTerms{2, 7, 3}, {.step = 1}), 7u) << "fewer could hold no id";
}

TEST(Schema, ARowsTermsAreReadAndThoseThatCannotBeMeantAreRefused) {
  EXPECT_EQ(terms_of(schema("tinyid"), row(1, 100, "3", "2")), (RowTerms{100, 3, 2}));
  EXPECT_EQ(terms_of(schema("tinyid"), row(1, 0, "2147483647", "2147483646")), (RowTerms{0, 2147483647, 2147483646}));
  for (const auto& terms : {std::pair{"0", "0"},
                            {"-1", "0"},
                            {"3", "3"},
                            {"3", "-1"},
                            {"", "0"},
                            {"1", "x"},
                            {"99999999999999999999", "0"}})
    EXPECT_FAILS(terms_of(schema("tinyid"), row(1, 100, terms.first, terms.second)), Status::store_damaged,
                 "Correct the row");
}

TEST(Schema, OnlyWhatARowSaysIsCompared) {
  const RowTerms terms{100, 3, 2};
  EXPECT_EQ(and_terms(schema("leaf"), terms), " AND step = 100");
  EXPECT_EQ(and_terms(schema("tinyid"), terms), " AND COALESCE(step, 0) = 100 AND delta = 3 AND remainder = 2");
  EXPECT_EQ(and_terms(schema("cosid"), terms), "");
}

TEST(Schema, ARowIsNamedAsTheOriginalNamesIt) {
  EXPECT_EQ(key_of_row(schema("leaf"), "default", "orders"), "orders");
  EXPECT_EQ(key_of_row(schema("cosid"), "cosid", "orders"), "cosid.orders");
  EXPECT_FAILS(key_of_row(schema("tinyid"), "shop", "orders"), Status::value, "Leave namespace at \"default\"");
  std::string longest;  // characters, not bytes
  for (int i = 0; i < 63; ++i) longest += "ä";
  EXPECT_EQ(key_of_row(schema("tinyid"), "default", longest), longest);
  EXPECT_FAILS(key_of_row(schema("tinyid"), "default", longest + "x"), Status::value, "64 characters");
  SegmentInfo info;
  split_name(info, "com.example.orders@2026-11-21");
  EXPECT_EQ(info.name_space, "com.example");
  EXPECT_EQ(info.tag, "orders@2026-11-21");
}

TEST(Schema, WordsAndMarksAreFilledInOnePass) {
  Statement statement(sql::kMysql, sql::About::segments);
  statement.fill("a = {namespace}, b = {step}, c = {tag}", {.name_space = "{tag} ?", .tag = "?", .step = 2});
  EXPECT_EQ(statement.text, "a = ?, b = ?, c = ?");
  EXPECT_EQ(with_literals(statement, [](const std::string& text) { return "'" + text + "'"; }),
            "a = '{tag} ?', b = 2, c = '?'");
}

TEST(Schema, AStepIsSetWhereThereIsOne) {
  EXPECT_NO_THROW(check_step_of(schema("idgen"), 0));
  EXPECT_NO_THROW(check_step_of(schema("leaf"), 1));
  EXPECT_FAILS(check_step_of(schema("tinyid"), 0), Status::value, "1 to 1000000000");
  EXPECT_FAILS(check_step_of(schema("cosid"), 5), Status::unsupported, "segment.step");
  EXPECT_FAILS(sql::insertion(schema("leaf"), sql::kMysql, {}, 0, "default", "orders", 0), Status::value,
               "needs a step");
}

TEST(Schema, TheLargestIdOfATableIsAWholeNumber) {
  EXPECT_EQ(largest_of("orders", "id", ""), 0u);
  EXPECT_EQ(largest_of("orders", "id", "-5"), 0u);
  EXPECT_EQ(largest_of("orders", "id", "9223372036854775807"), kLargestNumber);
  for (const char* const text : {"1.5", "9223372036854775808", "A-17", "1e5"})
    EXPECT_FAILS(largest_of("orders", "id", text), Status::value, "no whole number");
  EXPECT_EQ(parts_of_name("table", "shop.orders"), (std::vector<std::string>{"shop", "orders"}));
  for (const char* const name : {"", ".orders", "orders.", "a..b"})
    EXPECT_FAILS(parts_of_name("table", name), Status::value, "a name is missing");
}

}  // namespace
}  // namespace idgen::module
