/* What Go calls instead of the C headers themselves. Its shape follows from the cost of a cgo call:
 *  - handles go as uintptr_t and results come back by value, so that nothing escapes to Go's heap: Next allocates
 *    nothing;
 *  - the details of an error come back with the same call, because a goroutine may be on another thread in the next
 *    one. Success costs nothing extra: only a failure allocates. */
#ifndef IDGEN_GO_H
#define IDGEN_GO_H

#include <idgen/admin.h>
#include <idgen/cipher.h>
#include <idgen/host.h>
#include <idgen/idgen.h>
#include <idgen/route.h>
#include <idgen/standard.h>
#include <idgen/testing.h>
#include <idgen/view.h>
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

/* idgen_try_next fills no error: for the message of a status other than IDGEN_E_WOULD_BLOCK there is
 * idgen_go_next_slowly. */
static inline idgen_go_number idgen_go_try_next(uintptr_t generator) {
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  result.failure.status = idgen_try_next((idgen_t *)generator, &result.value);
  return result;
}

/* Of protocol 0, which is none, if the generator has no view. */
static inline idgen_view_t idgen_go_view(uintptr_t generator) {
  idgen_view_t view = IDGEN_VIEW_INIT;
  if (idgen_view((const idgen_t *)generator, &view, NULL) != IDGEN_OK) view.protocol = 0;
  return view;
}

/* The same two for whoever drew a number that is outside of the open range (draw in view.go). It becomes the id, or is
 * given up. */
static inline idgen_go_number idgen_go_try_next_drawn(uintptr_t generator, uint64_t drawn) {
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.flags = IDGEN_DRAW_TRY | IDGEN_DRAW_DRAWN, draw.n = 1, draw.ids = &result.value, draw.drawn = drawn;
  result.failure.status = idgen_draw((idgen_t *)generator, &draw, NULL);
  return result;
}

/* The flag of a cancelled context. It is in C's memory, where both sides may keep a pointer to it. */
static inline int32_t *idgen_go_flag_new(void) { return (int32_t *)calloc(1, sizeof(int32_t)); }
static inline void idgen_go_flag_free(int32_t *flag) { free(flag); }
static inline void idgen_go_flag_set(int32_t *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
static inline int idgen_go_flag_is_set(void *flag) { return __atomic_load_n((const int32_t *)flag, __ATOMIC_ACQUIRE); }

/* A flag may be NULL, for a context that never ends. */
static inline idgen_cancelled_fn idgen_go_asks(const int32_t *flag) { return flag ? idgen_go_flag_is_set : NULL; }

static inline uint64_t idgen_go_wait_max_ns(uintptr_t generator) {
  return idgen_wait_max_ns((const idgen_t *)generator);
}

/* How many callbacks of the host this thread is in. One for all files that include this. */
__attribute__((weak)) __thread int idgen_go_callbacks;
static inline int idgen_go_is_callback(void) { return idgen_go_callbacks > 0; }

/* For whoever waits in Go for all (waiters.go). */
static inline idgen_go_number idgen_go_next_waited(uintptr_t generator, uint64_t waited_ns, int32_t *flag) {
  IDGEN_GO_ERROR(error);
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = 1, draw.ids = &result.value, draw.waited_ns = waited_ns;
  draw.cancelled = idgen_go_asks(flag), draw.ctx = flag;
  result.failure = idgen_go_fail(idgen_draw((idgen_t *)generator, &draw, &error), &error);
  return result;
}

/* The same for whoever has waited for other calls that wait (gate.go). */
static inline idgen_go_failure idgen_go_wait_for_room(uintptr_t generator, uint64_t waited_ns, int32_t *flag) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_wait_for_room((idgen_t *)generator, waited_ns, idgen_go_asks(flag), flag, &error), &error);
}

/* IDGEN_DRAW_TRY. A status other than IDGEN_E_WOULD_BLOCK is one that the call which may
 * wait gives at once, with a message. */
static inline int idgen_go_is_final(idgen_status_t status) {
  return status != IDGEN_OK && status != IDGEN_E_WOULD_BLOCK;
}

