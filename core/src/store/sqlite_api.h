/* The part of SQLite that idgen uses, and the only place that includes it.
 *
 * With IDGEN_SQLITE_DECLARE the declarations below replace <sqlite3.h>: a program that links SQLite from elsewhere (as
 * the Go package does) needs no SQLite header. They are weak, so that the program also links without SQLite;
 * sqlite_is_linked() then says so. A test compiles this list together with the real header, where a difference is an
 * error.
 */
#ifndef IDGEN_STORE_SQLITE_API_H
#define IDGEN_STORE_SQLITE_API_H

#ifndef IDGEN_SQLITE_DECLARE
#include <sqlite3.h>
#else

/* A macro that differs from the real one by a space is a difference. */
/* clang-format off */
#define IDGEN_SQLITE_WEAK __attribute__((weak))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_mutex sqlite3_mutex;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_vfs sqlite3_vfs;
typedef long long int sqlite_int64;
typedef sqlite_int64 sqlite3_int64;

#define SQLITE_OK 0
#define SQLITE_ERROR 1
#define SQLITE_INTERNAL 2
#define SQLITE_PERM 3
#define SQLITE_ABORT 4
#define SQLITE_BUSY 5
#define SQLITE_LOCKED 6
#define SQLITE_NOMEM 7
#define SQLITE_READONLY 8
#define SQLITE_INTERRUPT 9
#define SQLITE_IOERR 10
#define SQLITE_CORRUPT 11
#define SQLITE_FULL 13
#define SQLITE_CANTOPEN 14
#define SQLITE_PROTOCOL 15
#define SQLITE_SCHEMA 17
#define SQLITE_TOOBIG 18
#define SQLITE_CONSTRAINT 19
#define SQLITE_MISMATCH 20
#define SQLITE_AUTH 23
#define SQLITE_NOTADB 26
#define SQLITE_ROW 100
#define SQLITE_DONE 101

#define SQLITE_IOERR_SHORT_READ (SQLITE_IOERR | (2<<8))
#define SQLITE_IOERR_NOMEM (SQLITE_IOERR | (12<<8))
#define SQLITE_IOERR_CORRUPTFS (SQLITE_IOERR | (33<<8))
#define SQLITE_READONLY_DBMOVED (SQLITE_READONLY | (4<<8))

#define SQLITE_OPEN_READWRITE 0x00000002
#define SQLITE_OPEN_FULLMUTEX 0x00010000
#define SQLITE_OPEN_PRIVATECACHE 0x00040000

#define SQLITE_INTEGER 1
#define SQLITE_BLOB 4
#define SQLITE_NULL 5
#define SQLITE3_TEXT 3

typedef void (*sqlite3_destructor_type)(void *);
#define SQLITE_STATIC ((sqlite3_destructor_type)0)

IDGEN_SQLITE_WEAK int sqlite3_threadsafe(void);
IDGEN_SQLITE_WEAK sqlite3_vfs *sqlite3_vfs_find(const char *zVfsName);
IDGEN_SQLITE_WEAK int sqlite3_open_v2(const char *filename, sqlite3 **ppDb, int flags, const char *zVfs);
IDGEN_SQLITE_WEAK int sqlite3_close(sqlite3 *);
IDGEN_SQLITE_WEAK sqlite3_mutex *sqlite3_db_mutex(sqlite3 *);
IDGEN_SQLITE_WEAK int sqlite3_busy_timeout(sqlite3 *, int ms);
IDGEN_SQLITE_WEAK int sqlite3_extended_errcode(sqlite3 *db);
IDGEN_SQLITE_WEAK const char *sqlite3_errmsg(sqlite3 *);
IDGEN_SQLITE_WEAK int sqlite3_system_errno(sqlite3 *);
IDGEN_SQLITE_WEAK int sqlite3_changes(sqlite3 *);
IDGEN_SQLITE_WEAK int sqlite3_prepare_v2(sqlite3 *db, const char *zSql, int nByte, sqlite3_stmt **ppStmt,
                                         const char **pzTail);
IDGEN_SQLITE_WEAK int sqlite3_step(sqlite3_stmt *);
IDGEN_SQLITE_WEAK int sqlite3_finalize(sqlite3_stmt *pStmt);
IDGEN_SQLITE_WEAK int sqlite3_bind_int64(sqlite3_stmt *, int, sqlite3_int64);
IDGEN_SQLITE_WEAK int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, void (*)(void *));
IDGEN_SQLITE_WEAK int sqlite3_bind_blob(sqlite3_stmt *, int, const void *, int n, void (*)(void *));
IDGEN_SQLITE_WEAK int sqlite3_column_type(sqlite3_stmt *, int iCol);
IDGEN_SQLITE_WEAK sqlite3_int64 sqlite3_column_int64(sqlite3_stmt *, int iCol);
IDGEN_SQLITE_WEAK const void *sqlite3_column_blob(sqlite3_stmt *, int iCol);
IDGEN_SQLITE_WEAK int sqlite3_column_bytes(sqlite3_stmt *, int iCol);

#ifdef __cplusplus
}
#endif
/* clang-format on */
#endif /* IDGEN_SQLITE_DECLARE */

#ifdef __cplusplus
namespace idgen {
inline bool sqlite_is_linked() noexcept {
#ifdef IDGEN_SQLITE_DECLARE
  return sqlite3_open_v2 != nullptr;
#else
  return true;
#endif
}
}  // namespace idgen
#endif

#endif
