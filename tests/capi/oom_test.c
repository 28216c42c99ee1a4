/* Memory that runs out, at every point of every call: a status, nothing leaked, and handles that still work.
 * This program brings its own malloc, which counts and, when told, fails.
 *
 * Not covered, because they do not guarantee it: idgen_config_load, idgen_config_names and idgen_open. They parse TOML
 * with toml++, whose functions are noexcept and end the process when there is no memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <idgen/admin.h>
#include <idgen/host.h>
#include <idgen/idgen.h>
#include <idgen/standard.h>
#include <idgen/view.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../draws.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_long live, failures;
static atomic_long countdown = -1; /* the allocation that fails; below 0: none */
static atomic_int all_after;       /* and every one after it */
static atomic_int any_thread;      /* else only those of the thread that calls */
static __thread int calling;

static int must_fail(void) {
  if (atomic_load(&countdown) < 0 || (!calling && !atomic_load(&any_thread))) return 0;
  const long left = atomic_fetch_sub(&countdown, 1);
  if (left > 0) return 0;
  if (atomic_load(&all_after)) atomic_store(&countdown, 0);
  atomic_fetch_add(&failures, 1);
  errno = ENOMEM;
  return 1;
}
/* For libidgen.so, libstdc++ and SQLite to find these before the C library's. */
#define EXPORTED __attribute__((visibility("default")))
static void *counted(void *memory) {
  if (memory) atomic_fetch_add(&live, 1);
  return memory;
}
EXPORTED void *malloc(size_t size) { return must_fail() ? NULL : counted(__libc_malloc(size)); }
EXPORTED void *calloc(size_t n, size_t size) { return must_fail() ? NULL : counted(__libc_calloc(n, size)); }
EXPORTED void *memalign(size_t align, size_t size) {
  return must_fail() ? NULL : counted(__libc_memalign(align, size));
}
EXPORTED void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
EXPORTED int posix_memalign(void **out, size_t align, size_t size) {
  void *memory = memalign(align, size);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
EXPORTED void *realloc(void *old, size_t size) {
  if (size && must_fail()) return NULL;
  void *memory = __libc_realloc(old, size);
  if (!old && memory) atomic_fetch_add(&live, 1);
  if (old && !size) atomic_fetch_sub(&live, 1);
  return memory;
}
EXPORTED void free(void *memory) {
  if (memory) atomic_fetch_sub(&live, 1);
  __libc_free(memory);
}

static long passed, failed;
static const char *doing = "";
static long point, all_points;
#define CHECK(condition)                                                                                         \
  do {                                                                                                           \
    if (condition) {                                                                                             \
      ++passed;                                                                                                  \
    } else {                                                                                                     \
      ++failed;                                                                                                  \
      fprintf(stderr, "%s:%d: FAILED: %s (%s, allocation %ld)\n", __FILE__, __LINE__, #condition, doing, point); \
    }                                                                                                            \
  } while (0)

/* An id above all before it. */
#define CHECK_RISES(last, id)                               \
  do {                                                      \
    CHECK((id) > (last) || !"DUPLICATE or a broken order"); \
    (last) = (id);                                          \
  } while (0)

/* What every call works on. */
static idgen_config_t *config, *full;
static idgen_t *segment, *snowflake;
static idgen_layout_t *layout;
static uint64_t last_segment, last_snowflake;
static int clock_owned, log_owned, store_owned;

static int64_t now_ns(void *ctx) {
  (void)ctx;
  return INT64_C(1800000000000000000);
}
static void release(void *ctx) { --*(int *)ctx; }
static void no_log(void *ctx, int32_t level, const char *message) { (void)ctx, (void)level, (void)message; }
static idgen_status_t take(void *ctx, const idgen_segment_request_t *request, idgen_segment_t *segment,
                           idgen_error_t *err) {
  (void)ctx, (void)request, (void)err;
  segment->first = 1;
  return IDGEN_OK;
}

static idgen_config_t *configure(const char *const *pairs) {
  idgen_config_t *made = NULL;
  if (idgen_config_create(&made, NULL)) abort();
  for (; *pairs; pairs += 2) {
    if (idgen_config_set(made, pairs[0], pairs[1], NULL)) abort();
  }
  return made;
}
static const char *const kSegment[] = {"kind",           "segment", "store", "sqlite:oom.db", "store_create",
                                       "true",           "tag",     "t",     "segment.step",  "50",
                                       "segment.runway", "0",       NULL};
static const char *const kSnowflake[] = {"store", "sqlite:oom.db", "store_create", "true", "worker", "1", NULL};
/* A close that fails leaves its window ahead of the clock: the starts after it need not wait for that. */
static const char *const kSpare[] = {"store", "sqlite:oom.db", "store_create", "true", "worker",
                                     "2",     "max_ahead",     "1d",           NULL};

/* The calls. Each leaves everything as it was, whether or not it succeeds. */
static idgen_status_t call_config_create(idgen_error_t *err) {
  idgen_config_t *made = NULL;
  const idgen_status_t status = idgen_config_create(&made, err);
  CHECK((status == IDGEN_OK) == (made != NULL));
  idgen_config_destroy(made);
  return status;
}
static idgen_status_t call_config_set(idgen_error_t *err) {
  const idgen_status_t status =
      idgen_config_set(config, "namespace", "a name that is too long for the small string optimisation", err);
  char value[200];
  size_t size = sizeof value;
  calling = 0;
  CHECK(idgen_config_get(config, "namespace", value, &size, NULL) == IDGEN_OK);
  CHECK((status == IDGEN_OK) == (value[0] == 'a')); /* a failed set changes nothing */
  CHECK(idgen_config_set(config, "namespace", "default", NULL) == IDGEN_OK);
  return status;
}
static idgen_status_t call_config_set_unknown(idgen_error_t *err) {
  const idgen_status_t status = idgen_config_set(config, "a key that is nothing like any of the known ones", "1", err);
  return status == IDGEN_E_UNKNOWN_KEY ? IDGEN_OK : status;
}
static idgen_status_t call_config_get(idgen_error_t *err) {
  char value[200];
  size_t size = sizeof value;
  return idgen_config_get(config, "store", value, &size, err);
}
static idgen_status_t call_property_at(idgen_error_t *err) {
  idgen_property_t property = IDGEN_PROPERTY_INIT;
  return idgen_property_at(3, &property, err);
}
static idgen_status_t create_from(const idgen_config_t *from, idgen_error_t *err) {
  idgen_t *made = NULL;
  const idgen_status_t status = idgen_create(from, &made, err);
  calling = 0;
  CHECK((status == IDGEN_OK) == (made != NULL));
  idgen_destroy(made);
  return status;
}
static idgen_status_t call_create_segment(idgen_error_t *err) { return create_from(config, err); }
static idgen_status_t call_create_snowflake(idgen_error_t *err) { return create_from(full, err); }
/* Made while there is memory. */
static idgen_t *spare(void) {
  const int was = calling;
  calling = 0;
  idgen_t *made = NULL;
  idgen_error_t why = IDGEN_ERROR_INIT;
  CHECK(idgen_create(full, &made, &why) == IDGEN_OK);
  if (!made) fprintf(stderr, "%s\n", why.message);
  calling = was;
  return made;
}
static idgen_status_t call_close(idgen_error_t *err) {
  idgen_t *made = spare();
  const idgen_status_t status = idgen_close(made, err);
  uint64_t id;
  CHECK(idgen_try_next(made, &id) == IDGEN_E_CLOSED);
  calling = 0;
  idgen_destroy(made);
  return status;
}
static idgen_status_t call_destroy(idgen_error_t *err) {
  (void)err;
  idgen_destroy(spare());
  calling = 0;
  return IDGEN_OK;
}
static idgen_status_t call_next(idgen_error_t *err) { /* across segments: the slow path too */
  for (int i = 0; i < 60; ++i) {
    uint64_t id;
    const idgen_status_t status = idgen_next(segment, &id, err);
    if (status) return status;
    CHECK_RISES(last_segment, id);
  }
  return IDGEN_OK;
}
static idgen_status_t call_next_snowflake(idgen_error_t *err) {
  for (int i = 0; i < 5000; ++i) {
    uint64_t id;
    const idgen_status_t status = idgen_next(snowflake, &id, err);
    if (status) return status;
    CHECK_RISES(last_snowflake, id);
  }
  return IDGEN_OK;
}
static idgen_status_t call_try_next(idgen_error_t *err) {
  uint64_t id;
  (void)err;
  for (int i = 0; i < 60; ++i) {
    const idgen_status_t status = idgen_try_next(segment, &id);
    if (status == IDGEN_E_WOULD_BLOCK) return IDGEN_OK;
    CHECK(status == IDGEN_OK);
    CHECK_RISES(last_segment, id);
  }
  return IDGEN_OK;
}
static void note_ids(const uint64_t *ids, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    CHECK_RISES(last_segment, ids[i]);
  }
}
static void note_block(const idgen_draw_t *block) {
  CHECK_RISES(last_segment, block->first);
  last_segment = block->first + block->written - 1;
}
static idgen_status_t call_try_next_batch(idgen_error_t *err) {
  uint64_t ids[60];
  size_t written = 0;
  (void)err;
  const idgen_status_t status = try_batch(segment, ids, 60, &written);
  CHECK(status == (written == 60 ? IDGEN_OK : IDGEN_E_WOULD_BLOCK));
  note_ids(ids, written);
  return IDGEN_OK;
}
static idgen_status_t call_try_next_block(idgen_error_t *err) {
  idgen_draw_t block = IDGEN_DRAW_INIT;
  (void)err;
  const idgen_status_t status = try_block(segment, 60, &block);
  if (status == IDGEN_E_WOULD_BLOCK) return IDGEN_OK;
  CHECK(status == IDGEN_OK);
  note_block(&block);
  return IDGEN_OK;
}
static idgen_status_t call_wait_for_room(idgen_error_t *err) {
  return idgen_wait_for_room(segment, 0, NULL, NULL, err);
}
static int never(void *ctx) {
  (void)ctx;
  return 0;
}
static idgen_status_t call_next_wait(idgen_error_t *err) {
  uint64_t ids[120];
  size_t written = 0;
  const idgen_status_t status = draw_batch(segment, ids, 120, &written, never, NULL, err);
  CHECK(written <= 120 && (status == IDGEN_OK) == (written == 120));
  note_ids(ids, written);
  return status;
}
static idgen_status_t call_next_waited(idgen_error_t *err) {
  for (int i = 0; i < 120; ++i) {
    uint64_t id = 0;
    const idgen_status_t status = draw_waited(segment, 1000, &id, never, NULL, err);
    if (status) return status;
    CHECK_RISES(last_segment, id);
  }
  return IDGEN_OK;
}
static idgen_status_t call_draw(idgen_error_t *err) {
  idgen_view_t view = IDGEN_VIEW_INIT;
  const idgen_status_t none = idgen_view(segment, &view, err);
  for (int i = 0; i < 120 && !none; ++i) {
    uint64_t id = 0;
    const idgen_status_t status = idgen_view_next(segment, &view, &id, err);
    if (status) return status;
    CHECK_RISES(last_segment, id);
  }
  return none;
}
static idgen_status_t call_next_block(idgen_error_t *err) {
  for (int i = 0; i < 3; ++i) {
    idgen_draw_t block = IDGEN_DRAW_INIT;
    const idgen_status_t status = draw_block(segment, 50, &block, err);
    if (status) return status;
    note_block(&block);
  }
  return IDGEN_OK;
}
static idgen_status_t call_decode(idgen_error_t *err) {
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  return idgen_decode(snowflake, last_snowflake, &parts, err);
}
static idgen_status_t call_layout_create(idgen_error_t *err) {
  idgen_layout_t *made = NULL;
  const idgen_status_t status =
      idgen_layout_create("time:41ms worker:10 sequence:12", "2025-01-01T00:00:00Z", &made, err);
  idgen_layout_destroy(made);
  return status;
}
static idgen_status_t call_layout_create_wrong(idgen_error_t *err) {
  idgen_layout_t *made = NULL;
  const idgen_status_t status = idgen_layout_create("time:41ms wroker:10 sequence:12", NULL, &made, err);
  return status == IDGEN_E_LAYOUT ? IDGEN_OK : status;
}
static idgen_status_t call_layout_of(idgen_error_t *err) {
  idgen_layout_t *made = NULL;
  const idgen_status_t status = idgen_layout_of(snowflake, &made, err);
  idgen_layout_destroy(made);
  return status;
}
static idgen_status_t call_layout_info(idgen_error_t *err) {
  idgen_layout_info_t info = {.struct_size = sizeof info};
  return idgen_layout_info(layout, INT64_MIN, &info, err);
}
static idgen_status_t call_layout_encode(idgen_error_t *err) {
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  uint64_t id;
  const idgen_status_t status = idgen_layout_decode(layout, 1234567, &parts, err);
  return status ? status : idgen_layout_encode(layout, &parts, &id, err);
}
static idgen_status_t call_layout_field_at(idgen_error_t *err) {
  idgen_field_t field = IDGEN_FIELD_INIT;
  return idgen_layout_field_at(layout, 0, &field, err);
}
static idgen_status_t call_format(idgen_error_t *err) {
  char text[64];
  size_t size = sizeof text;
  uint64_t id;
  const idgen_status_t status = idgen_format(123, IDGEN_TEXT_HEX, text, &size, err);
  return status ? status : idgen_parse(text, SIZE_MAX, IDGEN_TEXT_HEX, &id, err);
}
static idgen_status_t call_pattern(idgen_error_t *err) {
  idgen_pattern_t *pattern = NULL;
  idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
  char text[64];
  size_t size = sizeof text;
  idgen_status_t status = idgen_pattern_create("A-{base62:11}-{check}", "+01:00", NULL, &pattern, err);
  if (status) return status;
  status = idgen_pattern_parse(pattern, "A-00000000001-y", SIZE_MAX, &parts, err);
  if (!status) status = idgen_pattern_format(pattern, &parts.id, text, &size, err);
  idgen_pattern_destroy(pattern);
  return status;
}

static idgen_status_t call_standard(idgen_error_t *err) {
  uint8_t id[16];
  char text[64];
  size_t size = sizeof text;
  int32_t standard;
  idgen_status_t status = idgen_standard_make(IDGEN_STANDARD_UUID7, id, 1, err);
  if (!status) status = idgen_standard_format(IDGEN_STANDARD_UUID7, id, text, &size, err);
  return status ? status : idgen_standard_parse(text, SIZE_MAX, &standard, id, err);
}
static idgen_status_t call_stats(idgen_error_t *err) {
  idgen_stats_t stats = IDGEN_STATS_INIT;
  return idgen_stats(snowflake, &stats, err);
}
static idgen_status_t call_describe(idgen_error_t *err) {
  char text[8192];
  size_t size = sizeof text;
  const idgen_status_t status = idgen_describe(snowflake, text, &size, err);
  if (status) return status;
  size = sizeof text;
  return idgen_describe(segment, text, &size, err);
}
static idgen_status_t call_metrics(idgen_error_t *err) {
  char text[16384];
  size_t size = sizeof text;
  const idgen_t *generators[] = {snowflake, segment};
  return idgen_metrics(generators, 2, text, &size, err);
}
static idgen_status_t call_segment_show(idgen_error_t *err) {
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  const idgen_status_t status = idgen_segment_show(config, &info, err);
  return status ? status : idgen_segment_advance(config, 0, &info, err);
}
static idgen_status_t call_segment_create(idgen_error_t *err) {
  const idgen_status_t status = idgen_segment_create(config, err);
  return status == IDGEN_E_TAG_EXISTS ? IDGEN_OK : status;
}
static idgen_status_t hand_over(int kind, int *owned, idgen_error_t *err) {
  const idgen_clock_t clock = {.struct_size = sizeof clock, .now_ns = now_ns, .release = release};
  const idgen_store_t store = {.struct_size = sizeof store, .segment_take = take, .release = release};
  const idgen_log_t log = {.struct_size = sizeof log, .write = no_log, .release = release};
  idgen_config_t *made = NULL;
  const int was = calling;
  calling = 0;
  if (idgen_config_create(&made, NULL)) abort();
  calling = was;
  *owned = 1;
  const idgen_status_t status = kind == 0   ? idgen_config_set_clock(made, &clock, owned, err)
                                : kind == 1 ? idgen_config_set_store(made, &store, owned, err)
                                            : idgen_config_set_log(made, &log, owned, err);
  calling = 0;
  CHECK(*owned == 1); /* not released yet; on failure it stays the caller's */
  idgen_config_destroy(made);
  CHECK(*owned == (status == IDGEN_OK ? 0 : 1));
  return status;
}
static idgen_status_t call_set_clock(idgen_error_t *err) { return hand_over(0, &clock_owned, err); }
static idgen_status_t call_set_store(idgen_error_t *err) { return hand_over(1, &store_owned, err); }
static idgen_status_t call_set_log(idgen_error_t *err) { return hand_over(2, &log_owned, err); }

/* Until the background has nothing to do: what it holds is not a leak. */
static void settle(void) {
  idgen_stats_t stats = IDGEN_STATS_INIT;
  uint64_t before;
  int quiet = 0;
  do {
    before = stats.refills + stats.refill_failures;
    usleep(1500);
    if (idgen_stats(segment, &stats, NULL)) abort();
    quiet = stats.refills + stats.refill_failures == before ? quiet + 1 : 0;
  } while (quiet < 3);
}

/* Until the background threads have ended, being idle: what they free then is nothing that a call has leaked. */
static void be_alone(void) {
  struct stat threads;
  while (stat("/proc/self/task", &threads) == 0 && threads.st_nlink > 3) usleep(1500);
}

/* The handle does; the next attempt may be some ms away. */
static void works_on(void) {
  uint64_t id = 0;
  idgen_status_t again;
  while ((again = idgen_next(segment, &id, NULL)) == IDGEN_E_NO_MEMORY) usleep(5000); /* or until the alarm */
  CHECK(again == IDGEN_OK);
  CHECK_RISES(last_segment, id);
}

static void exhaust(const char *name, idgen_status_t (*call)(idgen_error_t *err), int refills) {
  long points = 0;
  doing = name;
  if (!refills) be_alone();
  for (int mode = 0; mode < 2; ++mode) { /* one allocation fails; that and all that follow */
    for (int i = 0; i < 3; ++i) {        /* what is made once and kept is made now */
      if (call(NULL) != IDGEN_OK && !refills) CHECK(!"the call works when there is memory");
      if (refills) settle();
    }
    for (point = 0;; ++point) {
      idgen_error_t err = IDGEN_ERROR_INIT;
      if (refills) settle();
      const long before = atomic_load(&live), failures_before = atomic_load(&failures);
      atomic_store(&all_after, mode);
      calling = 1;
      atomic_store(&countdown, point);
      const idgen_status_t status = call(&err);
      atomic_store(&countdown, -1);
      calling = 0;
      const int hit = atomic_load(&failures) != failures_before;
      if (refills) settle();
      /* SQLite or TOML may handle a failure inside by themselves: then the call succeeds. */
      const int expected = status == IDGEN_OK || (status == IDGEN_E_NO_MEMORY && (hit || refills));
      if (!expected) fprintf(stderr, "%s: %s\n", idgen_status_name(status), err.message);
      CHECK(expected);
      if (status == IDGEN_E_NO_MEMORY && err.status) CHECK(err.status == IDGEN_E_NO_MEMORY && *err.message);
      if (!refills) CHECK(atomic_load(&live) == before);
      if (!hit) break;
      if (refills) works_on();
    }
    points += point;
  }
  all_points += points;
  printf("%-26s %4ld points of failure\n", name, points);
}
#define EXHAUST(call) exhaust(#call, call, 0)
#define EXHAUST_REFILLS(call) exhaust(#call, call, 1)

/* The same for the background thread: a refill without memory is an error for callers, and never ends the process. */
static void background_runs_out(void) {
  doing = "background";
  long hits = 0;
  for (point = 0; point < 60; ++point) {
    settle();
    const long failures_before = atomic_load(&failures);
    atomic_store(&all_after, 0);
    atomic_store(&any_thread, 1);
    atomic_store(&countdown, point);
    for (int i = 0; i < 60; ++i) {
      uint64_t id;
      const idgen_status_t status = idgen_next(segment, &id, NULL);
      CHECK(status == IDGEN_OK || status == IDGEN_E_NO_MEMORY);
      if (status == IDGEN_OK) {
        CHECK_RISES(last_segment, id);
      }
    }
    settle();
    atomic_store(&countdown, -1);
    atomic_store(&any_thread, 0);
    hits += atomic_load(&failures) != failures_before;
    works_on();
  }
  CHECK(hits > 20); /* the failures did happen */
  printf("%-26s %4ld points of failure\n", "background refills", hits);
}

/* Several at a time: a call that a busy machine stalls has one lock file more open, and what that needs is kept. */
static void *look(void *unused) {
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  for (int i = 0; i < 100; ++i) {
    if (idgen_segment_show(config, &info, NULL)) abort();
  }
  return unused;
}

int main(void) {
  const char *const top = getenv("TMPDIR");
  char folder[4096];
  snprintf(folder, sizeof folder, "%s/idgen-oom-XXXXXX", top ? top : "/tmp");
  alarm(240);
  if (!mkdtemp(folder) || chdir(folder)) abort();

  config = configure(kSegment);
  full = configure(kSpare);
  idgen_config_t *fixed = configure(kSnowflake);
  if (idgen_create(config, &segment, NULL) || idgen_create(fixed, &snowflake, NULL)) abort();
  if (idgen_layout_create("default", NULL, &layout, NULL)) abort();
  idgen_config_destroy(fixed);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    if (pthread_create(&threads[i], NULL, look, NULL)) abort();
  }
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);

  EXHAUST(call_config_create);
  EXHAUST(call_config_set);
  EXHAUST(call_config_set_unknown);
  EXHAUST(call_config_get);
  EXHAUST(call_property_at);
  EXHAUST(call_layout_create);
  EXHAUST(call_layout_create_wrong);
  EXHAUST(call_layout_of);
  EXHAUST(call_layout_info);
  EXHAUST(call_layout_encode);
  EXHAUST(call_layout_field_at);
  EXHAUST(call_format);
  EXHAUST(call_standard);
  EXHAUST(call_pattern);
  EXHAUST(call_stats);
  EXHAUST(call_set_clock);
  EXHAUST(call_set_store);
  EXHAUST(call_set_log);
  EXHAUST(call_segment_create);
  EXHAUST(call_segment_show);
  EXHAUST(call_create_segment);
  EXHAUST(call_create_snowflake);
  EXHAUST(call_close);
  EXHAUST(call_destroy);
  EXHAUST_REFILLS(call_next_snowflake);
  EXHAUST(call_decode);
  EXHAUST(call_describe);
  EXHAUST(call_metrics);
  EXHAUST_REFILLS(call_next);
  EXHAUST_REFILLS(call_try_next);
  EXHAUST_REFILLS(call_try_next_batch);
  EXHAUST_REFILLS(call_try_next_block);
  EXHAUST_REFILLS(call_next_wait);
  EXHAUST_REFILLS(call_next_waited);
  EXHAUST_REFILLS(call_wait_for_room);
  EXHAUST_REFILLS(call_draw);
  EXHAUST_REFILLS(call_next_block);
  background_runs_out();
  doing = "all";
  CHECK(all_points > 500); /* this malloc was in use */

  idgen_destroy(segment);
  idgen_destroy(snowflake);
  idgen_layout_destroy(layout);
  idgen_config_destroy(config);
  idgen_config_destroy(full);
  unlink("oom.db");
  unlink("oom.db-lock");
  if (chdir("/") || rmdir(folder)) ++failed;
  printf("%ld passed, %ld failed\n", passed, failed);
  return failed ? 1 : 0;
}
