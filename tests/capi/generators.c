/* Making ids, the plain way: layouts and texts, snowflakes, segments, configuration files. */
#define _GNU_SOURCE
#include <idgen/admin.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../draws.h"
#include "check.h"

static void texts(void) {
  static const struct {
    int32_t encoding;
    const char *text;
  } rows[] = {{IDGEN_TEXT_DECIMAL, "1541815603606036480"},
              {IDGEN_TEXT_HEX, "1565a11f6217a000"},
              {IDGEN_TEXT_CROCKFORD, "1ASD13XH1F800"},
              {IDGEN_TEXT_BASE58, "4aaW4SzAyQK"},
              {IDGEN_TEXT_BASE62, "1ptWyK4WgZU"}};
  const uint64_t id = 1541815603606036480u;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char text[64];
    size_t size = sizeof text;
    uint64_t back = 0;
    CHECK_ERR(IDGEN_OK, idgen_format(id, rows[i].encoding, text, &size, &err));
    CHECK(strcmp(text, rows[i].text) == 0);
    CHECK_ERR(IDGEN_OK, idgen_parse(text, SIZE_MAX, rows[i].encoding, &back, &err));
    CHECK(back == id);
    CHECK_ERR(IDGEN_OK, idgen_parse(text, size - 1, rows[i].encoding, &back, &err));
    CHECK_ERR(IDGEN_E_TEXT, idgen_parse(text, 0, rows[i].encoding, &back, &err));
    text[3] = '!';
    back = 42;
    CHECK_ERR(IDGEN_E_TEXT, idgen_parse(text, SIZE_MAX, rows[i].encoding, &back, &err));
    CHECK_SAYS("3"); /* the position */
    CHECK(back == 42);
  }
  static const int32_t unknown[] = {-1, 5, INT32_MAX};
  for (size_t i = 0; i < 3; ++i) {
    char text[64];
    size_t size = sizeof text;
    uint64_t back;
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_format(id, unknown[i], text, &size, &err));
    CHECK_SAYS("encoding");
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_parse("1", 1, unknown[i], &back, &err));
  }
}

