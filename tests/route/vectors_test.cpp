#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "idgen/router.hpp"
#include "vectors/tsv.hpp"

namespace idgen {
namespace {

Id128 from_hex(const std::string& text) {
  Id128 value = 0;
  for (const char c : text) value = value << 4 | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  return value;
}

TEST(RouteVectors, EveryRowIsWhatTheSlowReferenceSays) {
  const std::string folder = IDGEN_VECTORS_DIR;
  std::map<std::string, std::shared_ptr<Router>> routers;
  for (const auto& [file, layout] :
       {std::pair("routes_ring16.toml", "business64"), std::pair("routes_ring4.toml", "order")}) {
    RouterOptions options;
    options.layout = Layout::parse(layout);
    options.wide_layout = Layout::parse("business128");
    routers[file] = Router::make(read_route_table(folder + "/" + file), options);
  }
  const std::map<std::string, RouteState> states = {{"settled", RouteState::settled},
                                                    {"old_first", RouteState::old_first},
                                                    {"new_first", RouteState::new_first},
                                                    {"id_decides", RouteState::id_decides}};
  for (const auto& row : vectors::read_tsv(folder + "/routes.tsv")) {
    const Router& router = *routers.at(row.at(0));
    const std::string &kind = row[1], &value = row[2];
    const Route route = kind == "id"     ? router.route(std::uint64_t{std::stoull(value)})
                        : kind == "wide" ? router.route(from_hex(value))
                        : kind == "node"
                            ? router.route_node(static_cast<std::uint32_t>(std::stoul(value)))
                            : router.route_owner(std::regex_replace(value, std::regex("␀"), std::string(1, '\0')));
    const auto& names = router.map().names();
    const std::string where = row[0] + " " + kind + " " + value;
    EXPECT_EQ(std::to_string(route.node), row[3]) << where;
    EXPECT_EQ(names.at(route.shard), row[4]) << where;
    EXPECT_EQ(route.second == Route::kNoShard ? "-" : names.at(route.second), row[5]) << where;
    EXPECT_EQ(route.state, states.at(row[6])) << where;
    EXPECT_EQ(route.version, router.map().version());
  }
}

}  // namespace
}  // namespace idgen