static inline idgen_go_number idgen_go_try_fill(uintptr_t generator, uint64_t *ids, size_t n) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.flags = IDGEN_DRAW_TRY, draw.n = n, draw.ids = ids;
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  result.failure.status = idgen_draw((idgen_t *)generator, &draw, NULL);
  result.value = draw.written;
  if (idgen_go_is_final(result.failure.status)) {
    IDGEN_GO_ERROR(error);
    size_t written = 0;
    result.failure = idgen_go_fail(
        idgen_next_batch((idgen_t *)generator, ids + result.value, n - result.value, &written, &error), &error);
    result.value += written;
  }
  return result;
}

typedef struct {
  uint64_t first, count, stride;
  idgen_go_failure failure;
} idgen_go_block;

static inline idgen_go_block idgen_go_try_next_block(uintptr_t generator, uint64_t want) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.flags = IDGEN_DRAW_TRY | IDGEN_DRAW_BLOCK, draw.n = want;
  idgen_go_block result = {0, 0, 0, {NULL, IDGEN_OK}};
  result.failure.status = idgen_draw((idgen_t *)generator, &draw, NULL);
  if (idgen_go_is_final(result.failure.status)) {
    IDGEN_GO_ERROR(error);
    draw.flags = IDGEN_DRAW_BLOCK;
    result.failure = idgen_go_fail(idgen_draw((idgen_t *)generator, &draw, &error), &error);
  }
  result.first = draw.first, result.count = draw.written, result.stride = draw.stride;
  return result;
}

/* -------------------------------------------------------------------------------------------- ids with an owner
 *
 * An owner is its bytes; or, with this as its size, the integer `number`, which is the owner that its decimal text is.
 * In one list of arguments, so that it stays out of Go's heap. */
#define IDGEN_GO_INT SIZE_MAX

typedef struct {
  idgen_owner_t owner;
  char digits[20]; /* "-9223372036854775808" */
} idgen_go_owner;

static inline idgen_owner_t idgen_go_owner_of(const char *data, size_t size, int64_t number, idgen_go_owner *space) {
  if (size != IDGEN_GO_INT) {
    space->owner.data = data, space->owner.size = size;
    return space->owner;
  }
  char *at = space->digits + sizeof space->digits;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  do *--at = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (number < 0) *--at = '-';
  space->owner.data = at, space->owner.size = (size_t)(space->digits + sizeof space->digits - at);
  return space->owner;
}

/* Draws what `draw` says; the flag may be NULL. */
static inline idgen_go_number idgen_go_draw(uintptr_t generator, idgen_draw_t *draw, int32_t *flag) {
  IDGEN_GO_ERROR(error);
  draw->cancelled = idgen_go_asks(flag), draw->ctx = flag;
  idgen_go_number result;
  result.failure = idgen_go_fail(idgen_draw((idgen_t *)generator, draw, &error), &error);
  result.value = draw->written;
  return result;
}

static inline idgen_go_number idgen_go_fill_for(uintptr_t generator, const char *data, size_t size, int64_t number,
                                                uint64_t *ids, size_t n, int32_t *flag) {
  idgen_go_owner space;
  const idgen_owner_t owner = idgen_go_owner_of(data, size, number, &space);
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n, draw.ids = ids, draw.owners = &owner, draw.owner_count = 1;
  return idgen_go_draw(generator, &draw, flag);
}

static inline idgen_go_number idgen_go_next_for_until(uintptr_t generator, const char *data, size_t size,
                                                      int64_t number, int32_t *flag) {
  uint64_t id = 0;
  idgen_go_number result = idgen_go_fill_for(generator, data, size, number, &id, 1, flag);
  result.value = id;
  return result;
}

/* Out of line for the same reason as idgen_go_next_slowly. */
__attribute__((noinline, unused)) static idgen_go_number idgen_go_next_for_slowly(uintptr_t generator, const char *data,
                                                                                  size_t size, int64_t number) {
  return idgen_go_next_for_until(generator, data, size, number, NULL);
}

static inline idgen_go_number idgen_go_try_next_for(uintptr_t generator, const char *data, size_t size,
                                                    int64_t number) {
  idgen_go_owner space;
  const idgen_owner_t owner = idgen_go_owner_of(data, size, number, &space);
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  result.failure.status = idgen_try_next_for((idgen_t *)generator, owner.data, owner.size, &result.value);
  return result;
}

static inline idgen_go_number idgen_go_fill_for_ints(uintptr_t generator, const int64_t *owners, uint64_t *ids,
                                                     size_t n, int32_t *flag) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n, draw.ids = ids, draw.int_owners = owners, draw.owner_count = n;
  return idgen_go_draw(generator, &draw, flag);
}