static void layouts(void) {
  idgen_layout_t *twitter = NULL, *wide = NULL, *none = NULL;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_layout_create("twitter", NULL, &twitter, &err));
  CHECK_ERR(IDGEN_OK, idgen_layout_decode(twitter, 1541815603606036480u, &parts, &err));
  CHECK(parts.fields == (IDGEN_FIELD_TIME | IDGEN_FIELD_DATACENTER | IDGEN_FIELD_WORKER | IDGEN_FIELD_SEQUENCE));
  CHECK(parts.unix_ms == 1656432460105 && parts.time == 367597485448u && parts.sequence == 0);
  CHECK(parts.datacenter == 11 && parts.worker == 26);
  uint64_t id = 0;
  CHECK_ERR(IDGEN_OK, idgen_layout_encode(twitter, &parts, &id, &err));
  CHECK(id == 1541815603606036480u);
  parts.worker = 32;
  CHECK_ERR(IDGEN_E_VALUE, idgen_layout_encode(twitter, &parts, &id, &err));
  CHECK_SAYS("31");
  CHECK_ERR(IDGEN_E_VALUE, idgen_layout_decode(twitter, UINT64_MAX, &parts, &err));
  CHECK_ERR(IDGEN_OK, idgen_layout_create("business128", "", &wide, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_layout_decode(wide, 1, &parts, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_layout_encode(wide, &parts, &id, &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_layout_create("default", "yesterday", &none, &err));
  CHECK_ERR(IDGEN_E_LAYOUT, idgen_layout_create("", NULL, &none, &err));
  CHECK(none == NULL);
  idgen_layout_info_t info = {.struct_size = sizeof info};
  CHECK_ERR(IDGEN_OK, idgen_layout_info(twitter, INT64_MIN, &info, &err));
  CHECK(info.years_left > 0 && info.workers == 1024 && info.ids_per_tick == 4096 && info.is_js_safe == 0);
  idgen_layout_destroy(twitter);
  idgen_layout_destroy(wide);
}

void texts_and_layouts(void) {
  texts();
  layouts();
}

static int strictly_rising(const uint64_t *ids, size_t n) {
  for (size_t i = 1; i < n; ++i) {
    if (ids[i] <= ids[i - 1]) return 0;
  }
  return 1;
}

static int stop_at_once(void *ctx) { return ++*(int *)ctx; }

void snowflakes(void) {
  idgen_t *g = GENERATOR(config_with("store", "sqlite:ids.db", "store_create", "true", "layout", "twitter",
                                     "datacenter", "3", "worker", "9", "namespace", "happy", NULL));
  if (!g) return;
  uint64_t ids[5000], id = 0;
  size_t written = 0;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &ids[0], &err));
  CHECK_CALL(IDGEN_OK, idgen_next(g, &ids[1], NULL));
  CHECK_ERR(IDGEN_OK, idgen_next_batch(g, ids + 2, 4990, &written, &err));
  CHECK(written == 4990);
  idgen_draw_t block = IDGEN_DRAW_INIT;
  CHECK_ERR(IDGEN_OK, draw_block(g, 3, &block, &err));
  CHECK(block.written >= 1 && block.written <= 3 && block.stride == 1);
  ids[4992] = block.first;
  int called = 0;
  while (draw_batch(g, ids + 4993, 7, &written, stop_at_once, &called, &err) == IDGEN_E_CANCELLED) {
  } /* stopped if it had to wait for the next tick */
  CHECK(written == 7 && strictly_rising(ids, 5000));
  CHECK_ERR(IDGEN_E_ARGUMENT, draw_block(g, 0, &block, &err));

  idgen_parts_t parts = IDGEN_PARTS_INIT, same = IDGEN_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_decode(g, ids[0], &parts, &err));
  CHECK(parts.datacenter == 3 && parts.worker == 9);
  idgen_layout_t *layout = NULL;
  CHECK_ERR(IDGEN_OK, idgen_layout_of(g, &layout, &err));
  CHECK_ERR(IDGEN_OK, idgen_layout_decode(layout, ids[0], &same, &err));
  CHECK(memcmp(&parts, &same, sizeof parts) == 0);
  CHECK_ERR(IDGEN_E_VALUE, idgen_decode(g, UINT64_MAX, &parts, &err));

  idgen_stats_t stats = IDGEN_STATS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_stats(g, &stats, &err));
  CHECK(stats.handles == 1 && stats.refills >= 1 && stats.granted >= 10000 && stats.refill_failures == 0 &&
        stats.forks == 0);
  CHECK(stats.issued > 0 && stats.issued == stats.granted - stats.remaining && stats.rate == 0);
  CHECK(stats.stock_seconds > 0 && stats.stock_seconds < 60);
  CHECK(stats.breaker_redis == 0 && stats.breaker_database == 0 && stats.buffer_stock == 0);
  CHECK(stats.stopped == IDGEN_OK && stats.last_failure == IDGEN_OK && stats.last_error[0] == 0);
  CHECK(stats.layout_left > 0 && stats.layout_left < UINT64_MAX && stats.tag_left == UINT64_MAX);
  char text[8192];
  size_t size = sizeof text;
  CHECK_ERR(IDGEN_OK, idgen_describe(g, text, &size, &err));
  CHECK(strstr(text, "worker 9") && strstr(text, "clock set back"));
  size = sizeof text;
  CHECK_ERR(IDGEN_OK, idgen_summary(g, text, &size, &err));
  CHECK(strstr(text, "snowflake '") == text && strstr(text, "datacenter 3 worker 9 of namespace '"));
  CHECK(strstr(text, "closed") == NULL);
  size = 4;
  CHECK_ERR(IDGEN_E_BUFFER, idgen_summary(g, text, &size, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_summary(NULL, text, &size, &err));

  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err)); /* idempotent */
  CHECK_ERR(IDGEN_E_CLOSED, idgen_next(g, &id, &err));
  CHECK_SAYS("closed");
  CHECK_CALL(IDGEN_E_CLOSED, idgen_try_next(g, &id));
  CHECK_ERR(IDGEN_E_CLOSED, idgen_next_batch(g, ids, 2, &written, &err));
  CHECK(written == 0);
  CHECK_ERR(IDGEN_E_CLOSED, draw_batch(g, ids, 2, &written, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_CLOSED, draw_block(g, 1, &block, &err));
  CHECK_CALL(IDGEN_E_CLOSED, try_batch(g, ids, 2, &written));
  CHECK_CALL(IDGEN_E_CLOSED, try_block(g, 1, &block));
  /* Decoding, describing and counting still work. */
  CHECK_ERR(IDGEN_OK, idgen_decode(g, ids[0], &parts, &err));
  CHECK_ERR(IDGEN_OK, idgen_stats(g, &stats, &err));
  CHECK(stats.handles == 0 && stats.remaining == 0 && stats.lead_ms < 60000 && stats.stopped == IDGEN_E_CLOSED);
  size = sizeof text;
  CHECK_ERR(IDGEN_OK, idgen_summary(g, text, &size, &err));
  CHECK(strstr(text, ", closed"));
  size = sizeof text;
  CHECK_ERR(IDGEN_OK, idgen_describe(g, text, &size, &err));
  idgen_destroy(g);
  CHECK_ERR(IDGEN_OK, idgen_layout_decode(layout, ids[0], &same, &err)); /* the copy outlives it */
  idgen_layout_destroy(layout);

  g = GENERATOR(config_with("store", "sqlite:ids.db", "layout", "twitter", "datacenter", "3", "worker", "9",
                            "namespace", "happy", NULL));
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK(id > ids[4999]);
  idgen_destroy(g); /* closes too */
}

