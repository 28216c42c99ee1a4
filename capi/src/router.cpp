#include "idgen/router.hpp"

#include <span>

#include "border.hpp"
#include "host_context.hpp"
#include "idgen/route.h"
#include "idgen/text.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

template <class T>
std::span<const T> array_of(const T* first, std::size_t count, const char* what) {
  if (count > 0) require(first, what);
  return {first, count};
}

RouteTable to_table(const idgen_route_data_t* given) {
  if (require(given, "data")->struct_size < sizeof(idgen_route_data_t)) {
    refuse_struct(given->struct_size, sizeof(idgen_route_data_t), "data");
  }
  RouteData data{given->version, given->bits, {}, {}, {}};
  for (const char* const name : array_of(given->shards, given->shard_count, "data.shards")) {
    data.shards.emplace_back(require(name, "a name in data.shards"));
  }
  const auto upto = array_of(given->range_upto, given->range_count, "data.range_upto");
  const auto shard = array_of(given->range_shard, given->range_count, "data.range_shard");
  for (std::size_t i = 0; i < upto.size(); ++i) data.ranges.push_back({upto[i], shard[i]});
  const auto first = array_of(given->move_first, given->move_count, "data.move_first");
  const auto last = array_of(given->move_last, given->move_count, "data.move_last");
  const auto to = array_of(given->move_to, given->move_count, "data.move_to");
  const auto share = array_of(given->move_share, given->move_count, "data.move_share");
  for (std::size_t i = 0; i < first.size(); ++i) data.moves.push_back({first[i], last[i], to[i], share[i]});
  return RouteTable(std::move(data));
}

// What `options` says; the log, if there is one, is kept in `log`.
RouterOptions to_options(const idgen_router_options_t* given, std::optional<HostLog>& log) {
  RouterOptions options;
  if (!given) return options;
  if (given->struct_size < sizeof(idgen_router_options_t)) {
    refuse_struct(given->struct_size, sizeof(idgen_router_options_t), "options");
  }
  if (given->gene_rule < IDGEN_GENE_AUTO || given->gene_rule > IDGEN_GENE_MOD) {
    throw Error(Status::argument, concat({"options.gene_rule is ", given->gene_rule,
                                          "; allowed are IDGEN_GENE_AUTO, IDGEN_GENE_HASH and IDGEN_GENE_MOD"}));
  }
  if (given->gene_rule != IDGEN_GENE_AUTO) {
    options.rule = given->gene_rule == IDGEN_GENE_MOD ? GeneRule::mod : GeneRule::hash;
  }
  if (given->layout) options.layout = open_handle(given->layout, "options.layout");
  if (given->wide_layout) options.wide_layout = open_handle(given->wide_layout, "options.wide_layout");
  constexpr std::uint64_t kYearMs = 366ull * 86'400'000;
  if (given->reload_ms > kYearMs) {
    throw Error(Status::argument,
                concat({"options.reload_ms is ", given->reload_ms, "; allowed: up to ", kYearMs, ", a year"}));
  }
  options.reload_ms = static_cast<std::int64_t>(given->reload_ms);
  if (given->log) options.log = log.emplace(given->log, given->log_ctx).log;
  return options;
}

const Router& opened(const idgen_router_t* router) { return *open_handle(router, "router"); }

}  // namespace

extern "C" {

idgen_status_t idgen_route_table_create(const idgen_route_data_t* data, idgen_route_table_t** out, idgen_error_t* err) {
  return guard(err, [&] {
    require(out, "out");
    *out = new idgen_route_table(to_table(data));
  });
}

idgen_status_t idgen_route_table_read(const char* toml_path, idgen_route_table_t** out, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    *out = new idgen_route_table(read_route_table(require(toml_path, "toml_path")));
  });
}

idgen_status_t idgen_route_table_write(const idgen_route_table_t* table, const char* toml_path,
                                       uint64_t expected_version, idgen_error_t* err) {
  return guard_waiting(
      err, [&] { write_route_table(require(toml_path, "toml_path"), open_handle(table, "table"), expected_version); });
}

void idgen_route_table_destroy(idgen_route_table_t* table) {
  if (table && table->is_intact()) delete table;
}

idgen_status_t idgen_route_table_text(const idgen_route_table_t* table, char* buffer, size_t* size,
                                      idgen_error_t* err) {
  return guard(err, [&] { write_text(open_handle(table, "table").text(), buffer, size); });
}

