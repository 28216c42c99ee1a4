/* Rules 1, 3, 4 and 6 of the contract: handles of the wrong type, NULL, struct_size, buffers. */
#include <idgen/admin.h>
#include <idgen/host.h>
#include <limits.h>
#include <string.h>

#include "../draws.h"
#include "check.h"

static idgen_config_t *config;
static idgen_t *generator;
static idgen_layout_t *layout;

static void open_one_of_each(void) {
  config = config_with("store", "memory:handles", "store_create", "true", "kind", "segment", "tag", "t", NULL);
  CHECK_ERR(IDGEN_OK, idgen_create(config, &generator, &err));
  CHECK_ERR(IDGEN_OK, idgen_layout_create("default", NULL, &layout, &err));
}

static void close_all(void) {
  idgen_destroy(generator);
  idgen_layout_destroy(layout);
  idgen_config_destroy(config);
}

static int64_t some_clock(void *ctx) { return *(int64_t *)ctx; }
static idgen_status_t some_take(void *ctx, const idgen_segment_request_t *request, idgen_segment_t *segment,
                                idgen_error_t *err) {
  (void)ctx, (void)request, (void)err;
  segment->first = 1;
  return IDGEN_OK;
}
static void some_log(void *ctx, int32_t level, const char *message) { (void)ctx, (void)level, (void)message; }

