/* Workers on a store of the host that keeps rows of them: the library decides; the store reads, compares and sets. */
#define _GNU_SOURCE
#include <idgen/admin.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "host.h"

enum { ROWS = 8 };

/* A table in memory for one namespace, with a clock of its own. Any number of generators may use it: each has a
 * library's store of its own, as if they were processes. */
struct table {
  struct uses uses;
  pthread_mutex_t lock;
  idgen_worker_row_t rows[ROWS]; /* lease_left_ms holds when the lease ends */
  char format[200];
  int64_t now_ms;
  int reads, lists, replaces;
  int loses_answers; /* of so many changes, which are made and then fail */
  int64_t lost_hw_ms;
  idgen_status_t fails;
};

#define TABLE \
  { .lock = PTHREAD_MUTEX_INITIALIZER, .now_ms = START_MS }

static idgen_worker_row_t *row_of(struct table *table, uint64_t worker) {
  idgen_worker_row_t *free_row = NULL;
  for (int i = ROWS; i-- > 0;) {
    if (table->rows[i].fence == 0) free_row = &table->rows[i];
    if (table->rows[i].fence != 0 && table->rows[i].worker == worker) return &table->rows[i];
  }
  return free_row;
}

static idgen_worker_row_t read_row(const struct table *table, const idgen_worker_row_t *row, uint64_t worker) {
  idgen_worker_row_t found = *row;
  found.struct_size = sizeof found;
  found.worker = worker;
  found.lease_left_ms -= table->now_ms;
  found.store_now_ms = table->now_ms;
  return found;
}

static idgen_status_t away(struct table *table, idgen_error_t *err) {
  if (table->fails) snprintf(err->message, sizeof err->message, "the table fails with %d", table->fails);
  return table->fails;
}

static idgen_status_t namespace_format(void *ctx, const char *name_space, const char *format, char *found, size_t size,
                                       idgen_error_t *err) {
  struct table *table = ctx;
  pthread_mutex_lock(&table->lock);
  CHECK(strcmp(name_space, "shop") == 0 && size > strlen(format));
  if (!*table->format) snprintf(table->format, sizeof table->format, "%s", format);
  snprintf(found, size, "%s", table->format);
  const idgen_status_t status = away(table, err);
  pthread_mutex_unlock(&table->lock);
  return status;
}

static idgen_status_t worker_read(void *ctx, const char *name_space, uint64_t worker, idgen_worker_row_t *row,
                                  idgen_error_t *err) {
  struct table *table = ctx;
  pthread_mutex_lock(&table->lock);
  CHECK(strcmp(name_space, "shop") == 0 && row->struct_size == sizeof *row && row->worker == worker);
  ++table->reads;
  *row = read_row(table, row_of(table, worker), worker);
  const idgen_status_t status = away(table, err);
  pthread_mutex_unlock(&table->lock);
  return status;
}

static idgen_status_t worker_list(void *ctx, const char *name_space, idgen_worker_row_fn each, void *rows,
                                  idgen_error_t *err) {
  struct table *table = ctx;
  pthread_mutex_lock(&table->lock);
  CHECK(strcmp(name_space, "shop") == 0);
  ++table->lists;
  for (int i = 0; i < ROWS; ++i) {
    if (table->rows[i].fence == 0) continue;
    const idgen_worker_row_t row = read_row(table, &table->rows[i], table->rows[i].worker);
    each(rows, &row);
  }
  const idgen_status_t status = away(table, err);
  pthread_mutex_unlock(&table->lock);
  return status;
}

