/*
 * idgen: unique, ordered ids, made inside the process that needs them.
 *
 *     #include <idgen/idgen.h>
 *     #include <stdio.h>
 *
 *     int main(void) {
 *       idgen_error_t err = IDGEN_ERROR_INIT;
 *       idgen_t *orders = NULL;
 *       if (idgen_open("idgen.toml", "orders", &orders, &err)) return fprintf(stderr, "%s\n", err.message), 1;
 *       uint64_t id;
 *       if (idgen_next(orders, &id, &err) == IDGEN_OK) printf("%llu\n", (unsigned long long)id);
 *       idgen_close(orders, NULL);
 *       idgen_destroy(orders);
 *     }
 *
 * Every id is drawn from a durable reservation: a range of numbers (a segment) or of a worker's time (a window). The
 * store commits a range to this generator alone before its first id is issued. That, and not a clock or a lease, is why
 * no id is issued twice.
 *
 * THE CONTRACT
 *
 *  1. Handles. idgen_t, idgen_config_t, idgen_layout_t, idgen_route_table_t, idgen_router_t and idgen_cipher_t are
 *     opaque. A function with a parameter `**out` makes one: the caller owns it and frees it with the matching
 *     *_destroy. A handle of the wrong type gives IDGEN_E_HANDLE, never a crash.
 *  2. Memory. Nothing else changes owners: results go to the caller's memory, arguments are copied before the call
 *     returns, and every `const char *` returned is static.
 *  3. NULL. A NULL handle or a NULL required pointer gives IDGEN_E_HANDLE or IDGEN_E_ARGUMENT. `err` may always be
 *     NULL. *_destroy(NULL) does nothing.
 *  4. Strings are NUL-terminated UTF-8. Text results take a buffer and its size: *size is the capacity before the call
 *     and the size needed, NUL included, after it. A buffer that is too small gives IDGEN_E_BUFFER, and only *size is
 *     written.
 *  5. Errors. Every call that can fail returns an idgen_status_t: IDGEN_OK is 0, all others are failures. Each function
 *     lists its own. In these lists "any" means IDGEN_E_HANDLE, IDGEN_E_ARGUMENT, IDGEN_E_NO_MEMORY and
 *     IDGEN_E_INTERNAL, and a range such as 60..79 means the statuses of status.h with these numbers. A failure fills
 *     `err`, if given: what was asked, what was found, what is allowed, what to do. After a success its content is
 *     meaningless. `err` is always the last parameter; only idgen_try_next and its kind have none. There is no
 *     thread-local "last error". No C++ exception leaves the library; it never prints, aborts, exits or reads the
 *     environment. (One exception: if memory runs out inside the TOML reader, the reader ends the process.)
 *  6. Public structs begin with struct_size, which the side that fills the struct in sets to its sizeof. They grow only
 *     at the end; the library writes no more than struct_size bytes. Use the *_INIT macros. Members named `reserved`
 *     are 0. An idgen_error_t of zeros is filled too, and says what to set.
 *  7. Threads. "Threads: any" means that any number of threads may call the function at the same time, also on the same
 *     handle. This holds for every call on an idgen_t, an idgen_router_t or an idgen_cipher_t but *_destroy, and for
 *     every call on an idgen_layout_t or an idgen_route_table_t, which never change. "Threads: one" means one thread at
 *     a time per handle, as for an idgen_config_t. No call may use a handle while it is being destroyed, or afterwards;
 *     call idgen_close to stop the others first.
 *  8. Blocking. A call marked "Blocks: no" never waits. The others wait for what they name: a store, the clock, a file,
 *     another thread's refill. The property wait_max limits the wait. A locked store adds at most twice store_timeout
 *     where the calling thread itself asks the store: create, open, close, destroy, a child's first call, and any call
 *     while no thread can be started; a name server that does not answer, what the C library's resolver takes. A
 *     thread is cancelled (pthread_cancel) when it enters a call that blocks, never within. No call is safe in a
 *     signal handler.
 *  9. Fork. A child process never issues its parent's ids. Its first call takes the slow path automatically, also after
 *     a raw clone(). A segment generator then draws a new segment (on_fork = reacquire) or returns IDGEN_E_FORKED
 *     (on_fork = error). A fixed worker, the memory store and a store of the host always return IDGEN_E_FORKED, because
 *     the parent still owns them. The child of a raw clone() made while another thread was inside the store gets
 *     IDGEN_E_FORKED too, because nobody releases that thread's locks there. idgen_destroy in the child frees memory
 *     and leaves the parent's reservations alone. Not covered: a fork made by a signal handler that interrupted a call
 *     on the same handle, and a byte-wise clone of a running machine without idgen_reset.
 * 10. Callbacks (clock, store, log) may be called from any thread, the library's own included, and from several at
 *     once. No lock of the library is held meanwhile. They must not throw, longjmp, or call the same generator; other
 *     generators are fine. `release` is called exactly once.
 * 11. Versions. Within one IDGEN_ABI_VERSION, symbols are added, never changed or removed. Everything is there since
 *     0.1 unless stated otherwise.
 *
 * Ids are 64-bit. All presets except those marked unsigned keep the top bit clear, so they fit a signed 64-bit column.
 * The numbers of status codes, fields and encodings are fixed for ever.
 *
 * Names. `epoch` is what time 0 of a layout means. `fence` is the number that distinguishes an owner of a worker from
 * the one before. `step` is how many numbers a grant has. `stride` is the distance from one id to the next. Instants in
 * results end in _unix_ms. Between the library and a store of the host they are Unix ms as well, and are called start,
 * end, now and used.
 */
#ifndef IDGEN_H
#define IDGEN_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"
#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IDGEN_API __attribute__((visibility("default")))
#define IDGEN_NODISCARD __attribute__((warn_unused_result))
#else
#define IDGEN_API
#define IDGEN_NODISCARD
#endif

/* ------------------------------------------------------------------------------------------------------ types */

typedef struct idgen_generator idgen_t;     /* a generator */
typedef struct idgen_config idgen_config_t; /* a configuration being built */
typedef struct idgen_layout idgen_layout_t; /* the bit fields of an id, without a generator */
typedef struct idgen_cipher idgen_cipher_t; /* hides ids, and reveals them */

typedef struct idgen_route_table idgen_route_table_t; /* which shard has which ids, as data */
typedef struct idgen_router idgen_router_t;           /* the table of routes in force */

typedef struct idgen_error {
  uint32_t struct_size;    /* sizeof(idgen_error_t) */
  idgen_status_t status;   /* what the call returned */
  uint64_t retry_after_ns; /* when a retry can first succeed; 0 = unknown, or retrying cannot help */
  char message[496];       /* NUL-terminated UTF-8, cut at a character if longer */
  uint64_t cause;          /* if the host's own store failed: the number that the store left here; else 0 */
} idgen_error_t;

#define IDGEN_ERROR_INIT \
  { (uint32_t)sizeof(idgen_error_t), 0, 0, "", 0 }

/* Cancels a wait, for hosts with interrupts or contexts. While a function that takes one waits, it calls cancelled(ctx)
 * about every 20 ms on the calling thread, with no lock held. Nonzero ends the wait with IDGEN_E_CANCELLED. NULL: the
 * wait cannot be cancelled. */
typedef int (*idgen_cancelled_fn)(void *ctx);

/* ----------------------------------------------------------------------------------------- create, next, close */

/* Makes a generator from the table [name] of a TOML file: idgen_config_create, idgen_config_load and idgen_create in
 * one call.
 * Errors: as idgen_config_load and idgen_create. Blocks: on the file, then as idgen_create. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_open(const char *toml_path, const char *name, idgen_t **out,
                                                    idgen_error_t *err);

/* Makes a generator: checks the whole configuration, opens the store, takes the first reservation. The configuration is
 * copied: it can be changed, reused or destroyed afterwards.
 *
 * A second generator on the same snowflake worker: in this process it shares the state of the first if the
 * configurations are equal, else it gets IDGEN_E_WORKER_BUSY. In another process it gets IDGEN_E_WORKER_BUSY while the
 * first lives.
 * Errors: IDGEN_E_VALUE, IDGEN_E_LAYOUT, IDGEN_E_LIFETIME, IDGEN_E_UNSUPPORTED, IDGEN_E_WORKER_BUSY, 40..79, from
 * IDGEN_E_HOST on, any. Blocks: on the store; waits for one that is down, up to wait_max. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_create(const idgen_config_t *config, idgen_t **out, idgen_error_t *err);

/* idgen_create whose wait can be cancelled. A thread of the library asks the store, and calls the host's own clock,
 * store and log. What the store still grants after IDGEN_E_CANCELLED is given back.
 * Errors: as idgen_create, IDGEN_E_CANCELLED. Blocks: as idgen_create, until cancelled. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_create_wait(const idgen_config_t *config, idgen_t **out,
                                                           idgen_cancelled_fn cancelled, void *ctx, idgen_error_t *err);

/* Draws one id.
 * Errors: IDGEN_E_CLOSED, IDGEN_E_FORKED, IDGEN_E_WORKER_BUSY (another process has taken the worker),
 * IDGEN_E_EXHAUSTED, IDGEN_E_OVERLOADED, 40..79, from IDGEN_E_HOST on, any. Blocks, up to wait_max: for the next tick
 * when this tick's sequence is used up, for a clock that was set back (on_clock_back = wait), for the store when the
 * reservation is used up. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next(idgen_t *generator, uint64_t *id, idgen_error_t *err);

/* Draws one id at once or not at all. The only callback it calls is a clock set by idgen_config_set_clock. When the
 * range is used up it starts a refill in the background. After IDGEN_E_WOULD_BLOCK call idgen_next, not this one again:
 * only a call that may wait finds out what is wrong.
 * Errors: IDGEN_E_WOULD_BLOCK, and those of idgen_next that are not retryable. Blocks: no, not even on another call.
 * Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_try_next(idgen_t *generator, uint64_t *id);

/* Draws n ids into ids[0..n-1], strictly increasing with order = strict; n = 0 does nothing. *written is always set: on
 * failure the first *written ids are real, and nobody else will ever get them.
 * Errors: as idgen_next. Blocks: as idgen_next, wait_max counting from the last progress. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_batch(idgen_t *generator, uint64_t *ids, size_t n, size_t *written,
                                                          idgen_error_t *err);

/* idgen_next_batch whose wait can be cancelled; with n = 1, idgen_next whose wait can be cancelled.
 * Errors: as idgen_next, IDGEN_E_CANCELLED. Blocks: as idgen_next_batch, until cancelled. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_batch_wait(idgen_t *generator, uint64_t *ids, size_t n,
                                                               size_t *written, idgen_cancelled_fn cancelled, void *ctx,
                                                               idgen_error_t *err);

/* What idgen_try_next is to idgen_next: draws as many of the n ids as there are at once. *written is always right.
 * Errors: as idgen_try_next; IDGEN_E_WOULD_BLOCK if that is not all n. Blocks: no, not even on another call. Threads:
 * any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_try_next_batch(idgen_t *generator, uint64_t *ids, size_t n,
                                                              size_t *written);

/* idgen_next_batch_wait with n = 1, for a caller that has waited before: waited_ns count towards wait_max. For a
 * language whose threads are not the system's, many of which may wait: one thread draws for all of them, in their
 * order, and blocks here.
 * Errors: as idgen_next, IDGEN_E_CANCELLED. Blocks: as idgen_next, until cancelled. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_waited(idgen_t *generator, uint64_t waited_ns, uint64_t *id,
                                                           idgen_cancelled_fn cancelled, void *ctx, idgen_error_t *err);

/* Waits until a call for ids may find some at once, and draws none. For the same kind of caller: one that has waited
 * elsewhere for other calls which wait here learns whether to go on, or why not.
 * Errors: as idgen_next, IDGEN_E_CANCELLED. Blocks: as idgen_next, until cancelled. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_wait_for_room(idgen_t *generator, uint64_t waited_ns,
                                                             idgen_cancelled_fn cancelled, void *ctx,
                                                             idgen_error_t *err);

/* The property wait_max in ns: how long a call may wait. 0 also for a handle that is none.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API uint64_t idgen_wait_max_ns(const idgen_t *generator);

/* A run of ids that the host counts off by itself: first, first + stride, ..., count of them. */
typedef struct idgen_block {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t first;
  uint64_t count;  /* 1 <= count <= want: what is left of the reservation (segment) or of the tick (snowflake) */
  uint64_t stride; /* from one id to the next: 1 where the sequence is the lowest field */
} idgen_block_t;

