// How a table whose rows the database numbers moves over to ids of idgen while both kinds are inserted.
#pragma once

#include <idgen/admin.h>
#include <idgen/idgen.h>

#include <cstdint>
#include <string>

namespace idgen_tool {

struct NumberedColumn {
  std::string store;         // URL; the table is in its database
  std::string table;         // TABLE or SCHEMA.TABLE
  std::string column;        // of ids
  std::uint64_t max_id = 0;  // of the tag that was raised above them
  idgen_segment_column_t numbering;
  std::uint64_t hilo = 0;    // ids of a block that programs make of one number of its counter, by multiplying
  bool by_programs = false;  // programs take numbers of the counter, and insert them
};

// What is left to do, in words and in statements for this column, as lines. "" for a store without SQL.
std::string moving_over(const NumberedColumn& from);

}  // namespace idgen_tool