static idgen_status_t worker_replace(void *ctx, const idgen_worker_change_t *change, uint32_t *changed,
                                     idgen_error_t *err) {
  struct table *table = ctx;
  pthread_mutex_lock(&table->lock);
  CHECK(strcmp(change->name_space, "shop") == 0 && change->struct_size == sizeof *change && *changed == 0);
  ++table->replaces;
  idgen_worker_row_t *row = row_of(table, change->worker);
  const int is_taken = *change->owner != '\0';
  const int is_as_seen =
      row->fence == change->seen_fence &&
      (row->fence == 0 || (strcmp(row->owner, change->seen_owner) == 0 && row->hw_ms == change->seen_hw_ms));
  if (!table->fails && is_as_seen && (!is_taken || change->now_ms - table->now_ms <= change->max_lead_ms)) {
    CHECK(change->fence >= change->seen_fence && strstr(change->holder, "process "));
    row->worker = change->worker;
    row->fence = change->fence;
    row->hw_ms = change->hw_ms;
    row->lease_left_ms = table->now_ms + change->lease_ms;
    if (is_taken) row->clock_ahead_ms = change->now_ms - table->now_ms;
    snprintf(row->owner, sizeof row->owner, "%s", change->owner);
    snprintf(row->holder, sizeof row->holder, "%s", change->holder);
    *changed = 1;
    if (table->loses_answers) {
      --table->loses_answers;
      table->lost_hw_ms = row->hw_ms;
      snprintf(err->message, sizeof err->message, "the answer was lost");
      pthread_mutex_unlock(&table->lock);
      return IDGEN_E_STORE_UNAVAILABLE;
    }
  }
  const idgen_status_t status = away(table, err);
  pthread_mutex_unlock(&table->lock);
  return status;
}

static void release_table(void *ctx) { ++((struct table *)ctx)->uses.released; }

static const idgen_store_t kRows = {.struct_size = sizeof kRows,
                                    .release = release_table,
                                    .namespace_format = namespace_format,
                                    .worker_read = worker_read,
                                    .worker_list = worker_list,
                                    .worker_replace = worker_replace};

/* A snowflake's configuration on the table, at the clock. */
static idgen_config_t *at(struct table *table, struct clock *clock, const char *worker) {
  idgen_config_t *config = config_with("worker", worker, "namespace", "shop", "worker_wait", "0", "wait_max", "0",
                                       "sequence_start", "zero", NULL);
  CHECK_ERR(IDGEN_OK, idgen_config_set_store(config, &kRows, table, &err));
  ++table->uses.given;
  return use_clock(config, clock);
}

static void pass_ms(struct table *table, struct clock *clock, int64_t ms) {
  pthread_mutex_lock(&table->lock);
  table->now_ms += ms;
  pthread_mutex_unlock(&table->lock);
  clock->now_ns += ms * MS;
}

static void pause_1_ms(void) {
  const struct timespec pause = {0, 1000000};
  nanosleep(&pause, NULL);
}

/* Draws until the background has asked the store again, in vain or not. */
static idgen_stats_t draw_until_asked(idgen_t *g) {
  idgen_stats_t before = IDGEN_STATS_INIT, stats = IDGEN_STATS_INIT;
  uint64_t id;
  CHECK_CALL(IDGEN_OK, idgen_stats(g, &before, NULL));
  for (int i = 0; i < 8 * 60000; ++i) { /* a minute and more */
    CHECK_CALL(IDGEN_OK, idgen_stats(g, &stats, NULL));
    if (stats.refills + stats.refill_failures > before.refills + before.refill_failures) return stats;
    if (idgen_try_next(g, &id)) pause_1_ms();
    if (i % 8 == 0) pause_1_ms();
  }
  CHECK(!"the background has asked the store");
  return stats;
}

static void a_worker_is_taken_renewed_in_one_step_and_given_back(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS + 40);
  idgen_t *g = GENERATOR(at(&table, &clock, "7"));
  const idgen_worker_row_t *row = &table.rows[0];
  CHECK(row->worker == 7 && row->fence == 1 && strlen(row->owner) == 32);
  CHECK(row->hw_ms == START_MS + 40 + 10000 && row->lease_left_ms == START_MS + 15000 && row->clock_ahead_ms == 40);
  CHECK(strstr(table.format, "time:41ms worker:10 sequence:12"));
  CHECK(table.reads == 1 && table.replaces == 1 && table.lists == 0);
  uint64_t id;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  pass_ms(&table, &clock, 6000);
  const idgen_stats_t stats = draw_until_asked(g);
  CHECK(stats.refills == 2 && stats.refill_failures == 0);
  CHECK(table.reads == 1 && table.replaces == 2); /* a renewal is one step */
  CHECK(row->fence == 1 && row->hw_ms == START_MS + 6040 + 10000 && row->lease_left_ms == START_MS + 21000);
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  CHECK(row->fence == 1 && *row->owner == '\0' && row->lease_left_ms == table.now_ms);
  CHECK(row->hw_ms == START_MS + 6041); /* this ms is begun */
  CHECK(strstr(row->holder, "process "));
  idgen_destroy(g);
  wait_until_released(&table);
  CHECK(table.uses.released == 1);
  g = GENERATOR(at(&table, &clock, "7"));
  CHECK(row->fence == 2);
  uint64_t next;
  clock.now_ns += MS;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &next, &err));
  CHECK(next > id);
  idgen_destroy(g);
}

