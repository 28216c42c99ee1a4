/*
 * idgen_next without a call, as an inline function: for whoever draws so many ids that the call itself counts. See
 * "drawing without a call" in idgen.h.
 *
 *     idgen_view_t view = IDGEN_VIEW_INIT;
 *     if (idgen_view(orders, &view, &err)) ...
 *     for (;;) if (idgen_draw(orders, &view, &id, &err)) ...
 *
 * C11 or C++17, gcc or clang, Linux.
 */
#ifndef IDGEN_DRAW_H
#define IDGEN_DRAW_H

#include <time.h>

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One id of IDGEN_VIEW_COUNTER, or 0 and in *drawn what idgen_next_drawn goes on with. */
static inline int idgen_draw_counter(const idgen_view_t *view, uint64_t *drawn) {
  idgen_words_t *words = __atomic_load_n(view->words, __ATOMIC_CONSUME);
  *drawn = __atomic_fetch_add(&words->next, 1, __ATOMIC_ACQUIRE);
  return *drawn < __atomic_load_n(&words->limit, __ATOMIC_ACQUIRE) &&
         *drawn >= __atomic_load_n(&words->first, __ATOMIC_RELAXED);
}

/* One id of IDGEN_VIEW_CLOCK at this moment, or 0: call idgen_next. now_unix_ms: the system's clock. */
static inline int idgen_draw_clock(const idgen_view_t *view, int64_t now_unix_ms, uint64_t *id) {
  uint64_t tick, floor, ceiling, seen, from, limit, sequence, over = 0;
  idgen_words_t *words;
  if (now_unix_ms < view->epoch_unix_ms) return 0;
  tick = (uint64_t)(now_unix_ms - view->epoch_unix_ms);
  if (view->tick_ms != 1) tick /= view->tick_ms;
  if (tick > view->max_tick) return 0;
  words = __atomic_load_n(view->words, __ATOMIC_CONSUME);
  floor = tick << view->sequence_bits;
  ceiling = floor + ((__atomic_load_n(&words->slack, __ATOMIC_RELAXED) + 1) << view->sequence_bits);
  seen = __atomic_load_n(&words->next, __ATOMIC_ACQUIRE);
  do {
    if (over != 0) __atomic_fetch_sub(&words->skipped, over, __ATOMIC_RELAXED);
    from = seen >= floor ? seen : floor + (seen & view->carry_mask);
    limit = __atomic_load_n(&words->limit, __ATOMIC_ACQUIRE);
    if (from >= (limit < ceiling ? limit : ceiling)) return 0;
    over = from - seen;
    if (over != 0) __atomic_fetch_add(&words->skipped, over, __ATOMIC_RELAXED);
  } while (!__atomic_compare_exchange_n(&words->next, &seen, from + 1, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  sequence = from & (((uint64_t)1 << view->sequence_bits) - 1);
  *id = (from >> view->sequence_bits) << view->time_shift | sequence << view->sequence_shift |
        __atomic_load_n(&words->fixed, __ATOMIC_RELAXED);
  return 1;
}

/* idgen_next, with a view of the same generator. A view of a later protocol is drawn from by the call.
 * Errors: as idgen_next. Blocks: as idgen_next. Threads: any. */
static inline idgen_status_t idgen_draw(idgen_t *generator, const idgen_view_t *view, uint64_t *id,
                                        idgen_error_t *err) {
  if (view->protocol == IDGEN_VIEW_COUNTER) {
    if (idgen_draw_counter(view, id)) return IDGEN_OK;
    return idgen_next_drawn(generator, *id, id, err);
  }
  if (view->protocol == IDGEN_VIEW_CLOCK) {
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    if (idgen_draw_clock(view, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, id)) return IDGEN_OK;
  }
  return idgen_next(generator, id, err);
}

#ifdef __cplusplus
}
#endif

#endif
