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
 * What fewer programs need is in headers that include this one: admin.h (figures, rows of a store, copies of a
 * process), cipher.h (hidden ids), host.h (a clock, a store, a log of the host), route.h (shards), standard.h (UUIDs,
 * ULIDs, ObjectIds), view.h (ids without a call). docs/c-api.md shows all of them by task.
 *
 * THE CONTRACT
 *
 *  1. Handles are opaque. A function with a parameter `**out` makes one: the caller owns it and frees it with the
 *     matching *_destroy. A handle of the wrong type gives IDGEN_E_HANDLE, never a crash.
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
 *     `err`, the last parameter, if given: what was asked, what was found, what is allowed, what to do. After a success
 *     its content is meaningless. No C++ exception leaves the library, and it never prints, aborts or exits.
 *  6. Public structs begin with struct_size, which the side that fills the struct in sets to its sizeof, as the *_INIT
 *     macros do. They grow only at the end; the library writes no more than struct_size bytes. Members named `reserved`
 *     are 0.
 *  7. Threads. "Threads: any" means that any number of threads may call the function at the same time, even on one
 *     handle. "Threads: one" means one thread at a time per handle. No call may use a handle while it is being
 *     destroyed, or afterwards; call idgen_close to stop the others first.
 *  8. Blocking. A call marked "Blocks: no" never waits. The others wait for what they name, and the property
 *     wait_max limits the wait. No call is safe in a signal handler.
 *  9. Fork. A child process never issues its parent's ids. There a segment generator's first call draws a new segment
 *     (on_fork = reacquire) or returns IDGEN_E_FORKED (on_fork = error). A fixed worker, the memory store and a store
 *     of the host always return IDGEN_E_FORKED, because the parent still owns them. idgen_destroy in the child frees
 *     memory and leaves the parent's reservations alone.
 * 10. Callbacks may be called from any thread, the library's own included, and from several at once, and never while
 *     the library holds a lock. They must not throw, longjmp, or call the same generator.
 * 11. Versions. Within one IDGEN_ABI_VERSION, symbols are added, never changed or removed. The numbers of status codes,
 *     fields and encodings never change.
 *
 * docs/c-api.md has the cases at the edge: what a locked store adds to a wait, pthread_cancel, raw clone().
 *
 * Ids are 64-bit. All presets except those marked unsigned keep the top bit clear, so they fit a signed 64-bit column.
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
 * IDGEN_E_HOST on, any. Blocks: on the store; if it is down, up to wait_max. Threads: one. */
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
 * failure the first *written ids are real, and no other call will ever get them.
 * Errors: as idgen_next. Blocks: as idgen_next, wait_max counting from the last progress. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_next_batch(idgen_t *generator, uint64_t *ids, size_t n, size_t *written,
                                                          idgen_error_t *err);

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

/* ------------------------------------------------------------------------------------------ drawing by a request
 *
 * What the calls above do not say: whose ids, of which length, a run, how long to wait, and until when. */

#define IDGEN_DRAW_TRY 1u   /* does not wait: as many as there are at once. Not with owners */
#define IDGEN_DRAW_BLOCK 2u /* a run of ids that the caller counts off by itself. Not with owners */
#define IDGEN_DRAW_DRAWN 4u /* `drawn` is from a view of the generator (view.h). Not with owners; n is 1 */

/* Members that are 0 or NULL ask for nothing. */
typedef struct idgen_draw {
  uint32_t struct_size;
  uint32_t flags;              /* IDGEN_DRAW_* */
  size_t n;                    /* how many ids; of a block at most so many, and at least 1 */
  uint64_t *ids;               /* room for n ids of 8 bytes ... */
  idgen_wide_id_t *wide_ids;   /* ... or, with owners, of either length */
  const idgen_owner_t *owners; /* whose they are, where ids have an owner ... */
  const int64_t *int_owners;   /* ... or the same as integers */
  size_t owner_count;          /* of these. 1: all ids are that owner's, and rise; n: one id for each */
  idgen_cancelled_fn cancelled;
  void *ctx;
  uint64_t waited_ns; /* how long the caller has waited before: counts towards wait_max. Not with owners, not a block */
  uint64_t drawn;
  size_t written;  /* set by the call, even by one that fails: how many ids are real. No other call gets them */
  uint64_t first;  /* set by the call, of a block: the ids are first, first + stride, ..., `written` of them. 1 <= */
  uint64_t stride; /* written <= n: what is left of the reservation (segment) or of the tick (snowflake) */
} idgen_draw_t;

#define IDGEN_DRAW_INIT \
  { (uint32_t)sizeof(idgen_draw_t), 0, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, 0, 0, 0, 0 }

/* Draws what a request says. The same request may be used again.
 * Errors: as idgen_next; with owners as idgen_next_for; IDGEN_E_CANCELLED; with IDGEN_DRAW_TRY IDGEN_E_WOULD_BLOCK
 * and of the others those no retry helps; IDGEN_E_ARGUMENT (members that do not go together; IDGEN_DRAW_DRAWN for a
 * generator without a counter). Blocks: as idgen_next_batch, until cancelled; with IDGEN_DRAW_TRY no, not even on
 * another call. Threads: any; one for the request. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_draw(idgen_t *generator, idgen_draw_t *draw, idgen_error_t *err);

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
 * underscores. An empty variable counts as none. idgen_config_load does this after the file; a program without a file
 * needs nothing else.
 * Errors: IDGEN_E_UNKNOWN_KEY (a variable that looks like a property, misspelled), IDGEN_E_VALUE, any. Blocks: no.
 * Threads: one, and no other may change the environment meanwhile. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_load_environment(idgen_config_t *config, const char *name,
                                                                       idgen_error_t *err);

/* The names of the generators in a TOML file, in the file's order, each ended by '\n'.
 * Errors: IDGEN_E_CONFIG_FILE, IDGEN_E_BUFFER, any. Blocks: on the file. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_names(const char *toml_path, char *buffer, size_t *size,
                                                            idgen_error_t *err);

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
 * the module libidgen_zone.so in the folder of this library.
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
  idgen_wide_id_t number; /* as it stands in the text: the id itself, except for serials */
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
