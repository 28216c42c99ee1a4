// Tables of routes.
#include "idgen/router.hpp"
#include "temporary_file.hpp"

void idgen::fuzz::read(std::string_view input) {
  const TemporaryFile file(input);
  const auto table = parsed([&] { return read_route_table(file.path()); });
  if (!table) return;
  const RouteData& data = table->data();
  expect(!data.ranges.empty() && data.ranges.back().upto == (std::uint64_t{1} << data.bits) - 1, "a ring without gaps");
  for (const RouteRange& range : data.ranges) expect(range.shard < data.shards.size(), "a range's shard is there");
  const TemporaryFile copy(table->text());
  expect(read_route_table(copy.path()) == *table, "a table is written and read");
}
