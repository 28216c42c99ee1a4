#include "sql/terms.hpp"

#include <algorithm>

#include "idgen/text.hpp"
#include "store/stored_number.hpp"

namespace idgen::sql {

std::uint64_t grant_size(const RowTerms& terms, const SegmentRequest& request) {
  return std::max(idgen::grant_size(terms.step, request), terms.stride > 1 ? terms.stride : 0);
}

std::string and_terms(const Schema& schema, const RowTerms& terms) {
  std::string text;
  if (!schema.step.empty()) text += concat({" AND ", schema.step, " = ", terms.step});
  if (schema.has_stride) text += concat({" AND delta = ", terms.stride, " AND remainder = ", terms.offset});
  return text;
}

SegmentGrant grant_up_to(const Schema& schema, std::uint64_t counter, std::uint64_t count, const RowTerms& terms) {
  return {
      .first = counter - count + 1 - schema.next_free, .count = count, .stride = terms.stride, .offset = terms.offset};
}

void check_room(const Schema& schema, const std::string& name_space, const std::string& tag, const SchemaRow& row,
                std::uint64_t count) {
  if (row.counter < schema.next_free) {
    throw Error(Status::unsupported,
                concat({"tag ", quote(tag), ": its row in ", schema.table, " has max_id = ", row.counter,
                        ", so the next id were 0, which idgen does not issue. Begin with 1: "
                        "`idgen segment advance --to 0`"}));
  }
  advance_by(name_space, tag, row.counter, count);
}

RowTerms terms_of(const Schema& schema, const SchemaRow& row) {
  RowTerms terms{row.info.step, 0, 0};
  if (reads_number(row.stride, terms.stride) && reads_number(row.offset, terms.offset) && terms.stride >= 1 &&
      terms.stride < kLargestNumber && terms.offset < terms.stride)
    return terms;
  throw Error(Status::store_damaged,
              concat({"tag ", quote(row.info.tag), ": its row in ", schema.table, " says delta = ", row.stride,
                      ", remainder = ", row.offset,
                      "; allowed: delta from 1 on, remainder from 0 to delta - 1. Correct the row"}));
}

std::uint64_t counter_above(const Schema& schema, std::uint64_t highest) {
  check_advance(highest);
  if (highest > kLargestNumber - schema.next_free) {
    throw Error(Status::value, concat({"a counter of the schema ", schema.name, " cannot be advanced to ", highest,
                                       "; allowed: 0 to 9223372036854775806"}));
  }
  return highest + schema.next_free;
}

std::vector<std::string> parts_of_name(const std::string& what, const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (const std::string& part : parts)
    if (part.empty()) throw Error(Status::value, concat({what, " ", quote(name), ": a name is missing"}));
  return parts;
}

void split_name(SegmentInfo& info, const std::string& key) {
  const std::size_t dot = key.rfind('.');
  info.name_space = dot == key.npos ? "" : key.substr(0, dot);
  info.tag = dot == key.npos ? key : key.substr(dot + 1);
}

void refuse_tidb(const char* what) {
  throw Error(Status::unsupported,
              concat({"TiDB runs a statement that commits by itself optimistically, so this store cannot know ", what,
                      "; use store = \"mysql://...\", which knows TiDB"}));
}

std::uint64_t largest_of(const std::string& table, const std::string& column, const std::string& text) {
  if (text.empty() || text[0] == '-') return 0;
  std::uint64_t number = 0;
  if (reads_number(text, number)) return number;
  throw Error(Status::value,
              concat({"the largest ", column, " of ", table, " is ", quote(text), ", no whole number up to 2^63 - 1"}));
}

}  // namespace idgen::sql
