#include "runtime/process_image.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>
#include <vector>

namespace idgen {
namespace {

int answer_of(const std::function<long()>& make_child, const std::function<int()>& body) {
  const auto child = static_cast<pid_t>(make_child());
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

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
    const int grandchild =
        answer_of([] { return fork(); },
                  [mine, childs] {
                    const std::uint64_t here = process_image();
                    return here != mine && here != childs && here == process_image_if_known() ? 7 : 1;
                  });
    return childs != mine && childs == process_image() && grandchild == 7 ? 9 : 1;
  };
  EXPECT_EQ(answer_of([] { return fork(); }, differs_in_child_and_grandchild), 9);
  EXPECT_EQ(answer_of([] { return syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr); },
                      differs_in_child_and_grandchild),
            9);
  EXPECT_EQ(process_image(), mine);
}

}  // namespace
}  // namespace idgen
