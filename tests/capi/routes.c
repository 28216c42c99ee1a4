/* Tables of routes and routers, as a C program uses them. */
#include <idgen/host.h>
#include <idgen/route.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static const char *const names[] = {"db0", "db1"};
static const uint32_t upto[] = {7, 15}, shard[] = {0, 1};
static const uint32_t first[] = {0}, last[] = {3}, to[] = {1}, share[] = {5000};

static idgen_route_data_t some_data(uint64_t version) {
  idgen_route_data_t data = IDGEN_ROUTE_DATA_INIT;
  data.version = version;
  data.bits = 4;
  data.shards = names;
  data.shard_count = 2;
  data.range_upto = upto;
  data.range_shard = shard;
  data.range_count = 2;
  return data;
}

static idgen_route_data_t moving_data(uint64_t version) {
  idgen_route_data_t data = some_data(version);
  data.move_first = first;
  data.move_last = last;
  data.move_to = to;
  data.move_share = share;
  data.move_count = 1;
  return data;
}

static idgen_route_table_t *table_of(idgen_route_data_t data) {
  idgen_route_table_t *table = NULL;
  CHECK_ERR(IDGEN_OK, idgen_route_table_create(&data, &table, &err));
  return table;
}

static void tables(void) {
  idgen_route_table_t *table = table_of(moving_data(7)), *read = NULL;
  idgen_route_table_info_t info = IDGEN_ROUTE_TABLE_INFO_INIT;
  CHECK_ERR(IDGEN_OK, idgen_route_table_info(table, &info, &err));
  CHECK(info.version == 7 && info.bits == 4 && info.shard_count == 2 && info.range_count == 2 && info.move_count == 1);
  idgen_route_range_t range = IDGEN_ROUTE_RANGE_INIT;
  CHECK_ERR(IDGEN_OK, idgen_route_table_range_at(table, 1, &range, &err));
  CHECK(range.first == 8 && range.upto == 15 && range.shard == 1);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_route_table_range_at(table, 2, &range, &err));
  idgen_route_move_t move = IDGEN_ROUTE_MOVE_INIT;
  CHECK_ERR(IDGEN_OK, idgen_route_table_move_at(table, 0, &move, &err));
  CHECK(move.first == 0 && move.last == 3 && move.to == 1 && move.share == 5000);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_route_table_move_at(table, 1, &move, &err));
  char name[129];
  size_t size = sizeof name;
  CHECK_ERR(IDGEN_OK, idgen_route_table_shard_at(table, 1, name, &size, &err));
  CHECK(strcmp(name, "db1") == 0 && size == 4);
  size = 3;
  CHECK_ERR(IDGEN_E_BUFFER, idgen_route_table_shard_at(table, 1, name, &size, &err));
  CHECK(size == 4);

  CHECK_ERR(IDGEN_OK, idgen_route_table_write(table, "routes.toml", 0, &err));
  CHECK_ERR(IDGEN_E_STALE, idgen_route_table_write(table, "routes.toml", 0, &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_route_table_write(table, "routes.toml", 7, &err));
  CHECK_ERR(IDGEN_OK, idgen_route_table_read("routes.toml", &read, &err));
  char one[1024], two[1024];
  size_t size_one = sizeof one, size_two = sizeof two;
  CHECK_ERR(IDGEN_OK, idgen_route_table_text(table, one, &size_one, &err));
  CHECK_ERR(IDGEN_OK, idgen_route_table_text(read, two, &size_two, &err));
  CHECK(size_one == size_two && strcmp(one, two) == 0);
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_route_table_read("missing.toml", &read, &err));
  CHECK_SAYS("missing.toml");
  idgen_route_table_destroy(read);
  idgen_route_table_destroy(table);

  idgen_route_data_t data = some_data(1);
  table = NULL;
  data.range_count = 1;
  CHECK_ERR(IDGEN_E_VALUE, idgen_route_table_create(&data, &table, &err));
  CHECK_SAYS("nodes 8-15 have no shard");
  data = some_data(1);
  data.struct_size = 8;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_route_table_create(&data, &table, &err));
  data = some_data(1);
  data.range_shard = NULL;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_route_table_create(&data, &table, &err));
  CHECK_SAYS("data.range_shard is NULL");
  data = some_data(1);
  data.move_count = 1;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_route_table_create(&data, &table, &err));
  const char *const holes[] = {"db0", NULL};
  data = some_data(1);
  data.shards = holes;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_route_table_create(&data, &table, &err));
  CHECK(table == NULL);
}

