/* Drawing without a call: what <idgen/view.h> does is what idgen_next does, with the same words at the same time. */
#define _GNU_SOURCE
#include <idgen/admin.h>
#include <idgen/host.h>
#include <idgen/idgen.h>
#include <idgen/view.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../draws.h"
#include "check.h"

static idgen_t *segment(const char *tag, const char *step) {
  return GENERATOR(config_with("kind", "segment", "store", "sqlite:views.db", "store_create", "true", "tag", tag,
                               "segment.step", step, "segment.runway", "0", NULL));
}

static idgen_t *snowflake(const char *name_space) {
  return GENERATOR(
      config_with("store", "sqlite:views.db", "store_create", "true", "namespace", name_space, "worker", "7", NULL));
}

static void a_view_and_calls_count_as_one(void) {
  idgen_t *generator = segment("one", "10");
  idgen_view_t view = IDGEN_VIEW_INIT;
  CHECK_ERR(IDGEN_OK, idgen_view(generator, &view, &err));
  CHECK(view.protocol == IDGEN_VIEW_COUNTER && view.words != NULL && view.tick_ms == 0);
  int in_turn = 1;
  for (uint64_t want = 1; want <= 1000; ++want) {
    uint64_t id = 0;
    const idgen_status_t status = want % 3 == 0   ? idgen_next(generator, &id, &err)
                                  : want % 3 == 1 ? idgen_view_next(generator, &view, &id, &err)
                                                  : idgen_try_next(generator, &id);
    if (status == IDGEN_E_WOULD_BLOCK) { /* of idgen_try_next: the refill is on its way */
      --want;
      continue;
    }
    in_turn = in_turn && status == IDGEN_OK && id == want;
  }
  CHECK(in_turn);
  idgen_destroy(generator);
}

/* A number drawn beyond the range is the id all the same, whichever call goes on with it. */
static void what_was_drawn_beyond_the_range_is_not_lost(void) {
  idgen_t *generator = segment("beyond", "10");
  idgen_view_t view = IDGEN_VIEW_INIT;
  CHECK_ERR(IDGEN_OK, idgen_view(generator, &view, &err));
  uint64_t expected = 1, id = 0, drawn = 0;
  int beyond = 0;
  while (expected <= 500) {
    if (idgen_view_counter(&view, &drawn)) {
      id = drawn;
    } else if (++beyond % 2) {
      CHECK_ERR(IDGEN_OK, draw_drawn(generator, 0, drawn, &id, &err));
    } else {
      const idgen_status_t status = draw_drawn(generator, IDGEN_DRAW_TRY, drawn, &id, NULL);
      if (status == IDGEN_E_WOULD_BLOCK) continue;
      CHECK_CALL(IDGEN_OK, status);
    }
    if (!CHECK(id == expected)) break;
    ++expected;
  }
  CHECK(beyond >= 50);
  idgen_destroy(generator);
}

static void what_nobody_drew_is_not_used(void) {
  idgen_t *counter = segment("undrawn", "1000"), *clock = snowflake("undrawn");
  uint64_t id = 0;
  CHECK_ERR(IDGEN_OK, idgen_next(counter, &id, &err));
  CHECK_ERR(IDGEN_OK, draw_drawn(counter, 0, 100, &id, &err));
  CHECK(id == 2);
  CHECK_CALL(IDGEN_OK, draw_drawn(counter, IDGEN_DRAW_TRY, 3, &id, NULL));
  CHECK(id == 3); /* as the next one, not as the one that was named */
  CHECK_ERR(IDGEN_OK, idgen_next(counter, &id, &err));
  CHECK(id == 4);
  CHECK_ERR(IDGEN_E_ARGUMENT, draw_drawn(clock, 0, 1, &id, &err));
  CHECK_CALL(IDGEN_E_ARGUMENT, draw_drawn(clock, IDGEN_DRAW_TRY, 1, &id, NULL));
  CHECK_ERR(IDGEN_E_ARGUMENT, draw_drawn(counter, 0, id, NULL, &err));
  CHECK_CALL(IDGEN_E_ARGUMENT, draw_drawn(counter, IDGEN_DRAW_TRY, id, NULL, NULL));
  CHECK_ERR(IDGEN_E_HANDLE, draw_drawn(NULL, 0, id, &id, &err));
  CHECK_CALL(IDGEN_E_HANDLE, draw_drawn(NULL, IDGEN_DRAW_TRY, id, &id, NULL));
  idgen_destroy(counter);
  idgen_destroy(clock);
}

