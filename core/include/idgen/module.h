/* The interface between the library and a store module. A module is a shared library, libidgen_NAME.so, that exports
 * one function, idgen_module_NAME. The library loads it when a store's URL needs it. The interface is plain C, because
 * library and module may come from different compilers: exceptions, allocations and containers stay on their side.
 *
 * For authors of store modules. Applications use idgen.h. */
#ifndef IDGEN_MODULE_H
#define IDGEN_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of this file: library and module must agree. */
#define IDGEN_MODULE_ABI 14

typedef struct idgen_module_error {
  int32_t status; /* of idgen.h */
  uint32_t reserved;
  uint64_t retry_after_ns;
  char message[1024];
} idgen_module_error;

/* What a store is opened with: pairs of strings, so that either side may know some that the other does not. */
typedef struct idgen_module_setting {
  const char *key;
  const char *value;
} idgen_module_setting;

typedef struct idgen_module_request {
  uint64_t step;
  uint64_t wanted;
  uint64_t rate;
  const char *holder;
  uint64_t above;
} idgen_module_request;

typedef struct idgen_module_grant {
  uint64_t first;
  uint64_t count;
  uint64_t stride;
  uint64_t offset;
} idgen_module_grant;

typedef struct idgen_module_segment {
  const char *name_space;
  const char *tag;
  uint64_t max_id;
  uint64_t grants;
  int64_t updated_unix_ms;
  uint64_t step;
  uint64_t rate;
  const char *holder;
} idgen_module_segment;

typedef struct idgen_module_logged_grant {
  uint64_t grant; /* 0: the log has none */
  uint64_t first;
  uint64_t last;
  int64_t granted_unix_ms;
  char holder[512];
} idgen_module_logged_grant;

typedef struct idgen_module_column {
  uint64_t largest;
  uint64_t issued;
  uint64_t increment;
  int32_t is_always;
  char counter[512];
  char others[512];
} idgen_module_column;

typedef struct idgen_module_queue_request {
  uint64_t count;
  uint64_t above;
  uint64_t least;
  uint64_t rate;
  uint64_t runway_ms;
  uint64_t stock_max;
} idgen_module_queue_request;

typedef struct idgen_module_queue_part {
  char label[128];
  uint64_t witness;
  uint64_t first;
  uint64_t count;
  uint64_t stock;
  uint64_t wanted;
  int32_t stopped;
  int32_t load;
} idgen_module_queue_part;

typedef struct idgen_module_window_request {
  const char *name_space;
  uint64_t worker;
  uint64_t fence;
  uint8_t owner[16];
  const char *holder;
  const char *format;
  int64_t now_ms;
  int64_t width_ms;
  int64_t min_ms;
  int64_t max_start_ms;
  int64_t max_lead_ms;
  int64_t lease_ms;
} idgen_module_window_request;

typedef struct idgen_module_window {
  int64_t start_ms;
  int64_t end_ms;
  uint64_t fence;
} idgen_module_window;

typedef struct idgen_module_worker {
  uint64_t worker;
  uint64_t fence;
  int64_t hw_ms;
  const char *format;
  const char *holder;
  int32_t is_live;
  int32_t has_clock; /* clock_ahead_ms is known */
  int64_t clock_ahead_ms;
  int64_t lease_left_ms;
} idgen_module_worker;

typedef struct idgen_module_number_request {
  const char *kind;
  const char *name_space;
  const char *address;
  uint64_t numbers;
  int64_t now_ms;
  int64_t guard_ms;
  int64_t clock_limit_ms;
} idgen_module_number_request;

typedef struct idgen_module_number {
  uint64_t number;
  int64_t used_to_ms;
  int64_t reported_ms;
  int64_t version;
  int32_t is_unknown;
  int32_t taken; /* 0: by nobody, 1: by idgen, 2: by the original */
  char lost[512];
} idgen_module_number;

typedef void (*idgen_module_worker_fn)(void *to, const idgen_module_worker *row);
typedef void (*idgen_module_row_fn)(void *to, const idgen_module_segment *row);
typedef void (*idgen_module_text_fn)(void *to, const char *text);

/* An open store. The functions are those of the classes in idgen/store.hpp, which has their contracts. They return
 * 0 or a status of idgen.h. Each may be called from any thread, several at once. */