#define IDGEN_BLOCK_INIT \
  { (uint32_t)sizeof(idgen_block_t), 0, 0, 0, 0 }

/* Draws a block of at most `want` ids, at least 1; want = 0 gives IDGEN_E_ARGUMENT. The ids of a block belong to the
 * caller; those it does not use are lost.
 * Errors: as idgen_next. Blocks: as idgen_next. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_block(idgen_t *generator, uint64_t want, idgen_block_t *block,
                                                          idgen_error_t *err);

/* What idgen_try_next is to idgen_next.
 * Errors: as idgen_try_next. Blocks: no, not even on another call. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_try_next_block(idgen_t *generator, uint64_t want, idgen_block_t *block);

/* idgen_next_block whose wait can be cancelled.
 * Errors: as idgen_next, IDGEN_E_CANCELLED. Blocks: as idgen_next, until cancelled. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_block_wait(idgen_t *generator, uint64_t want, idgen_block_t *block,
                                                               idgen_cancelled_fn cancelled, void *ctx,
                                                               idgen_error_t *err);

/* ------------------------------------------------------------------------------------------ drawing without a call
 *
 * A call across a language's border can cost many times what an id costs. But an id is one atomic step and two
 * comparisons on words in memory, which every language can do by itself. A view says where the words are. For C and C++
 * <idgen/draw.h> has what is said here as inline functions.
 *
 * IDGEN_VIEW_COUNTER, of segments:
 *
 *     w = *view->words;                          // each time: the library moves the words
 *     n = fetch_add(&w->next, 1, acquire);
 *     if (n < load(&w->limit, acquire) && n >= load(&w->first, relaxed)) the id is n;
 *     else idgen_next_drawn(generator, n, ...) or idgen_try_next_drawn(generator, n, ...);
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
 *     over = n - seen;                           // numbers that nobody draws: idgen_stats counts ids by them
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
 * remembered: the words (w), and of them limit (acquire) and then first, as they were once. Whoever draws a number from
 * first on and below limit from these words may issue it, whatever has become of the range since. But a limit falls
 * while the store does not answer, to say when to ask it again. So look at version some times in a range: it changes
 * whenever limit or first does. If it has, go by the steps above once, and remember anew.
 *
 * These are the library's own steps, so both may draw at the same time, with the same guarantees, in a forked child
 * too. A number drawn outside of the range is passed on at once, in the process that drew it, and once; one that nobody
 * can have drawn is not used. Whoever changes a word otherwise, or passes on a number that it has used, makes ids that
 * are issued twice. */

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

/* idgen_next for whoever has drawn `drawn` by IDGEN_VIEW_COUNTER, outside of the open range: nobody else will draw that
 * number, so it may be the id.
 * Errors: as idgen_next; IDGEN_E_ARGUMENT if the view is none of a counter. Blocks: as idgen_next. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_drawn(idgen_t *generator, uint64_t drawn, uint64_t *id,
                                                          idgen_error_t *err);

/* What idgen_try_next is to idgen_next.
 * Errors: as idgen_try_next; IDGEN_E_ARGUMENT if the view is none of a counter. Blocks: no, not even on another call.
 * Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_try_next_drawn(idgen_t *generator, uint64_t drawn, uint64_t *id);

/* ------------------------------------------------------------------------------------------ ids with an owner
 *
 * If the layout has a gene (kind = business, or layout = order), each id has an owner, and the gene comes from it: ids
 * of one owner live in one shard. These calls then take the place of idgen_next and the others above, which return
 * IDGEN_E_UNSUPPORTED; where the layout has none, it is the other way round. Ids of one gene rise.
 *
 * An owner is a string of at least one byte. An integer is the owner that its decimal text is: 42 and "42" are one. */

typedef struct idgen_owner {
  const void *data;
  size_t size;
} idgen_owner_t;

/* An id of 8 or of 16 bytes, big-endian, so that memcmp orders those of one length. The length tells them apart, not
 * the value: keep it with the bytes. 16: kind = business with a layout of 127 bits, or with on_full = widen once 8
 * bytes are used up. */
typedef struct idgen_wide_id {
  uint32_t size; /* 8 or 16 */
  uint32_t reserved;
  uint8_t bytes[16]; /* of which `size` count; the rest are 0 */
} idgen_wide_id_t;

#define IDGEN_WIDE_ID_INIT \
  {                        \
    0, 0, { 0 }            \
  }

/* Draws one id of 8 bytes for an owner.
 * Errors: as idgen_next; IDGEN_E_VALUE (the owner is empty, or no integer where gene = mod), IDGEN_E_UNSUPPORTED (no
 * gene, or ids of 16 bytes), IDGEN_E_EXHAUSTED (also: from here on ids have 16 bytes). Blocks: as idgen_next. Threads:
 * any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_for(idgen_t *generator, const void *owner, size_t size,
                                                        uint64_t *id, idgen_error_t *err);

/* The same for an owner that is an integer.
 * Errors: as idgen_next_for. Blocks: as idgen_next. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_for_int(idgen_t *generator, int64_t owner, uint64_t *id,
                                                            idgen_error_t *err);

/* What idgen_try_next is to idgen_next.
 * Errors: IDGEN_E_WOULD_BLOCK, and those of idgen_next_for that are not retryable. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_try_next_for(idgen_t *generator, const void *owner, size_t size,
                                                            uint64_t *id);

/* Draws n ids. owner_count = 1: all for that owner, rising. owner_count = n: one for each owner. *written is always
 * set: on failure the first *written ids are real. `cancelled` may be NULL.
 * Errors: as idgen_next_for; IDGEN_E_ARGUMENT (another owner_count), IDGEN_E_CANCELLED. Blocks: as idgen_next_batch,
 * until cancelled. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_batch_for(idgen_t *generator, const idgen_owner_t *owners,
                                                              size_t owner_count, uint64_t *ids, size_t n,
                                                              size_t *written, idgen_cancelled_fn cancelled, void *ctx,
                                                              idgen_error_t *err);

/* The same for owners that are integers.
 * Errors: as idgen_next_batch_for. Blocks: as idgen_next_batch_for. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_batch_for_ints(idgen_t *generator, const int64_t *owners,
                                                                   size_t owner_count, uint64_t *ids, size_t n,
                                                                   size_t *written, idgen_cancelled_fn cancelled,
                                                                   void *ctx, idgen_error_t *err);

/* idgen_next_batch_for, for ids of either length.
 * Errors: as idgen_next_batch_for. Blocks: as idgen_next_batch_for. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_wide_for(idgen_t *generator, const idgen_owner_t *owners,
                                                             size_t owner_count, idgen_wide_id_t *ids, size_t n,
                                                             size_t *written, idgen_cancelled_fn cancelled, void *ctx,
                                                             idgen_error_t *err);

/* The same for owners that are integers.
 * Errors: as idgen_next_batch_for. Blocks: as idgen_next_batch_for. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_wide_for_ints(idgen_t *generator, const int64_t *owners,
                                                                  size_t owner_count, idgen_wide_id_t *ids, size_t n,
                                                                  size_t *written, idgen_cancelled_fn cancelled,
                                                                  void *ctx, idgen_error_t *err);

/* --------------------------------------------------------------------------------------------------- closing */

/* Stops the handle: waiting and later calls return IDGEN_E_CLOSED. The last handle on a reservation gives the unused
 * rest back to the store. What the store does not take back is never issued by anyone: a gap and a warning in the log,
 * not an error, since the work is done. Closing again does nothing.
 * Errors: any. Blocks: on the store. Threads: any. */
IDGEN_API idgen_status_t idgen_close(idgen_t *generator, idgen_error_t *err);

/* idgen_close whose wait can be cancelled. After IDGEN_E_CANCELLED the handle is closed, and a thread of the library
 * still gives the rest back.
 * Errors: IDGEN_E_CANCELLED, any. Blocks: on the store, until cancelled. Threads: any. */
IDGEN_API idgen_status_t idgen_close_wait(idgen_t *generator, idgen_cancelled_fn cancelled, void *ctx,
                                          idgen_error_t *err);

/* Frees a generator, after closing it if it is still open.
 * Errors: none. Blocks: as idgen_close, if it was not closed. Threads: the caller makes sure that no other call on the
 * handle is running. */
IDGEN_API void idgen_destroy(idgen_t *generator);

/* ------------------------------------------------------------------------------------------- copies of a process
 *
 * A checkpoint that is restored twice, a snapshot of the machine, a clone of it: each copy of a process has everything
 * that the process had reserved. (A child made by fork needs none of this.) Between idgen_quiesce and idgen_reset a
 * copy may be made; each copy then calls idgen_reset. Other threads should make no calls meanwhile: an id that was
 * drawn before and not yet returned is returned in each copy. A store that is copied too, as a SQLite file on the
 * machine's disk, grants the same numbers again in each copy: use one outside.
 *
 * Where the machine says that it was restored or cloned (the VM generation in /dev/vmclock0), each copy does what
 * idgen_reset does by itself, within 100 ms. Until then it may return ids that the original returns too, unless
 * idgen_quiesce was called before. */

/* All generators of this process give back what they have reserved, and their workers, and close their connections.
 * Then calls for ids wait for idgen_reset, up to wait_max, and return IDGEN_E_STORE_UNAVAILABLE. What a store does not
 * take back is a gap, and so is what a store grants to a call that has waited for it longer than wait_max.
 * Errors: any. Blocks: on the stores. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_quiesce(idgen_error_t *err);

/* Nothing that was reserved before is issued any more: each generator starts over with its next call, as another owner.
 * After idgen_quiesce, or in a copy that was made without it; then nothing is given back, because it is also the
 * original's, and a fixed worker is refused (IDGEN_E_WORKER_BUSY) while the original lives.
 * Errors: any. Blocks: on the stores. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_reset(idgen_error_t *err);

/* ---------------------------------------------------------------------------------------------- configuration */

/* Makes an empty configuration: every property at its default.
 * Errors: any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_create(idgen_config_t **out, idgen_error_t *err);

/* Frees a configuration. Generators made from it go on. If it still holds a clock, store or log of the host that no
 * generator uses, their `release` is called.
 * Errors: none. Blocks: no. Threads: the caller makes sure that no other call on the handle is running. */
IDGEN_API void idgen_config_destroy(idgen_config_t *config);