/* Many owners come packed, because memory of Go's may not hold pointers to more of it: the bytes of all, and where each
 * ends. At most IDGEN_GO_OWNERS at once. */
enum { IDGEN_GO_OWNERS = 256 };

static inline void idgen_go_unpack(const char *bytes, const size_t *ends, size_t n, idgen_owner_t *owners) {
  size_t begin = 0;
  for (size_t i = 0; i < n; ++i) {
    owners[i].data = bytes + begin, owners[i].size = ends[i] - begin;
    begin = ends[i];
  }
}

static inline idgen_go_number idgen_go_fill_for_each(uintptr_t generator, const char *bytes, const size_t *ends,
                                                     uint64_t *ids, size_t n, int32_t *flag) {
  idgen_owner_t owners[IDGEN_GO_OWNERS];
  idgen_go_unpack(bytes, ends, n, owners);
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n, draw.ids = ids, draw.owners = owners, draw.owner_count = n;
  return idgen_go_draw(generator, &draw, flag);
}

typedef struct {
  idgen_wide_id_t id;
  idgen_go_failure failure;
} idgen_go_wide;

static inline idgen_go_number idgen_go_fill_wide_for(uintptr_t generator, const char *data, size_t size, int64_t number,
                                                     idgen_wide_id_t *ids, size_t n, int32_t *flag) {
  idgen_go_owner space;
  const idgen_owner_t owner = idgen_go_owner_of(data, size, number, &space);
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n, draw.wide_ids = ids, draw.owners = &owner, draw.owner_count = 1;
  return idgen_go_draw(generator, &draw, flag);
}

static inline idgen_go_wide idgen_go_next_wide_for(uintptr_t generator, const char *data, size_t size, int64_t number,
                                                   int32_t *flag) {
  idgen_go_wide result = {IDGEN_WIDE_ID_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fill_wide_for(generator, data, size, number, &result.id, 1, flag).failure;
  return result;
}

static inline idgen_go_number idgen_go_fill_wide_for_ints(uintptr_t generator, const int64_t *owners,
                                                          idgen_wide_id_t *ids, size_t n, int32_t *flag) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n, draw.wide_ids = ids, draw.int_owners = owners, draw.owner_count = n;
  return idgen_go_draw(generator, &draw, flag);
}

static inline idgen_go_number idgen_go_fill_wide_for_each(uintptr_t generator, const char *bytes, const size_t *ends,
                                                          idgen_wide_id_t *ids, size_t n, int32_t *flag) {
  idgen_owner_t owners[IDGEN_GO_OWNERS];
  idgen_go_unpack(bytes, ends, n, owners);
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = n, draw.wide_ids = ids, draw.owners = owners, draw.owner_count = n;
  return idgen_go_draw(generator, &draw, flag);
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

static inline idgen_go_failure idgen_go_config_load_environment(uintptr_t config, const char *name) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_config_load_environment((idgen_config_t *)config, name, &error), &error);
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

/* The first Unix ms. */
static inline idgen_go_number idgen_go_test_begin(uintptr_t config, int64_t start, int64_t sequence) {
  IDGEN_GO_ERROR(error);
  idgen_go_number result = {0, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_test_begin((idgen_config_t *)config, start, sequence, &result.value, &error), &error);
  return result;
}

static inline idgen_go_failure idgen_go_test_fail_next(uintptr_t generator, int64_t calls, int32_t status) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_test_fail_next((idgen_t *)generator, calls, status, 0, &error), &error);
}

static inline idgen_go_failure idgen_go_test_fail_after(uintptr_t generator, int64_t ids, int32_t status) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_test_fail_after((idgen_t *)generator, ids, status, 0, &error), &error);
}

static inline idgen_go_failure idgen_go_test_recover(uintptr_t generator) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_test_recover((idgen_t *)generator, &error), &error);
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

static inline idgen_go_parts idgen_go_decode_wide(uintptr_t generator, idgen_wide_id_t id) {
  IDGEN_GO_ERROR(error);
  idgen_go_parts result = {IDGEN_PARTS_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_decode_wide((const idgen_t *)generator, &id, &result.parts, &error), &error);
  return result;
}

