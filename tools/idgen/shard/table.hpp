// A table's file, by way of the library: it reads, checks and replaces, and alone knows the format.
#pragma once

#include <cstdint>
#include <string>

#include "shard/plan.hpp"

namespace idgen_tool {

// Throws Failure.
ShardTable read_shard_table(const std::string& path);
// Replaces the version that `table` was made from. Throws Failure: STALE if the file has another one.
void write_shard_table(const std::string& path, const ShardTable& table, std::uint64_t expected_version);
// How long ago the file last changed, in ms; 0 if it claims to be from the future.
std::uint64_t age_ms(const std::string& path);
// The content of any file. Throws IoError.
std::string read_file(const std::string& path);

}  // namespace idgen_tool