static void a_second_owner_is_refused_until_the_lease_has_ended(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS), later = CLOCK_AT(START_MS);
  idgen_t *first = GENERATOR(at(&table, &clock, "7")), *second = NULL;
  idgen_config_t *config = at(&table, &later, "7");
  CHECK_ERR(IDGEN_E_WORKER_BUSY, idgen_create(config, &second, &err));
  CHECK_SAYS("worker 7 of namespace 'shop' is owned by process ");
  CHECK_SAYS("its lease ends in 15000 ms");
  CHECK(table.rows[0].fence == 1);
  uint64_t ids[2][4096];
  size_t written[2] = {0, 0};
  CHECK_ERR(IDGEN_OK, idgen_next_batch(first, ids[0], 1, &written[0], &err));
  pass_ms(&table, &later, 15000); /* the first one stands still meanwhile */
  CHECK_ERR(IDGEN_OK, idgen_create(config, &second, &err));
  CHECK(table.rows[0].fence == 2 && table.rows[0].hw_ms == START_MS + 25000);
  CHECK_ERR(IDGEN_OK, idgen_next_batch(second, ids[1], 4000, &written[1], &err));
  /* It goes on within what it has, and is told at its renewal. */
  clock.now_ns += 6000 * MS;
  const idgen_stats_t stats = draw_until_asked(first);
  CHECK(stats.refills == 1 && stats.refill_failures == 1);
  CHECK_ERR(IDGEN_OK, idgen_next_batch(first, ids[0], 2000, &written[0], &err));
  for (size_t i = 0; i < written[0]; ++i) CHECK(ids[0][i] < ids[1][0]);
  clock.now_ns += 9000 * MS;
  CHECK(table.rows[0].fence == 2);
  CHECK_ERR(IDGEN_OK, idgen_close(first, &err)); /* gives nothing back that is another's */
  CHECK(table.rows[0].fence == 2 && table.rows[0].hw_ms == START_MS + 25000 && *table.rows[0].owner);
  idgen_destroy(first);
  idgen_destroy(second);
  idgen_config_destroy(config);
}

static void a_clock_that_is_ahead_of_the_stores_reserves_nothing(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS + 20001);
  idgen_t *g = NULL;
  idgen_config_t *config = at(&table, &clock, "7");
  CHECK_ERR(IDGEN_E_CLOCK_LEAP, idgen_create(config, &g, &err));
  CHECK_SAYS("20001 ms ahead of the store's");
  CHECK(table.replaces == 0);
  clock.now_ns -= MS;
  CHECK_ERR(IDGEN_OK, idgen_create(config, &g, &err));
  CHECK(table.rows[0].clock_ahead_ms == 20000);
  const int64_t reserved = table.rows[0].hw_ms;
  clock.now_ns += 6000 * MS; /* ahead by more, when it is renewed without a look */
  const idgen_stats_t stats = draw_until_asked(g);
  CHECK(stats.refills == 1 && stats.refill_failures == 1 && table.rows[0].hw_ms == reserved);
  idgen_destroy(g);
  idgen_config_destroy(config);
}

static int64_t next_unix_ms(idgen_t *g) {
  uint64_t id = 0;
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK_ERR(IDGEN_OK, idgen_decode(g, id, &parts, &err));
  return parts.unix_ms;
}

static void a_change_whose_answer_is_lost_is_burned(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_t *g = NULL;
  table.loses_answers = 1;
  idgen_config_t *config = at(&table, &clock, "7");
  CHECK_ERR(IDGEN_E_STORE_UNAVAILABLE, idgen_create(config, &g, &err));
  CHECK_SAYS("the answer was lost");
  CHECK(table.rows[0].fence == 1 && table.lost_hw_ms == START_MS + 10000);
  /* That process is gone. The next one loses its first answer too, and finds itself the owner. */
  pass_ms(&table, &clock, 15000);
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "wait_max", "5s", &err));
  table.loses_answers = 1;
  CHECK_ERR(IDGEN_OK, idgen_create(config, &g, &err));
  CHECK(table.rows[0].fence == 3 && table.lost_hw_ms == START_MS + 25000);
  CHECK(next_unix_ms(g) == table.lost_hw_ms);
  /* A renewal's answer. */
  pass_ms(&table, &clock, 30000);
  table.loses_answers = 1;
  const int64_t unix_ms = next_unix_ms(g);
  CHECK(table.loses_answers == 0 && table.rows[0].fence == 3);
  CHECK(table.lost_hw_ms > START_MS + 45000 && unix_ms == table.lost_hw_ms);
  idgen_destroy(g);
  idgen_config_destroy(config);
}