struct listed {
  int rows;
  uint64_t max_id;
  char names[64];
};

static void add_row(void *to, const char *name_space, const char *tag, const idgen_segment_info_t *info) {
  struct listed *listed = to;
  ++listed->rows;
  listed->max_id = info->max_id;
  snprintf(listed->names, sizeof listed->names, "%s/%s", name_space, tag);
}

void segments(void) {
  idgen_config_t *config = config_with("kind", "segment", "store", "sqlite:ids.db", "tag", "orders", "segment.step",
                                       "100", "segment.runway", "0", NULL);
  idgen_t *g = NULL;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  CHECK_ERR(IDGEN_E_STORE_MISSING, idgen_create(config, &g, &err));
  CHECK_ERR(IDGEN_E_STORE_MISSING, idgen_segment_show(config, &info, &err));
  CHECK_ERR(IDGEN_E_STORE_MISSING, idgen_segment_advance(config, 1, &info, &err));
  CHECK_ERR(IDGEN_OK, idgen_segment_create(config, &err));
  CHECK_ERR(IDGEN_E_TAG_EXISTS, idgen_segment_create(config, &err));
  CHECK_ERR(IDGEN_OK, idgen_segment_show(config, &info, &err));
  CHECK(info.max_id == 0 && info.grants == 0 && info.updated_unix_ms > 1700000000000);
  CHECK(info.step == 0 && info.rate == 0 && *info.holder == '\0'); /* nobody has drawn or set a step */
  CHECK(g == NULL);
  CHECK_ERR(IDGEN_OK, idgen_create(config, &g, &err));
  uint64_t id = 0, ids[250];
  size_t written = 0;
  CHECK_CALL(IDGEN_OK, idgen_try_next(g, &id));
  CHECK(id == 1);
  CHECK_ERR(IDGEN_OK, idgen_next_batch(g, ids, 250, &written, &err));
  CHECK(written == 250 && strictly_rising(ids, 250) && ids[0] == 2 && ids[249] == 251); /* alone on the tag: no gap */
  idgen_draw_t block = IDGEN_DRAW_INIT;
  CHECK_ERR(IDGEN_OK, draw_block(g, 1000000, &block, &err));
  CHECK(block.first == 252 && block.written >= 1 && block.written <= 100 && block.stride == 1);
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  idgen_destroy(g);
  /* What was not used was given back. */
  CHECK_ERR(IDGEN_OK, idgen_segment_show(config, &info, &err));
  CHECK(info.max_id == block.first + block.written - 1);
  struct listed listed = {0, 0, ""};
  CHECK_ERR(IDGEN_OK, idgen_segment_list(config, add_row, &listed, &err));
  CHECK(listed.rows == 1 && listed.max_id == info.max_id && strcmp(listed.names, "default/orders") == 0);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_segment_list(config, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_segment_list(NULL, add_row, &listed, &err));
  const uint64_t before = info.max_id;
  CHECK_ERR(IDGEN_OK, idgen_segment_advance(config, before - 1, &info, &err));
  CHECK(info.max_id == before + 1); /* never lowers */
  CHECK_ERR(IDGEN_OK, idgen_segment_advance(config, 5000, &info, &err));
  CHECK(info.max_id == 5000);
  CHECK_ERR(IDGEN_E_VALUE, idgen_segment_advance(config, UINT64_MAX, &info, &err));
  g = NULL;
  CHECK_ERR(IDGEN_OK, idgen_create(config, &g, &err));
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK(id == 5001);
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_decode(g, id, &parts, &err));
  CHECK(parts.fields == IDGEN_FIELD_SEGMENT && parts.segment == id);
  idgen_destroy(g);

  /* A tag that is retired: where it ended is known, and nothing comes after that. */
  idgen_segment_info_t older = IDGEN_SEGMENT_INFO_INIT;
  older.struct_size = 8;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_segment_retire(config, &older, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_segment_retire(config, NULL, &err));
  CHECK_ERR(IDGEN_OK, idgen_segment_show(config, &info, &err));
  const uint64_t granted = info.max_id;
  CHECK_ERR(IDGEN_OK, idgen_segment_retire(config, &info, &err));
  CHECK(info.max_id == granted && granted >= id);
  CHECK_ERR(IDGEN_E_EXHAUSTED, idgen_create(config, &g, &err));
  CHECK_ERR(IDGEN_E_EXHAUSTED, idgen_segment_retire(config, &info, &err));
  CHECK_SAYS("was retired at ");
  idgen_config_destroy(config);
}

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