/* Every function that takes a generator. */
static void generator_calls_refuse(idgen_t *wrong) {
  uint64_t id = 7, ids[2] = {7, 7};
  size_t written = 9, size = 0;
  idgen_draw_t block = IDGEN_DRAW_INIT;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  idgen_stats_t stats = IDGEN_STATS_INIT;
  idgen_layout_t *copy = NULL;
  CHECK_CALL(IDGEN_E_HANDLE, idgen_try_next(wrong, &id));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_next(wrong, &id, &err));
  CHECK_CALL(IDGEN_E_HANDLE, idgen_next(wrong, &id, NULL));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_next_batch(wrong, ids, 2, &written, &err));
  CHECK(written == 0);
  written = 9;
  CHECK_ERR(IDGEN_E_HANDLE, draw_batch(wrong, ids, 2, &written, NULL, NULL, &err));
  CHECK(written == 0);
  CHECK_ERR(IDGEN_E_HANDLE, draw_block(wrong, 1, &block, &err));
  written = 9;
  CHECK_CALL(IDGEN_E_HANDLE, try_batch(wrong, ids, 2, &written));
  CHECK(written == 0);
  CHECK_CALL(IDGEN_E_HANDLE, try_block(wrong, 1, &block));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_decode(wrong, 1, &parts, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_layout_of(wrong, &copy, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_stats(wrong, &stats, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_describe(wrong, NULL, &size, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_summary(wrong, NULL, &size, &err));
  const idgen_t *array[] = {wrong};
  CHECK_ERR(IDGEN_E_HANDLE, idgen_metrics(array, 1, NULL, &size, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_close(wrong, &err));
  CHECK(id == 7 && ids[0] == 7 && copy == NULL);
  idgen_destroy(wrong);
}

static void config_calls_refuse(idgen_config_t *wrong) {
  size_t size = 0;
  idgen_t *made = NULL;
  int64_t now = 0;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  const idgen_clock_t clock = {.struct_size = sizeof clock, .now_ns = some_clock};
  const idgen_store_t store = {.struct_size = sizeof store, .segment_take = some_take};
  const idgen_log_t log = {.struct_size = sizeof log, .write = some_log};
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_set(wrong, "worker", "1", &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_get(wrong, "worker", NULL, &size, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_load(wrong, "x.toml", "x", &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_create(wrong, &made, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_store_create(wrong, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_segment_create(wrong, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_segment_create_above(wrong, 1, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_segment_show(wrong, &info, &err));
  idgen_worker_info_t worker = IDGEN_WORKER_INFO_INIT;
  CHECK_ERR(IDGEN_E_HANDLE, idgen_worker_show(wrong, &worker, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_worker_plan_repair(wrong, 1, &worker, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_worker_repair(wrong, 1, &worker, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_worker_release(wrong, 1, &worker, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_describe(wrong, NULL, &size, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_segment_advance(wrong, 1, &info, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_segment_retire(wrong, &info, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_set_clock(wrong, &clock, &now, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_set_store(wrong, &store, NULL, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_config_set_log(wrong, &log, NULL, &err));
  CHECK(made == NULL);
  idgen_config_destroy(wrong);
}

static void layout_calls_refuse(idgen_layout_t *wrong) {
  uint64_t id = 7;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  idgen_field_t field = IDGEN_FIELD_INIT;
  idgen_layout_info_t info = {.struct_size = sizeof info};
  CHECK_ERR(IDGEN_E_HANDLE, idgen_layout_decode(wrong, 1, &parts, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_layout_encode(wrong, &parts, &id, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_layout_info(wrong, 0, &info, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_layout_field_at(wrong, 0, &field, &err));
  CHECK(id == 7);
  idgen_layout_destroy(wrong);
}

static void null_pointers_are_refused(void) {
  uint64_t id = 0, ids[2];
  size_t written = 9, size = 0;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  idgen_t *made = NULL;
  idgen_layout_t *new_layout = NULL;
  const idgen_clock_t clock = {.struct_size = sizeof clock};
  const idgen_store_t store = {.struct_size = sizeof store};
  const idgen_log_t log = {.struct_size = sizeof log};

  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_create(NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set(config, NULL, "1", &err));
  CHECK_SAYS("key is NULL");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set(config, "worker", NULL, &err));
  CHECK_SAYS("value is NULL");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_get(config, NULL, NULL, &size, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_get(config, "worker", NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_load(config, NULL, "x", &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_load(config, "x.toml", NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_names(NULL, NULL, &size, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_property_at(0, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_create(config, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_open(NULL, "x", &made, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_open("x.toml", NULL, &made, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_open("x.toml", "x", NULL, &err));
  CHECK_CALL(IDGEN_E_ARGUMENT, idgen_try_next(generator, NULL));
  idgen_stats_t before = IDGEN_STATS_INIT, after = IDGEN_STATS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_stats(generator, &before, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_next(generator, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_next_batch(generator, NULL, 2, &written, &err));
  CHECK(written == 0);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_next_batch(generator, ids, 2, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, draw_batch(generator, NULL, 2, &written, NULL, NULL, &err));
  written = 9;
  CHECK_CALL(IDGEN_E_ARGUMENT, try_batch(generator, NULL, 2, &written));
  CHECK(written == 0);
  CHECK_CALL(IDGEN_OK, try_batch(generator, NULL, 0, &written));
  idgen_draw_t of_another_version = IDGEN_DRAW_INIT;
  CHECK_CALL(IDGEN_E_ARGUMENT, try_block(generator, 0, &of_another_version));
  of_another_version.struct_size = 4;
  CHECK_CALL(IDGEN_E_ARGUMENT, try_block(generator, 1, &of_another_version));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_draw(generator, NULL, &err));
  CHECK_ERR(IDGEN_OK, idgen_stats(generator, &after, &err));
  CHECK(before.remaining == after.remaining); /* no id is lost on an invalid call */
  CHECK_ERR(IDGEN_OK, idgen_next_batch(generator, NULL, 0, &written, &err));
  CHECK(written == 0);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_decode(generator, 1, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_of(generator, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_stats(generator, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_describe(generator, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_summary(generator, NULL, NULL, &err));
  const idgen_t *array[] = {generator, NULL};
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_metrics(array, 1, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_metrics(NULL, 1, NULL, &size, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_metrics(array, 2, NULL, &size, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_create(NULL, NULL, &new_layout, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_create("default", NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_decode(layout, 1, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_encode(layout, NULL, &id, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_encode(layout, &parts, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_info(layout, 0, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_field_at(layout, 0, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_format(1, IDGEN_TEXT_HEX, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_parse(NULL, 1, IDGEN_TEXT_HEX, &id, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_parse("1", 1, IDGEN_TEXT_DECIMAL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_segment_show(config, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_worker_show(config, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_worker_plan_repair(config, 1, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_describe(config, NULL, NULL, &err));
  CHECK_ERR(IDGEN_OK, idgen_segment_advance(config, 0, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_clock(config, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_clock(config, &clock, NULL, &err));
  CHECK_SAYS("now_ns");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_store(config, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_store(config, &store, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_log(config, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_log(config, &log, NULL, &err));
  CHECK_SAYS("log.write");
  CHECK(made == NULL && new_layout == NULL);
  idgen_destroy(NULL);
  idgen_config_destroy(NULL);
  idgen_layout_destroy(NULL);
}

void null_and_wrong_handles(void) {
  open_one_of_each();
  generator_calls_refuse(NULL);
  generator_calls_refuse((idgen_t *)config);
  generator_calls_refuse((idgen_t *)layout);
  config_calls_refuse(NULL);
  config_calls_refuse((idgen_config_t *)generator);
  config_calls_refuse((idgen_config_t *)layout);
  layout_calls_refuse(NULL);
  layout_calls_refuse((idgen_layout_t *)config);
  layout_calls_refuse((idgen_layout_t *)generator);
  null_pointers_are_refused();
  uint64_t id;
  CHECK_CALL(IDGEN_OK, idgen_next(generator, &id, NULL)); /* none of that has hurt it */
  close_all();
}

/* Our struct inside a newer caller's larger one, and a guard behind it. */
union sized {
  uint32_t struct_size;
  unsigned char bytes[1024];
};

static idgen_status_t write_property(void *out) { return idgen_property_at(0, out, NULL); }
static idgen_status_t write_parts(void *out) { return idgen_decode(generator, 1, out, NULL); }
static idgen_status_t write_layout_parts(void *out) { return idgen_layout_decode(layout, 1, out, NULL); }
static idgen_status_t write_layout_info(void *out) { return idgen_layout_info(layout, 0, out, NULL); }
static idgen_status_t write_field(void *out) { return idgen_layout_field_at(layout, 0, out, NULL); }
static idgen_status_t write_stats(void *out) { return idgen_stats(generator, out, NULL); }
static idgen_status_t write_segment_show(void *out) { return idgen_segment_show(config, out, NULL); }
static idgen_status_t write_segment_advance(void *out) { return idgen_segment_advance(config, 3, out, NULL); }

static idgen_status_t write_worker_show(void *out) {
  idgen_config_t *snowflake = config_with("store", "memory:handles", "worker", "7", NULL);
  const idgen_status_t status = idgen_worker_show(snowflake, out, NULL);
  idgen_config_destroy(snowflake);
  return status;
}

static void out_struct(idgen_status_t (*write)(void *out), uint32_t size) {
  union sized out;
  const uint32_t wrong[] = {0, 1, 3, 4, size / 2, size - 1, 1u << 20, UINT32_MAX};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    memset(&out, 0xAB, sizeof out);
    out.struct_size = wrong[i];
    CHECK_CALL(IDGEN_E_ARGUMENT, write(&out));
    int untouched = out.struct_size == wrong[i];
    for (size_t b = 4; b < sizeof out; ++b) untouched &= out.bytes[b] == 0xAB;
    CHECK(untouched);
  }
  const uint32_t right[] = {size, size + 8, size + 40}; /* ours, and newer callers' */
  for (size_t i = 0; i < sizeof right / sizeof *right; ++i) {
    memset(&out, 0xAB, sizeof out);
    out.struct_size = right[i];
    CHECK_CALL(IDGEN_OK, write(&out));
    CHECK(out.struct_size == right[i]);
    int beyond_untouched = 1, added_is_zero = 1;
    for (size_t b = right[i]; b < sizeof out; ++b) beyond_untouched &= out.bytes[b] == 0xAB;
    for (size_t b = size; b < right[i]; ++b) added_is_zero &= out.bytes[b] == 0;
    CHECK(beyond_untouched && added_is_zero);
  }
}

static void in_struct_sizes(void) {
  uint64_t id = 7;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  parts.struct_size = 0;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_encode(layout, &parts, &id, &err));
  parts.struct_size = sizeof parts - 1;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_layout_encode(layout, &parts, &id, &err));
  CHECK_SAYS("struct_size");
  CHECK(id == 7);
  idgen_clock_t clock = {.now_ns = some_clock};
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_clock(config, &clock, NULL, &err));
  idgen_store_t store = {.segment_take = some_take};
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_store(config, &store, NULL, &err));
  idgen_log_t log = {.write = some_log};
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_log(config, &log, NULL, &err));
  CHECK_SAYS("struct_size");
  /* Taken from the stack and not cleared: refused, so that `reserved` can get a meaning one day. */
  clock.struct_size = sizeof clock, clock.reserved = 0xCCCCCCCC;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_clock(config, &clock, NULL, &err));
  CHECK_SAYS("clock.reserved");
  store.struct_size = sizeof store, store.reserved = 1;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_store(config, &store, NULL, &err));
  log.struct_size = sizeof log, log.reserved = 1;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_log(config, &log, NULL, &err));
}

/* A caller's error struct that is too small is left alone, and the status is right all the same. One without a size is
 * filled, and says so. */
static void error_structs(void) {
  idgen_error_t err;
  memset(&err, 0xAB, sizeof err);
  err.struct_size = 0;
  CHECK_CALL(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, "nonsense", "1", &err));
  CHECK(err.status == IDGEN_E_UNKNOWN_KEY);
  CHECK_SAYS("IDGEN_ERROR_INIT");
  CHECK_SAYS("nonsense");
  memset(&err, 0xAB, sizeof err);
  err.struct_size = 16;
  CHECK_CALL(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, "nonsense", "1", &err));
  CHECK((unsigned char)err.message[0] == 0xAB);
  err.struct_size = sizeof err;
  CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, "nonsense", "1", &err));
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "worker", "1", &err));
  CHECK(err.status == IDGEN_OK && err.message[0] == '\0'); /* a success empties it */
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "worker", "", &err));

  /* Whatever bytes a caller passes, a message is UTF-8 and terminated. */
  char long_key[4000], bytes[200];
  memset(long_key, 'k', sizeof long_key - 1);
  long_key[sizeof long_key - 1] = '\0';
  CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, long_key, "1", &err));
  CHECK(strlen(err.message) < sizeof err.message);
  CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, "w\xFF\xC3", "1", &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_config_set(config, "worker", "\xFF\xFE", &err));
  for (int start = 0; start < 4; ++start) { /* cut inside a character, wherever the cut falls */
    size_t at = 0;
    for (int i = 0; i < start; ++i) bytes[at++] = 'x';
    while (at + 3 < sizeof bytes) memcpy(bytes + at, "\xE2\x82\xAC", 3), at += 3;
    bytes[at] = '\0';
    CHECK_ERR(IDGEN_E_VALUE, idgen_config_set(config, "worker", bytes, &err));
    CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, bytes, "1", &err));
    idgen_layout_t *none = NULL;
    CHECK_ERR(IDGEN_E_LAYOUT, idgen_layout_create(bytes, NULL, &none, &err));
    CHECK_ERR(IDGEN_E_CONFIG_FILE, idgen_config_load(config, bytes, "x", &err));
  }
}

static idgen_status_t text_describe(char *buffer, size_t *size) {
  return idgen_describe(generator, buffer, size, NULL);
}
static idgen_status_t text_config_describe(char *buffer, size_t *size) {
  return idgen_config_describe(config, buffer, size, NULL);
}
static idgen_status_t text_metrics(char *buffer, size_t *size) {
  const idgen_t *array[] = {generator};
  return idgen_metrics(array, 1, buffer, size, NULL);
}
static idgen_status_t text_get(char *buffer, size_t *size) {
  return idgen_config_get(config, "store", buffer, size, NULL);
}
static idgen_status_t text_format(char *buffer, size_t *size) {
  return idgen_format(255, IDGEN_TEXT_CROCKFORD, buffer, size, NULL);
}

static void text_result(idgen_status_t (*read)(char *buffer, size_t *size)) {
  char buffer[8192], again[8192];
  size_t needed = 0;
  CHECK_CALL(IDGEN_E_BUFFER, read(NULL, &needed));
  CHECK(needed > 1 && needed < sizeof buffer);
  size_t size = sizeof buffer;
  CHECK_CALL(IDGEN_E_BUFFER, read(NULL, &size)); /* a NULL buffer holds nothing, whatever the size says */
  CHECK(size == needed);
  const size_t too_small[] = {0, 1, needed - 1};
  for (size_t i = 0; i < 3; ++i) {
    memset(buffer, 0x5A, sizeof buffer);
    size = too_small[i];
    CHECK_CALL(IDGEN_E_BUFFER, read(buffer, &size));
    CHECK(size == needed);
    int untouched = 1;
    for (size_t b = 0; b < sizeof buffer; ++b) untouched &= buffer[b] == 0x5A;
    CHECK(untouched);
  }
  memset(buffer, 0x5A, sizeof buffer);
  size = needed;
  CHECK_CALL(IDGEN_OK, read(buffer, &size));
  CHECK(size == needed && strlen(buffer) + 1 == needed && buffer[needed] == 0x5A);
  size = sizeof again;
  CHECK_CALL(IDGEN_OK, read(again, &size));
  CHECK(size == needed && strcmp(buffer, again) == 0);
}

void struct_sizes_and_buffers(void) {
  open_one_of_each();
  out_struct(write_property, sizeof(idgen_property_t));
  out_struct(write_parts, sizeof(idgen_parts_t));
  out_struct(write_layout_parts, sizeof(idgen_parts_t));
  out_struct(write_layout_info, sizeof(idgen_layout_info_t));
  out_struct(write_field, sizeof(idgen_field_t));
  out_struct(write_stats, sizeof(idgen_stats_t));
  out_struct(write_segment_show, sizeof(idgen_segment_info_t));
  out_struct(write_segment_advance, sizeof(idgen_segment_info_t));
  out_struct(write_worker_show, sizeof(idgen_worker_info_t));

  /* A struct that is too small is noticed before anything is done. */
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT, small = {0};
  CHECK_ERR(IDGEN_OK, idgen_segment_show(config, &info, &err));
  const uint64_t max_id = info.max_id;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_segment_advance(config, max_id + 1000, &small, &err));
  CHECK_ERR(IDGEN_OK, idgen_segment_show(config, &info, &err));
  CHECK(info.max_id == max_id);

  in_struct_sizes();
  error_structs();
  text_result(text_describe);
  text_result(text_config_describe);
  CHECK_CALL(IDGEN_OK, idgen_close(generator, NULL)); /* at rest: every number of its metrics stays as it is */
  text_result(text_metrics);
  text_result(text_get);
  text_result(text_format);
  close_all();
}
