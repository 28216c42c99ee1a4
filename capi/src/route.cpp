// Lookups.
#include "idgen/route.h"

#include "border.hpp"
#include "idgen/router.hpp"
#include "wide.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

static_assert(IDGEN_NO_SHARD == Route::kNoShard);
static_assert(IDGEN_ROUTE_ID_DECIDES == static_cast<uint32_t>(RouteState::id_decides));
static_assert(IDGEN_ROUTE_NEW_FIRST == static_cast<uint32_t>(RouteState::new_first));

void put(const Route& route, idgen_route_t* out) {
  out->shard = route.shard;
  out->second = route.second;
  out->state = static_cast<uint32_t>(route.state);
  out->node = route.node;
  out->reserved = 0;
  out->version = route.version;
}

idgen_route_t to_c(const Route& route) {
  idgen_route_t result{};
  put(route, &result);
  return result;
}

// Whether a lookup can write its result without the checks of write_struct.
bool is_plain(const idgen_router_t* router, const idgen_route_t* out) {
  return router && router->is_intact() && out && out->struct_size == sizeof(idgen_route_t);
}

const Router& router_of(const idgen_router_t* router) { return *open_handle(router, "router"); }

// The rest of the two calls that have a fast path: what they refuse, and structs of another size.
[[gnu::noinline]] idgen_status_t route_slowly(const idgen_router_t* router, uint64_t id, idgen_route_t* out,
                                              idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = router_of(router);
    check_struct(out, "out");
    write_struct(out, to_c(routes.route(id)), "out");
  });
}

[[gnu::noinline]] idgen_status_t route_node_slowly(const idgen_router_t* router, uint32_t node, idgen_route_t* out,
                                                   idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = router_of(router);
    check_struct(out, "out");
    write_struct(out, to_c(routes.route_node(node)), "out");
  });
}

}  // namespace

extern "C" {

idgen_status_t idgen_router_route(const idgen_router_t* router, uint64_t id, idgen_route_t* out, idgen_error_t* err) {
  // No guard, and err is left alone.
  Route route;
  if (!is_plain(router, out) || !router->value->find(id, route)) [[unlikely]]
    return route_slowly(router, id, out, err);
  put(route, out);
  return IDGEN_OK;
}

idgen_status_t idgen_router_route_node(const idgen_router_t* router, uint32_t node, idgen_route_t* out,
                                       idgen_error_t* err) {
  Route route;
  if (!is_plain(router, out) || !router->value->find_node(node, route)) [[unlikely]]
    return route_node_slowly(router, node, out, err);
  put(route, out);
  return IDGEN_OK;
}

idgen_status_t idgen_router_route_wide(const idgen_router_t* router, const idgen_wide_id_t* id, idgen_route_t* out,
                                       idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = router_of(router);
    check_struct(out, "out");
    write_struct(out, to_c(routes.route(from_c(id))), "out");
  });
}

idgen_status_t idgen_router_route_owner(const idgen_router_t* router, const void* owner, size_t size,
                                        idgen_route_t* out, idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = router_of(router);
    check_struct(out, "out");
    const auto* const bytes = static_cast<const char*>(require(owner, "owner"));
    write_struct(out, to_c(routes.route_owner({bytes, size})), "out");
  });
}

idgen_status_t idgen_router_route_batch(const idgen_router_t* router, const uint64_t* ids, size_t count,
                                        uint32_t* shards, uint32_t* seconds, idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = router_of(router);
    if (count == 0) return;
    routes.route_batch(require(ids, "ids"), count, require(shards, "shards"), seconds);
  });
}

idgen_status_t idgen_router_route_wide_batch(const idgen_router_t* router, const idgen_wide_id_t* ids, size_t count,
                                             uint32_t* shards, uint32_t* seconds, idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = router_of(router);
    if (count == 0) return;
    require(ids, "ids");
    routes.route_wide_batch([&](std::size_t i) { return from_c(&ids[i]); }, count, require(shards, "shards"), seconds);
  });
}

idgen_status_t idgen_router_route_node_batch(const idgen_router_t* router, const uint32_t* nodes, size_t count,
                                             uint32_t* shards, uint32_t* seconds, idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = router_of(router);
    if (count == 0) return;
    routes.route_node_batch(require(nodes, "nodes"), count, require(shards, "shards"), seconds);
  });
}

}  // extern "C"
