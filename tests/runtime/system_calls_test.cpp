#include "idgen/system_calls.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>
#include <set>

#include "temp_folder.hpp"

namespace idgen {
namespace {

TEST(SystemCalls, RandomBytesFillsAllThatWasAskedFor) {
  std::array<unsigned char, 4096> bytes{};  // more than the kernel gives at once, if a signal comes
  ASSERT_TRUE(random_bytes(bytes.data(), bytes.size()));
  EXPECT_GT(std::set(bytes.begin(), bytes.end()).size(), 200u);
  std::array<unsigned char, 4096> others{};
  ASSERT_TRUE(random_bytes(others.data(), others.size()));
  EXPECT_NE(bytes, others);
}

TEST(SystemCalls, RenameReplacesNothing) {
  TempFolder folder;
  const std::string from = folder.file("from"), to = folder.file("to");
  std::ofstream(from) << "new";
  std::ofstream(to) << "old";
  EXPECT_EQ(EEXIST, rename_without_replacing(from.c_str(), to.c_str()));
  unlink(to.c_str());
  EXPECT_EQ(0, rename_without_replacing(from.c_str(), to.c_str()));
  std::string text;
  std::ifstream(to) >> text;
  EXPECT_EQ("new", text);
}

TEST(SystemCalls, TheMountOfAPathIsTheOneThatTheLibraryOfThisSystemSays) {
#ifdef STATX_MNT_ID
  struct statx info {};
  ASSERT_EQ(0, statx(AT_FDCWD, "/proc", AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &info));
  if ((info.stx_mask & STATX_MNT_ID) == 0) GTEST_SKIP() << "a kernel before Linux 5.8";
  EXPECT_EQ(info.stx_mnt_id, mount_of("/proc"));
  EXPECT_NE(mount_of("/proc"), mount_of("/"));
#endif
  EXPECT_EQ(std::nullopt, mount_of("/no such path"));
}

TEST(SystemCalls, WipeMemoryLeavesNothingOfASecret) {
  std::array<unsigned char, 100> secret;
  secret.fill(7);
  wipe_memory(secret.data(), secret.size());
  EXPECT_EQ((std::array<unsigned char, 100>{}), secret);
}

}  // namespace
}  // namespace idgen
