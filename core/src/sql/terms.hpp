// The arithmetic of a row of segments, pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "idgen/store.hpp"
#include "sql/dialect.hpp"
#include "sql/statement.hpp"

namespace idgen::sql {

// What a row says about grants. A grant's statement names the terms it assumes, so that one round trip is enough and no
// stale terms are used.
struct RowTerms {
  std::uint64_t step = 0;
  std::uint64_t stride = 1;
  std::uint64_t offset = 0;
  bool operator==(const RowTerms&) const = default;
};

struct SchemaRow {
  SegmentInfo info;
  std::uint64_t counter = 0;
  std::string stride, offset;  // as stored: an invalid one prevents only grants
};

// At least one stride: less could hold no id at all.
std::uint64_t grant_size(const RowTerms& terms, const SegmentRequest& request);
// A condition for WHERE: the row says so.
std::string and_terms(const Schema& schema, const RowTerms& terms);
// The grant that moved the counter to `counter`.
SegmentGrant grant_up_to(const Schema& schema, std::uint64_t counter, std::uint64_t count, const RowTerms& terms);
// Throws why a row with the right terms granted nothing; returns if a retry may succeed.
void check_room(const Schema& schema, const std::string& name_space, const std::string& tag, const SchemaRow& row,
                std::uint64_t count);
// Throws Error{store_damaged}.
RowTerms terms_of(const Schema& schema, const SchemaRow& row);
// The counter value that puts the next grant above `highest`. Throws Error{value}.
std::uint64_t counter_above(const Schema& schema, std::uint64_t highest);
// "a.b" in parts, none of them empty. Throws Error{value}.
std::vector<std::string> parts_of_name(const std::string& what, const std::string& name);
// Splits NAMESPACE.TAG at the last dot.
void split_name(SegmentInfo& info, const std::string& key);
// `what`: what a store that is not made for TiDB cannot know there. Throws Error{unsupported}.
[[noreturn]] void refuse_tidb(const char* what);
// MAX() of a column, as text; "" is NULL. Throws Error{value} if it is not a whole number up to 2^63 - 1.
std::uint64_t largest_of(const std::string& table, const std::string& column, const std::string& text);

}  // namespace idgen::sql
