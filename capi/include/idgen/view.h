/*
 * Drawing ids without a call.
 *
 * A call across a language's border can cost many times what an id costs. But an id is one atomic step and two
 * comparisons on words in memory, which every language can do by itself. A view says where the words are. For C and
 * C++, inline functions at the end of this header do what is said here:
 *
 *     idgen_view_t view = IDGEN_VIEW_INIT;
 *     if (idgen_view(orders, &view, &err)) ...
 *     for (;;) if (idgen_view_next(orders, &view, &id, &err)) ...
 *
 * They need C11 or C++17, and gcc or clang.
 *
 * IDGEN_VIEW_COUNTER, of segments:
 *
 *     w = *view->words;                          // each time: the library moves the words
 *     n = fetch_add(&w->next, 1, acquire);
 *     if (n < load(&w->limit, acquire) && n >= load(&w->first, relaxed)) the id is n;
 *     else idgen_draw(generator, ...) with IDGEN_DRAW_DRAWN and n, which may be the id: no other caller draws it
 *
 * IDGEN_VIEW_CLOCK, of snowflakes; `now` is the system's clock in Unix ms:
 *
 *     tick = (now - view->epoch_unix_ms) / view->tick_ms;
 *     if (now < view->epoch_unix_ms || tick > view->max_tick) idgen_next(...);
 *     w = *view->words;                          // each time
 *     floor = tick << view->sequence_bits;  ceiling = floor + ((load(&w->slack, relaxed) + 1) << view->sequence_bits);
 *     seen = load(&w->next, acquire);
 *     again: n = seen >= floor ? seen : floor + (seen & view->carry_mask);
 *     if (n >= min(load(&w->limit, acquire), ceiling)) idgen_next(...);
 *     over = n - seen;                           // numbers that no call draws: idgen_stats counts ids by them
 *     if (over) fetch_add(&w->skipped, over, relaxed);
 *     if (!compare_exchange(&w->next, &seen, n + 1, acq_rel, acquire)) {
 *       if (over) fetch_sub(&w->skipped, over, relaxed);
 *       goto again;
 *     }
 *     the id is (n >> view->sequence_bits) << view->time_shift | load(&w->fixed, relaxed)
 *               | (n & ((1 << view->sequence_bits) - 1)) << view->sequence_shift;
 *
 * slack + 1 may be 0 or below, as a number of two's complement: then nothing is drawn here.
 *
 * If the counter of IDGEN_VIEW_CLOCK stands in the present tick already, n is seen, whatever slack is: a comparison of
 * seen >> sequence_bits with the tick takes the place of those with floor and ceiling.
 *
 * In a language in which each read costs, and in which no process forks, a view that is IDGEN_VIEW_LASTING can be
 * remembered: the words (w), and of them limit (acquire) and then first, as they were once. A caller that draws a
 * number from first on and below limit from these words may issue it, whatever has become of the range since. But a
 * limit falls while the store does not answer, to say when to ask it again. So look at version some times in a range:
 * it changes whenever limit or first does. If it has changed, take the steps above once, and remember the new values.
 *
 * These are the library's own steps, so both may draw at the same time, with the same guarantees, in a forked child
 * too. The caller passes on a number drawn outside of the range at once, in the process that drew it, and only once.
 * The library does not use a number that no caller can have drawn. A caller that changes a word in any other way, or
 * passes on a number that it has used, causes ids to be issued twice.
 */
#ifndef IDGEN_VIEW_H
#define IDGEN_VIEW_H

#include <time.h>

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Protocols. Any other is one that this header does not know: call idgen_next instead. */
#define IDGEN_VIEW_COUNTER 1
#define IDGEN_VIEW_CLOCK 2

/* A flag: what was open once is not taken back while the words are in use (segment.max_age = 0). */
#define IDGEN_VIEW_LASTING 1

typedef struct idgen_words {
  uint64_t next; /* a caller changes this one and the next, and no other */
  uint64_t skipped;
  uint64_t reserved1[6];
  uint64_t limit;
  uint64_t first;
  uint64_t reserved2;
  uint64_t version;
  uint64_t reserved3[4];
  uint64_t slack;
  uint64_t fixed;
} idgen_words_t;

typedef struct idgen_view {
  uint32_t struct_size;
  uint32_t protocol;           /* IDGEN_VIEW_* */
  idgen_words_t *const *words; /* both as long as the generator: until idgen_destroy, idgen_close does not end it */
  int64_t epoch_unix_ms;       /* from here on: IDGEN_VIEW_CLOCK, else 0 */
  uint64_t tick_ms;
  uint64_t max_tick;
  uint64_t carry_mask;
  uint32_t sequence_bits;
  uint32_t sequence_shift;
  uint32_t time_shift;
  uint32_t flags; /* IDGEN_VIEW_LASTING, or 0 */
} idgen_view_t;

#define IDGEN_VIEW_INIT \
  { (uint32_t)sizeof(idgen_view_t), 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

/* What a caller needs to draw by itself.
 * Errors: IDGEN_E_UNSUPPORTED if the ids do not come from one counter (order = relaxed, segment.stride, ids with an
 * owner, serials with a date, sequence_start = random) or by a clock of the host, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_view(const idgen_t *generator, idgen_view_t *view, idgen_error_t *err);

/* One id of IDGEN_VIEW_COUNTER, or 0 and in *drawn what goes into a request with IDGEN_DRAW_DRAWN. */
static inline int idgen_view_counter(const idgen_view_t *view, uint64_t *drawn) {
  idgen_words_t *words = __atomic_load_n(view->words, __ATOMIC_CONSUME);
  *drawn = __atomic_fetch_add(&words->next, 1, __ATOMIC_ACQUIRE);
  return *drawn < __atomic_load_n(&words->limit, __ATOMIC_ACQUIRE) &&
         *drawn >= __atomic_load_n(&words->first, __ATOMIC_RELAXED);
}

/* One id of IDGEN_VIEW_CLOCK at this moment, or 0: call idgen_next. now_unix_ms: the system's clock. */
static inline int idgen_view_clock(const idgen_view_t *view, int64_t now_unix_ms, uint64_t *id) {
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
static inline idgen_status_t idgen_view_next(idgen_t *generator, const idgen_view_t *view, uint64_t *id,
                                             idgen_error_t *err) {
  if (view->protocol == IDGEN_VIEW_COUNTER) {
    if (idgen_view_counter(view, id)) return IDGEN_OK;
    idgen_draw_t draw = IDGEN_DRAW_INIT;
    draw.flags = IDGEN_DRAW_DRAWN, draw.n = 1, draw.ids = id, draw.drawn = *id;
    return idgen_draw(generator, &draw, err);
  }
  if (view->protocol == IDGEN_VIEW_CLOCK) {
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    if (idgen_view_clock(view, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, id)) return IDGEN_OK;
  }
  return idgen_next(generator, id, err);
}

#ifdef __cplusplus
}
#endif

#endif
