/* What Go calls instead of idgen.h itself. Its shape follows from the cost of a cgo call:
 *  - handles go as uintptr_t and results come back by value, so that nothing escapes to Go's heap: Next allocates
 *    nothing;
 *  - the details of an error come back with the same call, because a goroutine may be on another thread in the next
 *    one. Success costs nothing extra: only a failure allocates. */
#ifndef IDGEN_GO_H
#define IDGEN_GO_H

#include <idgen/idgen.h>
#include <stdlib.h>
#include <string.h>

#if IDGEN_ABI_VERSION != 1
#error "This Go package is for ABI 1 of idgen: use the version of the package that belongs to the installed library."
#endif

/* error is NULL for IDGEN_OK, and if there was no memory for it; idgen_go_error_free accepts NULL. */
typedef struct {
  idgen_error_t *error;
  idgen_status_t status;
} idgen_go_failure;

typedef struct {
  uint64_t value;
  idgen_go_failure failure;
} idgen_go_number;

typedef struct {
  uintptr_t handle;
  idgen_go_failure failure;
} idgen_go_handle;

/* Not IDGEN_ERROR_INIT: that would clear 496 bytes for every id. */
#define IDGEN_GO_ERROR(name)                                                                                 \
  idgen_error_t name;                                                                                        \
  name.struct_size = (uint32_t)sizeof name, name.status = IDGEN_OK, name.retry_after_ns = 0, name.cause = 0, \
  name.message[0] = '\0'

static inline idgen_go_failure idgen_go_fail(idgen_status_t status, const idgen_error_t *error) {
  idgen_go_failure failure = {NULL, status};
  if (__builtin_expect(status != IDGEN_OK, 0)) {
    failure.error = (idgen_error_t *)malloc(sizeof *error);
    if (failure.error) *failure.error = *error;
  }
  return failure;
}

static inline void idgen_go_error_free(idgen_error_t *error) { free(error); }

/* ------------------------------------------------------------------------------------------------- generation */

/* Out of line, so that a frame with the error in it is not set up for every id. */
__attribute__((noinline, unused)) static idgen_go_number idgen_go_next_slowly(uintptr_t generator) {
  IDGEN_GO_ERROR(error);
  idgen_go_number result;
  result.value = 0;
  result.failure = idgen_go_fail(idgen_next((idgen_t *)generator, &result.value, &error), &error);
  return result;
}

static inline idgen_go_number idgen_go_next(uintptr_t generator) {
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  if (__builtin_expect(idgen_try_next((idgen_t *)generator, &result.value) == IDGEN_OK, 1)) return result;
  return idgen_go_next_slowly(generator);
}

/* idgen_try_next fills no error: for the message of a status other than IDGEN_E_WOULD_BLOCK there is
 * idgen_go_next_slowly. */
static inline idgen_go_number idgen_go_try_next(uintptr_t generator) {
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  result.failure.status = idgen_try_next((idgen_t *)generator, &result.value);
  return result;
}

static inline idgen_go_number idgen_go_fill(uintptr_t generator, uint64_t *ids, size_t n) {
  IDGEN_GO_ERROR(error);
  size_t written = 0;
  idgen_go_number result;
  result.failure = idgen_go_fail(idgen_next_batch((idgen_t *)generator, ids, n, &written, &error), &error);
  result.value = written;
  return result;
}

