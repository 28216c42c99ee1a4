/* The host's clock, store, keys and log in Go: C functions with the signatures of host.h that lead to exported Go
 * functions. ctx is a number by which Go looks up the callback (runtime/cgo.Handle), not a pointer. */
#ifndef IDGEN_GO_CALLBACKS_H
#define IDGEN_GO_CALLBACKS_H

#include <idgen/sql.h>

#include "idgen_go.h"

int64_t idgenGoNow(uintptr_t ctx);
void idgenGoSleep(uintptr_t ctx, uint64_t ns);
void idgenGoLog(uintptr_t ctx, int32_t level, char *message);
idgen_status_t idgenGoSegmentTake(uintptr_t ctx, char *name_space, char *tag, uint64_t count, uint64_t above,
                                  uint64_t *first, idgen_error_t *error);
idgen_status_t idgenGoSegmentReturn(uintptr_t ctx, char *name_space, char *tag, uint64_t last, uint64_t unused,
                                    idgen_error_t *error);
idgen_status_t idgenGoNamespaceFormat(uintptr_t ctx, char *name_space, char *format, char *found, size_t size,
                                      idgen_error_t *error);
idgen_status_t idgenGoWorkerRead(uintptr_t ctx, char *name_space, uint64_t worker, idgen_worker_row_t *row,
                                 idgen_error_t *error);
idgen_status_t idgenGoWorkerList(uintptr_t ctx, char *name_space, idgen_worker_row_fn each, void *rows,
                                 idgen_error_t *error);
idgen_status_t idgenGoWorkerReplace(uintptr_t ctx, idgen_worker_change_t *change, uint32_t *changed,
                                    idgen_error_t *error);
idgen_status_t idgenGoKeys(uintptr_t ctx, idgen_key_fn each, void *keys, idgen_error_t *error);
idgen_status_t idgenGoSqlConnection(uintptr_t ctx, idgen_sql_work_fn function, void *work, idgen_sql_error_t *error);
idgen_status_t idgenGoSqlInside(uintptr_t connection, int32_t *inside, idgen_sql_error_t *error);
idgen_status_t idgenGoSqlExecute(uintptr_t connection, idgen_sql_statement_t *statement, idgen_sql_outcome_t *outcome,
                                 idgen_sql_error_t *error);
idgen_status_t idgenGoSqlTransaction(uintptr_t connection, int begins, idgen_sql_error_t *error);
void idgenGoSqlRollback(uintptr_t connection);
idgen_status_t idgenGoSqlConnect(idgen_sql_address_t *address, uintptr_t *connection, idgen_sql_error_t *error);
void idgenGoSqlClose(uintptr_t connection);
void idgenGoRelease(uintptr_t ctx);

/* What Go draws in a callback from another generator it draws on this thread: see waiters.go. */
static inline void idgen_go_enter(void) { ++idgen_go_callbacks; }
static inline idgen_status_t idgen_go_leave(idgen_status_t status) {
  --idgen_go_callbacks;
  return status;
}