/* Sets one property; docs/configuration.md has the table. Durations are "250ms", "10s", "5m", "2h", "1d", "3y" or a
 * bare number of ms; booleans "true" or "false"; instants RFC 3339 or a number of Unix ms (but
 * not one of 8 to 11 digits, which may be seconds or a date). A failed set changes nothing.
 * Errors: IDGEN_E_UNKNOWN_KEY, IDGEN_E_VALUE, any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_set(idgen_config_t *config, const char *key, const char *value,
                                                          idgen_error_t *err);

/* The value in force for a property, as text: what was set, else the default.
 * Errors: IDGEN_E_UNKNOWN_KEY, IDGEN_E_BUFFER, any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_get(const idgen_config_t *config, const char *key, char *buffer,
                                                          size_t *size, idgen_error_t *err);

/* Sets the properties in the table [name] of a TOML file. Then sets `name` to the table's name and `directory` to the
 * file's folder, so that a relative store path means the same from any working directory. Names of nested tables are
 * joined with dots; hyphens in names stand for underscores. What the environment has for `name` overrides the file
 * (idgen_config_load_environment). Properties set earlier keep their value unless the file or the environment has them;
 * properties set later override both. A failed load changes nothing.
 * Errors: IDGEN_E_CONFIG_FILE (missing, unreadable, malformed, no such table), IDGEN_E_UNKNOWN_KEY, IDGEN_E_VALUE, any.
 * Blocks: on the file. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_load(idgen_config_t *config, const char *toml_path,
                                                           const char *name, idgen_error_t *err);

/* Sets `name`, and the properties that the environment of this process has for it: IDGEN_ORDERS_STORE_TIMEOUT is the
 * property store_timeout of "orders". In names of variables letters are capitals, and all but letters and digits are
 * underscores. An empty variable counts as none. idgen_config_load does this after the file; without a file it is all
 * that is needed.
 * Errors: IDGEN_E_UNKNOWN_KEY (a variable that looks like a property, misspelled), IDGEN_E_VALUE, any. Blocks: no.
 * Threads: one, and no other may change the environment meanwhile. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_load_environment(idgen_config_t *config, const char *name,
                                                                       idgen_error_t *err);

/* The names of the generators in a TOML file, in the file's order, each ended by '\n'.
 * Errors: IDGEN_E_CONFIG_FILE, IDGEN_E_BUFFER, any. Blocks: on the file. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_names(const char *toml_path, char *buffer, size_t *size,
                                                            idgen_error_t *err);

/* A row of the table of properties, from which docs/configuration.md is generated. All strings are static. */
typedef struct idgen_property {
  uint32_t struct_size;
  uint32_t reserved;
  const char *name;          /* "segment.step" */
  const char *type;          /* "integer", "number", "boolean", "duration", "instant", "text", "choice" */
  const char *default_value; /* "" = none */
  const char *range;         /* "1 to 1000000000", "wait | continue | fail"; "" = free */
  const char *unit;          /* "" = none */
  const char *help;          /* one or two sentences */
  const char *since;         /* "0.1" */
} idgen_property_t;

