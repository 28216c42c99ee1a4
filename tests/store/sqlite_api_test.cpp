// The hand-written declarations of SQLite agree with the real ones: this file compiles only if they do.
#include <sqlite3.h>

#define IDGEN_SQLITE_DECLARE 1
#include "store/sqlite_api.h"
#include "store/store_test_support.hpp"

namespace idgen {
namespace {

TEST(SqliteApi, IsFoundThroughTheHandWrittenDeclarations) {
  ASSERT_TRUE(sqlite_is_linked());
  sqlite3* db = nullptr;
  const TempFolder folder;
  EXPECT_EQ(sqlite3_open_v2(folder.file("missing.db").c_str(), &db, SQLITE_OPEN_READWRITE, nullptr), SQLITE_CANTOPEN);
  EXPECT_EQ(sqlite3_close(db), SQLITE_OK);
}

}  // namespace
}  // namespace idgen