/* The flag of a cancelled context. It is in C's memory, where both sides may keep a pointer to it. */
static inline int32_t *idgen_go_flag_new(void) { return (int32_t *)calloc(1, sizeof(int32_t)); }
static inline void idgen_go_flag_free(int32_t *flag) { free(flag); }
static inline void idgen_go_flag_set(int32_t *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
static inline int idgen_go_flag_is_set(void *flag) { return __atomic_load_n((const int32_t *)flag, __ATOMIC_ACQUIRE); }

/* A flag may be NULL, for a context that never ends. */
static inline idgen_cancelled_fn idgen_go_asks(const int32_t *flag) { return flag ? idgen_go_flag_is_set : NULL; }

static inline idgen_go_number idgen_go_fill_until(uintptr_t generator, uint64_t *ids, size_t n, int32_t *flag) {
  IDGEN_GO_ERROR(error);
  size_t written = 0;
  idgen_go_number result;
  result.failure = idgen_go_fail(
      idgen_next_batch_wait((idgen_t *)generator, ids, n, &written, idgen_go_asks(flag), flag, &error), &error);
  result.value = written;
  return result;
}

static inline idgen_go_number idgen_go_next_until(uintptr_t generator, int32_t *flag) {
  uint64_t id = 0;
  idgen_go_number result = idgen_go_fill_until(generator, &id, 1, flag);
  result.value = id;
  return result;
}

typedef struct {
  uint64_t first, count, stride;
  idgen_go_failure failure;
} idgen_go_block;

static inline idgen_go_block idgen_go_next_block(uintptr_t generator, uint64_t want, int32_t *flag) {
  IDGEN_GO_ERROR(error);
  idgen_block_t block = IDGEN_BLOCK_INIT;
  idgen_go_block result;
  result.failure = idgen_go_fail(
      idgen_next_block_wait((idgen_t *)generator, want, &block, idgen_go_asks(flag), flag, &error), &error);
  result.first = block.first, result.count = block.count, result.stride = block.stride;
  return result;
}

/* ------------------------------------------------------------------------------- configuration and lifetime */

static inline idgen_go_handle idgen_go_config_create(void) {
  IDGEN_GO_ERROR(error);
  idgen_config_t *config = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_config_create(&config, &error), &error);
  result.handle = (uintptr_t)config;
  return result;
}

static inline void idgen_go_config_destroy(uintptr_t config) { idgen_config_destroy((idgen_config_t *)config); }

static inline idgen_go_failure idgen_go_config_set(uintptr_t config, const char *key, const char *value) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_config_set((idgen_config_t *)config, key, value, &error), &error);
}

static inline idgen_go_failure idgen_go_config_load(uintptr_t config, const char *path, const char *name) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_config_load((idgen_config_t *)config, path, name, &error), &error);
}

static inline idgen_go_handle idgen_go_create(uintptr_t config, int32_t *flag) {
  IDGEN_GO_ERROR(error);
  idgen_t *generator = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(
      idgen_create_wait((const idgen_config_t *)config, &generator, idgen_go_asks(flag), flag, &error), &error);
  result.handle = (uintptr_t)generator;
  return result;
}

static inline idgen_go_failure idgen_go_close(uintptr_t generator, int32_t *flag) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_close_wait((idgen_t *)generator, idgen_go_asks(flag), flag, &error), &error);
}

static inline void idgen_go_destroy(uintptr_t generator) { idgen_destroy((idgen_t *)generator); }

/* ------------------------------------------------------------------------------------------ layouts, decoding */

typedef struct {
  idgen_parts_t parts;
  idgen_go_failure failure;
} idgen_go_parts;

static inline idgen_go_parts idgen_go_decode(uintptr_t generator, uint64_t id) {
  IDGEN_GO_ERROR(error);
  idgen_go_parts result = {IDGEN_PARTS_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_decode((const idgen_t *)generator, id, &result.parts, &error), &error);
  return result;
}

static inline idgen_go_handle idgen_go_layout_create(const char *layout, const char *epoch) {
  IDGEN_GO_ERROR(error);
  idgen_layout_t *created = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_layout_create(layout, epoch, &created, &error), &error);
  result.handle = (uintptr_t)created;
  return result;
}

static inline idgen_go_handle idgen_go_layout_of(uintptr_t generator) {
  IDGEN_GO_ERROR(error);
  idgen_layout_t *copy = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_layout_of((const idgen_t *)generator, &copy, &error), &error);
  result.handle = (uintptr_t)copy;
  return result;
}

static inline void idgen_go_layout_destroy(uintptr_t layout) { idgen_layout_destroy((idgen_layout_t *)layout); }

static inline idgen_go_parts idgen_go_layout_decode(uintptr_t layout, uint64_t id) {
  IDGEN_GO_ERROR(error);
  idgen_go_parts result = {IDGEN_PARTS_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_layout_decode((const idgen_layout_t *)layout, id, &result.parts, &error), &error);
  return result;
}

static inline idgen_go_number idgen_go_layout_encode(uintptr_t layout, idgen_parts_t parts) {
  IDGEN_GO_ERROR(error);
  idgen_go_number result;
  result.value = 0;
  parts.struct_size = (uint32_t)sizeof parts;
  result.failure =
      idgen_go_fail(idgen_layout_encode((const idgen_layout_t *)layout, &parts, &result.value, &error), &error);
  return result;
}

