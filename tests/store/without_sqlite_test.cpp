// The library in a program that links no SQLite.
#include "store/sqlite_api.h"
#include "store/store_test_support.hpp"

namespace idgen {
namespace {

TEST(WithoutSqlite, ASqliteStoreIsRefusedAndTheMemoryStoreWorks) {
  const TempFolder folder;
  ASSERT_FALSE(sqlite_is_linked());
  EXPECT_FAILS(open_store(folder.url(), creating())->segment_create("ns", "t"), Status::unsupported,
               "no SQLite is linked");
  EXPECT_EQ(draw_from(open_store("memory", creating()), "ns", "t", 5), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // nothing is left of the attempt
}

}  // namespace
}  // namespace idgen
