#include "runtime/fork_page.hpp"

#include <condition_variable>
#include <mutex>

#include "runtime/children.hpp"

namespace idgen {
namespace {

struct Page {
  std::uint64_t number;
  std::mutex mutex;
  std::condition_variable changed;
};

TEST(ForkPage, IsZeroInAChildHoweverItIsMadeAndKeptInTheParent) {
  const std::function<long()> ways[] = {fork, [] { return syscall(SYS_fork); }, raw_clone};
  for (const auto& make_child : ways) {
    ForkPage<Page> page;
    page->number = 42;
    EXPECT_EQ(answer_of([&] { return static_cast<int>(page->number); }, make_child), 0);
    EXPECT_EQ(page->number, 42u);
  }
}

TEST(ForkPage, ALockThatTheParentHeldIsFreeInTheChild) {
  ForkPage<Page> page;
  std::lock_guard held(page->mutex);
  EXPECT_EQ(answer_of([&] { return page->mutex.try_lock() ? 7 : 1; }), 7);
}

TEST(ForkPage, IsZeroAgainInAGrandchild) {
  ForkPage<Page> page;
  page->number = 42;
  EXPECT_EQ(answer_of([&] {
              page->number = 5;
              return answer_of([&] { return page->number == 0 ? 9 : 1; });
            }),
            9);
}

}  // namespace
}  // namespace idgen
