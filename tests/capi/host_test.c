/* The host's own clock, store and log: that they are used, what they decide, and that each is released once. */
#define _GNU_SOURCE
#include "host.h"

#include <idgen/admin.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../draws.h"
#include "check.h"

static void pause_ms(int ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

static int stop(void *ctx) { return ++*(int *)ctx >= 3; }

static idgen_t *on_clock(struct clock *clock, idgen_config_t *config) { return GENERATOR(use_clock(config, clock)); }

/* The clock is known, so every bit of every id is. */
static void ids_are_exact(void) {
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_t *g = on_clock(&clock, config_with("store", "memory:exact", "worker", "5", "sequence_start", "zero", NULL));
  const uint64_t tick = UINT64_C(1) << 22, base = 1000000 * tick | 5 << 12;
  uint64_t id = 0, ids[4096];
  size_t written = 0;
  for (uint64_t i = 0; i < 3; ++i) {
    CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
    CHECK(id == base + i);
  }
  clock.now_ns += 999999; /* still the same ms */
  CHECK_CALL(IDGEN_OK, idgen_try_next(g, &id));
  CHECK(id == base + 3);
  clock.now_ns += 1;
  CHECK_CALL(IDGEN_OK, idgen_try_next(g, &id));
  CHECK(id == base + tick);
  CHECK_ERR(IDGEN_OK, idgen_next_batch(g, ids, 4095, &written, &err));
  CHECK(written == 4095 && ids[0] == base + tick + 1 && ids[4094] == base + tick + 4095);
  idgen_stats_t stats = IDGEN_STATS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_stats(g, &stats, &err));
  CHECK(stats.waits == 0 && stats.lead_ms == 0);
  /* This ms is used up. */
  CHECK_CALL(IDGEN_E_WOULD_BLOCK, idgen_try_next(g, &id));
  CHECK_CALL(IDGEN_E_WOULD_BLOCK, try_batch(g, ids, 2, &written));
  idgen_draw_t block = IDGEN_DRAW_INIT;
  CHECK_CALL(IDGEN_E_WOULD_BLOCK, try_block(g, 2, &block));
  CHECK(written == 0 && block.written == 0);
  clock.frozen = 1;
  int asked = 0;
  CHECK_ERR(IDGEN_E_CANCELLED, draw_batch(g, ids, 2, &written, stop, &asked, &err));
  CHECK(written == 0 && asked == 3);
  clock.frozen = 0;
  clock.slept_ns = 0;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK(id == base + 2 * tick && clock.slept_ns == MS);
  /* What there is at once, and no more: a tick. */
  CHECK_CALL(IDGEN_E_WOULD_BLOCK, try_batch(g, ids, 4096, &written));
  CHECK(written == 4095 && ids[0] == id + 1 && ids[4094] == id + 4095 && clock.slept_ns == MS);
  clock.now_ns += MS;
  CHECK_CALL(IDGEN_OK, try_batch(g, ids, 1, &written));
  CHECK(written == 1 && ids[0] == base + 3 * tick);
  CHECK_CALL(IDGEN_OK, try_block(g, 1000000, &block));
  CHECK(block.first == base + 3 * tick + 1 && block.written == 4095 && block.stride == 1);
  CHECK_ERR(IDGEN_OK, idgen_stats(g, &stats, &err));
  CHECK(stats.waits >= 1 && stats.wait_ns >= (uint64_t)MS && stats.store_waits == 0 && stats.clock_back_events == 0);
  idgen_destroy(g);
  wait_until_released(&clock);
  CHECK(clock.uses.released == 1);
}

static void waits_are_bounded(void) {
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  uint64_t ids[4096], id = 0;
  size_t written = 0;
  /* A tick of 1 s, and patience for 10 ms. */
  idgen_t *g = on_clock(
      &clock, config_with("store", "memory:bounded", "worker", "0", "layout", "js53", "wait_max", "10ms", NULL));
  CHECK_ERR(IDGEN_OK, idgen_next_batch(g, ids, 4096, &written, &err));
  CHECK_ERR(IDGEN_E_OVERLOADED, idgen_next(g, &id, &err));
  CHECK_SAYS("4096 ids");
  CHECK_SAYS("wait_max");
  CHECK(err.retry_after_ns > 0 && err.retry_after_ns <= 1000000000u && clock.slept_ns == 0);
  clock.now_ns += (int64_t)err.retry_after_ns;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err)); /* retry_after_ns was right */
  idgen_destroy(g);
}