/* Only numbers that age can be taken back from the words that they are drawn from. */
static void a_view_says_whether_its_ranges_can_be_remembered(void) {
  idgen_t *lasting = segment("lasting", "10"), *clock = snowflake("lasting"),
          *ageing = GENERATOR(config_with("kind", "segment", "store", "sqlite:views.db", "store_create", "true", "tag",
                                          "ageing", "segment.max_age", "1h", NULL));
  idgen_view_t view = IDGEN_VIEW_INIT;
  CHECK_ERR(IDGEN_OK, idgen_view(lasting, &view, &err));
  CHECK(view.flags == IDGEN_VIEW_LASTING);
  CHECK_ERR(IDGEN_OK, idgen_view(clock, &view, &err));
  CHECK(view.flags == IDGEN_VIEW_LASTING);
  CHECK_ERR(IDGEN_OK, idgen_view(ageing, &view, &err));
  CHECK(view.flags == 0);
  idgen_destroy(lasting);
  idgen_destroy(clock);
  idgen_destroy(ageing);
}

/* A number of an earlier page, which the generator has left, is another one's on a later page. */
static void a_number_from_before_two_resets_is_not_used_twice(void) {
  idgen_t *generator = segment("reset", "10");
  idgen_view_t view = IDGEN_VIEW_INIT;
  uint64_t drawn = 0, id = 0;
  CHECK_ERR(IDGEN_OK, idgen_view(generator, &view, &err));
  while (id < 10) CHECK(!idgen_next(generator, &id, &err));
  for (int i = 0; i < 4; ++i) CHECK(!idgen_view_counter(&view, &drawn)); /* beyond the range */
  CHECK(drawn == 14);
  for (int round = 0; round < 2; ++round) { /* the next page goes on with 11 */
    CHECK_ERR(IDGEN_OK, idgen_quiesce(&err));
    CHECK_ERR(IDGEN_OK, idgen_reset(&err));
    CHECK_ERR(IDGEN_OK, idgen_next(generator, &id, &err));
    CHECK(id == 11 + (uint64_t)round);
  }
  while (id < 16) CHECK(!idgen_next(generator, &id, &err));
  CHECK_ERR(IDGEN_OK, draw_drawn(generator, 0, drawn, &id, &err));
  CHECK(id == 17);
  idgen_destroy(generator);
}

struct moved {
  idgen_t *generator;
  idgen_words_t *words; /* of the page that the parent's handle draws from */
};

static idgen_status_t draw_from_both(void *argument, idgen_error_t *err) {
  const struct moved *moved = argument;
  static unsigned char seen[1 << 16];
  for (int i = 0; i < 300; ++i) {
    uint64_t id = 0;
    const idgen_status_t status = idgen_next(moved->generator, &id, err);
    if (status) return status;
    seen[id] = 1;
  }
  /* It reads as zeros here, so threads that draw from it come to every number, those of the child's range too. */
  for (int i = 0; i < 3000; ++i) {
    const uint64_t drawn = __atomic_fetch_add(&moved->words->next, 1, __ATOMIC_ACQUIRE);
    uint64_t id = 0;
    if (i % 10) continue; /* others */
    const idgen_status_t status = draw_drawn(moved->generator, 0, drawn, &id, err);
    if (status) return status;
    if (seen[id]++) return IDGEN_E_INTERNAL;
  }
  return IDGEN_OK;
}

/* After a reset a handle draws from another page than the one on which a child begins. */
static void a_child_of_a_process_that_was_reset_issues_nothing_twice(void) {
  struct moved moved = {.generator = segment("child", "1000")};
  idgen_view_t view = IDGEN_VIEW_INIT;
  uint64_t id = 0;
  for (int i = 0; i < 10; ++i) CHECK(!idgen_next(moved.generator, &id, &err));
  CHECK_ERR(IDGEN_OK, idgen_quiesce(&err));
  CHECK_ERR(IDGEN_OK, idgen_reset(&err));
  CHECK_ERR(IDGEN_OK, idgen_next(moved.generator, &id, &err));
  CHECK_ERR(IDGEN_OK, idgen_view(moved.generator, &view, &err));
  moved.words = *view.words;
  CHECK_ERR(IDGEN_OK, in_child(draw_from_both, &moved, &err));
  idgen_destroy(moved.generator);
}