static inline int64_t idgen_go_now(void *ctx) {
  idgen_go_enter();
  const int64_t now = idgenGoNow((uintptr_t)ctx);
  (void)idgen_go_leave(IDGEN_OK);
  return now;
}
static inline void idgen_go_sleep(void *ctx, uint64_t ns) {
  idgen_go_enter();
  idgenGoSleep((uintptr_t)ctx, ns);
  (void)idgen_go_leave(IDGEN_OK);
}
static inline void idgen_go_log(void *ctx, int32_t level, const char *message) {
  idgen_go_enter();
  idgenGoLog((uintptr_t)ctx, level, (char *)message);
  (void)idgen_go_leave(IDGEN_OK);
}
static inline idgen_status_t idgen_go_segment_take(void *ctx, const idgen_segment_request_t *request,
                                                   idgen_segment_t *segment, idgen_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoSegmentTake((uintptr_t)ctx, (char *)request->name_space, (char *)request->tag,
                                           request->count, request->above, &segment->first, error));
}
static inline idgen_status_t idgen_go_segment_return(void *ctx, const char *name_space, const char *tag, uint64_t last,
                                                     uint64_t unused, idgen_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoSegmentReturn((uintptr_t)ctx, (char *)name_space, (char *)tag, last, unused, error));
}
static inline idgen_status_t idgen_go_namespace_format(void *ctx, const char *name_space, const char *format,
                                                       char *found, size_t size, idgen_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoNamespaceFormat((uintptr_t)ctx, (char *)name_space, (char *)format, found, size, error));
}
static inline idgen_status_t idgen_go_worker_read(void *ctx, const char *name_space, uint64_t worker,
                                                  idgen_worker_row_t *row, idgen_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoWorkerRead((uintptr_t)ctx, (char *)name_space, worker, row, error));
}
static inline idgen_status_t idgen_go_worker_list(void *ctx, const char *name_space, idgen_worker_row_fn each,
                                                  void *rows, idgen_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoWorkerList((uintptr_t)ctx, (char *)name_space, each, rows, error));
}
/* Go cannot call a pointer to a function. */
static inline void idgen_go_add_row(idgen_worker_row_fn each, void *rows, const idgen_worker_row_t *row) {
  each(rows, row);
}
static inline idgen_status_t idgen_go_worker_replace(void *ctx, const idgen_worker_change_t *change, uint32_t *changed,
                                                     idgen_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoWorkerReplace((uintptr_t)ctx, (idgen_worker_change_t *)change, changed, error));
}
static inline idgen_status_t idgen_go_keys(void *ctx, idgen_key_fn each, void *keys, idgen_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoKeys((uintptr_t)ctx, each, keys, error));
}
static inline void idgen_go_add_key(idgen_key_fn each, void *keys, uint32_t version, const uint8_t *key, size_t size,
                                    int32_t retired) {
  each(keys, version, key, size, retired);
}
static inline idgen_status_t idgen_go_sql_connection(void *ctx, idgen_sql_work_fn function, void *work,
                                                     idgen_sql_error_t *error) {
  idgen_go_enter();
  return idgen_go_leave(idgenGoSqlConnection((uintptr_t)ctx, function, work, error));
}
static inline void idgen_go_sql_work(idgen_sql_work_fn function, void *work, uintptr_t connection, int32_t dialect) {
  (void)function(work, (void *)connection, dialect);
}
static inline idgen_status_t idgen_go_sql_inside(void *ctx, void *connection, int32_t *inside,
                                                 idgen_sql_error_t *error) {
  (void)ctx;
  idgen_go_enter();
  return idgen_go_leave(idgenGoSqlInside((uintptr_t)connection, inside, error));
}
static inline idgen_status_t idgen_go_sql_execute(void *ctx, void *connection, const idgen_sql_statement_t *statement,
                                                  idgen_sql_outcome_t *outcome, idgen_sql_error_t *error) {
  (void)ctx;
  idgen_go_enter();
  return idgen_go_leave(idgenGoSqlExecute((uintptr_t)connection, (idgen_sql_statement_t *)statement, outcome, error));
}
static inline void idgen_go_sql_row(const idgen_sql_statement_t *statement, const idgen_sql_value_t *values,
                                    size_t count) {
  statement->each(statement->rows, values, count);
}
static inline idgen_status_t idgen_go_sql_begin(void *ctx, void *connection, idgen_sql_error_t *error) {
  (void)ctx;
  idgen_go_enter();
  return idgen_go_leave(idgenGoSqlTransaction((uintptr_t)connection, 1, error));
}
static inline idgen_status_t idgen_go_sql_commit(void *ctx, void *connection, idgen_sql_error_t *error) {
  (void)ctx;
  idgen_go_enter();
  return idgen_go_leave(idgenGoSqlTransaction((uintptr_t)connection, 0, error));
}
static inline void idgen_go_sql_rollback(void *ctx, void *connection) {
  (void)ctx;
  idgen_go_enter();
  idgenGoSqlRollback((uintptr_t)connection);
  (void)idgen_go_leave(IDGEN_OK);
}
static inline idgen_status_t idgen_go_sql_connect(void *ctx, const idgen_sql_address_t *address, void **connection,
                                                  idgen_sql_error_t *error) {
  (void)ctx;
  uintptr_t made = 0;
  idgen_go_enter();
  const idgen_status_t status = idgen_go_leave(idgenGoSqlConnect((idgen_sql_address_t *)address, &made, error));
  *connection = (void *)made;
  return status;
}
static inline void idgen_go_sql_close(void *ctx, void *connection) {
  (void)ctx;
  idgen_go_enter();
  idgenGoSqlClose((uintptr_t)connection);
  (void)idgen_go_leave(IDGEN_OK);
}
static inline void idgen_go_release(void *ctx) { idgenGoRelease((uintptr_t)ctx); }