static void is_released_once(void) {
  RELEASED struct clock first = CLOCK_AT(START_MS), second = CLOCK_AT(START_MS);
  idgen_config_t *config = config_with("store", "memory:released", "worker", "0", NULL);
  use_clock(config, &first);
  use_clock(config, &second); /* replaces it */
  CHECK(first.uses.released == 1 && second.uses.released == 0);
  idgen_t *a = NULL, *b = NULL;
  CHECK_ERR(IDGEN_OK, idgen_create(config, &a, &err));
  CHECK_ERR(IDGEN_OK, idgen_create(config, &b, &err)); /* shares the state of a */
  idgen_config_destroy(config);
  CHECK(second.uses.released == 0);
  idgen_destroy(a);
  CHECK(second.uses.released == 0);
  idgen_destroy(b);
  wait_until_released(&second);
  CHECK(second.uses.released == 1 && first.uses.released == 1);

  /* A generator that could not be made has released it. The epoch is in that clock's future. */
  RELEASED struct clock third = CLOCK_AT(EPOCH_MS - 1);
  uint64_t id = 0;
  config = config_with("store", "memory:released", "worker", "0", NULL);
  use_clock(config, &third);
  CHECK_ERR(IDGEN_E_LIFETIME, idgen_create(config, &a, &err));
  CHECK(third.uses.released == 0);
  third.now_ns = START_MS * MS;
  CHECK_ERR(IDGEN_OK, idgen_create(config, &a, &err));
  third.now_ns = (EPOCH_MS - 1) * MS;
  CHECK_ERR(IDGEN_E_CLOCK_BEFORE_EPOCH, idgen_next(a, &id, &err));
  idgen_destroy(a);
  idgen_config_destroy(config);
  wait_until_released(&third);
  CHECK(third.uses.released == 1);
}

void host_clock(void) {
  ids_are_exact();
  waits_are_bounded();
  is_released_once();
}

/* What the policies promise: tests/generator/clock_test.cpp. Here, that the host's clock is read, and slept on. */
void clock_set_back(void) {
  static const char *const policies[] = {"wait", "continue", "fail"};
  for (int p = 0; p < 3; ++p) {
    const int is_wait = p == 0, is_continue = p == 1, is_fail = p == 2;
    RELEASED struct clock clock = CLOCK_AT(START_MS);
    idgen_t *g = on_clock(&clock, config_with("store", "memory:back", "namespace", policies[p], "worker", "1",
                                              "on_clock_back", policies[p], NULL));
    uint64_t before = 0, id = 0;
    CHECK_ERR(IDGEN_OK, idgen_next(g, &before, &err));
    CHECK_ERR(IDGEN_OK, idgen_next(g, &before, &err));
    clock.now_ns -= 1000 * MS;
    if (!is_continue) CHECK_CALL(IDGEN_E_WOULD_BLOCK, idgen_try_next(g, &id));
    CHECK_ERR(is_fail ? IDGEN_E_CLOCK_BACK : IDGEN_OK, idgen_next(g, &id, &err));
    CHECK(clock.slept_ns == (is_wait ? 1000 * MS : 0));
    if (is_fail) {
      CHECK_SAYS("refusing to generate ids for 1000 ms");
      CHECK(err.retry_after_ns == (uint64_t)(1000 * MS));
    } else {
      CHECK(id > before);
    }
    idgen_stats_t stats = IDGEN_STATS_INIT;
    CHECK_ERR(IDGEN_OK, idgen_stats(g, &stats, &err));
    CHECK(stats.clock_back_events == 1 && (!is_continue || stats.lead_ms == 1000));
    idgen_destroy(g);
  }
}

