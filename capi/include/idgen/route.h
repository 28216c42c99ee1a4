/*
 * Routing.
 *
 * Which shard an id belongs to. A ring has 2^bits virtual nodes; a node is the low bits of an id's gene. A table gives
 * ranges of nodes to shards, a router holds the table in force. Moving the rows is the application's: a table only says
 * where they belong, and, while nodes are in cut-over, in which order to look. Formats, rules, and what to do in which
 * order: docs/routing.md.
 *
 * A lookup takes no lock, allocates nothing, and never looks at a file or a clock. A forked child keeps the table
 * that it has; there, a file is watched again after the first call of idgen_router_reload, _swap or _stats.
 */
#ifndef IDGEN_ROUTE_H
#define IDGEN_ROUTE_H

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct idgen_route_table idgen_route_table_t; /* which shard has which ids, as data */
typedef struct idgen_router idgen_router_t;           /* the table of routes in force */

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

struct idgen_log; /* host.h */

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

#ifdef __cplusplus
}
#endif

#endif