idgen_status_t idgen_route_table_info(const idgen_route_table_t* table, idgen_route_table_info_t* out,
                                      idgen_error_t* err) {
  return guard(err, [&] {
    const RouteData& data = open_handle(table, "table").data();
    write_struct(
        out,
        idgen_route_table_info_t{0, data.bits, data.version, data.shards.size(), data.ranges.size(), data.moves.size()},
        "out");
  });
}

idgen_status_t idgen_route_table_shard_at(const idgen_route_table_t* table, size_t index, char* buffer, size_t* size,
                                          idgen_error_t* err) {
  return guard(err, [&] {
    const RouteData& data = open_handle(table, "table").data();
    check_index(index, data.shards.size());
    write_text(data.shards[index], buffer, size);
  });
}

idgen_status_t idgen_route_table_range_at(const idgen_route_table_t* table, size_t index, idgen_route_range_t* out,
                                          idgen_error_t* err) {
  return guard(err, [&] {
    const RouteData& data = open_handle(table, "table").data();
    check_index(index, data.ranges.size());
    const std::uint32_t first = index == 0 ? 0 : data.ranges[index - 1].upto + 1;
    write_struct(out, idgen_route_range_t{0, first, data.ranges[index].upto, data.ranges[index].shard}, "out");
  });
}

idgen_status_t idgen_route_table_move_at(const idgen_route_table_t* table, size_t index, idgen_route_move_t* out,
                                         idgen_error_t* err) {
  return guard(err, [&] {
    const RouteData& data = open_handle(table, "table").data();
    check_index(index, data.moves.size());
    const RouteMove& move = data.moves[index];
    write_struct(out, idgen_route_move_t{0, move.first, move.last, move.to, move.share, 0}, "out");
  });
}

idgen_status_t idgen_router_open(const char* toml_path, const idgen_router_options_t* options, idgen_router_t** out,
                                 idgen_error_t* err) {
  return guard_waiting(err, [&] {
    require(out, "out");
    std::optional<HostLog> log;
    *out = new idgen_router(Router::open(require(toml_path, "toml_path"), to_options(options, log)));
    if (log) log->own();
  });
}

idgen_status_t idgen_router_create(const idgen_route_table_t* table, const idgen_router_options_t* options,
                                   idgen_router_t** out, idgen_error_t* err) {
  return guard(err, [&] {
    require(out, "out");
    std::optional<HostLog> log;
    *out = new idgen_router(Router::make(open_handle(table, "table"), to_options(options, log)));
    if (log) log->own();
  });
}

void idgen_router_destroy(idgen_router_t* router) {
  const NotCancellable here;
  if (!router || !router->is_intact()) return;
  router->value->close();
  delete router;
}

idgen_status_t idgen_router_stats(const idgen_router_t* router, idgen_router_stats_t* out, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Router& routes = *open_handle(router, "router");
    check_struct(out, "out");
    const RouterStats stats = routes.stats();
    idgen_router_stats_t result{};
    result.bits = routes.ring_bits();
    result.version = stats.version;
    result.shard_count = routes.map().names().size();
    result.swaps = stats.swaps;
    result.failures = stats.failures;
    result.last_failure_unix_ms = stats.last_failure_unix_ms;
    result.last_status = static_cast<idgen_status_t>(stats.last_status);
    copy_text(stats.last_error, result.last_error, sizeof result.last_error);
    write_struct(out, result, "out");
  });
}

idgen_status_t idgen_router_shard_at(const idgen_router_t* router, size_t index, char* buffer, size_t* size,
                                     idgen_error_t* err) {
  return guard(err, [&] {
    const auto& names = opened(router).map().names();
    check_index(index, names.size());
    write_text(names[index], buffer, size);
  });
}

idgen_status_t idgen_router_table(const idgen_router_t* router, idgen_route_table_t** out, idgen_error_t* err) {
  return guard(err, [&] {
    const Router& routes = opened(router);
    require(out, "out");
    *out = new idgen_route_table(routes.map().table());
  });
}

idgen_status_t idgen_router_swap(idgen_router_t* router, const idgen_route_table_t* table, uint64_t expected_version,
                                 idgen_error_t* err) {
  return guard_uncancelled(err,
                           [&] { open_handle(router, "router")->swap(open_handle(table, "table"), expected_version); });
}

idgen_status_t idgen_router_reload(idgen_router_t* router, idgen_error_t* err) {
  return guard_waiting(err, [&] { open_handle(router, "router")->reload(); });
}

}  // extern "C"
