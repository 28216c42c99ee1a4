// What the stores in SQL databases have in common.
#pragma once

#include <string>

#include "sql/fault.hpp"
#include "sql/statement.hpp"
#include "sql/terms.hpp"
#include "store/grant_rules.hpp"
#include "store/stored_number.hpp"

namespace idgen::module {

using sql::kHowToCreate;
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