static void segments_on_a_host_store(void) {
  RELEASED struct store store = {0};
  idgen_config_t *config =
      use_store(config_with("kind", "segment", "tag", "t", "segment.step", "10", "segment.runway", "0", NULL), &store);
  idgen_t *g = NULL;
  /* The host's own status and text come through. */
  store.fail_takes = 1007;
  CHECK_ERR(1007, idgen_create(config, &g, &err));
  CHECK_SAYS("the test's store fails with 1007");
  CHECK(strcmp(idgen_status_name(1007), "HOST") == 0 && idgen_status_is_retryable(1007) == 1);
  store.fail_takes = IDGEN_E_TAG_UNKNOWN;
  CHECK_ERR(IDGEN_E_TAG_UNKNOWN, idgen_create(config, &g, &err));
  store.fail_takes = 0;
  CHECK(g == NULL && store.uses.released == 0);
  CHECK_ERR(IDGEN_OK, idgen_create(config, &g, &err));
  idgen_config_destroy(config);
  uint64_t id = 0;
  for (uint64_t i = 1; i <= 25; ++i) {
    CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
    CHECK(id == i);
  }
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  CHECK(store.max_id == 25 && store.returns >= 1 && store.uses.released == 0);
  idgen_destroy(g);
  wait_until_released(&store);
  CHECK(store.uses.released == 1);
}

/* Ids continue to the end of the reservation, then comes the host's status. */
static void a_host_store_that_fails_while_running(void) {
  RELEASED struct store store = {0};
  idgen_t *g = GENERATOR(use_store(config_with("kind", "segment", "tag", "t", "segment.step", "100", "segment.runway",
                                               "0", "wait_max", "50ms", NULL),
                                   &store));
  uint64_t id = 0;
  store.fail_takes = 2000000;
  uint64_t ids[200];
  size_t written = 0;
  CHECK_ERR(2000000, idgen_next_batch(g, ids, 200, &written, &err));
  CHECK(written == 100 && ids[99] == 100);
  CHECK_SAYS("2000000");
  CHECK_CALL(IDGEN_E_WOULD_BLOCK, idgen_try_next(g, &id));
  CHECK_CALL(IDGEN_E_WOULD_BLOCK, try_batch(g, ids, 2, &written));
  CHECK(written == 0);
  CHECK_ERR(2000000, idgen_wait_for_room(g, 0, NULL, NULL, &err));
  CHECK_ERR(2000000, idgen_wait_for_room(g, 60000000000, NULL, NULL, &err)); /* it has waited long enough */
  CHECK_SAYS("wait_max");
  idgen_stats_t stats = IDGEN_STATS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_stats(g, &stats, &err));
  CHECK(stats.refill_failures >= 1 && stats.store_waits >= 1 && stats.remaining == 0);
  store.fail_takes = 0;
  idgen_status_t status = idgen_next(g, &id, &err);
  for (int i = 0; i < 200 && status == 2000000; ++i)
    status = idgen_next(g, &id, &err); /* the next attempt is due soon */
  CHECK_ERR(IDGEN_OK, status);
  CHECK(id == 101);

  /* A store that grants what it had granted: issuing stops. */
  store.max_id = 50;
  for (int i = 0; i < 400 && status == IDGEN_OK; ++i) status = idgen_next(g, &id, &err);
  CHECK_ERR(IDGEN_E_STORE_REGRESSED, status);
  CHECK(id > 101 && id <= 200);
  store.max_id = 100000; /* not even then: what else was lost is not known */
  CHECK_ERR(IDGEN_E_STORE_REGRESSED, idgen_next(g, &id, &err));
  store.fail_returns = 1234;
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err)); /* the ids were issued: a gap is not a failure */
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  CHECK_ERR(IDGEN_E_CLOSED, idgen_next(g, &id, &err));
  idgen_destroy(g);
  wait_until_released(&store);
  CHECK(store.uses.released == 1);
}

