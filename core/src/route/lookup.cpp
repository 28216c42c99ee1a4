// Lookups that are more than a line, and what they refuse.
#include "idgen/router.hpp"

namespace idgen {

void Router::refuse(std::uint64_t id) const {
  if (options_.layout) {
    (void)options_.layout->decode(id);  // says which bits are outside
  }
  throw Error(Status::unsupported,
              concat({"this router was made without a layout of ids up to 64 bits, so it cannot tell the "
                      "gene of id ",
                      id, "; give it one, or ask by node"}));
}

void Router::refuse(Id128 id) const {
  if (options_.wide_layout) (void)options_.wide_layout->decode128(id);
  throw Error(Status::unsupported,
              "this router was made without a layout of 128-bit ids; give it one, such as 'business128'");
}

void Router::refuse_node(std::uint32_t node) const {
  throw Error(Status::value, concat({"node ", node, " is beyond the ring, whose nodes are 0 to ", node_mask_,
                                     "; of a wider gene, take the low ", ring_bits_, " bits"}));
}

namespace {

void put(const Route& route, std::size_t i, std::uint32_t* shards, std::uint32_t* seconds) {
  shards[i] = route.shard;
  if (seconds) seconds[i] = route.second;
}

// Says which one of a batch it was.
template <class Refuse>
[[noreturn]] void refuse_at(const char* what, std::size_t i, Refuse&& refuse) {
  try {
    refuse();
  } catch (const Error& error) {
    throw Error(error.status(), concat({what, "[", i, "]: ", error.message()}));
  }
  throw Error(Status::internal, "an id in a batch was refused for no reason");
}

}  // namespace

void Router::route_batch(const std::uint64_t* ids, std::size_t count, std::uint32_t* shards,
                         std::uint32_t* seconds) const {
  const RouteMap& map = this->map();
  for (std::size_t i = 0; i < count; ++i) {
    if (ids[i] > most_ || narrow_.bits == 0) [[unlikely]]
      refuse_at("ids", i, [&] { refuse(ids[i]); });
    put(route_on(map, narrow_, ids[i]), i, shards, seconds);
  }
}

void Router::route_wide_batch(const std::function<WideId(std::size_t)>& id_at, std::size_t count, std::uint32_t* shards,
                              std::uint32_t* seconds) const {
  const RouteMap& map = this->map();
  for (std::size_t i = 0; i < count; ++i) {
    WideId id;
    try {
      id = id_at(i);
      if (id.bytes == 8 ? id.value > most_ || narrow_.bits == 0 : id.value > most_wide_ || wide_.bits == 0)
        (void)route(id);
    } catch (const Error& error) {
      throw Error(error.status(), concat({"ids[", i, "]: ", error.message()}));
    }
    put(route_on(map, id.bytes == 8 ? narrow_ : wide_, id.value), i, shards, seconds);
  }
}

void Router::route_node_batch(const std::uint32_t* nodes, std::size_t count, std::uint32_t* shards,
                              std::uint32_t* seconds) const {
  const RouteMap& map = this->map();
  for (std::size_t i = 0; i < count; ++i) {
    if (nodes[i] > node_mask_) [[unlikely]]
      refuse_at("nodes", i, [&] { refuse_node(nodes[i]); });
    put(route_node_on(map, nodes[i]), i, shards, seconds);
  }
}

}  // namespace idgen
