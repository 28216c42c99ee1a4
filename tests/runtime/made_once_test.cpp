#include "runtime/made_once.hpp"

#include <future>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/children.hpp"

namespace idgen {
namespace {

TEST(MadeOnce, IsTheSameForAllThreads) {
  for (int round = 0; round < 200; ++round) {
    auto once = std::make_unique<MadeOnce<int>>();
    std::promise<void> all_here;
    std::shared_future<void> go = all_here.get_future().share();
    std::vector<std::future<int*>> found;
    for (int i = 0; i < 4; ++i) {
      found.push_back(std::async(std::launch::async, [&, i] {
        go.wait();
        return &once->get([i] { return std::make_unique<int>(i); });
      }));
    }
    all_here.set_value();
    std::set<int*> different;
    for (auto& one : found) different.insert(one.get());
    ASSERT_EQ(different.size(), 1u);
    delete *different.begin();
  }
}

TEST(MadeOnce, MayFailAndBeMadeLater) {
  MadeOnce<int> once;
  EXPECT_THROW(once.get([]() -> std::unique_ptr<int> { throw std::runtime_error("no room"); }), std::runtime_error);
  EXPECT_EQ(once.get([] { return std::make_unique<int>(7); }), 7);
  delete &once.get();
}

TEST(MadeOnce, IsThereForAChildThatIsForkedWhileAnotherThreadMakesIt) {
  static constinit MadeOnce<int> once;
  std::promise<void> inside, go_on;
  std::thread maker([&] {
    once.get([&] {
      inside.set_value();
      go_on.get_future().wait();
      return std::make_unique<int>(1);
    });
  });
  inside.get_future().wait();
  EXPECT_EQ(answer_of([&] { return once.get([] { return std::make_unique<int>(42); }); }), 42)
      << "the child waited for a thread that it does not have";
  go_on.set_value();
  maker.join();
  EXPECT_EQ(once.get(), 1) << "the parent's is its own";
}

}  // namespace
}  // namespace idgen
