/*
 * For those who set up and watch: what a generator does, the rows of a store, copies of a process, properties.
 */
#ifndef IDGEN_ADMIN_H
#define IDGEN_ADMIN_H

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------- inspection */

/* Which generator this is, in one line for logs: "segment 'orders', tag 'orders' of namespace 'shop'", "snowflake
 * 'events', worker 7 of namespace 'shop'", and ", closed" after that. A leased worker is the present one. Never a
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
                                 INFINITY when nothing is drawn or the rate is unknown. A generator that
                                 draws renews a window when half is left: less, with no failure, is idle */
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
 * Errors: IDGEN_E_HANDLE (a NULL in the array too), IDGEN_E_BUFFER, any. Blocks: as idgen_stats. Threads: any. */
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

/* The same, with the first id above `above`, in one step: at no moment could a process draw a lower one. For a tag that
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

/* Ends a tag: takes all its numbers that are left, in one grant, so that no process draws from it again. `out` gets the
 * row as it was before: all that was ever granted is at most its max_id, and a tag that continues elsewhere begins
 * above that. Running generators still issue what they reserved before, then get IDGEN_E_EXHAUSTED. Cannot be undone.
 * The row's holder is "retired at 4711" from then on, where rows have one, in case that `out` is lost.
 * Errors: as idgen_segment_show, IDGEN_E_EXHAUSTED (it has none left), IDGEN_E_STORE_UNAVAILABLE (others drew
 * without a pause, for all of wait_max; it goes on), IDGEN_E_UNSUPPORTED (store = buffer; a row with a stride;
 * serials in rows of other programs). Blocks: on the store; tries for wait_max while others draw. Threads: one. */
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

/* Which grant of the tag a number is from, as far as the store remembers: the property segment.grant_log of the
 * generator that drew says how many grants that is. The holder was granted the number, and may not have issued it: a
 * grant whose answer was lost is remembered, and no process uses it.
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
  uint64_t fence;     /* of the latest grant, each owner's above the one before; 0: no process has had the worker yet,
                         and the rest is empty */
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

/* Calls `each` on this thread for all workers of the configuration's namespace that a process has had, by number.
 * `each` must not call idgen with `config`. Of the configuration only the store and the namespace count.
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
 * it then acquires the worker again, or has lost it if another process was faster (on_worker_lost). `out` gets the row
 * afterwards; it may be NULL.
 * Errors: as idgen_worker_show; IDGEN_E_WORKER_BUSY (an owner counts as alive, or has acquired it meanwhile),
 * IDGEN_E_VALUE (the worker has no owner). Blocks: on the store. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_worker_release(const idgen_config_t *config, int32_t even_if_live,
                                                              idgen_worker_info_t *out, idgen_error_t *err);

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

/* ------------------------------------------------------------------------------------------------- properties */

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

#ifdef __cplusplus
}
#endif

#endif