typedef struct {
  idgen_layout_info_t info;
  idgen_go_failure failure;
} idgen_go_layout_info;

static inline idgen_go_layout_info idgen_go_layout_describe(uintptr_t layout, int64_t now_unix_ms) {
  IDGEN_GO_ERROR(error);
  idgen_go_layout_info result = {0};
  result.info.struct_size = (uint32_t)sizeof result.info;
  result.failure =
      idgen_go_fail(idgen_layout_info((const idgen_layout_t *)layout, now_unix_ms, &result.info, &error), &error);
  return result;
}

typedef struct {
  idgen_field_t field;
  idgen_status_t status;
} idgen_go_field;

static inline idgen_go_field idgen_go_layout_field_at(uintptr_t layout, size_t index) {
  idgen_go_field result = {IDGEN_FIELD_INIT, IDGEN_OK};
  result.status = idgen_layout_field_at((const idgen_layout_t *)layout, index, &result.field, NULL);
  return result;
}

/* ------------------------------------------------------------------------------------------------------- text */

/* The longest text form is 20 decimal digits. */
typedef struct {
  char text[32];
  idgen_status_t status;
} idgen_go_text;

static inline idgen_go_text idgen_go_format(uint64_t id, int32_t encoding) {
  idgen_go_text result = {"", IDGEN_OK};
  size_t size = sizeof result.text;
  result.status = idgen_format(id, encoding, result.text, &size, NULL);
  return result;
}

static inline idgen_go_number idgen_go_parse(const char *text, size_t length, int32_t encoding) {
  IDGEN_GO_ERROR(error);
  idgen_go_number result;
  result.value = 0;
  result.failure = idgen_go_fail(idgen_parse(text, length, encoding, &result.value, &error), &error);
  return result;
}

/* ------------------------------------------------------------------------------------------------- inspection */

typedef struct {
  idgen_stats_t stats;
  idgen_go_failure failure;
} idgen_go_stats;

static inline idgen_go_stats idgen_go_stats_of(uintptr_t generator) {
  IDGEN_GO_ERROR(error);
  idgen_go_stats result = {IDGEN_STATS_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_stats((const idgen_t *)generator, &result.stats, &error), &error);
  return result;
}

/* A text that the caller frees with free(); NULL together with a failure. */
typedef struct {
  char *text;
  idgen_go_failure failure;
} idgen_go_long_text;

/* Fills a buffer of the right size with the text of a generator or of a file. */
#define IDGEN_GO_LONG_TEXT(call)                                             \
  idgen_go_long_text result = {NULL, {NULL, IDGEN_E_BUFFER}};                \
  size_t size = 2048;                                                        \
  for (;;) {                                                                 \
    char *buffer = (char *)realloc(result.text, size);                       \
    if (!buffer) {                                                           \
      result.failure.status = IDGEN_E_NO_MEMORY;                             \
      break;                                                                 \
    }                                                                        \
    result.text = buffer;                                                    \
    IDGEN_GO_ERROR(error);                                                   \
    const idgen_status_t status = call;                                      \
    if (status == IDGEN_E_BUFFER) continue; /* size is now what is needed */ \
    result.failure = idgen_go_fail(status, &error);                          \
    break;                                                                   \
  }                                                                          \
  if (result.failure.status != IDGEN_OK) {                                   \
    free(result.text);                                                       \
    result.text = NULL;                                                      \
  }                                                                          \
  return result

static inline idgen_go_long_text idgen_go_describe(uintptr_t generator) {
  IDGEN_GO_LONG_TEXT(idgen_describe((const idgen_t *)generator, buffer, &size, &error));
}

static inline idgen_go_long_text idgen_go_config_get(uintptr_t config, const char *key) {
  IDGEN_GO_LONG_TEXT(idgen_config_get((const idgen_config_t *)config, key, buffer, &size, &error));
}

static inline idgen_go_long_text idgen_go_config_names(const char *path) {
  IDGEN_GO_LONG_TEXT(idgen_config_names(path, buffer, &size, &error));
}

