/* A store over SQL connections of the host: of the program's own pool, by its own driver. The host borrows connections
 * and sends statements; which statements, and what their answers mean, is decided by the library, as for the stores
 * mysql:// and postgres://. The tables are theirs, so both may draw from one tag at the same time, and no worker is
 * leased by both. The contract is that of idgen.h.
 */
#ifndef IDGEN_SQL_H
#define IDGEN_SQL_H

#include "host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDGEN_SQL_MYSQL 1    /* MariaDB and MySQL; TiDB is refused */
#define IDGEN_SQL_POSTGRES 2 /* PostgreSQL */
#define IDGEN_SQL_SQLITE 3   /* a database of the program's own, never the file of a store sqlite: */

#define IDGEN_SQL_NULL 0
#define IDGEN_SQL_INTEGER 1 /* `number`. In a row: of a column of whole numbers, which are kept exactly */
#define IDGEN_SQL_TEXT 2    /* `text`, UTF-8. In a row: whatever is none of the others, as text */
#define IDGEN_SQL_BYTES 3   /* `text`, to be sent as bytes, so that the session's character set does not change them */

/* A value in a statement or in a row. It stands in arrays, so unlike other structs it has no struct_size, and never
 * grows. */
typedef struct idgen_sql_value {
  int32_t kind; /* IDGEN_SQL_NULL, _INTEGER, _TEXT or _BYTES */
  uint32_t reserved;
  int64_t number;
  const char *text; /* `size` bytes; no NUL follows */
  size_t size;
} idgen_sql_value_t;

/* Called by `execute`, on its thread, for each row. `rows` is as it was passed there; values need only be valid until
 * it returns. */
typedef void (*idgen_sql_row_fn)(void *rows, const idgen_sql_value_t *values, size_t count);

typedef struct idgen_sql_statement {
  uint32_t struct_size;
  /* 1: no transaction was begun. `execute` commits it before it returns: by the connection itself, or by COMMIT.
   * 0: a part of the transaction that `begin` has begun. */
  uint32_t is_alone;
  /* Each ? stands for one value, in their order. There is no other ?, no % and no : in the text. The columns of rows
   * have different names. */
  const char *sql;
  const idgen_sql_value_t *values;
  size_t count;
  idgen_sql_row_fn each; /* NULL if the statement has no rows */
  void *rows;
} idgen_sql_statement_t;

typedef struct idgen_sql_outcome {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t changed;        /* inserted or changed rows, as the driver counts them; of no meaning with rows */
  uint64_t last_insert_id; /* MySQL: what the driver has as such; UPDATE with LAST_INSERT_ID(N) sets it */
} idgen_sql_outcome_t;

/* Why a callback fails. What a driver raised is reported with the status IDGEN_E_HOST: the library knows what its
 * number or its SQLSTATE means, and reports that as its own stores do. Any other status stands as it is, with its
 * message. */
typedef struct idgen_sql_error {
  uint32_t struct_size;
  uint32_t code;           /* MySQL's number; 0: none */
  char sqlstate[8];        /* of PostgreSQL; "": none */
  uint64_t retry_after_ns; /* as in idgen_error_t, IDGEN_ENDS_WAITS included */
  uint64_t cause;          /* as in idgen_error_t, for a store of the host */
  char message[496];       /* NUL-terminated UTF-8: what the driver or the pool says, without passwords */
} idgen_sql_error_t;

/* What `work` has made of the connection. */
#define IDGEN_SQL_DONE 0    /* it is idle: give it back */
#define IDGEN_SQL_FAILED 1  /* the same, after a failure and `rollback`: it may be broken */
#define IDGEN_SQL_REFUSED 2 /* it came inside a transaction: nothing was asked of it. Leave that transaction as it is */

/* Called by `with_connection`. `dialect` is IDGEN_SQL_*. Returns IDGEN_SQL_DONE, _FAILED or _REFUSED. */
typedef int32_t (*idgen_sql_work_fn)(void *work, void *connection, int32_t dialect);

/* Connections of the host. Each callback is called on the thread on which `with_connection` calls `work`, with the
 * `connection` that it passed there. No lock of the library is held. err is never NULL. */
