// Opening and closing: what a call waits for, what a failure means, how a caller cancels it.
#include <atomic>
#include <thread>

#include "generator/world.hpp"
#include "patience.hpp"

namespace idgen::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Opening : public World {
 protected:
  void away_for(std::int64_t ns, Status status = Status::store_unavailable) {
    store->before = [this, until = runtime->mono_ns() + ns, status] {
      if (runtime->mono_ns() < until) throw Error(status, "it does not answer");
    };
  }
};

TEST_F(Opening, WaitsForAStoreThatIsDownAsACallDoes) {
  for (const char* kind : {"snowflake", "segment"}) {
    away_for(3 * kSecond);
    const std::int64_t before = runtime->mono_ns();
    auto handle = open({{"kind", kind}, {kind == std::string("segment") ? "tag" : "worker", "1"}, {"wait_max", "5s"}});
    EXPECT_GE(runtime->mono_ns() - before, 3 * kSecond);
    EXPECT_LT(runtime->mono_ns() - before, 5 * kSecond);
    EXPECT_NO_THROW(handle->next());
  }
}

TEST_F(Opening, EndsAfterWaitMaxWithWhatTheStoreSaid) {
  away_for(3600 * kSecond);
  const std::int64_t before = runtime->mono_ns();
  EXPECT_ERROR(STORE_UNAVAILABLE, AllOf(HasSubstr("waited 2000 ms (wait_max)"), HasSubstr("it does not answer")),
               open({{"worker", "1"}, {"wait_max", "2s"}}));
  EXPECT_EQ(runtime->mono_ns() - before, 2 * kSecond);
}

TEST_F(Opening, CountsTheTimeThatTheStoreTakesToFail) {
  for (const char* kind : {"snowflake", "segment"}) {
    store->before = [this] {
      runtime->pass(700 * kMs);
      throw Error(Status::store_unavailable, "it does not answer");
    };
    const std::int64_t before = runtime->mono_ns();
    EXPECT_ERROR(STORE_UNAVAILABLE, _,
                 open({{"kind", kind}, {kind == std::string("segment") ? "tag" : "worker", "1"}, {"wait_max", "2s"}}));
    EXPECT_GE(runtime->mono_ns() - before, 2 * kSecond);
    EXPECT_LE(runtime->mono_ns() - before, 2 * kSecond + 700 * kMs) << "one attempt may begin just in time";
  }
}

TEST_F(Opening, DoesNotWaitForWhatWaitingCannotChange) {
  for (const Status status : {Status::store_permission, Status::store_missing, Status::worker_busy, Status::host}) {
    away_for(3600 * kSecond, status);
    const std::int64_t before = runtime->mono_ns();
    EXPECT_EQ(error_of([&] { open({{"worker", "1"}}); }).status(), status);
    EXPECT_EQ(runtime->mono_ns(), before);
  }
}

TEST_F(Opening, CanBeLeftWhileTheStoreIsDown) {
  std::atomic<bool> is_away{true};
  store->before = [&] {
    if (is_away) throw Error(Status::store_unavailable, "it does not answer");
  };
  Config settings = config({{"worker", "1"}, {"wait_max", "1h"}});
  settings.runtime = nullptr;  // real threads
  int asked = 0;
  EXPECT_EQ(error_of([&] { Handle(settings, [&] { return ++asked == 3; }); }).status(), Status::cancelled);
  ASSERT_TRUE(becomes_true([&] { return store.use_count() <= 2; })) << "the abandoned attempt does not let go";
  is_away = false;
  EXPECT_NO_THROW(Handle(settings).next()) << "nothing of it is left in the way";
}

TEST_F(Opening, WhatTheStoreGrantsAfterTheCallerHasGoneIsGivenBack) {
  runtime->hold_back(true);  // the store is asked, and takes its time
  EXPECT_EQ(error_of([&] { Handle(config({{"worker", "1"}}), [] { return true; }); }).status(), Status::cancelled);
  runtime->hold_back(false);
  runtime->run_all();
  EXPECT_EQ(disk.workers[1].hw, now_ms()) << "the window was taken, and given back whole";
  EXPECT_NO_THROW(open({{"worker", "1"}, {"sequence_start", "zero"}})->next()) << "nobody holds the worker";
}

TEST_F(Opening, WithoutAThreadIsDoneByTheCaller) {
  runtime->has_no_threads(true);
  Handle handle(config({{"worker", "1"}}), [] { return false; });
  EXPECT_NO_THROW(handle.next());
  EXPECT_NO_THROW(handle.close([] { return false; }));
}

class Closing : public Opening {};

TEST_F(Closing, IsNoFailureWhenTheStoreDoesNotTakeTheRestBackButIsLogged) {
  for (const char* kind : {"snowflake", "segment"}) {
    std::vector<std::string> lines;
    Config settings = config({{"kind", kind}, {"worker", kind == std::string("segment") ? "" : "1"}, {"tag", "t"}});
    settings.log = log_to(lines);
    Handle handle(settings);
    handle.next();
    away_for(3600 * kSecond);
    EXPECT_NO_THROW(handle.close());
    EXPECT_THAT(lines, ElementsAre(AllOf(HasSubstr("could not be given back"), HasSubstr("it does not answer"))));
    EXPECT_ERROR(CLOSED, _, handle.next());
    store->before = [] {};
  }
}

TEST_F(Closing, CanBeLeftAndIsDoneInTheBackground) {
  auto handle = open({{"worker", "1"}});
  handle->next();
  runtime->hold_back(true);
  EXPECT_EQ(error_of([&] { handle->close([] { return true; }); }).status(), Status::cancelled);
  EXPECT_ERROR(CLOSED, _, handle->next());
  EXPECT_GT(disk.workers[1].hw, kStartNs / kMs + 1000);
  runtime->hold_back(false);
  runtime->run_all();
  EXPECT_EQ(disk.workers[1].hw, kStartNs / kMs + 1) << "given back";
}

TEST_F(Closing, TheLastGeneratorOnAStoreDisconnectsIt) {
  auto a = open({{"worker", "1"}});
  auto b = open({{"worker", "2"}});
  auto c = open({{"kind", "segment"}, {"tag", "t"}});
  a->close();
  c->close();
  c.reset();
  EXPECT_EQ(store->disconnects, 0);
  b->close();
  EXPECT_EQ(store->disconnects, 1);
  open({{"worker", "1"}})->next();
  EXPECT_EQ(store->disconnects, 2);
  EXPECT_ERROR(FORMAT_MISMATCH, _, open({{"worker", "1"}, {"layout", "twitter"}, {"datacenter", "0"}}));
  EXPECT_EQ(store->disconnects, 3) << "one that could not be opened as well";
}

TEST(SharedStore, IsOneForAUrlAndItsOptions) {
  StoreOptions creating;
  creating.create = true;
  const auto a = shared_store("memory:shared", creating);
  EXPECT_EQ(a, shared_store("memory:shared", creating));
  EXPECT_NE(a, shared_store("memory:other", creating));
  EXPECT_NE(a, shared_store("memory:shared", {})) << "made with another word on what is missing";
  std::vector<std::shared_ptr<Store>> opened(16);
  std::vector<std::thread> threads;
  for (auto& store : opened) threads.emplace_back([&] { store = shared_store("memory:raced", {}); });
  for (auto& thread : threads) thread.join();
  for (const auto& store : opened) EXPECT_EQ(store, opened[0]);
}

}  // namespace
}  // namespace idgen::sim
