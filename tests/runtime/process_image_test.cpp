#include "runtime/process_image.hpp"

#include <thread>
#include <vector>

#include "runtime/children.hpp"

namespace idgen {
namespace {

TEST(ProcessImage, IsTheSameForAllThreads) {
  std::vector<std::uint64_t> found(8);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t& each : found) threads.emplace_back([&each] { each = process_image(); });
  }
  for (const std::uint64_t each : found) EXPECT_EQ(each, process_image());
  EXPECT_EQ(process_image_if_known(), process_image());
  EXPECT_NE(process_image(), 0u);
}

TEST(ProcessImage, DiffersFromThatOfEveryAncestorHoweverTheChildIsMade) {
  const std::uint64_t mine = process_image();
  const auto differs_in_child_and_grandchild = [mine] {
    const std::uint64_t childs = process_image_if_known();
    const int grandchild = answer_of([mine, childs] {
      const std::uint64_t here = process_image();
      return here != mine && here != childs && here == process_image_if_known() ? 7 : 1;
    });
    return childs != mine && childs == process_image() && grandchild == 7 ? 9 : 1;
  };
  EXPECT_EQ(answer_of(differs_in_child_and_grandchild), 9);
  EXPECT_EQ(answer_of(differs_in_child_and_grandchild, raw_clone), 9);
  EXPECT_EQ(process_image(), mine);
}

}  // namespace
}  // namespace idgen
