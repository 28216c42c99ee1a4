// Plans of moves between shards, and measured loads, as people hand them to the command.
#include "fuzz.hpp"
#include "shard/plan.hpp"
#include "shared/failure.hpp"

namespace {

using namespace idgen_tool;

ShardTable table() {
  ShardTable found;
  found.version = 7;
  found.bits = 4;
  found.shards = {"db0", "db1"};
  found.ranges = {{7, 0}, {15, 1}};
  return found;
}

template <class Reader>
auto understood(Reader&& reader) -> std::optional<decltype(reader())> {
  try {
    return reader();
  } catch (const UsageError& error) {
    idgen::fuzz::expect(*error.what() != '\0', "a refusal says something");
    return std::nullopt;
  }
}

}  // namespace

void idgen::fuzz::read(std::string_view input) {
  const bool is_load = take(input) % 2 == 0;
  const std::string text(input);
  if (is_load) {
    if (const auto load = understood([&] { return read_load(table(), text, "load.csv"); })) {
      expect(load->size() == 16, "a load for each node");
      for (const double one : *load) expect(one >= 0, "no load is negative");
    }
    return;
  }
  const auto plan = understood([&] { return read_plan(text, "a.plan"); });
  if (!plan) return;
  expect(text_of(read_plan(text_of(*plan), "again")) == text_of(*plan), "a plan is written and read");
  understood([&] { return applied(table(), *plan, false).version; });
}