static void snowflakes_are_drawn_by_the_callers_clock(void) {
  idgen_t *generator = snowflake("clock");
  idgen_view_t view = IDGEN_VIEW_INIT;
  CHECK_ERR(IDGEN_OK, idgen_view(generator, &view, &err));
  CHECK(view.protocol == IDGEN_VIEW_CLOCK && view.tick_ms == 1 && view.sequence_bits > 0);
  uint64_t before = 0, id = 0;
  int rises = 1, without_a_call = 0;
  uint64_t drawn = 20000;
  for (int i = 0; i < 20000; ++i) {
    const idgen_status_t status =
        i % 2 ? idgen_view_next(generator, &view, &id, &err) : idgen_next(generator, &id, &err);
    rises = rises && status == IDGEN_OK && id > before;
    before = id;
  }
  CHECK(rises);
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_decode(generator, id, &parts, &err));
  CHECK(parts.worker == 7);
  for (int i = 0; i < 100000 && !without_a_call; ++i, ++drawn) {
    CHECK(idgen_next(generator, &before, &err) == IDGEN_OK); /* the ids of ticks that were slept through come first */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    without_a_call = idgen_view_clock(&view, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, &id);
  }
  CHECK(without_a_call && id > before);
  CHECK(idgen_view_clock(&view, view.epoch_unix_ms - 1, &id) == 0); /* before the epoch */
  CHECK(idgen_view_clock(&view, INT64_MAX, &id) == 0);              /* after the layout's end */
  CHECK(idgen_view_clock(&view, INT64_MIN, &id) == 0);
  idgen_stats_t stats = IDGEN_STATS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_stats(generator, &stats, &err));
  CHECK(stats.issued_ids == drawn + 1); /* the last one was drawn without a call */
  idgen_destroy(generator);
}

static void not_every_generator_has_one(void) {
  static const struct {
    const char *key, *value, *more, *its, *says;
  } rows[] = {{"order", "relaxed", "kind", "segment", "order = relaxed"},
              {"segment.stride", "4", "kind", "segment", "segment.stride"},
              {"pattern", "{yyyyMMdd}{0000}", "kind", "serial", "period"},
              {"layout", "business64", "kind", "business", "owner"},
              {"sequence_start", "random", "worker", "3", "sequence_start"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    idgen_t *generator = GENERATOR(config_with("store", "memory", "store_create", "true", "tag", rows[i].key,
                                               rows[i].key, rows[i].value, rows[i].more, rows[i].its, NULL));
    idgen_view_t view = IDGEN_VIEW_INIT;
    CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_view(generator, &view, &err));
    CHECK_SAYS(rows[i].says);
    CHECK(view.protocol == 0 && view.words == NULL);
    idgen_destroy(generator);
  }
}

static void a_view_of_another_version_is_drawn_from_by_the_call(void) {
  idgen_t *generator = segment("version", "10");
  idgen_view_t view = IDGEN_VIEW_INIT;
  uint64_t id = 0;
  view.protocol = 3;
  CHECK_ERR(IDGEN_OK, idgen_view_next(generator, &view, &id, &err));
  CHECK(id == 1);
  view.struct_size = 8;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_view(generator, &view, &err));
  struct {
    idgen_view_t view;
    uint64_t later;
  } larger = {IDGEN_VIEW_INIT, 42};
  larger.view.struct_size = sizeof larger;
  CHECK_ERR(IDGEN_OK, idgen_view(generator, &larger.view, &err));
  CHECK(larger.view.protocol == IDGEN_VIEW_COUNTER && larger.later == 0);
  CHECK_ERR(IDGEN_E_HANDLE, idgen_view(NULL, &view, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_view(generator, NULL, &err));
  idgen_destroy(generator);
}