static inline idgen_go_failure idgen_go_config_set_clock(uintptr_t config, uintptr_t ctx) {
  IDGEN_GO_ERROR(error);
  const idgen_clock_t clock = {(uint32_t)sizeof clock, 0, idgen_go_now, idgen_go_sleep, idgen_go_release};
  return idgen_go_fail(idgen_config_set_clock((idgen_config_t *)config, &clock, (void *)ctx, &error), &error);
}

static inline idgen_go_failure idgen_go_config_set_store(uintptr_t config, uintptr_t ctx, int has_workers) {
  IDGEN_GO_ERROR(error);
  idgen_store_t store = {.struct_size = (uint32_t)sizeof store,
                         .segment_take = idgen_go_segment_take,
                         .segment_return = idgen_go_segment_return,
                         .release = idgen_go_release};
  if (has_workers) {
    store.namespace_format = idgen_go_namespace_format;
    store.worker_read = idgen_go_worker_read;
    store.worker_list = idgen_go_worker_list;
    store.worker_replace = idgen_go_worker_replace;
  }
  return idgen_go_fail(idgen_config_set_store((idgen_config_t *)config, &store, (void *)ctx, &error), &error);
}

static inline idgen_go_failure idgen_go_config_set_sql_store(uintptr_t config, uintptr_t ctx) {
  IDGEN_GO_ERROR(error);
  const idgen_sql_connections_t connections = {.struct_size = (uint32_t)sizeof connections,
                                               .with_connection = idgen_go_sql_connection,
                                               .in_transaction = idgen_go_sql_inside,
                                               .execute = idgen_go_sql_execute,
                                               .begin = idgen_go_sql_begin,
                                               .commit = idgen_go_sql_commit,
                                               .rollback = idgen_go_sql_rollback,
                                               .release = idgen_go_release};
  return idgen_go_fail(idgen_config_set_sql_store((idgen_config_t *)config, &connections, (void *)ctx, &error), &error);
}

static inline idgen_go_failure idgen_go_set_sql_driver(void) {
  IDGEN_GO_ERROR(error);
  const idgen_sql_driver_t driver = {.struct_size = (uint32_t)sizeof driver,
                                     .connect = idgen_go_sql_connect,
                                     .close = idgen_go_sql_close,
                                     .execute = idgen_go_sql_execute,
                                     .begin = idgen_go_sql_begin,
                                     .commit = idgen_go_sql_commit,
                                     .rollback = idgen_go_sql_rollback};
  return idgen_go_fail(idgen_set_sql_driver(&driver, NULL, &error), &error);
}

static inline idgen_go_failure idgen_go_config_set_log(uintptr_t config, uintptr_t ctx) {
  IDGEN_GO_ERROR(error);
  const idgen_log_t log = {(uint32_t)sizeof log, 0, idgen_go_log, idgen_go_release};
  return idgen_go_fail(idgen_config_set_log((idgen_config_t *)config, &log, (void *)ctx, &error), &error);
}

static inline idgen_go_failure idgen_go_config_set_keys(uintptr_t config, uintptr_t ctx) {
  IDGEN_GO_ERROR(error);
  const idgen_keys_t keys = {(uint32_t)sizeof keys, 0, idgen_go_keys, idgen_go_release};
  return idgen_go_fail(idgen_config_set_keys((idgen_config_t *)config, &keys, (void *)ctx, &error), &error);
}

#endif