#define IDGEN_PROPERTY_INIT \
  { (uint32_t)sizeof(idgen_property_t), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/* How many properties there are.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API size_t idgen_property_count(void);

/* One property, 0 <= index < idgen_property_count().
 * Errors: IDGEN_E_ARGUMENT (index out of range), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_property_at(size_t index, idgen_property_t *out, idgen_error_t *err);

/* ------------------------------------------------------------------------------------------- decoding, layouts */

/* Which members of idgen_parts_t an id of a layout has, and the `kind` of a field. */
#define IDGEN_FIELD_TIME 1u
#define IDGEN_FIELD_DATACENTER 2u
#define IDGEN_FIELD_WORKER 4u
#define IDGEN_FIELD_PROCESS 8u
#define IDGEN_FIELD_SHARD 16u
#define IDGEN_FIELD_SEQUENCE 32u
#define IDGEN_FIELD_GENE 64u
#define IDGEN_FIELD_VERSION 128u
#define IDGEN_FIELD_SEGMENT 256u
#define IDGEN_FIELD_FIXED 512u

typedef struct idgen_parts {
  uint32_t struct_size;
  uint32_t fields; /* IDGEN_FIELD_*: which members below have a meaning */
  int64_t unix_ms; /* start of the id's tick, ms since 1970-01-01 UTC; decoding only */
  uint64_t time;   /* ticks since the layout's epoch */
  uint64_t datacenter;
  uint64_t worker;
  uint64_t process;
  uint64_t shard;
  uint64_t sequence;
  uint64_t gene;
  uint64_t version;
  uint64_t segment; /* its low 64 bits */
  uint64_t fixed;
  uint64_t segment_high; /* its high bits; 0 but in ids of 16 bytes */
} idgen_parts_t;

#define IDGEN_PARTS_INIT \
  { (uint32_t)sizeof(idgen_parts_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Splits an id by the generator's own layout. A plain segment has one field, `segment`. Works on a closed handle.
 * Errors: IDGEN_E_VALUE (an id of another layout: bits outside it, another constant), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_decode(const idgen_t *generator, uint64_t id, idgen_parts_t *parts,
                                                      idgen_error_t *err);

/* The same for an id of either length: one of 8 bytes by the layout, one of 16 by the layout that ids are widened to.
 * Errors: IDGEN_E_VALUE (a length that the generator does not make, or bits outside the layout), any. Blocks: no.
 * Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_decode_wide(const idgen_t *generator, const idgen_wide_id_t *id,
                                                           idgen_parts_t *parts, idgen_error_t *err);

/* Makes a copy of a generator's layout; the caller destroys it. Works on a closed handle.
 * Errors: any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_of(const idgen_t *generator, idgen_layout_t **out,
                                                         idgen_error_t *err);

/* Makes a layout by preset name ("default", "twitter", ...) or in full ("time:41ms worker:10 sequence:12", most
 * significant field first; "fixed:3=5" is a constant of all ids). epoch: RFC 3339 or Unix ms as text; NULL or "" = the
 * preset's, 1735689600000 (2025-01-01) for a layout in full. A layout whose time is over is accepted: only idgen_create
 * checks the lifetime.
 * Errors: IDGEN_E_LAYOUT, IDGEN_E_VALUE (epoch), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_create(const char *layout, const char *epoch,
                                                             idgen_layout_t **out, idgen_error_t *err);

/* Frees a layout.
 * Errors: none. Blocks: no. Threads: the caller makes sure that no other call on the handle is running. */
IDGEN_API void idgen_layout_destroy(idgen_layout_t *layout);

/* Splits an id.
 * Errors: IDGEN_E_VALUE (an id of another layout: bits outside it, or another constant), IDGEN_E_UNSUPPORTED (a 128-bit
 * layout), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_decode(const idgen_layout_t *layout, uint64_t id,
                                                             idgen_parts_t *parts, idgen_error_t *err);

/* The inverse of idgen_layout_decode: puts an id together from the members that the layout has. Does not read unix_ms
 * and `fields`. `fixed` may be 0 where the layout has a constant. The id is not unique: this is for tests, range
 * queries by time, and data analysis.
 * Errors: IDGEN_E_VALUE (a member too large for its field, or another constant), IDGEN_E_UNSUPPORTED (a 128-bit
 * layout), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_encode(const idgen_layout_t *layout, const idgen_parts_t *parts,
                                                             uint64_t *id, idgen_error_t *err);

/* idgen_layout_decode, for ids of as many bytes as the layout needs, 8 or 16.
 * Errors: IDGEN_E_VALUE (another length, or bits outside the layout), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_decode_wide(const idgen_layout_t *layout,
                                                                  const idgen_wide_id_t *id, idgen_parts_t *parts,
                                                                  idgen_error_t *err);

/* The inverse of it.
 * Errors: IDGEN_E_VALUE (a member too large for its field), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_encode_wide(const idgen_layout_t *layout,
                                                                  const idgen_parts_t *parts, idgen_wide_id_t *id,
                                                                  idgen_error_t *err);

#define IDGEN_GENE_AUTO 0 /* MOD if time is above and the gene is the lowest field, as in the layout order; else HASH */
#define IDGEN_GENE_HASH 1 /* the low bits of XXH64(owner, 0) ^ MurmurHash64A(owner, 0) */
#define IDGEN_GENE_MOD 2  /* the low bits of the owner, an integer from 0 to 2^64 - 1 in decimal */

/* The gene that ids of an owner have in this layout.
 * Errors: IDGEN_E_VALUE (the owner is empty, or no integer where the rule is MOD), IDGEN_E_UNSUPPORTED (the layout has
 * no gene), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_gene(const idgen_layout_t *layout, int32_t rule,
                                                           const void *owner, size_t size, uint64_t *gene,
                                                           idgen_error_t *err);

typedef struct idgen_layout_info {
  uint32_t struct_size;
  uint32_t fields;       /* IDGEN_FIELD_* */
  uint32_t bits;         /* all fields together */
  uint32_t is_unsigned;  /* 1: the top bit of 64 belongs to a field */
  uint32_t is_js_safe;   /* 1: never above 2^53 - 1 */
  uint32_t field_count;  /* for idgen_layout_field_at */
  int64_t epoch_unix_ms; /* what time 0 means */
  int64_t tick_ms;       /* length of a tick; 0 without a time field */
  int64_t first_unix_ms; /* of the first tick */
  int64_t last_unix_ms;  /* of the last tick, its last ms; INT64_MAX if beyond, or without a time field */
  double years_left;     /* from `now` of idgen_layout_info to last_unix_ms; negative: over */
  uint64_t ids_per_tick; /* one generator */
  double ids_per_second; /* one generator */
  uint64_t workers;      /* generators that can run at the same time: all combinations of the node fields */
  char text[160];        /* canonical: "time:41ms worker:10 sequence:12" */
  char preset[32];       /* name of the preset, "" for a layout in full */
} idgen_layout_info_t;

#define IDGEN_LAYOUT_INFO_INIT \
  { (uint32_t)sizeof(idgen_layout_info_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", "" }

/* What a layout can do. years_left counts from now_unix_ms; INT64_MIN = the system's clock.
 * Errors: any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_info(const idgen_layout_t *layout, int64_t now_unix_ms,
                                                           idgen_layout_info_t *out, idgen_error_t *err);

typedef struct idgen_field {
  uint32_t struct_size;
  uint32_t kind; /* one of IDGEN_FIELD_* */
  uint32_t bits;
  uint32_t shift;   /* of its lowest bit */
  const char *name; /* "worker": the member of idgen_parts_t and the key in JSON; static */
} idgen_field_t;

#define IDGEN_FIELD_INIT \
  { (uint32_t)sizeof(idgen_field_t), 0, 0, 0, NULL }

/* One field of a layout, from the most significant on: 0 <= index < field_count of idgen_layout_info.
 * Errors: IDGEN_E_ARGUMENT (index out of range), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_layout_field_at(const idgen_layout_t *layout, size_t index,
                                                               idgen_field_t *out, idgen_error_t *err);

/* How many presets there are.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API size_t idgen_layout_preset_count(void);

/* The name of a preset, 0 <= index < idgen_layout_preset_count(); NULL for an index out of range.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API const char *idgen_layout_preset_at(size_t index);

/* ------------------------------------------------------------------------------------------------------- text */

#define IDGEN_TEXT_DECIMAL 0   /* no padding */
#define IDGEN_TEXT_HEX 1       /* 16 lower-case digits; decodes upper case too */
#define IDGEN_TEXT_CROCKFORD 2 /* 13 characters, base 32; decodes lower case and O, I, L */
#define IDGEN_TEXT_BASE58 3    /* 11 characters, alphabet without 0 O I l */
#define IDGEN_TEXT_BASE62 4    /* 11 characters, 0-9 A-Z a-z */

/* Writes an id as text, at most 21 bytes with its NUL. All encodings but decimal have a fixed width and sort like the
 * ids, read as unsigned. Decimal texts of different lengths do not.
 * Errors: IDGEN_E_ARGUMENT (encoding), IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_format(uint64_t id, int32_t encoding, char *buffer, size_t *size,
                                                      idgen_error_t *err);

/* Reads an id from `length` bytes of text; SIZE_MAX: text is NUL-terminated.
 * Errors: IDGEN_E_TEXT (foreign digit, overflow, wrong length: with the position), IDGEN_E_ARGUMENT (encoding), any.
 * Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_parse(const char *text, size_t length, int32_t encoding, uint64_t *id,
                                                     idgen_error_t *err);

/* idgen_format for ids of either length, at most 40 bytes with the NUL. Those of 16 bytes have 39 digits in decimal,
 * zeros in front, 32 in hex, 26 in Crockford, 22 in base 58 and 62: the length of the text tells them apart too.
 * Errors: IDGEN_E_VALUE (a length other than 8 and 16), IDGEN_E_ARGUMENT (encoding), IDGEN_E_BUFFER, any. Blocks: no.
 * Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_format_wide(const idgen_wide_id_t *id, int32_t encoding, char *buffer,
                                                           size_t *size, idgen_error_t *err);

/* The inverse of it.
 * Errors: as idgen_parse. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_parse_wide(const char *text, size_t length, int32_t encoding,
                                                          idgen_wide_id_t *id, idgen_error_t *err);

/* -------------------------------------------------------------------------------------------------- patterns
 *
 * The text of an id as people read it: literals, a date, one number and a check, "ORD-{base62:11}-{check}" or
 * "SO{yyyyMMdd}{000000}". The grammar is in docs/text.md. */

typedef struct idgen_pattern idgen_pattern_t;

/* A pattern for the ids of a layout; NULL: of any, for a pattern without a date. The date is that of the id's time by
 * the clocks of `zone`: "UTC" (also NULL), an offset such as "+08:00", or a name such as "Europe/Berlin", which needs
 * the module libidgen_zone.so beside this library.
 * Errors: IDGEN_E_VALUE (pattern, zone), IDGEN_E_UNSUPPORTED (a date, and a layout without time; the module), any.
 * Blocks: a named zone reads files. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_pattern_create(const char *pattern, const char *zone,
                                                              const idgen_layout_t *layout, idgen_pattern_t **out,
                                                              idgen_error_t *err);

/* The one that a generator of this configuration has: `pattern`, `zone`, `kind`, `layout`, `epoch`, `module.path`.
 * Errors: as idgen_pattern_create. Blocks: as it. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_pattern_of(const idgen_config_t *config, idgen_pattern_t **out,
                                                          idgen_error_t *err);

/* NULL is allowed. No call on it may be running.
 * Errors: none. Blocks: no. Threads: one. */
IDGEN_API void idgen_pattern_destroy(idgen_pattern_t *pattern);

/* Writes an id, at most 193 bytes with the NUL.
 * Errors: IDGEN_E_VALUE (more digits than the pattern holds; no id of the layout), IDGEN_E_BUFFER, any. Blocks: no.
 * Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_pattern_format(const idgen_pattern_t *pattern, const idgen_wide_id_t *id,
                                                              char *buffer, size_t *size, idgen_error_t *err);

#define IDGEN_UNIT_NONE 0
#define IDGEN_UNIT_YEAR 1
#define IDGEN_UNIT_MONTH 2
#define IDGEN_UNIT_DAY 3
#define IDGEN_UNIT_HOUR 4
#define IDGEN_UNIT_MINUTE 5
#define IDGEN_UNIT_SECOND 6

/* A text that was read. */
typedef struct idgen_text_parts {
  uint32_t struct_size;
  int32_t unit;           /* IDGEN_UNIT_*: the shortest of the date; IDGEN_UNIT_NONE: the pattern has none */
  int32_t year;           /* the date, by the clocks of the zone; what is shorter than unit is at its first value */
  int32_t month;          /* 1 to 12 */
  int32_t day;            /* 1 to 31 */
  int32_t hour;           /* 0 to 23 */
  int32_t minute;         /* 0 to 59 */
  int32_t second;         /* 0 to 59 */
  idgen_wide_id_t id;     /* which was written */
  idgen_wide_id_t number; /* as it stands in the text: the id itself, but for serials */
} idgen_text_parts_t;

#define IDGEN_TEXT_PARTS_INIT                                                 \
  {                                                                           \
    (uint32_t)sizeof(idgen_text_parts_t), 0, 0, 0, 0, 0, 0, 0, {0, 0, {0}}, { \
      0, 0, { 0 }                                                             \
    }                                                                         \
  }

/* Reads an id from `length` bytes of text; SIZE_MAX: text is NUL-terminated. Strict: what idgen_pattern_format writes,
 * in either case where the encoding allows it, and O, I and L in crockford. Without a layout, a number from 2^64 on is
 * an id of 16 bytes.
 * Errors: IDGEN_E_TEXT (with the position; a check that is wrong is said to be that), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_pattern_parse(const idgen_pattern_t *pattern, const char *text,
                                                             size_t length, idgen_text_parts_t *parts,
                                                             idgen_error_t *err);

/* The next id, as the generator's `pattern` writes it; without one, in decimal. If the buffer is too small for the
 * longest text of the pattern, none is drawn. An id that was drawn and has more digits than the pattern holds is lost:
 * IDGEN_E_EXHAUSTED.
 * Errors: IDGEN_E_BUFFER, as idgen_next. Blocks: as idgen_next. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_text(idgen_t *generator, char *buffer, size_t *size,
                                                         idgen_error_t *err);

/* ------------------------------------------------------------------------------------------------ standard ids
 *
 * Ids in published forms, made without a generator, a worker or a store. Random bits take their place, drawn from the
 * kernel anew in each process, in each child of a fork and after idgen_reset. So nothing reserves these ids: that two
 * processes make the same one is not impossible, only less likely than anything else that can fail.
 *
 * UUIDs of version 7, ULIDs and ObjectIds rise within a process, whatever thread makes them. If the clock is set back
 * by up to 10 s, or more of them are made than their counter has room for (2^19 a millisecond, 2^23 a second), their
 * time is ahead of the clock's. If it is set back by more, they begin anew at its time. */

#define IDGEN_STANDARD_UUID 0      /* any version: not made here */
#define IDGEN_STANDARD_UUID4 1     /* 16 bytes: 122 random bits (RFC 9562) */
#define IDGEN_STANDARD_UUID7 2     /* 16 bytes: 48 bits of Unix ms, 20 of a counter, 54 random (RFC 9562) */
#define IDGEN_STANDARD_ULID 3      /* 16 bytes: 48 bits of Unix ms, 20 of a counter, 60 random (github.com/ulid/spec) */
#define IDGEN_STANDARD_OBJECT_ID 4 /* 12 bytes: 32 bits of Unix s, 40 of the process, 24 of a counter (MongoDB) */

/* Makes n ids, one after the other in `ids`, of 16 bytes each, or 12. Big-endian: memcmp orders them like their text.
 * Errors: IDGEN_E_ARGUMENT (standard), IDGEN_E_UNSUPPORTED (the kernel), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_make(int32_t standard, uint8_t *ids, size_t n,
                                                             idgen_error_t *err);

/* Writes one as text, at most 37 bytes with the NUL: a UUID in lower case with hyphens, a ULID in Crockford's base 32,
 * an ObjectId in lower-case hex.
 * Errors: IDGEN_E_ARGUMENT (standard), IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_format(int32_t standard, const uint8_t *id, char *buffer,
                                                               size_t *size, idgen_error_t *err);

/* Reads one from `length` bytes of text, in either case; SIZE_MAX: text is NUL-terminated. The length tells what it is
 * (36, or 32 without hyphens: a UUID; 26: a ULID; 24: an ObjectId), and so does *standard then. `id` has room for 16
 * bytes.
 * Errors: IDGEN_E_TEXT (foreign digit, wrong length, a ULID above 2^128: with the position), any. Blocks: no. Threads:
 * any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_parse(const char *text, size_t length, int32_t *standard,
                                                              uint8_t *id, idgen_error_t *err);

/* What the bits of one say. */
typedef struct idgen_standard_parts {
  uint32_t struct_size;
  int32_t standard;  /* of a UUID: by its version; IDGEN_STANDARD_UUID if that is neither 4 nor 7 */
  uint32_t version;  /* of a UUID, 0 to 15; else 0 */
  uint32_t is_rfc;   /* 0: a UUID of another variant than RFC 9562's, whose version says nothing */
  uint32_t has_time; /* UUIDs of versions 1, 6 and 7, ULIDs, ObjectIds */
  uint32_t counter;  /* of an ObjectId, 24 bits; else 0 */
  int64_t unix_ms;   /* if it has a time; of an ObjectId a whole second */
  uint64_t process;  /* of an ObjectId, 40 bits, the same in all of a process; else 0 */
} idgen_standard_parts_t;

#define IDGEN_STANDARD_PARTS_INIT \
  { sizeof(idgen_standard_parts_t), 0, 0, 0, 0, 0, 0, 0 }

/* Takes one apart. Which of the UUIDs `standard` is does not matter.
 * Errors: IDGEN_E_ARGUMENT (standard), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_standard_decode(int32_t standard, const uint8_t *id,
                                                               idgen_standard_parts_t *parts, idgen_error_t *err);

/* ------------------------------------------------------------------------------------------------- inspection */

/* Which generator this is, in one line for logs: "segment 'orders', tag 'orders' of namespace 'shop'", "snowflake
 * 'events', worker 7 of namespace 'shop'", and ", closed" after that. A leased worker is the one of now. Never a
 * password.
 * Errors: IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_summary(const idgen_t *generator, char *buffer, size_t *size,
                                                       idgen_error_t *err);

/* What this configuration protects against and what not, in words, one item per line.
 * Errors: IDGEN_E_BUFFER, any. Blocks: on the store's file. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_describe(const idgen_t *generator, char *buffer, size_t *size,
                                                        idgen_error_t *err);

/* The same for a generator that this configuration would make. Opens the store but reserves nothing, so it cannot
 * report what only a grant finds: the tag, a row's own stride, a live owner of the worker.
 * Errors: IDGEN_E_BUFFER, as idgen_create. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_describe(const idgen_config_t *config, char *buffer, size_t *size,
                                                               idgen_error_t *err);

typedef struct idgen_stats {
  uint32_t struct_size;
  uint32_t handles;            /* handles that share this state */
  uint64_t granted;            /* numbers (segment) or ms of time (snowflake) that the store has committed to us */
  uint64_t remaining;          /* of those, not yet issued */
  uint64_t refills;            /* grants taken */
  uint64_t refill_failures;    /* store calls that failed */
  uint64_t refill_ns_max;      /* the slowest store call */
  uint64_t waits;              /* calls that had to wait: for the clock or the store */
  uint64_t wait_ns;            /* time spent in these waits */
  uint64_t store_waits;        /* of `waits`, those for the store: rises only after a pause or in an outage */
  uint64_t clock_back_events;  /* times the clock was found behind ids already issued */
  uint64_t forks;              /* times this state was started over in a child process */
  int64_t lead_ms;             /* how far the last id's time is ahead of the clock; 0 when not ahead, or without time */
  uint64_t issued;             /* numbers or ms given out: granted - remaining; once closed, less what was given back */
  uint64_t rate;               /* ids per second, as the refills measured it; 0 = unknown; always 0 for a snowflake */
  double stock_seconds;        /* how long `remaining` lasts: numbers at `rate`, a worker's time by the clock;
                                 INFINITY when nothing is drawn or the rate is unknown. Who draws renews
                                 a window when half is left: less, with no failure, is idle */
  uint32_t breaker_redis;      /* of store = "buffer": 0 closed, 1 half-open, 2 open: Redis is left alone for a while */
  uint32_t breaker_database;   /* the same for the database; both 0 for other stores */
  uint64_t buffer_stock;       /* numbers left in Redis when it was last seen */
  idgen_status_t stopped;      /* IDGEN_OK, or what calls get instead of ids: for good, or until the store, the clock or
                                 the next call says otherwise */
  idgen_status_t last_failure; /* the store's latest failure, whether or not it is over; IDGEN_OK: none so far */
  int64_t last_failure_unix_ms; /* when that was; 0: never */
  uint64_t redis_failures;      /* of store = "buffer": calls of Redis that failed */
  uint64_t database_failures;   /* the same for the database; both 0 for other stores */
  uint64_t layout_left; /* what the layout still holds. Segment: numbers above our latest grant (serials with a date: in
                           the period of that). Snowflake: ms until its time ends. UINT64_MAX: unknown */
  uint64_t tag_left;    /* numbers below 2^63 above our latest grant; UINT64_MAX: unknown, as for a snowflake */
  char last_error[496]; /* the message of last_failure, cut to this size; "": none */
  uint64_t issued_ids;  /* ids given out, also those of a snowflake, where `issued` is time. A strict segment counts the
                           numbers that threads leave out in a race for a range's last ones too */
} idgen_stats_t;

#define IDGEN_STATS_INIT \
  { (uint32_t)sizeof(idgen_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, "", 0 }

/* What a generator has done, in this process. Works on a closed handle.
 * Errors: any. Blocks: briefly, on a lock that is never held during a store call. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_stats(const idgen_t *generator, idgen_stats_t *out, idgen_error_t *err);

/* The figures of idgen_stats for `count` generators (0 gives ""), in the Prometheus text format 0.0.4: metrics idgen_*,
 * labels name, namespace, kind and process ("4711@db-3"), times in seconds. docs/watching.md has all of them. A closed
 * generator is reported too. Handles that share a generator count once, under the name of the one that made it.
 * Different generators with the same labels are one sample: counts are added; maxima, leads and breakers show the
 * largest value, what is left the smallest, idgen_stopped one that fails if there is one.
 * Errors: IDGEN_E_HANDLE (also for a NULL in the array), IDGEN_E_BUFFER, any. Blocks: as idgen_stats. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_metrics(const idgen_t *const *generators, size_t count, char *buffer,
                                                       size_t *size, idgen_error_t *err);

/* --------------------------------------------------------------------------------- a store, and its segments
 *
 * These functions take a configuration and read from it store, namespace, tag (or name), segment.schema, directory,
 * store_timeout, module.path and segment.grant_log. store_create has no effect on them. */

typedef struct idgen_segment_info {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t max_id;         /* highest number granted so far; the next id is above it */
  uint64_t grants;         /* how often a range was granted, or the counter advanced */
  int64_t updated_unix_ms; /* when the row last changed, by the clock of the machine that changed it */
  uint64_t step;           /* numbers per grant, as set by the operator; 0: each generator uses its own segment.step */
  uint64_t rate;           /* ids per second that the holder drew when it took the latest grant; 0 = unknown */
  char holder[128];        /* who took the latest grant, "process 4711 on db-3"; "" = unknown */
} idgen_segment_info_t;

#define IDGEN_SEGMENT_INFO_INIT \
  { (uint32_t)sizeof(idgen_segment_info_t), 0, 0, 0, 0, 0, 0, "" }

/* A row of idgen_segment_list. The texts last until it returns. */
typedef void (*idgen_segment_fn)(void *ctx, const char *name_space, const char *tag, const idgen_segment_info_t *info);

/* Makes the store if it is missing, without a tag: all that snowflakes need. An existing store is left as it is. On
 * a server it makes the tables of segments and workers.
 * Errors: IDGEN_E_STORE_MISSING (it is lost: its lock file exists without the database), IDGEN_E_STORE_REGRESSED (an
 * older copy replaced it), IDGEN_E_UNSUPPORTED (a buffer, which is made with its first tag; a host's store),
 * IDGEN_E_VALUE (the URL), 60..79, any. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_store_create(const idgen_config_t *config, idgen_error_t *err);

/* Makes the tag at 0, so that the first id is 1, and the store if it is missing.
 * Errors: IDGEN_E_TAG_EXISTS, IDGEN_E_UNSUPPORTED (a host's store), IDGEN_E_VALUE (the URL), 60..79, any. Blocks: on
 * the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_create(const idgen_config_t *config, idgen_error_t *err);

/* The same, with the first id above `above`, in one step: at no moment could anybody draw a lower one. For a tag that
 * takes over ids that are in use.
 * Errors: as idgen_segment_create; IDGEN_E_VALUE for an `above` over 2^63 - 1, too; IDGEN_E_UNSUPPORTED for serials on
 * rows of key_producer and on keys that are raised by INCR, unless it is 0. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_create_above(const idgen_config_t *config, uint64_t above,
                                                                    idgen_error_t *err);

/* Reads a tag's row.
 * Errors: IDGEN_E_STORE_MISSING, IDGEN_E_TAG_UNKNOWN, IDGEN_E_UNSUPPORTED (a host's store), IDGEN_E_VALUE (the URL),
 * 60..79, any. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_show(const idgen_config_t *config, idgen_segment_info_t *out,
                                                            idgen_error_t *err);

/* Calls `each` on this thread for all tags of all namespaces, in the order of their names. `each` must not call idgen
 * with `config`. If rows are damaged, it is called for all others, then the error names the first of them.
 * Errors: IDGEN_E_ARGUMENT (each is NULL), IDGEN_E_STORE_MISSING, IDGEN_E_UNSUPPORTED (a host's store), IDGEN_E_VALUE
 * (the URL), 60..79, any. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_list(const idgen_config_t *config, idgen_segment_fn each,
                                                            void *ctx, idgen_error_t *err);

/* Ends a tag: takes all its numbers that are left, in one grant, so that nobody draws from it again. `out` gets the
 * row as it was before: all that was ever granted is at most its max_id, and a tag that goes on elsewhere begins above
 * that. Running generators still issue what they reserved before, then get IDGEN_E_EXHAUSTED. Cannot be undone.
 * The row's holder is "retired at 4711" from then on, where rows have one, in case that `out` is lost.
 * Errors: as idgen_segment_show, IDGEN_E_EXHAUSTED (it has none left), IDGEN_E_STORE_UNAVAILABLE (others drew without
 * a pause, for all of wait_max; it goes on), IDGEN_E_UNSUPPORTED (store = buffer; a row with a stride; serials in rows
 * of other programs). Blocks: on the store; tries for wait_max while others draw. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_retire(const idgen_config_t *config, idgen_segment_info_t *out,
                                                              idgen_error_t *err);

/* Raises a tag's max_id to `to`, 0 to 2^63 - 1, or by 1 if it is already there; never lowers it. All later grants are
 * above `to`. Running generators still issue what they reserved before: stop them first. `out` gets the row afterwards;
 * it may be NULL.
 * Errors: as idgen_segment_show, IDGEN_E_VALUE (to), IDGEN_E_EXHAUSTED (it is at 2^63 - 1). Blocks: on the store.
 * Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_advance(const idgen_config_t *config, uint64_t to,
                                                               idgen_segment_info_t *out, idgen_error_t *err);

/* Sets in a tag's row how many numbers are reserved at once: 1 to 1000000000; 0 leaves it to each generator's
 * segment.step. Applies to all generators of the tag from their next grant on. `out` gets the row afterwards; it may be
 * NULL.
 * Errors: as idgen_segment_show, IDGEN_E_VALUE (step). Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_set_step(const idgen_config_t *config, uint64_t step,
                                                                idgen_segment_info_t *out, idgen_error_t *err);

/* A grant of a tag's numbers, as the store remembers it. */
typedef struct idgen_segment_grant {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t grant;          /* its number: `grants` of the tag's row right after it; 0: the store remembers none */
  uint64_t first;          /* its numbers */
  uint64_t last;           /* without those that were given back; below first if all were */
  int64_t granted_unix_ms; /* by the clock of the machine that asked */
  char holder[128];        /* who asked, "process 4711 on db-3" */
} idgen_segment_grant_t;

#define IDGEN_SEGMENT_GRANT_INIT \
  { (uint32_t)sizeof(idgen_segment_grant_t), 0, 0, 0, 0, 0, "" }

/* Which grant of the tag a number is from, as far as the store remembers: the property segment.grant_log of whoever
 * drew says how many grants that is. It was granted to the holder, who need not have issued it: a grant whose answer
 * was lost is remembered, and used by nobody.
 * Errors: IDGEN_E_UNSUPPORTED (a store that remembers none), as idgen_segment_show. Blocks: on the store. Threads:
 * one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_grant_of(const idgen_config_t *config, uint64_t number,
                                                                idgen_segment_grant_t *out, idgen_error_t *err);

/* Where the numbers of a column come from, and which are in use. */
typedef struct idgen_segment_column {
  uint32_t struct_size;
  int32_t is_always;  /* 1: GENERATED ALWAYS, so the server refuses ids of idgen */
  uint64_t largest;   /* in a row; 0: none */
  uint64_t issued;    /* the largest that the counter may have issued, to rows that are deleted too; 0: none */
  uint64_t increment; /* of the counter. Above 1, programs may take each number for the first of so many */
  uint64_t in_use;    /* all that may be in use is at most this: rows, and blocks of `increment` numbers */
  char counter[256];  /* what numbers the column: "AUTO_INCREMENT", or the sequence's name; "": nothing is known to */
  char others[256];   /* without a counter: sequences from which programs may number the column */
} idgen_segment_column_t;

#define IDGEN_SEGMENT_COLUMN_INIT \
  { (uint32_t)sizeof(idgen_segment_column_t), 0, 0, 0, 0, 0, "", "" }

/* How a column of any table in the store's database is numbered. A tag that takes over from it begins above in_use. If
 * rows still get ids from there meanwhile, see docs/stores.md. `table` may be "SCHEMA.TABLE". `sequence`: NULL for the
 * column's own counter, if it has one (AUTO_INCREMENT, SERIAL, IDENTITY, a default with nextval); "" for none; or the
 * sequence, or Hibernate's table (next_val), from which programs number it.
 * Errors: IDGEN_E_VALUE (no such table, column or sequence, or no whole numbers up to 2^63 - 1),
 * IDGEN_E_STORE_PERMISSION (also to read the sequence), IDGEN_E_UNSUPPORTED (no SQL server), 60..79, any. Blocks: on
 * the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_column_of(const idgen_config_t *config, const char *table,
                                                                 const char *column, const char *sequence,
                                                                 idgen_segment_column_t *out, idgen_error_t *err);

/* in_use of idgen_segment_column_of, for the column's own counter.
 * Errors, Blocks, Threads: as there. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_max_of(const idgen_config_t *config, const char *table,
                                                              const char *column, uint64_t *max_id, idgen_error_t *err);

/* What idgen_segment_create would run, the table's statement included, as text for a migration; "" if there is nothing
 * to run. Connects to no server.
 * Errors: IDGEN_E_BUFFER, IDGEN_E_VALUE, IDGEN_E_UNSUPPORTED (a host's store), any. Blocks: on the module's file.
 * Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_segment_statements(const idgen_config_t *config, char *buffer,
                                                                  size_t *size, idgen_error_t *err);

/* ---------------------------------------------------------------------------------------- workers in the store
 *
 * These functions take a snowflake configuration and act on the worker it names. */

typedef struct idgen_worker_info {
  uint32_t struct_size;
  uint32_t is_live;   /* 1: an owner is alive, or may be; 0: none is */
  uint64_t worker;    /* the number of all node fields together */
  uint64_t fence;     /* of the latest grant, each owner's above the one before; 0: nobody has had the worker yet, and
                         the rest is empty */
  int64_t hw_unix_ms; /* its time is reserved up to here, exclusive: no later grant begins before */
  int64_t ahead_ms;   /* how far that is ahead of the configuration's clock; negative: behind */
  int64_t clock_ahead_ms; /* holder's clock minus the store's, at its latest window; INT64_MIN: unknown */
  char holder[128];       /* the latest owner, "process 4711 on db-3"; "" = unknown */
} idgen_worker_info_t;

#define IDGEN_WORKER_INFO_INIT \
  { (uint32_t)sizeof(idgen_worker_info_t), 0, 0, 0, 0, 0, INT64_MIN, "" }

/* Reads a worker's row.
 * Errors: IDGEN_E_STORE_MISSING, IDGEN_E_UNSUPPORTED (kind = segment, or a store without workers), IDGEN_E_VALUE,
 * IDGEN_E_LAYOUT, 60..79, any. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_worker_show(const idgen_config_t *config, idgen_worker_info_t *out,
                                                           idgen_error_t *err);

/* A row of idgen_worker_list. It lasts until it returns. */
typedef void (*idgen_worker_fn)(void *ctx, const idgen_worker_info_t *info);

/* Calls `each` on this thread for all workers of the configuration's namespace that anybody has had, by number. `each`
 * must not call idgen with `config`. Of the configuration only the store and the namespace count.
 * Errors: IDGEN_E_ARGUMENT (each is NULL), IDGEN_E_STORE_MISSING, IDGEN_E_UNSUPPORTED (a store without workers),
 * IDGEN_E_VALUE, 60..79, any. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_worker_list(const idgen_config_t *config, idgen_worker_fn each,
                                                           void *ctx, idgen_error_t *err);

/* The row as idgen_worker_repair would leave it, after the same checks; changes nothing.
 * Errors: as idgen_worker_repair. Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_worker_plan_repair(const idgen_config_t *config, uint64_t highest_id,
                                                                  idgen_worker_info_t *out, idgen_error_t *err);

/* Repairs a row that a wrong clock has pushed far ahead. Sets hw just above the time of `highest_id`, but not below
 * now, and ends all earlier grants. The caller must make sure that no id of this worker above `highest_id` is in use,
 * because those ids will be issued again. `out` gets the row afterwards; it may be NULL.
 * Errors: as idgen_worker_show; IDGEN_E_WORKER_BUSY (an owner is alive, or has acquired it meanwhile),
 * IDGEN_E_FORMAT_MISMATCH, IDGEN_E_VALUE (the row is at most max_ahead ahead; or the id is not this worker's, is above
 * the row, or is itself more than max_ahead ahead). Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_worker_repair(const idgen_config_t *config, uint64_t highest_id,
                                                             idgen_worker_info_t *out, idgen_error_t *err);

/* Ends the hold of an owner that is gone, so that the next one need not wait for its lease, and all earlier grants.
 * What the owner has reserved stays its own, so no id comes twice even if it is alive after all (`even_if_live` = 1):
 * it then acquires the worker again, or has lost it if somebody was faster (on_worker_lost). `out` gets the row
 * afterwards; it may be NULL.
 * Errors: as idgen_worker_show; IDGEN_E_WORKER_BUSY (an owner counts as alive, or has acquired it meanwhile),
 * IDGEN_E_VALUE (the worker has no owner). Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_worker_release(const idgen_config_t *config, int32_t even_if_live,
                                                              idgen_worker_info_t *out, idgen_error_t *err);

/* ----------------------------------------------------------------------------------------------------- routing
 *
 * Which shard an id belongs to. A ring has 2^bits virtual nodes; a node is the low bits of an id's gene. A table gives
 * ranges of nodes to shards, a router holds the table in force. Moving the rows is the application's: a table only says
 * where they belong, and, while nodes are in cut-over, in which order to look. Formats, rules, and what to do in which
 * order: docs/routing.md.
 *
 * A lookup takes no lock, allocates nothing, and never looks at a file or a clock. A forked child goes on with the
 * table that it has; there, a file is watched again after the first call of idgen_router_reload, _swap or _stats. */

/* A table as data. Moves may be in any order; neighbouring ranges of one shard become one. */
typedef struct idgen_route_data {
  uint32_t struct_size;
  uint32_t bits;               /* 1 to 23: the ring has 2^bits nodes */
  uint64_t version;            /* 1 to 2^63 - 1 */
  const char *const *shards;   /* names of 1 to 128 printable ASCII characters without blank, quote and backslash */
  size_t shard_count;          /* 1 to 65535 */
  const uint32_t *range_upto;  /* the last node of each range, ascending; of the last range 2^bits - 1 */
  const uint32_t *range_shard; /* the shard of each range, an index of `shards` */
  size_t range_count;
  const uint32_t *move_first; /* the first node of each move ... */
  const uint32_t *move_last;  /* ... and the last one */
  const uint32_t *move_to;    /* the shard to which they move, an index of `shards` */
  const uint32_t *move_share; /* how much of each node has moved, in ten-thousandths: 0 to 10000 */
  size_t move_count;          /* 0: the four above may be NULL */
} idgen_route_data_t;

#define IDGEN_ROUTE_DATA_INIT \
  { (uint32_t)sizeof(idgen_route_data_t), 0, 0, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, 0 }

/* Makes a table from data.
 * Errors: IDGEN_E_VALUE (a gap, wrong order, overlapping moves, ...: the message says where), any. Blocks: no. Threads:
 * any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_create(const idgen_route_data_t *data,
                                                                  idgen_route_table_t **out, idgen_error_t *err);

/* Reads a table from a TOML file.
 * Errors: IDGEN_E_CONFIG_FILE (missing, unreadable, malformed, half written, or no valid table), IDGEN_E_UNSUPPORTED (a
 * build without TOML), any. Blocks: on the file. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_read(const char *toml_path, idgen_route_table_t **out,
                                                                idgen_error_t *err);

/* Replaces a table's file if the table in it has the version `expected_version`; 0: there must be no file yet. Of two
 * writers with the same expectation one succeeds. The file is replaced whole or not at all, and is durable when the
 * call returns. PATH-lock, which stays, is locked meanwhile.
 * Errors: IDGEN_E_STALE (the file has another version, or is gone), IDGEN_E_VALUE (the new version is not above the
 * expected one), IDGEN_E_CONFIG_FILE (what is there is no table), IDGEN_E_STORE_UNSAFE (a file system whose locks are
 * not reliable), IDGEN_E_STORE_UNAVAILABLE (the lock was not free for five seconds), IDGEN_E_STORE_PERMISSION,
 * IDGEN_E_STORE_FULL, IDGEN_E_UNSUPPORTED (a build without TOML), any. Blocks: on the file. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_write(const idgen_route_table_t *table,
                                                                 const char *toml_path, uint64_t expected_version,
                                                                 idgen_error_t *err);

/* Frees a table. Routers made from it go on.
 * Errors: none. Blocks: no. Threads: the caller makes sure that no other call on the handle is running. */
IDGEN_API void idgen_route_table_destroy(idgen_route_table_t *table);

/* The table as the content of its file.
 * Errors: IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_text(const idgen_route_table_t *table, char *buffer,
                                                                size_t *size, idgen_error_t *err);

typedef struct idgen_route_table_info {
  uint32_t struct_size;
  uint32_t bits;
  uint64_t version;
  uint64_t shard_count; /* for idgen_route_table_shard_at */
  uint64_t range_count; /* for idgen_route_table_range_at */
  uint64_t move_count;  /* for idgen_route_table_move_at */
} idgen_route_table_info_t;

#define IDGEN_ROUTE_TABLE_INFO_INIT \
  { (uint32_t)sizeof(idgen_route_table_info_t), 0, 0, 0, 0, 0 }

/* A table's version and sizes.
 * Errors: any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_info(const idgen_route_table_t *table,
                                                                idgen_route_table_info_t *out, idgen_error_t *err);

/* The name of a shard of a table, 0 <= index < shard_count.
 * Errors: IDGEN_E_ARGUMENT (index out of range), IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_shard_at(const idgen_route_table_t *table, size_t index,
                                                                    char *buffer, size_t *size, idgen_error_t *err);

typedef struct idgen_route_range {
  uint32_t struct_size;
  uint32_t first; /* its first node: after the end of the range before */
  uint32_t upto;  /* its last node */
  uint32_t shard; /* an index for idgen_route_table_shard_at */
} idgen_route_range_t;

#define IDGEN_ROUTE_RANGE_INIT \
  { (uint32_t)sizeof(idgen_route_range_t), 0, 0, 0 }

/* A range of a table, 0 <= index < range_count, in the order of the nodes.
 * Errors: IDGEN_E_ARGUMENT (index out of range), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_range_at(const idgen_route_table_t *table, size_t index,
                                                                    idgen_route_range_t *out, idgen_error_t *err);

typedef struct idgen_route_move {
  uint32_t struct_size;
  uint32_t first;
  uint32_t last;
  uint32_t to;    /* an index for idgen_route_table_shard_at */
  uint32_t share; /* ten-thousandths of each node that have moved */
  uint32_t reserved;
} idgen_route_move_t;

