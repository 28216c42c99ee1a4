// Tables for tests, and the obvious way to look something up in one.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "idgen/router.hpp"

namespace idgen {

inline RouteData two_shards(std::uint64_t version = 1, std::uint32_t bits = 4) {
  const std::uint32_t last = (1u << bits) - 1;
  return {version, bits, {"db0", "db1"}, {{last / 2, 0}, {last, 1}}, {}};
}

// Any table at all: up to `most` ranges and a few moves, on a ring of any size.
inline RouteData random_table(std::mt19937_64& random, std::size_t most = 40) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  RouteData data;
  data.version = 1 + random() % 1000;
  data.bits = 1 + below(below(4) == 0 ? 23 : 12);
  const std::uint32_t nodes = 1u << data.bits;
  const std::uint32_t shards = 1 + below(6);
  for (std::uint32_t i = 0; i < shards; ++i) data.shards.push_back("db" + std::to_string(i));
  std::vector<std::uint32_t> ends{nodes - 1};
  for (std::size_t i = below(most); i > 0; --i) ends.push_back(below(below(2) == 0 ? nodes : std::min(nodes, 64u)));
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  for (const std::uint32_t end : ends) data.ranges.push_back({end, below(shards)});
  const auto owner = [&](std::uint32_t node) {
    return std::find_if(data.ranges.begin(), data.ranges.end(), [&](const RouteRange& r) { return r.upto >= node; })
        ->shard;
  };
  std::uint32_t node = 0;
  while (node < nodes && shards > 1 && data.moves.size() < 8) {
    node += below(nodes / 4 + 2);
    if (node >= nodes) break;
    std::uint32_t to = below(shards);
    if (to == owner(node)) to = (to + 1) % shards;
    // As far as nobody in between owns nodes of `to`: range by range.
    std::uint32_t last = node;
    for (const RouteRange& range : data.ranges) {
      if (range.upto < node) continue;
      if (range.shard == to) break;
      last = range.upto;
      if (below(2) == 0) break;
    }
    last = node + below(last - node + 1);
    data.moves.push_back({node, last, to, below(10'001)});
    node = last + 1;
  }
  return data;
}

// By a walk over all ranges and all moves.
inline Route slow_route(const RouteData& data, std::uint32_t node) {
  Route route;
  route.node = node;
  route.version = data.version;
  for (const RouteRange& range : data.ranges) {
    if (range.upto < node) continue;
    route.shard = range.shard;
    break;
  }
  for (const RouteMove& move : data.moves) {
    if (move.first > node || move.last < node) continue;
    route.second = move.to;
    route.state = RouteState::id_decides;
  }
  return route;
}

inline Route slow_route(const RouteData& data, std::uint32_t node, std::uint32_t low_bits) {
  Route route = slow_route(data, node);
  if (route.state == RouteState::settled) return route;
  std::uint32_t share = 0;
  for (const RouteMove& move : data.moves) {
    if (move.first <= node && node <= move.last) share = move.share;
  }
  if (low_bits / 1024.0 < share / 10000.0) {
    std::swap(route.shard, route.second);
    route.state = RouteState::new_first;
  } else {
    route.state = RouteState::old_first;
  }
  return route;
}

inline bool operator==(const Route& a, const Route& b) {
  return a.shard == b.shard && a.second == b.second && a.state == b.state && a.node == b.node && a.version == b.version;
}
inline void PrintTo(const Route& route, std::ostream* out) {
  *out << "node " << route.node << ": shard " << route.shard << ", second " << route.second << ", state "
       << static_cast<unsigned>(route.state) << ", version " << route.version;
}

}  // namespace idgen
