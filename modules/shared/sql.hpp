// What the stores in SQL databases have in common.
#pragma once

#include <string>

#include "sql/statement.hpp"
#include "sql/terms.hpp"
#include "store/grant_rules.hpp"
#include "store/stored_number.hpp"

namespace idgen::module {

inline constexpr const char* kHowToCreate = "Make it with `idgen segment create`, or set store_create = true";
inline constexpr const char* kHowToCreateWorkers = "Make it with `idgen store create`, or set store_create = true";
inline constexpr const char* kHowToCreateGrants =
    "The log of grants (segment.grant_log) needs it. Make it with `idgen store create`, given the same configuration, "
    "and let this user SELECT, INSERT and UPDATE it";

using sql::largest_of;
using sql::parts_of_name;

// A statement with its values in it. quoted(text) makes a literal of a text.
template <class Quoted>
std::string with_literals(const sql::Statement& statement, Quoted&& quoted) {
  std::string out;
  auto value = statement.values.begin();
  for (const char c : statement.text) {
    if (c != '?') {
      out += c;
      continue;
    }
    out += value->kind == sql::Value::Kind::integer ? std::to_string(value->number) : quoted(value->text);
    ++value;
  }
  return out;
}

}  // namespace idgen::module