#define IDGEN_ROUTE_MOVE_INIT \
  { (uint32_t)sizeof(idgen_route_move_t), 0, 0, 0, 0, 0 }

/* A move of a table, 0 <= index < move_count, in the order of the nodes.
 * Errors: IDGEN_E_ARGUMENT (index out of range), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_route_table_move_at(const idgen_route_table_t *table, size_t index,
                                                                   idgen_route_move_t *out, idgen_error_t *err);

struct idgen_log; /* below, with the host's own parts */

typedef struct idgen_router_options {
  uint32_t struct_size;
  int32_t gene_rule;                 /* IDGEN_GENE_*: for idgen_router_route_owner. AUTO: as `layout` has it */
  const idgen_layout_t *layout;      /* of ids up to 64 bits; NULL: such ids cannot be routed. Copied */
  const idgen_layout_t *wide_layout; /* of ids of 16 bytes; NULL: such ids cannot be routed. Copied */
  uint64_t reload_ms;                /* idgen_router_open: how often to look at the file; 0: only idgen_router_reload */
  const struct idgen_log *log;       /* new tables, and what is wrong with the file; NULL: nothing is logged */
  void *log_ctx;                     /* the log's ctx, as for idgen_config_set_log */
} idgen_router_options_t;

#define IDGEN_ROUTER_OPTIONS_INIT \
  { (uint32_t)sizeof(idgen_router_options_t), 0, NULL, NULL, 1000, NULL, NULL }

