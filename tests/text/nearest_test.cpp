// "Did you mean", and users' text in messages.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "idgen/text.hpp"

namespace idgen {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("worker", "worker"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("worker", "workr"), 1u);
  EXPECT_EQ(edit_distance("worker", "workker"), 1u);
  EXPECT_EQ(edit_distance("worker", "werker"), 1u);
  EXPECT_EQ(edit_distance("worker", "wroker"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, IsTheSameBothWaysAndZeroOnlyForEqualTexts) {
  std::mt19937_64 rng(5);
  for (int i = 0; i < 5000; ++i) {
    std::string a(rng() % 8, 'a'), b(rng() % 8, 'a');
    for (char& c : a) c = static_cast<char>('a' + rng() % 3);
    for (char& c : b) c = static_cast<char>('a' + rng() % 3);
    ASSERT_EQ(edit_distance(a, b), edit_distance(b, a));
    ASSERT_EQ(edit_distance(a, b) == 0, a == b);
    ASSERT_LE(edit_distance(a, b), std::max(a.size(), b.size()));
  }
}

TEST(EditDistance, ALongTextIsFarFromEverythingAndCostsNothing) {
  const std::string huge(1 << 24, 'a');
  EXPECT_EQ(edit_distance(huge, "a"), huge.size());
  EXPECT_EQ(edit_distance("a", huge), huge.size());
  EXPECT_EQ(edit_distance(huge, huge), 0u);
  const std::string longest(64, 'a');
  EXPECT_EQ(edit_distance(longest, longest.substr(1)), 1u);
}

TEST(Nearest, FindsTheNameMeantWhateverItsCase) {
  constexpr std::array<std::string_view, 3> names = {"worker", "store", "segment.step"};
  EXPECT_EQ(nearest("wroker", names), "worker");
  EXPECT_EQ(nearest("WORKER", names), "worker");
  EXPECT_EQ(nearest("segment_step", names), "segment.step");
  EXPECT_EQ(nearest("stor", names), "store");
}

TEST(Nearest, FindsNothingWhereNothingIsNear) {
  constexpr std::array<std::string_view, 3> names = {"worker", "store", "segment.step"};
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("xyz", names), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'w'), names), "");
  EXPECT_EQ(nearest("worker", {}), "");
}

TEST(Quoted, KeepsAMessageOneLineOfPrintableAscii) {
  EXPECT_EQ(in_quotes("worker"), "'worker'");
  EXPECT_EQ(in_quotes(""), "''");
  EXPECT_EQ(in_quotes("a\nb"), "'a\\x0Ab'");
  EXPECT_EQ(in_quotes("\xC3\xA9\x7F"), "'\\xC3\\xA9\\x7F'");
  EXPECT_EQ(in_quotes(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
  EXPECT_EQ(in_quotes(std::string(81, 'a')), "'" + std::string(80, 'a') + "...'");
  EXPECT_LE(in_quotes(std::string(1 << 20, '\xFF')).size(), 90u);
}

}  // namespace
}  // namespace idgen