static inline idgen_go_parts idgen_go_layout_decode_wide(uintptr_t layout, idgen_wide_id_t id) {
  IDGEN_GO_ERROR(error);
  idgen_go_parts result = {IDGEN_PARTS_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_layout_decode_wide((const idgen_layout_t *)layout, &id, &result.parts, &error), &error);
  return result;
}

static inline idgen_go_wide idgen_go_layout_encode_wide(uintptr_t layout, idgen_parts_t parts) {
  IDGEN_GO_ERROR(error);
  idgen_go_wide result = {IDGEN_WIDE_ID_INIT, {NULL, IDGEN_OK}};
  parts.struct_size = (uint32_t)sizeof parts;
  result.failure =
      idgen_go_fail(idgen_layout_encode_wide((const idgen_layout_t *)layout, &parts, &result.id, &error), &error);
  return result;
}

static inline idgen_go_number idgen_go_layout_gene(uintptr_t layout, int32_t rule, const char *data, size_t size,
                                                   int64_t number) {
  IDGEN_GO_ERROR(error);
  idgen_go_owner space;
  const idgen_owner_t owner = idgen_go_owner_of(data, size, number, &space);
  idgen_go_number result;
  result.value = 0;
  result.failure = idgen_go_fail(
      idgen_layout_gene((const idgen_layout_t *)layout, rule, owner.data, owner.size, &result.value, &error), &error);
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

/* The longest text form of an id of 16 bytes is 39 decimal digits. */
typedef struct {
  char text[40];
  idgen_go_failure failure;
} idgen_go_wide_text;

static inline idgen_go_wide_text idgen_go_format_wide(idgen_wide_id_t id, int32_t encoding) {
  IDGEN_GO_ERROR(error);
  idgen_go_wide_text result = {"", {NULL, IDGEN_OK}};
  size_t size = sizeof result.text;
  result.failure = idgen_go_fail(idgen_format_wide(&id, encoding, result.text, &size, &error), &error);
  return result;
}

static inline idgen_go_wide idgen_go_parse_wide(const char *text, size_t length, int32_t encoding) {
  IDGEN_GO_ERROR(error);
  idgen_go_wide result = {IDGEN_WIDE_ID_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_parse_wide(text, length, encoding, &result.id, &error), &error);
  return result;
}

/* --------------------------------------------------------------------------------------------------- patterns */

/* What idgen_pattern_format and idgen_next_text need at most, with the NUL. */
typedef struct {
  char text[193];
  size_t length; /* without the NUL */
  idgen_go_failure failure;
} idgen_go_pattern_text;

static inline idgen_go_handle idgen_go_pattern_create(const char *pattern) {
  IDGEN_GO_ERROR(error);
  idgen_pattern_t *created = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_pattern_create(pattern, NULL, NULL, &created, &error), &error);
  result.handle = (uintptr_t)created;
  return result;
}

static inline idgen_go_handle idgen_go_pattern_of(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  idgen_pattern_t *created = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_pattern_of((const idgen_config_t *)config, &created, &error), &error);
  result.handle = (uintptr_t)created;
  return result;
}

static inline void idgen_go_pattern_destroy(uintptr_t pattern) { idgen_pattern_destroy((idgen_pattern_t *)pattern); }

static inline idgen_go_pattern_text idgen_go_pattern_format_wide(uintptr_t pattern, idgen_wide_id_t id) {
  IDGEN_GO_ERROR(error);
  idgen_go_pattern_text result;
  size_t size = sizeof result.text;
  result.failure =
      idgen_go_fail(idgen_pattern_format((const idgen_pattern_t *)pattern, &id, result.text, &size, &error), &error);
  result.length = size - 1;
  return result;
}

static inline idgen_wide_id_t idgen_go_narrow_id(uint64_t id) {
  idgen_wide_id_t wide = IDGEN_WIDE_ID_INIT;
  wide.size = 8;
  for (int i = 7; i >= 0; --i, id >>= 8) wide.bytes[i] = (uint8_t)id;
  return wide;
}

static inline idgen_go_pattern_text idgen_go_pattern_format(uintptr_t pattern, uint64_t id) {
  return idgen_go_pattern_format_wide(pattern, idgen_go_narrow_id(id));
}

typedef struct {
  idgen_text_parts_t parts;
  idgen_go_failure failure;
} idgen_go_text_parts;