/* Makes a router of a file. Every reload_ms it looks at the file, on a thread of the library, and takes a table with a
 * higher version. A file that is missing, half written, malformed or older leaves the table in force, and is reported
 * to the log and by idgen_router_stats. `options` may be NULL: the router then routes nodes and owners only.
 * Errors: as idgen_route_table_read; IDGEN_E_VALUE (a layout without a gene, or with one narrower than the ring).
 * Blocks: on the file. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_open(const char *toml_path, const idgen_router_options_t *options,
                                                           idgen_router_t **out, idgen_error_t *err);

/* Makes a router of a table. Only idgen_router_swap changes it.
 * Errors: IDGEN_E_VALUE (a layout without a gene, or with one narrower than the ring), any. Blocks: no. Threads: any.
 * */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_create(const idgen_route_table_t *table,
                                                             const idgen_router_options_t *options,
                                                             idgen_router_t **out, idgen_error_t *err);

/* Frees a router, and all tables that it has had. A look at the file that is under way ends on its own thread.
 * Errors: none. Blocks: no. Threads: the caller makes sure that no other call on the handle is running. */
IDGEN_API void idgen_router_destroy(idgen_router_t *router);

#define IDGEN_NO_SHARD UINT32_MAX

#define IDGEN_ROUTE_SETTLED 0u    /* the shard owns the node */
#define IDGEN_ROUTE_OLD_FIRST 1u  /* in cut-over, this id has not moved: shard is the old one, second the new one */
#define IDGEN_ROUTE_NEW_FIRST 2u  /* in cut-over, this id has moved: shard is the new one, second the old one */
#define IDGEN_ROUTE_ID_DECIDES 3u /* in cut-over, and no id was given: shard is the old one, second the new one */

/* Where an id belongs. Write to `shard`. Read from `shard`, and what is not found there from `second`, if that is not
 * IDGEN_NO_SHARD. */
typedef struct idgen_route {
  uint32_t struct_size;
  uint32_t shard;  /* an index for idgen_router_shard_at; it means the same shard as long as the router lives */
  uint32_t second; /* the same, or IDGEN_NO_SHARD */
  uint32_t state;  /* IDGEN_ROUTE_* */
  uint32_t node;   /* of the ring */
  uint32_t reserved;
  uint64_t version; /* of the table that said so */
} idgen_route_t;

#define IDGEN_ROUTE_INIT \
  { (uint32_t)sizeof(idgen_route_t), 0, 0, 0, 0, 0, 0 }

