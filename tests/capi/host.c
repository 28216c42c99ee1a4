#define _GNU_SOURCE
#include "host.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"

static int64_t now_ns(void *ctx) { return ((struct clock *)ctx)->now_ns; }
static void sleep_ns(void *ctx, uint64_t ns) {
  struct clock *clock = ctx;
  clock->slept_ns += (int64_t)ns;
  if (!clock->frozen) clock->now_ns += (int64_t)ns;
}
static void release_clock(void *ctx) { ++((struct clock *)ctx)->uses.released; }

void wait_until_released(const void *part) {
  const struct uses *uses = part;
  const struct timespec pause = {0, MS};
  for (int i = 0; i < 60000 && uses->released < uses->given; ++i) nanosleep(&pause, NULL);
  CHECK(uses->released == uses->given);
}

idgen_config_t *use_clock(idgen_config_t *config, struct clock *clock) {
  const idgen_clock_t vtable = {
      .struct_size = sizeof vtable, .now_ns = now_ns, .sleep_ns = sleep_ns, .release = release_clock};
  CHECK_ERR(IDGEN_OK, idgen_config_set_clock(config, &vtable, clock, &err));
  ++clock->uses.given;
  return config;
}

static idgen_status_t fail(idgen_status_t status, idgen_error_t *err) {
  snprintf(err->message, sizeof err->message, "the test's store fails with %d", status);
  return status;
}

static idgen_status_t segment_take(void *ctx, const idgen_segment_request_t *request, idgen_segment_t *segment,
                                   idgen_error_t *err) {
  struct store *store = ctx;
  ++store->takes;
  err->cause = store->cause;
  err->retry_after_ns = store->retry_after_ns;
  if (store->fail_takes) return fail(store->fail_takes, err);
  segment->first = store->max_id + 1;
  if (store->own_count) {
    store->last_segment_request = *request;
    snprintf(store->holder, sizeof store->holder, "%s, asked by %s/%s", request->holder, request->name_space,
             request->tag);
    segment->count = store->own_count;
  }
  store->max_id += segment->count;
  return IDGEN_OK;
}

static idgen_status_t segment_return(void *ctx, const char *name_space, const char *tag, uint64_t last, uint64_t unused,
                                     idgen_error_t *err) {
  struct store *store = ctx;
  (void)name_space, (void)tag;
  ++store->returns;
  if (store->fail_returns) return fail(store->fail_returns, err);
  if (store->max_id == last) store->max_id = last - unused;
  store->returned_unused += unused;
  return IDGEN_OK;
}

static idgen_status_t window_take(void *ctx, const idgen_window_request_t *request, idgen_window_t *window,
                                  idgen_error_t *err) {
  struct store *store = ctx;
  ++store->takes;
  store->last_request = *request;
  snprintf(store->holder, sizeof store->holder, "%s", request->holder);
  snprintf(store->format, sizeof store->format, "%s", request->format);
  if (store->fail_takes) return fail(store->fail_takes, err);
  if (request->fence != 0 && (request->fence != store->fence || memcmp(request->owner, store->owner, 16) != 0)) {
    return fail(IDGEN_E_WORKER_BUSY, err);
  }
  const int64_t start = store->hw > request->now_ms ? store->hw : request->now_ms;
  if (start > request->max_start_ms) return fail(IDGEN_E_CLOCK_BACK, err);
  if (request->fence == 0) ++store->fence;
  memcpy(store->owner, request->owner, 16);
  window->start_ms = start;
  window->end_ms = start + request->min_ms > request->now_ms + request->width_ms ? start + request->min_ms
                                                                                 : request->now_ms + request->width_ms;
  window->fence = store->fence;
  store->hw = window->end_ms;
  return IDGEN_OK;
}

static idgen_status_t window_return(void *ctx, const char *name_space, uint64_t worker, uint64_t fence, int64_t end_ms,
                                    int64_t used_ms, idgen_error_t *err) {
  struct store *store = ctx;
  (void)name_space, (void)worker;
  ++store->returns;
  if (store->fail_returns) return fail(store->fail_returns, err);
  if (fence != store->fence) return fail(IDGEN_E_WORKER_BUSY, err);
  store->returned_to = used_ms;
  if (store->hw == end_ms) store->hw = used_ms;
  return IDGEN_OK;
}

static void release_store(void *ctx) { ++((struct store *)ctx)->uses.released; }

idgen_config_t *use_store(idgen_config_t *config, struct store *store) {
  const idgen_store_t vtable = {.struct_size = sizeof vtable,
                                .segment_take = segment_take,
                                .segment_return = segment_return,
                                .window_take = window_take,
                                .window_return = window_return,
                                .release = release_store};
  CHECK_ERR(IDGEN_OK, idgen_config_set_store(config, &vtable, store, &err));
  ++store->uses.given;
  return config;
}