static inline idgen_go_text_parts idgen_go_pattern_parse(uintptr_t pattern, const char *text, size_t length) {
  IDGEN_GO_ERROR(error);
  idgen_go_text_parts result = {IDGEN_TEXT_PARTS_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_pattern_parse((const idgen_pattern_t *)pattern, text, length, &result.parts, &error), &error);
  return result;
}

/* Fills no error: what went wrong is for idgen_go_core_text to say. */
static inline idgen_go_pattern_text idgen_go_text_of(uintptr_t pattern, uint64_t id) {
  const idgen_wide_id_t wide = idgen_go_narrow_id(id);
  idgen_go_pattern_text result;
  size_t size = sizeof result.text;
  result.failure.error = NULL;
  result.failure.status = idgen_pattern_format((const idgen_pattern_t *)pattern, &wide, result.text, &size, NULL);
  result.length = size - 1;
  return result;
}

/* Does not wait. If the pattern has no room for the digits of an id, that id is lost, as in idgen_next_text. */
static inline idgen_go_pattern_text idgen_go_try_next_text(uintptr_t generator, uintptr_t pattern) {
  uint64_t id = 0;
  const idgen_status_t status = idgen_try_next((idgen_t *)generator, &id);
  if (__builtin_expect(status == IDGEN_OK, 1)) return idgen_go_text_of(pattern, id);
  idgen_go_pattern_text result;
  result.failure.error = NULL, result.failure.status = status, result.length = 0;
  return result;
}

/* Waits, whatever becomes of the context. */
__attribute__((noinline, unused)) static idgen_go_pattern_text idgen_go_core_text(uintptr_t generator) {
  IDGEN_GO_ERROR(error);
  idgen_go_pattern_text result;
  size_t size = sizeof result.text;
  result.failure = idgen_go_fail(idgen_next_text((idgen_t *)generator, result.text, &size, &error), &error);
  result.length = size - 1;
  return result;
}

/* ----------------------------------------------------------------------------------------------- standard ids */

/* An ObjectId is in the first 12. */
typedef struct {
  uint8_t bytes[16];
} idgen_go_standard_id;

typedef struct {
  idgen_go_standard_id id;
  int32_t standard;
  idgen_go_failure failure;
} idgen_go_standard;

static inline idgen_go_failure idgen_go_standard_fill(int32_t standard, uint8_t *ids, size_t n) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_standard_make(standard, ids, n, &error), &error);
}

/* Out of line for the same reason as idgen_go_next_slowly. */
__attribute__((noinline, unused)) static idgen_go_standard idgen_go_standard_make_slowly(int32_t standard) {
  idgen_go_standard result = {{{0}}, standard, {NULL, IDGEN_OK}};
  result.failure = idgen_go_standard_fill(standard, result.id.bytes, 1);
  return result;
}

static inline idgen_go_standard idgen_go_standard_make(int32_t standard) {
  idgen_go_standard result = {{{0}}, standard, {NULL, IDGEN_OK}};
  if (__builtin_expect(idgen_standard_make(standard, result.id.bytes, 1, NULL) == IDGEN_OK, 1)) return result;
  return idgen_go_standard_make_slowly(standard);
}

static inline idgen_go_wide_text idgen_go_standard_format(int32_t standard, idgen_go_standard_id id) {
  IDGEN_GO_ERROR(error);
  idgen_go_wide_text result = {"", {NULL, IDGEN_OK}};
  size_t size = sizeof result.text;
  result.failure = idgen_go_fail(idgen_standard_format(standard, id.bytes, result.text, &size, &error), &error);
  return result;
}

static inline idgen_go_standard idgen_go_standard_parse(const char *text, size_t length) {
  IDGEN_GO_ERROR(error);
  idgen_go_standard result = {{{0}}, 0, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_standard_parse(text, length, &result.standard, result.id.bytes, &error), &error);
  return result;
}

typedef struct {
  idgen_standard_parts_t parts;
  idgen_go_failure failure;
} idgen_go_standard_parts;