void configuration_files(void) {
  write_file("good.toml",
             "[orders]\nkind = \"segment\"\nstore = \"sqlite:ids.db\"\n\"store_create\" = true\nsegment.step = 10\n"
             "[events]\nworker = 7\nstore = \"sqlite:ids.db\"\nepoch = 2025-01-01T00:00:00Z\n");
  write_file("typo.toml", "[a]\nwroker = 7\n[b]\nworker = -1\n");
  write_file("array.toml", "[c]\nworker = [1]\n");
  write_file("broken.toml", "[a\nworker = 7\n");
  idgen_t *g = NULL;
  uint64_t id = 0;
  CHECK_ERR(IDGEN_OK, idgen_open("good.toml", "orders", &g, &err));
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK(id == 1);
  idgen_destroy(g);
  g = NULL;
  CHECK_ERR(IDGEN_OK, idgen_open("good.toml", "events", &g, &err));
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  idgen_destroy(g);

  char names[256];
  size_t size = sizeof names;
  CHECK_ERR(IDGEN_OK, idgen_config_names("good.toml", names, &size, &err));
  CHECK(strcmp(names, "orders\nevents\n") == 0 && size == 15);
  size = 14;
  CHECK_ERR(IDGEN_E_BUFFER, idgen_config_names("good.toml", names, &size, &err));
  CHECK(size == 15);

  g = NULL;
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_open("missing.toml", "orders", &g, &err));
  CHECK_SAYS("missing.toml");
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_open("broken.toml", "a", &g, &err));
  CHECK_SAYS("line 1");
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_open("good.toml", "invoices", &g, &err));
  CHECK_SAYS("orders, events");
  CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_open("typo.toml", "a", &g, &err));
  CHECK_SAYS("'worker'");
  CHECK_ERR(IDGEN_E_VALUE, idgen_open("typo.toml", "b", &g, &err));
  CHECK_SAYS("-1");
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_open("array.toml", "c", &g, &err));
  CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_config_names("missing.toml", names, &size, &err));
  CHECK(g == NULL);

  /* A failed load changes nothing; a good one sets name and directory, and a later set wins. */
  char value[4096], here[4096];
  idgen_config_t *config = config_with("worker", "3", NULL);
  CHECK_ERR(IDGEN_E_VALUE, idgen_config_load(config, "typo.toml", "b", &err));
  size = sizeof value;
  CHECK_ERR(IDGEN_OK, idgen_config_get(config, "worker", value, &size, &err));
  CHECK(strcmp(value, "3") == 0);
  CHECK_ERR(IDGEN_OK, idgen_config_load(config, "good.toml", "events", &err));
  size = sizeof value;
  CHECK_ERR(IDGEN_OK, idgen_config_get(config, "name", value, &size, &err));
  CHECK(strcmp(value, "events") == 0);
  size = sizeof value;
  CHECK_ERR(IDGEN_OK, idgen_config_get(config, "directory", value, &size, &err));
  CHECK(getcwd(here, sizeof here) && strcmp(value, here) == 0);
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "worker", "8", &err));
  CHECK_ERR(IDGEN_OK, idgen_create(config, &g, &err));
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK_ERR(IDGEN_OK, idgen_decode(g, id, &parts, &err));
  CHECK(parts.worker == 8);
  idgen_destroy(g);
  idgen_config_destroy(config);
}