static void another_layout_is_refused(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_t *g = NULL;
  idgen_destroy(GENERATOR(at(&table, &clock, "7")));
  idgen_config_t *config = at(&table, &clock, "8");
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "layout", "time:41ms worker:10 sequence:11", &err));
  CHECK_ERR(IDGEN_E_FORMAT_MISMATCH, idgen_create(config, &g, &err));
  CHECK_SAYS("time:41ms worker:10 sequence:12");
  CHECK(table.rows[1].fence == 0);
  idgen_config_destroy(config);
}

static void count_worker(void *ctx, const idgen_worker_info_t *info) {
  uint64_t *seen = ctx;
  CHECK(info->is_live && info->fence == 1 && strstr(info->holder, "process "));
  seen[seen[0] + 1] = info->worker;
  ++seen[0];
}

static void a_worker_that_is_auto_is_leased_and_workers_are_shown_listed_and_repaired(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_t *first = GENERATOR(at(&table, &clock, "auto")), *second = GENERATOR(at(&table, &clock, "auto"));
  idgen_config_t *config = at(&table, &clock, "5");
  uint64_t seen[ROWS + 1] = {0};
  CHECK_ERR(IDGEN_OK, idgen_worker_list(config, count_worker, seen, &err));
  CHECK(seen[0] == 2 && seen[1] < seen[2]);
  unsigned other = 5; /* neither of the two, which were chosen by chance */
  while (other == seen[1] || other == seen[2]) ++other;
  char number[8];
  snprintf(number, sizeof number, "%u", other);
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "worker", number, &err));
  char description[4096];
  size_t size = sizeof description;
  CHECK_ERR(IDGEN_OK, idgen_describe(first, description, &size, &err));
  CHECK(strstr(description, "a leased worker") && strstr(description, "its windows never overlap"));
  CHECK(strstr(description, "a child gets FORKED"));
  idgen_destroy(first);
  idgen_destroy(second);

  /* A row far ahead: by a clock that both sides believed. */
  idgen_worker_info_t info = IDGEN_WORKER_INFO_INIT;
  CHECK_ERR(IDGEN_OK, idgen_worker_show(config, &info, &err));
  CHECK(info.fence == 0 && !info.is_live);
  idgen_t *g = GENERATOR(at(&table, &clock, number));
  uint64_t id;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK_ERR(IDGEN_E_WORKER_BUSY, idgen_worker_repair(config, id, &info, &err));
  idgen_destroy(g);
  row_of(&table, other)->hw_ms = START_MS + INT64_C(3600000);
  CHECK_ERR(IDGEN_OK, idgen_worker_show(config, &info, &err));
  CHECK(info.worker == other && info.fence == 1 && !info.is_live && info.ahead_ms == 3600000 &&
        info.clock_ahead_ms == 0);
  CHECK_ERR(IDGEN_OK, idgen_worker_repair(config, id, &info, &err));
  CHECK(info.hw_unix_ms == START_MS + 1 && info.fence == 2 && row_of(&table, other)->hw_ms == START_MS + 1);
  CHECK(*row_of(&table, other)->owner == '\0');
  idgen_config_destroy(config);
}

static void a_row_that_cannot_be_is_damage(void) {
  idgen_t *g = NULL;
  for (int i = 0; i < 4; ++i) {
    RELEASED struct table table = TABLE;
    RELEASED struct clock clock = CLOCK_AT(START_MS);
    idgen_worker_row_t *row = &table.rows[0];
    row->worker = 7, row->fence = 1, row->hw_ms = START_MS;
    if (i == 0) strcpy(row->owner, "mine");
    if (i == 1) row->fence = UINT64_MAX;
    if (i == 2) memset(row->owner, 'a', sizeof row->owner); /* no NUL */
    if (i == 3) row->fence = (uint64_t)INT64_MAX;
    idgen_config_t *config = at(&table, &clock, "7");
    CHECK_ERR(IDGEN_E_STORE_DAMAGED, idgen_create(config, &g, &err));
    CHECK_SAYS("by hand");
    CHECK(table.replaces == 0);
    idgen_config_destroy(config);
  }
}