static inline idgen_go_standard_parts idgen_go_standard_decode(int32_t standard, idgen_go_standard_id id) {
  IDGEN_GO_ERROR(error);
  idgen_go_standard_parts result = {IDGEN_STANDARD_PARTS_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_standard_decode(standard, id.bytes, &result.parts, &error), &error);
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

static inline idgen_go_long_text idgen_go_summary(uintptr_t generator) {
  IDGEN_GO_LONG_TEXT(idgen_summary((const idgen_t *)generator, buffer, &size, &error));
}

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

static inline idgen_go_failure idgen_go_segment_create_above(uintptr_t config, uint64_t above) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_segment_create_above((const idgen_config_t *)config, above, &error), &error);
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

typedef struct {
  idgen_worker_info_t *rows; /* for free() */
  size_t count;
  idgen_go_failure failure;
} idgen_go_workers;

static inline void idgen_go_worker_add(void *ctx, const idgen_worker_info_t *info) {
  idgen_go_workers *all = (idgen_go_workers *)ctx;
  idgen_worker_info_t *rows = (idgen_worker_info_t *)realloc(all->rows, (all->count + 1) * sizeof *rows);
  if (!rows) {
    all->failure.status = IDGEN_E_NO_MEMORY;
    return;
  }
  all->rows = rows;
  rows[all->count++] = *info;
}