/* Handles as numbers: there is no pointer into Go's memory among them. */
static inline idgen_go_long_text idgen_go_metrics(const uintptr_t *generators, size_t count) {
  IDGEN_GO_LONG_TEXT(idgen_metrics((const idgen_t *const *)generators, count, buffer, &size, &error));
}

typedef struct {
  idgen_property_t property;
  idgen_status_t status;
} idgen_go_property;

static inline idgen_go_property idgen_go_property_at(size_t index) {
  idgen_go_property result = {IDGEN_PROPERTY_INIT, IDGEN_OK};
  result.status = idgen_property_at(index, &result.property, NULL);
  return result;
}

/* --------------------------------------------------------------------------------------- segments in the store */

typedef struct {
  idgen_segment_info_t info;
  idgen_go_failure failure;
} idgen_go_segment;

static inline idgen_go_failure idgen_go_quiesce(void) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_quiesce(&error), &error);
}

static inline idgen_go_failure idgen_go_reset(void) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_reset(&error), &error);
}

static inline idgen_go_failure idgen_go_store_create(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_store_create((const idgen_config_t *)config, &error), &error);
}

static inline idgen_go_failure idgen_go_segment_create(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_segment_create((const idgen_config_t *)config, &error), &error);
}

static inline idgen_go_segment idgen_go_segment_show(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  idgen_go_segment result = {IDGEN_SEGMENT_INFO_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_segment_show((const idgen_config_t *)config, &result.info, &error), &error);
  return result;
}

/* A copy, because the callback's arguments end with it. */
typedef struct {
  char *name_space;
  char *tag;
  idgen_segment_info_t info;
} idgen_go_segment_row;

typedef struct {
  idgen_go_segment_row *rows; /* for idgen_go_segment_rows_free */
  size_t count;
  idgen_go_failure failure;
} idgen_go_segment_rows;

static inline void idgen_go_segment_rows_free(idgen_go_segment_row *rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    free(rows[i].name_space);
    free(rows[i].tag);
  }
  free(rows);
}

static inline void idgen_go_segment_row_add(void *ctx, const char *name_space, const char *tag,
                                            const idgen_segment_info_t *info) {
  idgen_go_segment_rows *all = (idgen_go_segment_rows *)ctx;
  if (all->failure.status != IDGEN_OK) return;
  all->failure.status = IDGEN_E_NO_MEMORY;
  idgen_go_segment_row *rows = (idgen_go_segment_row *)realloc(all->rows, (all->count + 1) * sizeof *rows);
  if (!rows) return;
  all->rows = rows;
  const idgen_go_segment_row row = {strdup(name_space), strdup(tag), *info};
  rows[all->count++] = row;
  if (row.name_space && row.tag) all->failure.status = IDGEN_OK;
}

static inline idgen_go_segment_rows idgen_go_segment_list(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  idgen_go_segment_rows result = {NULL, 0, {NULL, IDGEN_OK}};
  const idgen_status_t status =
      idgen_segment_list((const idgen_config_t *)config, idgen_go_segment_row_add, &result, &error);
  if (status != IDGEN_OK) result.failure = idgen_go_fail(status, &error);
  return result;
}

static inline idgen_go_segment idgen_go_segment_set_step(uintptr_t config, uint64_t step) {
  IDGEN_GO_ERROR(error);
  idgen_go_segment result = {IDGEN_SEGMENT_INFO_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_segment_set_step((const idgen_config_t *)config, step, &result.info, &error), &error);
  return result;
}

static inline idgen_go_segment idgen_go_segment_advance(uintptr_t config, uint64_t to) {
  IDGEN_GO_ERROR(error);
  idgen_go_segment result = {IDGEN_SEGMENT_INFO_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_segment_advance((const idgen_config_t *)config, to, &result.info, &error), &error);
  return result;
}

static inline idgen_go_number idgen_go_segment_max_of(uintptr_t config, const char *table, const char *column) {
  IDGEN_GO_ERROR(error);
  idgen_go_number result;
  result.value = 0;
  result.failure =
      idgen_go_fail(idgen_segment_max_of((const idgen_config_t *)config, table, column, &result.value, &error), &error);
  return result;
}

static inline idgen_go_long_text idgen_go_segment_statements(uintptr_t config) {
  IDGEN_GO_LONG_TEXT(idgen_segment_statements((const idgen_config_t *)config, buffer, &size, &error));
}

#endif