static void a_closed_generator_gives_nothing_though_another_has_its_worker(void) {
  idgen_t *first = snowflake("shared"), *second = snowflake("shared"), *counter = segment("closed", "100");
  idgen_view_t view = IDGEN_VIEW_INIT, of_counter = IDGEN_VIEW_INIT;
  uint64_t id = 0;
  CHECK_ERR(IDGEN_OK, idgen_view(first, &view, &err));
  CHECK_ERR(IDGEN_OK, idgen_view(counter, &of_counter, &err));
  CHECK_ERR(IDGEN_OK, idgen_view_next(first, &view, &id, &err));
  CHECK_ERR(IDGEN_OK, idgen_close(first, &err));
  CHECK_ERR(IDGEN_OK, idgen_close(counter, &err));
  CHECK_ERR(IDGEN_E_CLOSED, idgen_view_next(first, &view, &id, &err));
  CHECK_ERR(IDGEN_E_CLOSED, idgen_view_next(counter, &of_counter, &id, &err));
  CHECK_ERR(IDGEN_OK, idgen_next(second, &id, &err));
  idgen_destroy(first);
  idgen_destroy(second);
  idgen_destroy(counter);
}

struct pair {
  idgen_t *generator;
  idgen_view_t view;
  uint64_t id;
};

static idgen_status_t draw_one(void *argument, idgen_error_t *err) {
  struct pair *pair = argument;
  uint64_t id = 0;
  const idgen_status_t status = idgen_view_next(pair->generator, &pair->view, &id, err);
  if (status == IDGEN_OK && id <= pair->id) snprintf(err->message, sizeof err->message, "%d", (int)id);
  return status == IDGEN_OK && id <= pair->id ? IDGEN_E_INTERNAL : status;
}

static void a_forked_child_draws_from_its_own_reservation(void) {
  struct pair pair = {.generator = segment("forked", "50"), .view = IDGEN_VIEW_INIT};
  CHECK_ERR(IDGEN_OK, idgen_view(pair.generator, &pair.view, &err));
  CHECK_ERR(IDGEN_OK, idgen_view_next(pair.generator, &pair.view, &pair.id, &err));
  pair.id = 50; /* all of the parent's are up to here */
  CHECK_ERR(IDGEN_OK, in_child(draw_one, &pair, &err));
  CHECK_ERR(IDGEN_OK, idgen_view_next(pair.generator, &pair.view, &pair.id, &err));
  CHECK(pair.id == 2);
  idgen_destroy(pair.generator);
}

static int count_down(void *left) { return --*(int *)left < 0; }

/* All of an hour has been waited elsewhere: a minute that is used up is not waited for. */
static void what_was_waited_elsewhere_counts(void) {
  idgen_t *generator = GENERATOR(config_with("layout", "time:32x60000ms sequence:1", "store", "memory", "max_ahead",
                                             "2m", "wait_max", "1h", "namespace", "waited", NULL));
  uint64_t id = 0, before = 0;
  for (;;) { /* until this minute's two are drawn */
    const idgen_status_t status = idgen_try_next(generator, &id);
    if (status == IDGEN_E_WOULD_BLOCK) break;
    CHECK_CALL(IDGEN_OK, status);
  }
  const idgen_status_t status = draw_waited(generator, UINT64_C(3600000000000), &id, NULL, NULL, &err);
  idgen_stats_t stats = IDGEN_STATS_INIT;
  CHECK_CALL(IDGEN_OK, idgen_stats(generator, &stats, NULL));
  CHECK(status == IDGEN_E_OVERLOADED || status == IDGEN_OK); /* the minute may end just now */
  CHECK(stats.waits == 0);
  if (status == IDGEN_E_OVERLOADED) CHECK_SAYS("wait_max");
  idgen_destroy(generator);

  generator = segment("waited", "10");
  before = 0;
  for (int i = 0; i < 100; ++i) { /* else it is idgen_next */
    CHECK_ERR(IDGEN_OK, draw_waited(generator, 1000, &id, NULL, NULL, &err));
    CHECK(id == before + 1);
    before = id;
  }
  CHECK_ERR(IDGEN_E_ARGUMENT, draw_waited(generator, 0, NULL, NULL, NULL, &err));
  CHECK_ERR(IDGEN_E_HANDLE, draw_waited(NULL, 0, &id, NULL, NULL, &err));
  for (int i = 0; i < 100; ++i) { /* there is room, or soon: nothing is drawn */
    CHECK_ERR(IDGEN_OK, idgen_wait_for_room(generator, 1000, NULL, NULL, &err));
    CHECK_CALL(IDGEN_OK, idgen_try_next(generator, &id));
    CHECK(id == before + 1);
    before = id;
  }
  CHECK_ERR(IDGEN_E_HANDLE, idgen_wait_for_room(NULL, 0, NULL, NULL, &err));
  CHECK_ERR(IDGEN_OK, idgen_close(generator, &err));
  CHECK_ERR(IDGEN_E_CLOSED, idgen_wait_for_room(generator, 0, NULL, NULL, &err));
  idgen_destroy(generator);

  generator = GENERATOR(
      config_with("layout", "time:62s sequence:1", "store", "memory", "wait_max", "10s", "namespace", "stopped", NULL));
  while (idgen_try_next(generator, &id) == IDGEN_OK) continue;
  int left = 1;
  const idgen_status_t stopped = draw_waited(generator, 0, &id, count_down, &left, &err);
  CHECK(stopped == IDGEN_E_CANCELLED || stopped == IDGEN_OK); /* OK: the second has just ended */
  idgen_destroy(generator);
}