static inline idgen_go_workers idgen_go_workers_of(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  idgen_go_workers result = {NULL, 0, {NULL, IDGEN_OK}};
  const idgen_status_t status = idgen_worker_list((const idgen_config_t *)config, idgen_go_worker_add, &result, &error);
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

static inline idgen_go_segment idgen_go_segment_retire(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  idgen_go_segment result = {IDGEN_SEGMENT_INFO_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_segment_retire((const idgen_config_t *)config, &result.info, &error), &error);
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

/* ------------------------------------------------------------------------------------------------------ routes */

typedef struct {
  idgen_route_t route;
  idgen_go_failure failure;
} idgen_go_route;

typedef struct {
  idgen_route_table_info_t info;
  idgen_go_failure failure;
} idgen_go_route_info;

typedef struct {
  idgen_router_stats_t stats;
  idgen_go_failure failure;
} idgen_go_router_stats;

/* names: shard_count texts one after the other, each with its NUL. */
static inline idgen_go_handle idgen_go_route_table_create(uint64_t version, uint32_t bits, const char *names,
                                                          size_t shard_count, const uint32_t *range_upto,
                                                          const uint32_t *range_shard, size_t range_count,
                                                          const uint32_t *move_first, const uint32_t *move_last,
                                                          const uint32_t *move_to, const uint32_t *move_share,
                                                          size_t move_count) {
  IDGEN_GO_ERROR(error);
  idgen_go_handle result = {0, {NULL, IDGEN_E_NO_MEMORY}};
  const char **shards = (const char **)malloc((shard_count + 1) * sizeof *shards);
  if (!shards) return result;
  for (size_t i = 0; i < shard_count; ++i, names += strlen(names) + 1) shards[i] = names;
  idgen_route_data_t data = IDGEN_ROUTE_DATA_INIT;
  data.version = version, data.bits = bits;
  data.shards = shards, data.shard_count = shard_count;
  data.range_upto = range_upto, data.range_shard = range_shard, data.range_count = range_count;
  data.move_first = move_first, data.move_last = move_last, data.move_to = move_to, data.move_share = move_share;
  data.move_count = move_count;
  idgen_route_table_t *table = NULL;
  result.failure = idgen_go_fail(idgen_route_table_create(&data, &table, &error), &error);
  result.handle = (uintptr_t)table;
  free(shards);
  return result;
}

static inline idgen_go_handle idgen_go_route_table_read(const char *path) {
  IDGEN_GO_ERROR(error);
  idgen_route_table_t *table = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_route_table_read(path, &table, &error), &error);
  result.handle = (uintptr_t)table;
  return result;
}

static inline void idgen_go_route_table_destroy(uintptr_t table) {
  idgen_route_table_destroy((idgen_route_table_t *)table);
}

static inline idgen_go_route_info idgen_go_route_table_info(uintptr_t table) {
  IDGEN_GO_ERROR(error);
  idgen_go_route_info result = {IDGEN_ROUTE_TABLE_INFO_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_route_table_info((const idgen_route_table_t *)table, &result.info, &error), &error);
  return result;
}

static inline idgen_go_long_text idgen_go_route_table_text(uintptr_t table) {
  IDGEN_GO_LONG_TEXT(idgen_route_table_text((const idgen_route_table_t *)table, buffer, &size, &error));
}

/* A shard's name has at most 128 bytes. */
typedef struct {
  char name[129];
  idgen_go_failure failure;
} idgen_go_shard_name;

static inline idgen_go_shard_name idgen_go_route_table_shard_at(uintptr_t table, size_t index) {
  IDGEN_GO_ERROR(error);
  idgen_go_shard_name result;
  size_t size = sizeof result.name;
  result.name[0] = '\0';
  result.failure = idgen_go_fail(
      idgen_route_table_shard_at((const idgen_route_table_t *)table, index, result.name, &size, &error), &error);
  return result;
}

static inline idgen_go_shard_name idgen_go_router_shard_at(uintptr_t router, size_t index) {
  IDGEN_GO_ERROR(error);
  idgen_go_shard_name result;
  size_t size = sizeof result.name;
  result.name[0] = '\0';
  result.failure =
      idgen_go_fail(idgen_router_shard_at((const idgen_router_t *)router, index, result.name, &size, &error), &error);
  return result;
}

typedef struct {
  idgen_route_range_t range;
  idgen_go_failure failure;
} idgen_go_route_range;

static inline idgen_go_route_range idgen_go_route_table_range_at(uintptr_t table, size_t index) {
  IDGEN_GO_ERROR(error);
  idgen_go_route_range result = {IDGEN_ROUTE_RANGE_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(
      idgen_route_table_range_at((const idgen_route_table_t *)table, index, &result.range, &error), &error);
  return result;
}

typedef struct {
  idgen_route_move_t move;
  idgen_go_failure failure;
} idgen_go_route_move;

static inline idgen_go_route_move idgen_go_route_table_move_at(uintptr_t table, size_t index) {
  IDGEN_GO_ERROR(error);
  idgen_go_route_move result = {IDGEN_ROUTE_MOVE_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_route_table_move_at((const idgen_route_table_t *)table, index, &result.move, &error), &error);
  return result;
}

static inline idgen_go_handle idgen_go_router_create(uintptr_t table, uintptr_t layout, uintptr_t wide_layout,
                                                     int32_t gene_rule) {
  IDGEN_GO_ERROR(error);
  idgen_router_options_t options = IDGEN_ROUTER_OPTIONS_INIT;
  options.layout = (const idgen_layout_t *)layout;
  options.wide_layout = (const idgen_layout_t *)wide_layout;
  options.gene_rule = gene_rule;
  idgen_router_t *router = NULL;
  idgen_go_handle result;
  result.failure =
      idgen_go_fail(idgen_router_create((const idgen_route_table_t *)table, &options, &router, &error), &error);
  result.handle = (uintptr_t)router;
  return result;
}

static inline void idgen_go_router_destroy(uintptr_t router) { idgen_router_destroy((idgen_router_t *)router); }

static inline idgen_go_route idgen_go_router_route(uintptr_t router, uint64_t id) {
  IDGEN_GO_ERROR(error);
  idgen_go_route result = {IDGEN_ROUTE_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_router_route((const idgen_router_t *)router, id, &result.route, &error), &error);
  return result;
}

static inline idgen_go_route idgen_go_router_route_wide(uintptr_t router, const uint8_t *bytes, size_t size) {
  IDGEN_GO_ERROR(error);
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  id.size = (uint32_t)size;
  if (size <= sizeof id.bytes && size > 0) memcpy(id.bytes, bytes, size);
  idgen_go_route result = {IDGEN_ROUTE_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_router_route_wide((const idgen_router_t *)router, &id, &result.route, &error), &error);
  return result;
}

static inline idgen_go_route idgen_go_router_route_node(uintptr_t router, uint32_t node) {
  IDGEN_GO_ERROR(error);
  idgen_go_route result = {IDGEN_ROUTE_INIT, {NULL, IDGEN_OK}};
  result.failure =
      idgen_go_fail(idgen_router_route_node((const idgen_router_t *)router, node, &result.route, &error), &error);
  return result;
}

static inline idgen_go_route idgen_go_router_route_owner(uintptr_t router, const void *owner, size_t size) {
  IDGEN_GO_ERROR(error);
  idgen_go_route result = {IDGEN_ROUTE_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(
      idgen_router_route_owner((const idgen_router_t *)router, size ? owner : "", size, &result.route, &error), &error);
  return result;
}

static inline idgen_go_failure idgen_go_router_route_batch(uintptr_t router, const uint64_t *ids, size_t count,
                                                           uint32_t *shards, uint32_t *seconds) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_router_route_batch((const idgen_router_t *)router, ids, count, shards, seconds, &error),
                       &error);
}

static inline idgen_go_failure idgen_go_router_route_node_batch(uintptr_t router, const uint32_t *nodes, size_t count,
                                                                uint32_t *shards, uint32_t *seconds) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(
      idgen_router_route_node_batch((const idgen_router_t *)router, nodes, count, shards, seconds, &error), &error);
}

