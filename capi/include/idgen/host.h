/*
 * The host's own parts.
 *
 * A clock, a store, a log and keys are handed over in the same way: a table of functions, which is copied, and ctx,
 * which is passed to each of them. On success the library owns ctx, and calls release, if there is one, exactly once,
 * when nothing uses ctx any more: if a call of the library's own thread is under way then, in that thread, after
 * idgen_destroy has returned. On failure the caller still owns ctx.
 */
#ifndef IDGEN_HOST_H
#define IDGEN_HOST_H

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

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
  uint64_t above;     /* max_id is set to this first if it is lower; 0 except for kind = serial */
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
   * the rules of the stores that it has, which rows become what. The store reads them, and changes one if it is still
   * what was read. A store with them can do all that a server can: an owner is one whose lease has not ended by the
   * store's clock, worker = auto leases a number, and idgen_worker_* work. The clock is one that all clients share, the
   * database's. These members are read if struct_size covers them.
   *
   * Writes the format of a namespace to `found`, NUL-terminated; "" if it has none. If it has none and `format` is not
   * "", gives it that one first, unless another process does so at the same time. A longer one is cut off. */
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

/* Waits until a call for ids may find some at once, and draws none. For a language whose threads are not the system's,
 * many of which may wait: a thread that has waited elsewhere, waited_ns so far, learns whether to go on, or why not.
 * Errors: as idgen_next, IDGEN_E_CANCELLED. Blocks: as idgen_next, until cancelled. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_wait_for_room(idgen_t *generator, uint64_t waited_ns,
                                                             idgen_cancelled_fn cancelled, void *ctx,
                                                             idgen_error_t *err);

/* The property wait_max in ns: how long a call may wait. 0 if the handle is not one.
 * Errors: none. Blocks: no. Threads: any. */
IDGEN_API uint64_t idgen_wait_max_ns(const idgen_t *generator);

#ifdef __cplusplus
}
#endif

#endif