static void lookups(void) {
  idgen_route_table_t *table = table_of(moving_data(7));
  idgen_router_options_t options = IDGEN_ROUTER_OPTIONS_INIT;
  idgen_layout_t *order = NULL, *wide = NULL;
  CHECK_ERR(IDGEN_OK, idgen_layout_create("order", NULL, &order, &err));
  CHECK_ERR(IDGEN_OK, idgen_layout_create("business128", NULL, &wide, &err));
  options.layout = order;
  options.wide_layout = wide;
  idgen_router_t *router = NULL;
  CHECK_ERR(IDGEN_OK, idgen_router_create(table, &options, &router, &err));
  idgen_route_table_destroy(table);
  idgen_layout_destroy(order);
  idgen_layout_destroy(wide);

  idgen_route_t route = IDGEN_ROUTE_INIT;
  CHECK_ERR(IDGEN_OK, idgen_router_route(router, 1024u << 4 | 9, &route, &err));
  CHECK(route.shard == 1 && route.second == IDGEN_NO_SHARD && route.state == IDGEN_ROUTE_SETTLED && route.node == 9 &&
        route.version == 7);
  CHECK_ERR(IDGEN_OK, idgen_router_route(router, 100u << 4 | 2, &route, &err));
  CHECK(route.shard == 1 && route.second == 0 && route.state == IDGEN_ROUTE_NEW_FIRST);
  CHECK_ERR(IDGEN_OK, idgen_router_route(router, 900u << 4 | 2, &route, &err));
  CHECK(route.shard == 0 && route.second == 1 && route.state == IDGEN_ROUTE_OLD_FIRST);
  CHECK_ERR(IDGEN_OK, idgen_router_route_node(router, 2, &route, &err));
  CHECK(route.shard == 0 && route.second == 1 && route.state == IDGEN_ROUTE_ID_DECIDES);
  CHECK_ERR(IDGEN_OK, idgen_router_route_owner(router, "1820", 4, &route, &err));
  CHECK(route.node == 12 && route.shard == 1);
  /* A gene of 23 bits, 9, whose low 4 bits are the node. */
  const idgen_wide_id_t wide_ids[] = {{16, 0, {0, 0, 9}}, {8, 0, {0, 0, 0, 0, 0, 0, 0, 2}}};
  CHECK_ERR(IDGEN_OK, idgen_router_route_wide(router, &wide_ids[0], &route, &err));
  CHECK(route.node == 9 && route.shard == 1);
  CHECK_ERR(IDGEN_OK, idgen_router_route_wide(router, &wide_ids[1], &route, &err));
  CHECK(route.node == 2 && route.shard == 1 && route.second == 0);
  const idgen_wide_id_t of_no_length = {9, 0, {0}};
  CHECK_ERR(IDGEN_E_VALUE, idgen_router_route_wide(router, &of_no_length, &route, &err));

  /* A struct of a later version is filled too, and what it has more is zero. */
  struct {
    idgen_route_t known;
    uint64_t later;
  } longer = {IDGEN_ROUTE_INIT, 99};
  longer.known.struct_size = sizeof longer;
  CHECK_ERR(IDGEN_OK, idgen_router_route(router, 9, &longer.known, &err));
  CHECK(longer.known.shard == 1 && longer.later == 0 && longer.known.struct_size == sizeof longer);
  idgen_route_t unset = {0};
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_router_route(router, 9, &unset, &err));

  const uint64_t ids[] = {9, 100u << 4 | 2, 900u << 4 | 2};
  uint32_t shards[3] = {9, 9, 9}, seconds[3] = {9, 9, 9};
  CHECK_ERR(IDGEN_OK, idgen_router_route_batch(router, ids, 3, shards, seconds, &err));
  CHECK(shards[0] == 1 && shards[1] == 1 && shards[2] == 0);
  CHECK(seconds[0] == IDGEN_NO_SHARD && seconds[1] == 0 && seconds[2] == 1);
  CHECK_ERR(IDGEN_OK, idgen_router_route_batch(router, ids, 3, shards, NULL, &err));
  CHECK_ERR(IDGEN_OK, idgen_router_route_batch(router, NULL, 0, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_router_route_batch(router, NULL, 1, shards, NULL, &err));
  const uint32_t nodes[] = {9, 16};
  CHECK_ERR(IDGEN_E_VALUE, idgen_router_route_node_batch(router, nodes, 2, shards, seconds, &err));
  CHECK_SAYS("nodes[1]: node 16 is beyond the ring");
  CHECK_ERR(IDGEN_OK, idgen_router_route_wide_batch(router, wide_ids, 2, shards, seconds, &err));
  CHECK(shards[0] == 1 && seconds[0] == IDGEN_NO_SHARD && shards[1] == 1 && seconds[1] == 0);
  CHECK_ERR(IDGEN_E_VALUE, idgen_router_route(router, UINT64_MAX, &route, &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_router_route_owner(router, "", 0, &route, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_router_route(NULL, 9, &route, &err));
  idgen_router_destroy(router);
}

static char logged[8][256];
static int lines, released;
static void some_log(void *ctx, int32_t level, const char *message) {
  (void)level;
  snprintf(logged[lines++ % 8], sizeof logged[0], "%s", message);
  ++*(int *)ctx;
}
static void release(void *ctx) {
  (void)ctx;
  ++released;
}

static void write_file(const char *text) {
  FILE *file = fopen("routes.toml", "w");
  CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void swaps_and_files(void) {
  idgen_router_stats_t stats = IDGEN_ROUTER_STATS_INIT;
  idgen_route_table_t *one = table_of(some_data(1)), *two = table_of(moving_data(2)), *copy = NULL;
  idgen_router_t *router = NULL;
  CHECK_ERR(IDGEN_OK, idgen_router_create(one, NULL, &router, &err));
  CHECK_ERR(IDGEN_E_STALE, idgen_router_swap(router, two, 5, &err));
  CHECK_SAYS("version 5 was to be replaced, and version 1 is in force");
  CHECK_ERR(IDGEN_OK, idgen_router_swap(router, two, 1, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_router_reload(router, &err));
  CHECK_ERR(IDGEN_E_STALE, idgen_router_swap(router, two, 1, &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_router_swap(router, two, 2, &err));
  CHECK_ERR(IDGEN_OK, idgen_router_table(router, &copy, &err));
  idgen_route_table_info_t info = IDGEN_ROUTE_TABLE_INFO_INIT;
  CHECK_ERR(IDGEN_OK, idgen_route_table_info(copy, &info, &err));
  CHECK(info.version == 2);
  CHECK_ERR(IDGEN_OK, idgen_router_stats(router, &stats, &err));
  CHECK(stats.version == 2 && stats.swaps == 1 && stats.shard_count == 2 && stats.bits == 4 && !*stats.last_error);
  char name[8];
  size_t size = sizeof name;
  CHECK_ERR(IDGEN_OK, idgen_router_shard_at(router, 0, name, &size, &err));
  CHECK(strcmp(name, "db0") == 0);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_router_shard_at(router, 2, name, &size, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_router_swap((idgen_router_t *)one, two, 1, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_router_swap(router, (idgen_route_table_t *)router, 1, &err));
  idgen_router_destroy(router);
  idgen_route_table_destroy(copy);

  int calls = 0;
  const idgen_log_t log = {.struct_size = sizeof log, .write = some_log, .release = release};
  idgen_router_options_t options = IDGEN_ROUTER_OPTIONS_INIT;
  options.reload_ms = 0;
  options.log = &log;
  options.log_ctx = &calls;
  router = NULL;
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_router_open("routes.toml", &options, &router, &err));
  CHECK(released == 0 && router == NULL); /* after a failure ctx is still the host's */
  CHECK_ERR(IDGEN_OK, idgen_route_table_write(one, "routes.toml", 0, &err));
  CHECK_ERR(IDGEN_OK, idgen_router_open("routes.toml", &options, &router, &err));
  CHECK_ERR(IDGEN_OK, idgen_router_reload(router, &err));
  CHECK(calls == 0);
  CHECK_ERR(IDGEN_OK, idgen_route_table_write(two, "routes.toml", 1, &err));
  CHECK_ERR(IDGEN_OK, idgen_router_reload(router, &err));
  CHECK(calls == 1 && strstr(logged[0], "version 2") != NULL);
  write_file("version = 3\nbits = 4\nshards = [\"db0\"]\n\n[[range]]\nupto = 7\nshard = \"db0\"\n");
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_router_reload(router, &err));
  CHECK_SAYS("have no shard");
  CHECK_ERR(IDGEN_OK, idgen_router_stats(router, &stats, &err));
  CHECK(stats.version == 2 && stats.failures == 1 && stats.last_status == IDGEN_E_CONFIG_FILE &&
        stats.last_failure_unix_ms > 0 && strstr(stats.last_error, "have no shard") != NULL);
  idgen_router_destroy(router);
  CHECK(released == 1);

  options.gene_rule = 3;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_router_create(one, &options, &router, &err));
  options.gene_rule = IDGEN_GENE_HASH;
  options.struct_size = 4;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_router_create(one, &options, &router, &err));
  CHECK(released == 1);
  idgen_route_table_destroy(one);
  idgen_route_table_destroy(two);
}

void routes(void) {
  tables();
  lookups();
  remove("routes.toml");
  swaps_and_files();
  idgen_route_table_destroy(NULL);
  idgen_router_destroy(NULL);
}