static void a_table_that_fails_is_told_by_its_own_words(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_t *g = NULL;
  table.fails = IDGEN_E_STORE_MISSING;
  idgen_config_t *config = at(&table, &clock, "auto");
  CHECK_ERR(IDGEN_E_STORE_MISSING, idgen_create(config, &g, &err));
  CHECK_SAYS("the table fails");
  idgen_config_destroy(config);
}

static idgen_status_t next_in_child(void *generator, idgen_error_t *err) {
  uint64_t id;
  return idgen_next(generator, &id, err);
}

static void a_forked_child_is_refused(void) {
  RELEASED struct table table = TABLE;
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_t *g = GENERATOR(at(&table, &clock, "auto"));
  uint64_t id;
  CHECK_ERR(IDGEN_E_FORKED, in_child(next_in_child, g, &err));
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  idgen_destroy(g);
}

static idgen_status_t some_window(void *ctx, const idgen_window_request_t *request, idgen_window_t *window,
                                  idgen_error_t *err) {
  (void)ctx, (void)err;
  window->start_ms = request->now_ms;
  window->end_ms = request->now_ms + request->width_ms;
  window->fence = 1;
  return IDGEN_OK;
}

static void a_table_of_functions_is_whole_or_refused(void) {
  RELEASED struct table table = TABLE;
  idgen_config_t *config = config_with("worker", "7", "namespace", "shop", NULL);
  idgen_store_t store = kRows;
  store.worker_list = NULL;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_store(config, &store, &table, &err));
  CHECK_SAYS("belong together, and 1 of them");
  store = kRows;
  store.window_take = some_window;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_store(config, &store, &table, &err));
  CHECK_SAYS("window_take");
  /* A program that was built before there were rows. What follows its struct is not its own. */
  store.struct_size = offsetof(idgen_store_t, namespace_format);
  CHECK_ERR(IDGEN_OK, idgen_config_set_store(config, &store, &table, &err));
  ++table.uses.given;
  idgen_t *g = GENERATOR(config);
  CHECK(table.reads == 0);
  idgen_destroy(g);
  store.struct_size = offsetof(idgen_store_t, namespace_format) - 1;
  config = config_with("worker", "auto", NULL);
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_config_set_store(config, &store, &table, &err));
  CHECK_SAYS("struct_size");
  idgen_config_destroy(config);
}

static void a_store_that_only_takes_windows_or_segments_says_what_it_lacks(void) {
  idgen_t *g = NULL;
  idgen_worker_info_t info = IDGEN_WORKER_INFO_INIT;
  idgen_store_t store = {.struct_size = sizeof store, .window_take = some_window};
  idgen_config_t *config = config_with("worker", "auto", NULL);
  CHECK_ERR(IDGEN_OK, idgen_config_set_store(config, &store, NULL, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_create(config, &g, &err));
  CHECK_SAYS("worker_list");
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "worker", "7", &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_worker_show(config, &info, &err));
  CHECK_SAYS("worker_read");
  idgen_destroy(GENERATOR(config));
  RELEASED struct store segments = {0};
  config = config_with("worker", "auto", NULL);
  use_store(config, &segments);
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_create(config, &g, &err));
  idgen_config_destroy(config);
}

void host_rows(void) {
  a_worker_is_taken_renewed_in_one_step_and_given_back();
  a_second_owner_is_refused_until_the_lease_has_ended();
  a_clock_that_is_ahead_of_the_stores_reserves_nothing();
  a_change_whose_answer_is_lost_is_burned();
  another_layout_is_refused();
  a_worker_that_is_auto_is_leased_and_workers_are_shown_listed_and_repaired();
  a_row_that_cannot_be_is_damage();
  a_table_that_fails_is_told_by_its_own_words();
  a_forked_child_is_refused();
  a_table_of_functions_is_whole_or_refused();
  a_store_that_only_takes_windows_or_segments_says_what_it_lacks();
}