static void a_store_finds_its_failure_again_by_a_number(void) {
  RELEASED struct store store = {0};
  idgen_config_t *config =
      use_store(config_with("kind", "segment", "tag", "t", "segment.step", "10", "wait_max", "50ms", NULL), &store);
  idgen_t *g = NULL;
  store.fail_takes = 1007;
  store.cause = 41;
  CHECK_ERR(1007, idgen_create(config, &g, &err));
  CHECK(err.cause == 41);
  store.fail_takes = 0;
  CHECK_ERR(IDGEN_OK, idgen_create(config, &g, &err));
  CHECK(err.cause == 0);
  idgen_config_destroy(config);
  store.fail_takes = 1007;
  store.cause = UINT64_MAX;
  uint64_t ids[200];
  size_t written = 0;
  CHECK_ERR(1007,
            idgen_next_batch(g, ids, 200, &written, &err)); /* another thread has asked, and the text is another */
  CHECK_SAYS("wait_max");
  CHECK(err.cause == UINT64_MAX);
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  CHECK(err.cause == 0);
  CHECK_ERR(IDGEN_E_CLOSED, idgen_next(g, ids, &err));
  CHECK(err.cause == 0);
  idgen_destroy(g);
}

static void a_store_that_waits_for_its_caller_ends_the_callers_wait(void) {
  RELEASED struct store store = {0};
  idgen_config_t *config =
      config_with("kind", "segment", "tag", "t", "segment.step", "10", "segment.runway", "0", "wait_max", "1h", NULL);
  use_store(config, &store);
  idgen_t *g = GENERATOR(config);
  store.fail_takes = IDGEN_E_STORE_UNAVAILABLE;
  store.retry_after_ns = IDGEN_ENDS_WAITS;
  uint64_t ids[200];
  size_t written = 0;
  CHECK_ERR(IDGEN_E_STORE_UNAVAILABLE, idgen_next_batch(g, ids, 200, &written, &err));
  CHECK(written == 10 && err.retry_after_ns == 0);
  store.fail_takes = 0;
  idgen_status_t status = IDGEN_E_STORE_UNAVAILABLE;
  for (int i = 0; i < 60000 && status == IDGEN_E_STORE_UNAVAILABLE; ++i) {
    status = idgen_next(g, ids, &err); /* the next attempt is due soon */
    pause_ms(1);
  }
  CHECK_ERR(IDGEN_OK, status);
  CHECK(ids[0] == 11);
  idgen_destroy(g);
}

static void a_host_store_may_grant_up_to_the_largest_number(void) {
  idgen_t *g = NULL;
  uint64_t ids[10];
  size_t written = 0;
  for (int beyond = 0; beyond <= 1; ++beyond) {
    RELEASED struct store store = {.max_id = (uint64_t)INT64_MAX - 10 + (uint64_t)beyond};
    idgen_config_t *config = use_store(config_with("kind", "segment", "tag", "t", "segment.step", "10", NULL), &store);
    const idgen_status_t status = idgen_create(config, &g, &err);
    CHECK_ERR(beyond ? IDGEN_E_STORE_DAMAGED : IDGEN_OK, status);
    idgen_config_destroy(config);
    if (beyond) continue;
    store.fail_takes = IDGEN_E_EXHAUSTED;
    CHECK_ERR(IDGEN_OK, idgen_next_batch(g, ids, 10, &written, &err));
    CHECK(ids[9] == (uint64_t)INT64_MAX);
    CHECK_ERR(IDGEN_E_EXHAUSTED, idgen_next(g, &ids[0], &err));
    idgen_destroy(g);
  }
}

/* As with a row that has its own step: fewer numbers than requested, and more. */
static void a_host_store_decides_how_much_it_grants(void) {
  static const uint64_t counts[] = {7, 5000};
  for (size_t i = 0; i < 2; ++i) {
    RELEASED struct store store = {0};
    store.own_count = counts[i];
    idgen_t *g = GENERATOR(use_store(config_with("kind", "segment", "namespace", "shop", "tag", "orders",
                                                 "segment.step", "1000", "segment.runway", "0", NULL),
                                     &store));
    uint64_t ids[100];
    size_t written = 0;
    CHECK_ERR(IDGEN_OK, idgen_next_batch(g, ids, 100, &written, &err));
    for (size_t n = 0; n < written; ++n) CHECK(ids[n] == n + 1);
    CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
    const idgen_segment_request_t *asked = &store.last_segment_request;
    CHECK(asked->struct_size == sizeof *asked && asked->reserved == 0 && asked->count == 1000);
    CHECK(strstr(store.holder, "process ") && strstr(store.holder, "asked by shop/orders"));
    idgen_destroy(g);
  }
}

