// What the databases' errors mean: one table, for the modules and for the stores of a host.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "idgen/status.hpp"
#include "sql/statement.hpp"

namespace idgen::sql {

enum class Fault {
  unknown,  // or temporary
  no_table,
  no_database,
  no_schema,
  denied,
  read_only,
  full,
  other_columns,
  damaged,
  row_is_there,
  inside_transaction,
  other_statement,  // PostgreSQL's class 42, which is the user's where the table is
};

// By the SQLSTATE, else by MySQL's number, else by the text, which is all that SQLite has.
Fault fault_of(unsigned number, std::string_view sqlstate, std::string_view text);

// How a store speaks of itself.
struct Wording {
  std::string shown;               // the store
  std::string_view table, schema;  // of segments
  std::string how_to_create{};     // a tag
  std::string how_to_create_workers{};
  std::string how_to_create_grants{};
};

// For a store that a URL names.
inline constexpr const char* kHowToCreate = "Make it with `idgen segment create`, or set store_create = true";
inline constexpr const char* kHowToCreateWorkers = "Make it with `idgen store create`, or set store_create = true";
inline constexpr const char* kHowToCreateGrants =
    "The log of grants (segment.grant_log) needs it. Make it with `idgen store create`, given the same configuration, "
    "and let this user SELECT, INSERT and UPDATE it";

// `why`: what the server said, with the store in front of it. Throws Error{store_*}; Error{value} for a user's table.
[[noreturn]] void throw_fault(Fault fault, const std::string& why, About about, const Wording& wording,
                              std::uint64_t retry_after_ns = 0, std::uint64_t cause = 0);

}  // namespace idgen::sql