/* Routes a plain id; reveal a hidden one first.
 * Errors: IDGEN_E_VALUE (bits outside the layout), IDGEN_E_UNSUPPORTED (the router has no layout for it), any. Blocks:
 * no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_route(const idgen_router_t *router, uint64_t id,
                                                            idgen_route_t *out, idgen_error_t *err);

/* Routes a plain id of either length: one of 8 bytes by `layout`, one of 16 by `wide_layout`.
 * Errors: as idgen_router_route; IDGEN_E_VALUE (another length). Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_route_wide(const idgen_router_t *router,
                                                                 const idgen_wide_id_t *id, idgen_route_t *out,
                                                                 idgen_error_t *err);

/* Routes a node: the low bits of a gene. On a node in cut-over the state is IDGEN_ROUTE_ID_DECIDES.
 * Errors: IDGEN_E_VALUE (beyond the ring), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_route_node(const idgen_router_t *router, uint32_t node,
                                                                 idgen_route_t *out, idgen_error_t *err);

/* Routes an owner, `size` bytes of any kind, by its gene. An integer is its decimal text. On a node in cut-over the
 * state is IDGEN_ROUTE_ID_DECIDES.
 * Errors: IDGEN_E_VALUE (no bytes; or, with IDGEN_GENE_MOD, no integer), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_route_owner(const idgen_router_t *router, const void *owner,
                                                                  size_t size, idgen_route_t *out, idgen_error_t *err);

/* Routes `count` ids, all by one table: writes shards[i], and seconds[i] unless `seconds` is NULL, as in idgen_route_t.
 * On failure the message names the first id that cannot be routed; those before it are written.
 * Errors: as idgen_router_route. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_route_batch(const idgen_router_t *router, const uint64_t *ids,
                                                                  size_t count, uint32_t *shards, uint32_t *seconds,
                                                                  idgen_error_t *err);

/* idgen_router_route_batch for ids of either length.
 * Errors: as idgen_router_route_wide. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_route_wide_batch(const idgen_router_t *router,
                                                                       const idgen_wide_id_t *ids, size_t count,
                                                                       uint32_t *shards, uint32_t *seconds,
                                                                       idgen_error_t *err);

/* idgen_router_route_batch for nodes; where a node is in cut-over, as idgen_router_route_node.
 * Errors: as idgen_router_route_node. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_route_node_batch(const idgen_router_t *router,
                                                                       const uint32_t *nodes, size_t count,
                                                                       uint32_t *shards, uint32_t *seconds,
                                                                       idgen_error_t *err);

typedef struct idgen_router_stats {
  uint32_t struct_size;
  uint32_t bits;                /* of the ring */
  uint64_t version;             /* of the table in force */
  uint64_t shard_count;         /* shards that the router has ever known, for idgen_router_shard_at */
  uint64_t swaps;               /* tables that came into force after the first */
  uint64_t failures;            /* looks at the file that found something wrong */
  int64_t last_failure_unix_ms; /* when the latest of these was; 0: never */
  idgen_status_t last_status;   /* of the latest look at the file */
  uint32_t reserved;
  char last_error[496]; /* what was wrong then; "": nothing */
} idgen_router_stats_t;

#define IDGEN_ROUTER_STATS_INIT \
  { (uint32_t)sizeof(idgen_router_stats_t), 0, 0, 0, 0, 0, 0, 0, 0, "" }

/* What is in force, and how the latest look at the file went.
 * Errors: any. Blocks: briefly, on a lock that is never held while a file is read. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_stats(const idgen_router_t *router, idgen_router_stats_t *out,
                                                            idgen_error_t *err);

/* The name of a shard that the router knows or has known, 0 <= index < shard_count.
 * Errors: IDGEN_E_ARGUMENT (index out of range), IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_shard_at(const idgen_router_t *router, size_t index, char *buffer,
                                                               size_t *size, idgen_error_t *err);

/* A copy of the table in force; the caller destroys it. Its indexes of shards are its own, not the router's.
 * Errors: any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_table(const idgen_router_t *router, idgen_route_table_t **out,
                                                            idgen_error_t *err);

/* Puts a table into force if the one in force has the version `expected_version`: compare and set. Threads that are in
 * a lookup finish with the table before.
 * Errors: IDGEN_E_STALE (another version is in force), IDGEN_E_VALUE (the new version is not above, the ring has
 * another size, or the router has seen 65535 shards), any. Blocks: briefly, on a lock; calls the log. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_swap(idgen_router_t *router, const idgen_route_table_t *table,
                                                           uint64_t expected_version, idgen_error_t *err);

/* Looks at the file now. On failure the table in force stays.
 * Errors: as idgen_route_table_read; IDGEN_E_STALE (the file's version is not above, and its content is another),
 * IDGEN_E_VALUE (as idgen_router_swap), IDGEN_E_UNSUPPORTED (the router is not of a file). Blocks: on the file; calls
 * the log. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_router_reload(idgen_router_t *router, idgen_error_t *err);

/* --------------------------------------------------------------------------------------------------- hidden ids
 *
 * A plain id shows how many there are and when it was made. Its hidden form does not, and no two ids share one: show it
 * to customers, and keep the plain id as the key in the database. docs/hidden-ids.md says what this protects and what
 * not; a hidden id is never a permission.
 *
 * Of a layout with the fields segment and version, the segment is hidden. The gene stays, so that a hidden id can still
 * be routed, and the version field, 0 in a plain id, holds the key version (its largest number is kept for a later
 * extension). Of a layout without a version field, the segment field or, if it has none, the whole id is hidden. Such
 * ids have one key version for ever, and nothing tells a hidden id from a plain one.
 *
 * With on_full = widen a cipher also hides the ids of 16 bytes that follow those of 8, with the same keys: by
 * idgen_cipher_hide_wide_ids, for which an id's length says which of the two it is.
 *
 * The store keeps a check value of each key version, so a process with another key is refused. The module
 * libidgen_cipher.so does the work; without it, making a cipher fails with IDGEN_E_UNSUPPORTED.
 *
 * A cipher works in a forked child, too. A child reloads its keys only if it could also open the store. */

/* Makes a cipher: reads the keys (cipher.key, or those of idgen_config_set_keys), and has the store keep their check
 * values, or compare them with those that it has. Reads layout, kind (for the layout, if none is set: segment
 * has 63 bits), namespace, store and cipher.*; the configuration is copied.
 * Errors: IDGEN_E_VALUE (cipher.version, or a version that the layout's field does not hold), IDGEN_E_CONFIG_FILE (the
 * keys: missing, malformed, too short, twice the same version; the file: readable by others, somebody else's, a
 * symbolic link), IDGEN_E_FORMAT_MISMATCH (another key than the namespace began with by the same number),
 * IDGEN_E_LAYOUT, IDGEN_E_UNSUPPORTED (the module is missing, or the layout has fewer than 20 bits to hide), 60..79,
 * from IDGEN_E_HOST on, any. Blocks: on the keys and on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_create(const idgen_config_t *config, idgen_cipher_t **out,
                                                             idgen_error_t *err);

/* idgen_cipher_create with the table [name] of a TOML file.
 * Errors: as idgen_config_load and idgen_cipher_create. Blocks: on the file, then as idgen_cipher_create. Threads:
 * any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_open(const char *toml_path, const char *name,
                                                           idgen_cipher_t **out, idgen_error_t *err);

/* Wipes the keys and frees the cipher.
 * Errors: none. Blocks: no. Threads: the caller makes sure that no other call on the handle is running. */
IDGEN_API void idgen_cipher_destroy(idgen_cipher_t *cipher);

/* The hidden form of an id.
 * Errors: IDGEN_E_VALUE (bits outside the layout, an id that is hidden already, every key version is retired),
 * IDGEN_E_UNSUPPORTED (a layout of more than 64 bits), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide(const idgen_cipher_t *cipher, uint64_t id, uint64_t *hidden,
                                                           idgen_error_t *err);

/* The id of a hidden form.
 * Errors: IDGEN_E_VALUE (bits outside the layout, an id that is not hidden, an unknown key version),
 * IDGEN_E_UNSUPPORTED (a layout of more than 64 bits), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal(const idgen_cipher_t *cipher, uint64_t hidden,
                                                             uint64_t *id, idgen_error_t *err);

/* The hidden forms of n ids; n = 0 does nothing. `hidden` may be `ids`. Several at once take far less time for each.
 * Errors: as idgen_cipher_hide; then nothing was written. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide_batch(const idgen_cipher_t *cipher, const uint64_t *ids,
                                                                 uint64_t *hidden, size_t n, idgen_error_t *err);

/* The ids of n hidden forms; n = 0 does nothing. `ids` may be `hidden`.
 * Errors: as idgen_cipher_reveal; then nothing was written. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal_batch(const idgen_cipher_t *cipher, const uint64_t *hidden,
                                                                   uint64_t *ids, size_t n, idgen_error_t *err);

/* The hidden forms of n ids of either length, as idgen_next_wide_for makes them; n = 0 does nothing. A hidden form has
 * as many bytes as its id. `hidden` may be `ids`.
 * Errors: as idgen_cipher_hide_batch, IDGEN_E_VALUE (a length that the layout's ids do not have, or 16 without
 * on_full = widen); then nothing was written. The message shows the id, and its number if all are of one length.
 * Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide_wide_ids(const idgen_cipher_t *cipher,
                                                                    const idgen_wide_id_t *ids, idgen_wide_id_t *hidden,
                                                                    size_t n, idgen_error_t *err);

/* The ids of n hidden forms of either length. `ids` may be `hidden`.
 * Errors: as idgen_cipher_reveal_batch and idgen_cipher_hide_wide_ids. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal_wide_ids(const idgen_cipher_t *cipher,
                                                                      const idgen_wide_id_t *hidden,
                                                                      idgen_wide_id_t *ids, size_t n,
                                                                      idgen_error_t *err);

/* idgen_cipher_hide_batch for a column of 16 bytes for each id, the most significant first. Takes every layout; an id
 * of 8 bytes has 8 zeros in front.
 * Errors: as idgen_cipher_hide_batch. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_hide_wide(const idgen_cipher_t *cipher, const uint8_t *ids,
                                                                uint8_t *hidden, size_t n, idgen_error_t *err);

/* idgen_cipher_reveal_batch for ids of 128 bits, as idgen_cipher_hide_wide.
 * Errors: as idgen_cipher_reveal_batch. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reveal_wide(const idgen_cipher_t *cipher, const uint8_t *hidden,
                                                                  uint8_t *ids, size_t n, idgen_error_t *err);

/* Reads the keys again, for a new key version or one that was retired. Other threads go on meanwhile. After an error
 * the cipher has the keys that it had, except archived ones; with on_full = widen, perhaps for ids of one length only:
 * call it again. Earlier keys stay in memory until the cipher is destroyed.
 * Errors: as idgen_cipher_create, IDGEN_E_FORKED. Blocks: on the keys and on the store. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_reload(idgen_cipher_t *cipher, idgen_error_t *err);

/* Frees the number of a key version in the store, so that another key can have it, and the store refuses the old key
 * from then on. The keys of `config` have that version, retired: they are a copy of its line, which is removed from all
 * other keys. Whoever calls this states that every process has reloaded its keys since, and that no form that the
 * version hid will be revealed any more. Does nothing if this key is archived already.
 * Errors: as idgen_cipher_create, IDGEN_E_VALUE (no such key, or not retired), IDGEN_E_FORMAT_MISMATCH (another key has
 * the number), IDGEN_E_UNSUPPORTED (the layout has no version field). Blocks: on the keys and on the store.
 * Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_archive(const idgen_config_t *config, uint32_t version,
                                                              idgen_error_t *err);

/* How ids are hidden, which key versions there are with their check values, and what is not protected: one item per
 * line. Holds no key.
 * Errors: IDGEN_E_BUFFER, any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_describe(const idgen_cipher_t *cipher, char *buffer, size_t *size,
                                                               idgen_error_t *err);

/* The same for a cipher that this configuration would make. Makes none, and writes nothing into the store: it only
 * compares the keys with what is there.
 * Errors: IDGEN_E_BUFFER, as idgen_cipher_create. Blocks: as idgen_cipher_create. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_cipher_check(const idgen_config_t *config, char *buffer, size_t *size,
                                                            idgen_error_t *err);

/* -------------------------------------------------------------------------------------- the host's own parts
 *
 * A clock, a store, a log and keys are handed over in the same way: a table of functions, which is copied, and ctx,
 * which is passed to each of them. On success the library owns ctx, and calls release, if there is one, exactly once,
 * when nothing uses ctx any more: if a call of the library's own thread is under way then, in that thread, after
 * idgen_destroy has returned. On failure the caller still owns ctx. */

