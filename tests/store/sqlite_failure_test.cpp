// The status for each result of SQLite that a test cannot provoke on a real file.
#include <sqlite3.h>

#include "store/sqlite_connection.hpp"
#include "store/store_test_support.hpp"

namespace idgen {
namespace {

Error failure(int result, int system_errno = 0) {
  return sqlite_failure("/nowhere/ids.db", result, system_errno, "text of SQLite", "COMMIT", 5000);
}

TEST(SqliteFailure, BecomesTheStatusThatSaysWhatToDo) {
  const struct {
    int result;
    int system_errno;
    Status status;
  } cases[] = {
      {SQLITE_BUSY, 0, Status::store_unavailable},
      {SQLITE_BUSY_RECOVERY, 0, Status::store_unavailable},
      {SQLITE_LOCKED, 0, Status::store_unavailable},
      {SQLITE_PROTOCOL, 0, Status::store_unavailable},
      {SQLITE_READONLY, 0, Status::store_permission},
      {SQLITE_READONLY_DIRECTORY, EACCES, Status::store_permission},
      {SQLITE_READONLY_DBMOVED, 0, Status::store_missing},
      {SQLITE_PERM, 0, Status::store_permission},
      {SQLITE_CANTOPEN, EACCES, Status::store_permission},
      {SQLITE_CANTOPEN, EROFS, Status::store_permission},
      {SQLITE_CANTOPEN, ENOSPC, Status::store_full},
      {SQLITE_CANTOPEN, EMFILE, Status::store_unavailable},
      {SQLITE_FULL, ENOSPC, Status::store_full},
      {SQLITE_IOERR_WRITE, EDQUOT, Status::store_full},
      {SQLITE_IOERR_WRITE, EIO, Status::store_unavailable},
      {SQLITE_IOERR_FSYNC, EIO, Status::store_unavailable},
      {SQLITE_IOERR_SHORT_READ, 0, Status::store_damaged},
      {SQLITE_IOERR_CORRUPTFS, 0, Status::store_damaged},
      {SQLITE_IOERR_NOMEM, 0, Status::no_memory},
      {SQLITE_NOMEM, 0, Status::no_memory},
      {SQLITE_CORRUPT, 0, Status::store_damaged},
      {SQLITE_CORRUPT_INDEX, 0, Status::store_damaged},
      {SQLITE_NOTADB, 0, Status::store_damaged},
      {SQLITE_ERROR, 0, Status::store_damaged},
      {SQLITE_CONSTRAINT, 0, Status::store_damaged},
      {SQLITE_TOOBIG, 0, Status::argument},
      {SQLITE_INTERRUPT, 0, Status::store_unavailable},
      {SQLITE_MISUSE, 0, Status::internal},
  };
  for (const auto& c : cases) {
    const Error error = failure(c.result, c.system_errno);
    EXPECT_EQ(error.status(), c.status) << c.result << " " << c.system_errno << " " << error.message();
    EXPECT_THAT(error.message(), testing::HasSubstr("/nowhere/ids.db"));
    EXPECT_LT(error.message().size(), 496u);
  }
}

}  // namespace
}  // namespace idgen
