#include <gtest/gtest.h>

#include "idgen/text.hpp"

namespace idgen {
namespace {

std::string copied(std::string_view text, std::size_t size) {
  std::string room(size + 1, '#');
  const std::size_t used = copy_text(text, room.data(), size);
  EXPECT_EQ(room[used], '\0');
  EXPECT_EQ(room[size], '#') << "written beyond the end";
  return room.substr(0, used);
}

TEST(CopyText, FitsWithItsNul) {
  EXPECT_EQ(copied("process 4711 on db-3", 128), "process 4711 on db-3");
  EXPECT_EQ(copied("abc", 4), "abc");
  EXPECT_EQ(copied("abc", 3), "ab");
  EXPECT_EQ(copied("abc", 1), "");
}

TEST(CopyText, IsCutBetweenCharacters) {
  EXPECT_EQ(copied("x\xe2\x82\xac\xe2\x82\xac", 8), "x\xe2\x82\xac\xe2\x82\xac");
  EXPECT_EQ(copied("x\xe2\x82\xac\xe2\x82\xac", 7), "x\xe2\x82\xac");
  EXPECT_EQ(copied("x\xe2\x82\xac\xe2\x82\xac", 4), "x");
}

TEST(CopyText, WritesAQuestionMarkForEveryByteThatIsNotUtf8) {
  EXPECT_EQ(copied("caf\xe9 \xff\xfe", 128), "caf? ??");
  EXPECT_EQ(copied("\xc0\x80", 128), "??") << "longer than needed";
  EXPECT_EQ(copied("\xed\xa0\x80", 128), "???") << "a surrogate";
  EXPECT_EQ(copied("\xe2\x82", 128), "??") << "cut off";
}

}  // namespace
}  // namespace idgen