typedef struct idgen_module_store {
  void *ctx;
  int32_t (*segment_grant)(void *ctx, const char *name_space, const char *tag, const idgen_module_request *request,
                           idgen_module_grant *grant, idgen_module_error *err);
  int32_t (*segment_return)(void *ctx, const char *name_space, const char *tag, uint64_t last, uint64_t unused,
                            idgen_module_error *err);
  int32_t (*segment_create)(void *ctx, const char *name_space, const char *tag, uint64_t above,
                            idgen_module_error *err);
  int32_t (*segment_show)(void *ctx, const char *name_space, const char *tag, idgen_module_row_fn row, void *to,
                          idgen_module_error *err);
  int32_t (*segment_advance)(void *ctx, const char *name_space, const char *tag, uint64_t target,
                             idgen_module_row_fn row, void *to, idgen_module_error *err);
  int32_t (*segment_set_step)(void *ctx, const char *name_space, const char *tag, uint64_t step,
                              idgen_module_row_fn row, void *to, idgen_module_error *err);
  int32_t (*segment_list)(void *ctx, idgen_module_row_fn row, void *to, idgen_module_error *err);
  int32_t (*describe)(void *ctx, idgen_module_text_fn text, void *to, idgen_module_error *err);
  void (*close)(void *ctx);
  /* May be NULL: there are no other tables. `sequence` may be NULL. */
  int32_t (*segment_column)(void *ctx, const char *table, const char *column, const char *sequence,
                            idgen_module_column *found, idgen_module_error *err);
  /* The class Queue in core/src/store/queue.hpp. NULL in a module that has none. A queue is opened with the setting
   * queue = 1; then only describe and close of the other functions are called. */
  int32_t (*queue_take)(void *ctx, const char *name_space, const char *tag, const idgen_module_queue_request *request,
                        idgen_module_queue_part *part, idgen_module_error *err);
  int32_t (*queue_load)(void *ctx, const char *name_space, const char *tag, const char *label, uint64_t first,
                        uint64_t count, uint64_t stock_max, int32_t *accepted, idgen_module_error *err);
  int32_t (*queue_reset)(void *ctx, const char *name_space, const char *tag, uint64_t witness, int32_t stopped,
                         idgen_module_error *err);
  /* Closes the connection; if a call is using it, after that call. The next call opens a new one. */
  void (*disconnect)(void *ctx);
  /* Makes the tables of segments and workers, if they are missing. */
  int32_t (*create)(void *ctx, idgen_module_error *err);
  /* NULL in a module that grants segments only; then the next five are too. */
  int32_t (*window_take)(void *ctx, const idgen_module_window_request *request, idgen_module_window *window,
                         idgen_module_error *err);
  int32_t (*window_return)(void *ctx, const char *name_space, uint64_t worker, uint64_t fence, int64_t end_ms,
                           int64_t used_ms, idgen_module_error *err);
  /* One row; with fence 0 if nobody has had the worker. */
  int32_t (*window_show)(void *ctx, const char *name_space, uint64_t worker, idgen_module_worker_fn row, void *to,
                         idgen_module_error *err);
  int32_t (*window_list)(void *ctx, const char *name_space, int32_t numbers_only, idgen_module_worker_fn row, void *to,
                         idgen_module_error *err);
  int32_t (*window_repair)(void *ctx, const char *name_space, uint64_t worker, uint64_t seen_fence, int64_t seen_hw_ms,
                           int64_t hw_ms, idgen_module_error *err);
  int32_t (*window_release)(void *ctx, const char *name_space, uint64_t worker, uint64_t seen_fence,
                            int32_t even_if_live, idgen_module_error *err);
  /* NULL in a module that has no rows of another generator's workers; then the next two are too. */
  int32_t (*number_claim)(void *ctx, const idgen_module_number_request *request, idgen_module_number *number,
                          idgen_module_error *err);
  /* `number` is what is held, and then what was reported. */
  int32_t (*number_keep)(void *ctx, const idgen_module_number_request *request, idgen_module_number *number,
                         idgen_module_error *err);
  int32_t (*number_release)(void *ctx, const idgen_module_number_request *request, const idgen_module_number *number,
                            int32_t gives_back, int64_t used_ms, idgen_module_error *err);
  /* NULL in a module that grants segments only. `format` may be "". Calls text once. */
  int32_t (*namespace_format)(void *ctx, const char *name_space, const char *format, idgen_module_text_fn text,
                              void *to, idgen_module_error *err);
  /* NULL in a module that keeps no log of grants. */
  int32_t (*segment_grant_of)(void *ctx, const char *name_space, const char *tag, uint64_t number,
                              idgen_module_logged_grant *grant, idgen_module_error *err);
} idgen_module_store;

typedef struct idgen_module {
  uint32_t abi; /* IDGEN_MODULE_ABI of the module */
  uint32_t reserved;
  const char *name; /* "postgres" */
  /* Connects; `store` is filled only on success. Settings: url, create (0 or 1), timeout_ms, queue (0 or 1), queue_of
   * (the database whose numbers it holds), schema (idgen, leaf, tinyid, cosid, key_producer, incr), step (for a new
   * tag, if the schema's row needs one; 0 = unknown), pattern (of serials, for the schemas key_producer and incr),
   * grant_log (how many grants of a tag to remember; 0 where that is not supported). */
  int32_t (*open)(const idgen_module_setting *settings, size_t count, idgen_module_store *store,
                  idgen_module_error *err);
  /* What segment_create would run, as text. Connects to nothing. */
  int32_t (*segment_statements)(const idgen_module_setting *settings, size_t count, const char *name_space,
                                const char *tag, idgen_module_text_fn text, void *to, idgen_module_error *err);
} idgen_module;

typedef const idgen_module *(*idgen_module_fn)(void);

#ifdef __cplusplus
}
#endif
#endif