enum { kThreads = 4 };

struct part {
  idgen_t *generator;
  const idgen_view_t *view;
  int is_viewer, count;
  uint64_t *ids;
  idgen_error_t err; /* why it ended early */
};

static void *draw_part(void *argument) {
  struct part *part = argument;
  for (int i = 0; i < part->count; ++i) {
    if (part->is_viewer ? idgen_view_next(part->generator, part->view, &part->ids[i], &part->err)
                        : idgen_next(part->generator, &part->ids[i], &part->err)) {
      break;
    }
  }
  return NULL;
}

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void threads_of_both_kinds_share_what_there_is(idgen_t *generator, int each) {
  idgen_view_t view = IDGEN_VIEW_INIT;
  CHECK_ERR(IDGEN_OK, idgen_view(generator, &view, &err));
  const int all = kThreads * each;
  uint64_t *ids = calloc((size_t)all, sizeof *ids);
  struct part parts[kThreads];
  pthread_t threads[kThreads];
  for (int t = 0; t < kThreads; ++t) {
    parts[t] = (struct part){generator, &view, t % 2, each, ids + (size_t)(t * each), IDGEN_ERROR_INIT};
    CHECK(pthread_create(&threads[t], NULL, draw_part, &parts[t]) == 0);
  }
  for (int t = 0; t < kThreads; ++t) {
    pthread_join(threads[t], NULL);
    if (!CHECK(parts[t].err.status == IDGEN_OK)) printf("  %s\n", parts[t].err.message);
  }
  int rise = 1, distinct = 1;
  for (int i = 1; i < all; ++i) rise = rise && (i % each == 0 || ids[i] > ids[i - 1]);
  qsort(ids, (size_t)all, sizeof *ids, by_value);
  for (int i = 1; i < all; ++i) distinct = distinct && ids[i] != ids[i - 1];
  CHECK(ids[0] != 0);
  CHECK(rise && "or DUPLICATE");
  CHECK(distinct && "or DUPLICATE");
  free(ids);
  idgen_destroy(generator);
}

void views(void) {
  a_view_and_calls_count_as_one();
  what_was_drawn_beyond_the_range_is_not_lost();
  what_nobody_drew_is_not_used();
  a_view_says_whether_its_ranges_can_be_remembered();
  a_number_from_before_two_resets_is_not_used_twice();
  a_child_of_a_process_that_was_reset_issues_nothing_twice();
  snowflakes_are_drawn_by_the_callers_clock();
  not_every_generator_has_one();
  a_view_of_another_version_is_drawn_from_by_the_call();
  a_closed_generator_gives_nothing_though_another_has_its_worker();
  a_forked_child_draws_from_its_own_reservation();
  what_was_waited_elsewhere_counts();
  threads_of_both_kinds_share_what_there_is(segment("threads", "100"), 50000);
  /* Nearly every draw is beyond the range, and the counter is parked and opened all the time. */
  threads_of_both_kinds_share_what_there_is(
      GENERATOR(config_with("kind", "segment", "store", "memory", "store_create", "true", "tag", "often",
                            "segment.step", "2", "segment.runway", "0", NULL)),
      10000);
  threads_of_both_kinds_share_what_there_is(snowflake("threads"), 50000);
}
