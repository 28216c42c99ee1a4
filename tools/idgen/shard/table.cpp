#include "shard/table.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "shared/handles.hpp"
#include "shared/text.hpp"

namespace idgen_tool {

ShardTable read_shard_table(const std::string& path) {
  ErrorSlot error;
  idgen_route_table_t* raw = nullptr;
  check(idgen_route_table_read(path.c_str(), &raw, error), error);
  const RouteTable handle(raw);
  idgen_route_table_info_t info = IDGEN_ROUTE_TABLE_INFO_INIT;
  check(idgen_route_table_info(raw, &info, error), error);
  ShardTable table;
  table.version = info.version;
  table.bits = info.bits;
  for (std::size_t i = 0; i < info.shard_count; ++i) {
    table.shards.push_back(read_text([&](char* buffer, std::size_t* size, idgen_error_t* err) {
      return idgen_route_table_shard_at(raw, i, buffer, size, err);
    }));
  }
  for (std::size_t i = 0; i < info.range_count; ++i) {
    idgen_route_range_t range = IDGEN_ROUTE_RANGE_INIT;
    check(idgen_route_table_range_at(raw, i, &range, error), error);
    table.ranges.push_back({range.upto, range.shard});
  }
  for (std::size_t i = 0; i < info.move_count; ++i) {
    idgen_route_move_t move = IDGEN_ROUTE_MOVE_INIT;
    check(idgen_route_table_move_at(raw, i, &move, error), error);
    table.moves.push_back({move.first, move.last, move.to, move.share});
  }
  return table;
}

void write_shard_table(const std::string& path, const ShardTable& table, std::uint64_t expected_version) {
  std::vector<const char*> shards;
  std::vector<std::uint32_t> upto, shard, first, last, to, share;
  for (const std::string& name : table.shards) shards.push_back(name.c_str());
  for (const ShardRange& range : table.ranges) {
    upto.push_back(range.upto);
    shard.push_back(range.shard);
  }
  for (const ShardMove& move : table.moves) {
    first.push_back(move.first);
    last.push_back(move.last);
    to.push_back(move.to);
    share.push_back(move.share);
  }
  idgen_route_data_t data = IDGEN_ROUTE_DATA_INIT;
  data.version = table.version;
  data.bits = table.bits;
  data.shards = shards.data();
  data.shard_count = shards.size();
  data.range_upto = upto.data();
  data.range_shard = shard.data();
  data.range_count = upto.size();
  data.move_first = first.data();
  data.move_last = last.data();
  data.move_to = to.data();
  data.move_share = share.data();
  data.move_count = first.size();
  ErrorSlot error;
  idgen_route_table_t* raw = nullptr;
  check(idgen_route_table_create(&data, &raw, error), error);
  const RouteTable handle(raw);
  check(idgen_route_table_write(raw, path.c_str(), expected_version, error), error);
}

std::uint64_t age_ms(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return 0;
  const std::int64_t age = now_unix_ms() - (info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000);
  return age > 0 ? static_cast<std::uint64_t>(age) : 0;
}

std::string read_file(const std::string& path) {
  errno = 0;
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()).good()) {
    if (file && file.rdbuf()->in_avail() <= 0 && errno == 0) return "";  // an empty file
    throw IoError(path + ": " + (errno ? std::strerror(errno) : "cannot be read"));
  }
  return text.str();
}

}  // namespace idgen_tool