static inline idgen_go_router_stats idgen_go_router_stats_of(uintptr_t router) {
  IDGEN_GO_ERROR(error);
  idgen_go_router_stats result = {IDGEN_ROUTER_STATS_INIT, {NULL, IDGEN_OK}};
  result.failure = idgen_go_fail(idgen_router_stats((const idgen_router_t *)router, &result.stats, &error), &error);
  return result;
}

static inline idgen_go_handle idgen_go_router_table(uintptr_t router) {
  IDGEN_GO_ERROR(error);
  idgen_route_table_t *table = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_router_table((const idgen_router_t *)router, &table, &error), &error);
  result.handle = (uintptr_t)table;
  return result;
}

static inline idgen_go_failure idgen_go_router_swap(uintptr_t router, uintptr_t table, uint64_t expected) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(
      idgen_router_swap((idgen_router_t *)router, (const idgen_route_table_t *)table, expected, &error), &error);
}

/* ------------------------------------------------------------------------------------------------- hidden ids */

static inline idgen_go_handle idgen_go_cipher_create(uintptr_t config) {
  IDGEN_GO_ERROR(error);
  idgen_cipher_t *cipher = NULL;
  idgen_go_handle result;
  result.failure = idgen_go_fail(idgen_cipher_create((const idgen_config_t *)config, &cipher, &error), &error);
  result.handle = (uintptr_t)cipher;
  return result;
}

static inline void idgen_go_cipher_destroy(uintptr_t cipher) { idgen_cipher_destroy((idgen_cipher_t *)cipher); }

static inline idgen_go_number idgen_go_cipher_one(uintptr_t cipher, uint64_t id, int reveals) {
  IDGEN_GO_ERROR(error);
  const idgen_cipher_t *found = (const idgen_cipher_t *)cipher;
  idgen_go_number result;
  result.value = 0;
  result.failure = idgen_go_fail(reveals ? idgen_cipher_reveal(found, id, &result.value, &error)
                                         : idgen_cipher_hide(found, id, &result.value, &error),
                                 &error);
  return result;
}

/* In place: ids as uint64_t, or as idgen_wide_id_t if `wide`. */
static inline idgen_go_failure idgen_go_cipher_apply(uintptr_t cipher, void *ids, size_t n, int reveals, int wide) {
  IDGEN_GO_ERROR(error);
  const idgen_cipher_t *found = (const idgen_cipher_t *)cipher;
  uint64_t *narrow = (uint64_t *)ids;
  idgen_wide_id_t *either = (idgen_wide_id_t *)ids;
  idgen_status_t status;
  if (wide) {
    status = reveals ? idgen_cipher_reveal_wide_ids(found, either, either, n, &error)
                     : idgen_cipher_hide_wide_ids(found, either, either, n, &error);
  } else {
    status = reveals ? idgen_cipher_reveal_batch(found, narrow, narrow, n, &error)
                     : idgen_cipher_hide_batch(found, narrow, narrow, n, &error);
  }
  return idgen_go_fail(status, &error);
}

static inline idgen_go_failure idgen_go_cipher_reload(uintptr_t cipher) {
  IDGEN_GO_ERROR(error);
  return idgen_go_fail(idgen_cipher_reload((idgen_cipher_t *)cipher, &error), &error);
}

static inline idgen_go_long_text idgen_go_cipher_describe(uintptr_t cipher) {
  IDGEN_GO_LONG_TEXT(idgen_cipher_describe((const idgen_cipher_t *)cipher, buffer, &size, &error));
}

static inline idgen_go_long_text idgen_go_cipher_check(uintptr_t config) {
  IDGEN_GO_LONG_TEXT(idgen_cipher_check((const idgen_config_t *)config, buffer, &size, &error));
}

#endif