/* A clock of the host: for tests, and for hosts that discipline their own. */
typedef struct idgen_clock {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t (*now_ns)(void *ctx); /* required: ns since 1970-01-01 UTC; called on every id; no cancellation point */
  void (*sleep_ns)(void *ctx, uint64_t ns); /* optional: waits for the clock; default: a real sleep */
  void (*release)(void *ctx);               /* optional */
} idgen_clock_t;

/* Replaces the system's clock for the generators made from this configuration.
 * Errors: IDGEN_E_ARGUMENT (a required member is NULL), any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_set_clock(idgen_config_t *config, const idgen_clock_t *clock,
                                                                void *ctx, idgen_error_t *err);

/* A request to a store for numbers of a tag. */
typedef struct idgen_segment_request {
  uint32_t struct_size;
  uint32_t reserved;
  const char *name_space;
  const char *tag;
  uint64_t count;     /* how many numbers, at least 1 */
  uint64_t rate;      /* ids per second that the generator draws; 0 = unknown. Information only */
  const char *holder; /* who we are, "process 4711 on db-3". Information only */
  uint64_t above;     /* max_id is set to this first if it is lower; 0 but for kind = serial */
} idgen_segment_request_t;

/* What a store granted: first, first + 1, ..., count of them. */
typedef struct idgen_segment {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t first; /* at least 1 */
  uint64_t count; /* set to request.count; a store that grants another number overwrites it, at least 1 */
} idgen_segment_t;

/* A request to a store for a window of a worker's time. */
typedef struct idgen_window_request {
  uint32_t struct_size;
  uint32_t reserved;
  const char *name_space;
  uint64_t worker;      /* the number of all node fields together */
  uint64_t fence;       /* of the grant being renewed; 0 = acquire */
  uint8_t owner[16];    /* nonce of this process image */
  const char *holder;   /* who we are, for messages: "process 4711 on db-3" */
  const char *format;   /* canonical layout, tick and epoch: all users of a namespace must agree */
  int64_t now_ms;       /* this client's clock, Unix ms, rounded down to a tick */
  int64_t width_ms;     /* reserve up to now_ms + width_ms ... */
  int64_t min_ms;       /* ... and at least this much beyond the start */
  int64_t max_start_ms; /* refuse with IDGEN_E_CLOCK_BACK, changing nothing, if the grant would start after this */
} idgen_window_request_t;

/* What a store granted. */
typedef struct idgen_window {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t start_ms; /* Unix ms, inclusive */
  int64_t end_ms;   /* exclusive */
  uint64_t fence;   /* > 0, raised by every acquire: a fencing token */
} idgen_window_t;

/* A worker's row as a store of the host keeps it. */
typedef struct idgen_worker_row {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t worker;        /* the number of all node fields together */
  uint64_t fence;         /* of the latest grant; 0: there is no row, and of the rest only store_now_ms counts */
  int64_t hw_ms;          /* the end of the latest window, Unix ms, exclusive */
  int64_t lease_left_ms;  /* how long the owner's lease lasts by the store's clock; 0 or below: it has ended */
  int64_t clock_ahead_ms; /* the owner's clock minus the store's, as of the latest window */
  int64_t store_now_ms;   /* the store's clock as the row was read, Unix ms */
  char owner[40];         /* 32 hexadecimal digits; "": the worker was given up */
  char holder[128];       /* who had the latest window, "process 4711 on db-3"; cut at a character if longer */
} idgen_worker_row_t;

/* Called by a store of the host, on the thread of its worker_list, for each row. `rows` is as it was passed there. */
typedef void (*idgen_worker_row_fn)(void *rows, const idgen_worker_row_t *row);

/* How a store of the host is to change a worker's row: compare and set. */
typedef struct idgen_worker_change {
  uint32_t struct_size;
  uint32_t reserved;
  const char *name_space;
  uint64_t worker;
  uint64_t seen_fence; /* the row must still have these three; 0: there must be no row yet, and one is made */
  const char *seen_owner;
  int64_t seen_hw_ms;
  uint64_t fence;    /* what the row has afterwards */
  const char *owner; /* "": given up. The lease then ends now, clock_ahead_ms stays, and what follows hw_ms is 0 */
  const char *holder;
  int64_t hw_ms;
  int64_t lease_ms;    /* the lease ends this long after the store's clock */
  int64_t now_ms;      /* this client's clock, Unix ms: clock_ahead_ms becomes now_ms minus the store's clock ... */
  int64_t max_lead_ms; /* ... and if it is above this, the row is not changed */
} idgen_worker_change_t;

/* A store of the host sets idgen_error_t.retry_after_ns to this if its callers may hold what it waits for. Calls then
 * fail at once and do not wait for a retry. */
#define IDGEN_ENDS_WAITS UINT64_MAX

/* A store of the host. Each call is one atomic, durable step; it must not return IDGEN_OK before the commit is
 * acknowledged. An error after the commit was sent is fine: the grant is then burned. Statuses: IDGEN_E_STORE_*,
 * IDGEN_E_TAG_UNKNOWN, IDGEN_E_WORKER_BUSY, IDGEN_E_FORMAT_MISMATCH, IDGEN_E_CLOCK_BACK, or the host's own from 1000
 * on. Retryable statuses and those from 1000 on are retried. err is never NULL; fill err->message. err->cause is a
 * number of the host's choice: the call that fails for this reason returns it with its own error, so that a binding can
 * find its exception. */
typedef struct idgen_store {
  uint32_t struct_size;
  uint32_t reserved;
  /* Required for kind = segment and serial: segment.first = max(max_id, request.above) + 1, and max_id becomes
   * segment.first + segment.count - 1. A store that leaves out `above` is refused by serials with a date. */
  idgen_status_t (*segment_take)(void *ctx, const idgen_segment_request_t *request, idgen_segment_t *segment,
                                 idgen_error_t *err);
  /* Optional: if max_id == last, set it to last - unused; else do nothing. */
  idgen_status_t (*segment_return)(void *ctx, const char *name_space, const char *tag, uint64_t last, uint64_t unused,
                                   idgen_error_t *err);
  /* For kind = snowflake either this or worker_read and the others are required; see below. With hw, fence, owner of
   * the row (0, 0, none if new):
   *   request.fence == 0: another live owner gives IDGEN_E_WORKER_BUSY; else fence += 1, owner = request.owner.
   *   request.fence != 0: must equal the row's fence and owner, else IDGEN_E_WORKER_BUSY.
   *   start = max(hw, now_ms); end = max(start + min_ms, now_ms + width_ms); hw = end. */
  idgen_status_t (*window_take)(void *ctx, const idgen_window_request_t *request, idgen_window_t *window,
                                idgen_error_t *err);
  /* Optional: the owner with this fence gives up; if hw == end_ms, set it to used_ms, the first unused ms. */
  idgen_status_t (*window_return)(void *ctx, const char *name_space, uint64_t worker, uint64_t fence, int64_t end_ms,
                                  int64_t used_ms, idgen_error_t *err);
  void (*release)(void *ctx); /* optional */
  /* Workers as rows with leases: all four of these, in place of window_take and window_return. The library decides, by
   * the rules of its own stores, which rows become what. The store reads them, and changes one if it is still what was
   * read. A store with them can do all that a server can: an owner is one whose lease has not ended by the store's
   * clock, worker = auto leases a number, and idgen_worker_* work. The clock is one that all clients share, the
   * database's. These members are read if struct_size covers them.
   *
   * Writes the format of a namespace to `found`, NUL-terminated; "" if it has none. If it has none and `format` is not
   * "", gives it that one first, unless somebody else does so at the same time. A longer one is cut off. */
  idgen_status_t (*namespace_format)(void *ctx, const char *name_space, const char *format, char *found, size_t size,
                                     idgen_error_t *err);
  /* Reads a worker's row, and the store's clock in the same step. struct_size and worker are set. */
  idgen_status_t (*worker_read)(void *ctx, const char *name_space, uint64_t worker, idgen_worker_row_t *row,
                                idgen_error_t *err);
  /* Calls each(rows, row) for all workers of the namespace that have a row. */
  idgen_status_t (*worker_list)(void *ctx, const char *name_space, idgen_worker_row_fn each, void *rows,
                                idgen_error_t *err);
  /* Sets *changed to 1 if the row was as it was seen, and now is as it is to be; else leaves it 0. */
  idgen_status_t (*worker_replace)(void *ctx, const idgen_worker_change_t *change, uint32_t *changed,
                                   idgen_error_t *err);
} idgen_store_t;

/* Replaces the property `store` for the generators made from this configuration.
 * Errors: IDGEN_E_ARGUMENT (segment_take, window_take and worker_read are all NULL; of the four for rows of workers
 * some are missing, or window_take is there as well), any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_set_store(idgen_config_t *config, const idgen_store_t *store,
                                                                void *ctx, idgen_error_t *err);

#define IDGEN_LOG_INFO 1
#define IDGEN_LOG_WARNING 2
#define IDGEN_LOG_ERROR 3

/* A log of the host. It gets what an operator wants to know: a clock set back, a store that fails and comes back, a
 * child that starts over. Never called from the fast path. */
typedef struct idgen_log {
  uint32_t struct_size;
  uint32_t reserved;
  void (*write)(void *ctx, int32_t level, const char *message); /* required: IDGEN_LOG_*, one line */
  void (*release)(void *ctx);                                   /* optional */
} idgen_log_t;

/* Sets the log of the generators made from this configuration; without one, nothing is logged.
 * Errors: IDGEN_E_ARGUMENT (a required member is NULL), any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_set_log(idgen_config_t *config, const idgen_log_t *log, void *ctx,
                                                              idgen_error_t *err);

/* Called by `read` of idgen_keys_t for each key version: `size` bytes, 16 to 64; they are copied. retired = 1: the key
 * reveals and hides no more. `keys` is as it was passed to `read`. */
typedef void (*idgen_key_fn)(void *keys, uint32_t version, const uint8_t *key, size_t size, int32_t retired);

/* Keys of the host for hidden ids: from a key service, for one. */
typedef struct idgen_keys {
  uint32_t struct_size;
  uint32_t reserved;
  /* Required. Calls each(keys, ...) on this thread for every key version, whenever a cipher is made or reloads. err is
   * as in idgen_store_t. The host wipes what it passed. */
  idgen_status_t (*read)(void *ctx, idgen_key_fn each, void *keys, idgen_error_t *err);
  void (*release)(void *ctx); /* optional */
} idgen_keys_t;

/* Replaces the property cipher.key for the ciphers made from this configuration.
 * Errors: IDGEN_E_ARGUMENT (a required member is NULL), any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_set_keys(idgen_config_t *config, const idgen_keys_t *keys,
                                                               void *ctx, idgen_error_t *err);

/* ---------------------------------------------------------------------------------------- statuses, by number */

/* "CLOCK_BACK" for IDGEN_E_CLOCK_BACK; "HOST" from 1000 on; "UNKNOWN" for any other number. Never NULL.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API const char *idgen_status_name(idgen_status_t status);

/* One sentence on what the status means in general. Never NULL.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API const char *idgen_status_message(idgen_status_t status);

/* 1 if the same call can succeed later without anyone changing anything, else 0.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API int idgen_status_is_retryable(idgen_status_t status);

/* How many statuses this build has, IDGEN_OK included, for bindings that make a table.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API size_t idgen_status_count(void);

/* One status, 0 <= index < idgen_status_count(), in the order of their numbers; -1, which is no status, for an index
 * out of range.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API idgen_status_t idgen_status_at(size_t index);

/* ---------------------------------------------------------------------------------------------------- version */

/* IDGEN_VERSION as compiled into the library.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API uint32_t idgen_version(void);

/* IDGEN_VERSION_STRING as compiled into the library.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API const char *idgen_version_string(void);

/* IDGEN_ABI_VERSION as compiled into the library. A binding compares it with the macro that it was built with, and
 * refuses a library that differs.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API uint32_t idgen_abi_version(void);

/* Does nothing. A program that links statically references it, so that linking an archive of another ABI fails.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API void idgen_abi_1(void);

#ifdef __cplusplus
}
#endif
#endif