static void windows_on_a_host_store(void) {
  RELEASED struct store store = {0};
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_t *g = GENERATOR(use_clock(use_store(config_with("worker", "9", "namespace", "ns", NULL), &store), &clock));
  const idgen_window_request_t *asked = &store.last_request;
  CHECK(asked->struct_size == sizeof *asked && asked->worker == 9 && asked->fence == 0 && asked->now_ms == START_MS);
  CHECK(asked->width_ms == 10000 && asked->min_ms > 0 && asked->max_start_ms == START_MS + 20000);
  CHECK(strstr(store.holder, "process ") && strstr(store.format, "time"));
  uint64_t ids[100];
  size_t written = 0;
  CHECK_ERR(IDGEN_OK, idgen_next_batch(g, ids, 100, &written, &err));
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  CHECK(store.returned_to == START_MS + 1 && store.hw == START_MS + 1); /* this ms is begun, so it is used */
  idgen_destroy(g);
  wait_until_released(&store);
  wait_until_released(&clock);
  CHECK(store.uses.released == 1 && clock.uses.released == 1);
}

static void a_host_store_may_be_partial(void) {
  RELEASED struct store store = {0};
  idgen_t *g = NULL;
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  idgen_config_t *config = use_store(config_with("kind", "segment", "tag", "t", NULL), &store);
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_store_create(config, &err));
  CHECK_SAYS("made by the host");
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_segment_create(config, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_segment_show(config, &info, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_segment_advance(config, 1, &info, &err));
  /* The latest setting of the store wins. */
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "store", "memory:partial", &err));
  CHECK(store.uses.released == 1);
  CHECK_ERR(IDGEN_E_TAG_UNKNOWN, idgen_create(config, &g, &err));
  idgen_config_destroy(config);
  CHECK(store.uses.released == 1);
}

void host_store(void) {
  segments_on_a_host_store();
  a_host_store_that_fails_while_running();
  a_host_store_may_grant_up_to_the_largest_number();
  a_store_finds_its_failure_again_by_a_number();
  a_store_that_waits_for_its_caller_ends_the_callers_wait();
  a_host_store_decides_how_much_it_grants();
  windows_on_a_host_store();
  a_host_store_may_be_partial();
}

struct log {
  struct uses uses;
  atomic_int lines, warnings;
  char last[512];
};
static void write_log(void *ctx, int32_t level, const char *message) {
  struct log *log = ctx;
  ++log->lines;
  if (level == IDGEN_LOG_WARNING) ++log->warnings;
  snprintf(log->last, sizeof log->last, "%s", message);
}
static void release_log(void *ctx) { ++((struct log *)ctx)->uses.released; }

void host_log(void) {
  const idgen_log_t with_release = {.struct_size = sizeof with_release, .write = write_log, .release = release_log};
  const idgen_log_t without = {.struct_size = sizeof without, .write = write_log};
  RELEASED struct log log, other;
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  memset(&log, 0, sizeof log);
  memset(&other, 0, sizeof other);
  idgen_config_t *config = config_with("store", "memory:log", "worker", "2", "on_clock_back", "continue", NULL);
  CHECK_ERR(IDGEN_OK, idgen_config_set_log(config, &with_release, &other, &err));
  ++other.uses.given;
  CHECK_ERR(IDGEN_OK, idgen_config_set_log(config, &with_release, &log, &err));
  ++log.uses.given;
  CHECK(other.uses.released == 1);
  idgen_t *g = on_clock(&clock, config);
  uint64_t id = 0;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK(log.lines == 0);
  clock.now_ns -= 5 * MS;
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK(log.lines == 1 && log.warnings == 1 && strstr(log.last, "set back") && strstr(log.last, "5 ms"));
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  CHECK(log.lines == 1); /* once, not for every id */
  CHECK(log.uses.released == 0);
  idgen_destroy(g);
  wait_until_released(&log);
  CHECK(log.uses.released == 1 && log.lines == 1);
  /* Nobody needs to be told when it goes. */
  config = config_with("store", "memory:log", "worker", "2", NULL);
  CHECK_ERR(IDGEN_OK, idgen_config_set_log(config, &without, NULL, &err));
  idgen_config_destroy(config);
}