typedef struct idgen_sql_connections {
  uint32_t struct_size;
  uint32_t reserved;
  /* Required. Borrows a connection, calls function(work, connection, dialect) once, on this or on any other thread, and
   * gives the connection back, all before it returns. It bounds its wait for the pool, and then fails with
   * retry_after_ns = IDGEN_ENDS_WAITS, because the thread that asks for an id may hold the connection that it waits
   * for. Its status counts only if `function` was not called. */
  idgen_status_t (*with_connection)(void *ctx, idgen_sql_work_fn function, void *work, idgen_sql_error_t *err);
  /* Optional: what the driver knows without a statement. *inside = 1: the connection is inside a transaction; 0: it is
   * not; -1: the driver does not say. Then, or without this function, MySQL is asked by a statement, and others are
   * refused (IDGEN_E_UNSUPPORTED). */
  idgen_status_t (*in_transaction)(void *ctx, void *connection, int32_t *inside, idgen_sql_error_t *err);
  /* Required. Sends one statement. An error after it, or its COMMIT, was sent is fine: what it asked for is then never
   * issued. */
  idgen_status_t (*execute)(void *ctx, void *connection, const idgen_sql_statement_t *statement,
                            idgen_sql_outcome_t *outcome, idgen_sql_error_t *err);
  /* Required. Begins a transaction for the next statements; in SQLite a writing transaction (BEGIN IMMEDIATE). */
  idgen_status_t (*begin)(void *ctx, void *connection, idgen_sql_error_t *err);
  /* Required. Returns IDGEN_OK when the server has acknowledged the commit. */
  idgen_status_t (*commit)(void *ctx, void *connection, idgen_sql_error_t *err);
  /* Required. After a failure of any of the above, and where a transaction is given up. There need not be one. */
  void (*rollback)(void *ctx, void *connection);
  void (*release)(void *ctx); /* optional */
} idgen_sql_connections_t;

/* Replaces the property `store` for the generators made from this configuration. idgen_store_create, idgen_segment_*
 * and idgen_worker_* work on it, idgen_segment_statements excepted; so does segment.grant_log.
 * Errors: IDGEN_E_ARGUMENT (a required member is NULL), any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_config_set_sql_store(idgen_config_t *config,
                                                                    const idgen_sql_connections_t *connections,
                                                                    void *ctx, idgen_error_t *err);

/* Where a URL of a store leads. Texts are NUL-terminated UTF-8 and valid until the callback returns; "" is none. */
typedef struct idgen_sql_address {
  uint32_t struct_size;
  int32_t dialect;    /* IDGEN_SQL_MYSQL or IDGEN_SQL_POSTGRES */
  const char *host;   /* a name or an address, IPv6 without brackets */
  const char *socket; /* the file of a Unix socket; then host and port are not used */
  uint32_t port;      /* never 0 */
  uint32_t reserved;
  const char *user;     /* as the URL, an environment variable or a file has it now: it may be another one next time */
  const char *password; /* the same */
  const char *database;
  const char *tls;     /* "off", "prefer", "require", "verify-ca" or "verify", as in the URL; "prefer": not given */
  const char *tls_ca;  /* a file of certificates, which can be read; "": the system's */
  uint64_t timeout_ms; /* store_timeout: for connecting, and for each answer */
} idgen_sql_address_t;

#define IDGEN_SQL_DRIVER_FORKS 1u /* a flag: a forked child can use the driver, with connections of its own */

/* Drivers of the host, for any number of stores. Each callback may be called on any thread, and for different
 * connections at the same time. No lock of the library is held. err is never NULL. */
typedef struct idgen_sql_driver {
  uint32_t struct_size;
  uint32_t flags; /* IDGEN_SQL_DRIVER_FORKS or 0 */
  /* Opens a connection whose statements commit by themselves. What it cannot do as the address says (the kind of TLS, a
   * socket), and that there is no driver, it refuses with IDGEN_E_UNSUPPORTED and a message that names it. */
  idgen_status_t (*connect)(void *ctx, const idgen_sql_address_t *address, void **connection, idgen_sql_error_t *err);
  void (*close)(void *ctx, void *connection);
  /* As in idgen_sql_connections_t. */
  idgen_status_t (*execute)(void *ctx, void *connection, const idgen_sql_statement_t *statement,
                            idgen_sql_outcome_t *outcome, idgen_sql_error_t *err);
  idgen_status_t (*begin)(void *ctx, void *connection, idgen_sql_error_t *err);
  idgen_status_t (*commit)(void *ctx, void *connection, idgen_sql_error_t *err);
  void (*rollback)(void *ctx, void *connection);
  void (*release)(void *ctx); /* optional: another driver was set, and no store uses this one any more */
} idgen_sql_driver_t;

/* Sets what opens the stores mysql://, mariadb:// and postgres:// of this process where their modules are absent. They
 * keep to idgen's own tables, and refuse what only the module knows: parameters such as auth, several hosts, other
 * generators' tables, TiDB. `driver` NULL: nothing does. Stores that are open keep theirs.
 * Errors: IDGEN_E_ARGUMENT (a required member is NULL), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_set_sql_driver(const idgen_sql_driver_t *driver, void *ctx,
                                                              idgen_error_t *err);

#ifdef __cplusplus
}
#endif
#endif
