// A buffer's two sides, one step at a time, on simulated time.
#include "idgen/handle.hpp"
#include "sim/sim_queue.hpp"
#include "sim/sim_runtime.hpp"
#include "sim/sim_store.hpp"
#include "store/breaker.hpp"
#include "store/buffer_store.hpp"
#include "store/store_test_support.hpp"

namespace idgen::sim {
namespace {

constexpr std::int64_t kPauseMs = 5000;

class Buffer : public ::testing::Test {
 protected:
  ~Buffer() override { runtime->drop_all(); }

  std::shared_ptr<Store> open() {
    return make_buffer_store({.queue = [this] { return queue; },
                              .database = [this] { return database; },
                              .options = options,
                              .runtime = runtime});
  }
  std::uint64_t draw(std::uint64_t step = 10) { return store->segment_grant("n", "t", {.step = step}).first; }
  void database_away(bool away) {
    database->before = [away] {
      if (away) throw Error(Status::store_unavailable, "the database is down");
    };
  }
  BufferStats stats() const { return *store->buffer_stats(); }
  std::uint64_t counter() { return disk.tags["t"]; }

  static BufferOptions small() {
    BufferOptions options;
    options.stock_max = 1000;
    return options;
  }
  BufferOptions options = small();
  std::shared_ptr<SimRuntime> runtime = std::make_shared<SimRuntime>();
  SimRedis redis;
  SimDisk disk;
  std::shared_ptr<SimQueue> queue = std::make_shared<SimQueue>(redis);
  std::shared_ptr<SimStore> database = std::make_shared<SimStore>(disk);
  std::shared_ptr<Store> store = open();
};

TEST_F(Buffer, TheFirstGrantFillsTheQueueAndTheNextOnesComeOutOfItInOneCallEach) {
  EXPECT_EQ(draw(), 1u);
  EXPECT_EQ(database->calls, 1);
  EXPECT_EQ(stats().stock, 50u);  // a quarter more than four segments
  const int calls = queue->calls;
  EXPECT_EQ(draw(), 11u);
  EXPECT_EQ(draw(), 21u);
  EXPECT_EQ(queue->calls, calls + 2);
  EXPECT_EQ(database->calls, 1);
}

TEST_F(Buffer, AStockThatRunsLowIsLoadedInTheBackground) {
  draw();
  draw();
  draw();  // 30 are left, 40 are wanted
  EXPECT_EQ(runtime->tasks(), 1u);
  draw();
  EXPECT_EQ(runtime->tasks(), 1u);  // one at a time
  EXPECT_EQ(database->calls, 1);
  runtime->run_all();
  EXPECT_EQ(database->calls, 2);
  EXPECT_EQ(counter(), 80u);
  for (std::uint64_t first = 41; first < 80; first += 10) EXPECT_EQ(draw(), first);
}

TEST_F(Buffer, WhoeverClosesItLastWaitsForTheLoadsInTheBackground) {
  store->enter();
  store->enter();
  for (int i = 0; i < 3; ++i) draw();
  store->leave();
  EXPECT_EQ(runtime->tasks(), 1u);  // another generator is open
  store->leave();
  EXPECT_EQ(runtime->tasks(), 0u);
  EXPECT_EQ(database->calls, 1);  // it had not begun, so it is dropped
  EXPECT_EQ(draw(), 31u);
  runtime->run_all();
  EXPECT_EQ(database->calls, 2);  // and whoever draws afterwards posts the next one
}

TEST_F(Buffer, WhoeverFindsItEmptyWhileAnotherLoadsLoadsALittle) {
  redis.another_loads = true;
  draw();
  EXPECT_EQ(stats().stock, 40u);
  draw();
  draw();
  EXPECT_EQ(runtime->tasks(), 0u);
}

TEST_F(Buffer, WhatIsHeldFollowsTheRunwayTheRateAndTheLimit) {
  store->segment_grant("n", "t", {.step = 10, .rate = 7});
  EXPECT_EQ(queue->last_request.rate, 7u);
  EXPECT_EQ(queue->last_request.runway_ms, 1'800'000u);
  EXPECT_EQ(queue->last_request.stock_max, 1000u);
  EXPECT_EQ(queue->last_request.least, 40u);
}

TEST_F(Buffer, WithoutTheDatabaseTheStockIsIssuedAndThenTheErrorIsWorthARetry) {
  draw();
  database_away(true);
  for (std::uint64_t first = 11; first <= 51; first += 10) EXPECT_EQ(draw(), first);
  runtime->run_all();
  EXPECT_FAILS(draw(), Status::store_unavailable, "the database is down; and Redis: it holds nothing more");
  database_away(false);
  EXPECT_EQ(draw(), 61u);
}

TEST_F(Buffer, WithoutRedisTheDatabaseGrantsWhatIsAskedForAndNoMore) {
  draw();
  queue->away = true;
  EXPECT_EQ(draw(), 61u);
  EXPECT_EQ(draw(), 71u);
  EXPECT_EQ(counter(), 80u);
}

TEST_F(Buffer, AfterAnOutageOfRedisAProcessTakesNothingBelowWhatItHasIssuedButOthersDo) {
  draw();
  const std::shared_ptr<Store> other = open();
  queue->away = true;
  EXPECT_EQ(draw(), 61u);
  queue->away = false;
  EXPECT_GT(draw(), 70u);
  EXPECT_EQ(other->segment_grant("n", "t", {.step = 10}).first, 11u);
}

TEST_F(Buffer, WithoutBothTheErrorNamesBothAndWithThemItGoesOn) {
  draw();
  queue->away = true;
  database_away(true);
  EXPECT_FAILS(draw(), Status::store_unavailable, "the database is down; and Redis: Redis is down");
  queue->away = false;
  database_away(false);
  EXPECT_EQ(draw(), 11u);
}

TEST_F(Buffer, ALoadThatIsRefusedOrUnansweredIsBurnedAndNeverSentAgain) {
  for (const auto fate : {SimQueue::Fate::answer_lost, SimQueue::Fate::request_lost, SimQueue::Fate::delayed}) {
    redis.flush(0);
    int calls = 0;
    queue->fate = [&] { return ++calls == 2 ? fate : SimQueue::Fate::done; };  // take, load
    queue->loads = 0;
    draw();
    EXPECT_EQ(queue->loads, 1);
    queue->fate = [] { return SimQueue::Fate::done; };
  }
}

TEST_F(Buffer, ALoadFromBeforeAFailoverIsRefused) {
  database->before = [&] {
    redis.fail_over(1);
    queue->server = 1;
    database->before = [] {};
  };
  EXPECT_EQ(draw(), 1u);
  EXPECT_EQ(stats().stock, 0u);
  EXPECT_EQ(draw(), 61u);
}

TEST_F(Buffer, WhatIsBelowAnAdvancesTargetDoesNotComeOutAnyMore) {
  draw();
  EXPECT_EQ(store->segment_advance("n", "t", 500).max_id, 500u);
  EXPECT_EQ(draw(), 501u);
}

TEST_F(Buffer, AnAdvanceThatCannotDropTheStockSaysSoAndCanBeRepeated) {
  draw();
  queue->away = true;
  EXPECT_FAILS(store->segment_advance("n", "t", 500), Status::store_unavailable, "Do this again");
  queue->away = false;
  EXPECT_EQ(draw(), 11u);
  store->segment_advance("n", "t", 500);
  EXPECT_EQ(draw(), 502u);
}

TEST_F(Buffer, ATagThatIsMadeAboveANumberIsNotMadeBeforeTheStockOfAnEarlierOneIsDropped) {
  draw();
  disk.tags.erase("t");
  queue->away = true;
  for (int i = 0; i < 2; ++i) {  // a deployment tries again, and must not find a tag to be content with
    EXPECT_FAILS(store->segment_create("n", "t", 5000), Status::store_unavailable, "Do this again");
    EXPECT_FALSE(disk.tags.contains("t"));
  }
  queue->away = false;
  store->segment_create("n", "t", 5000);
  EXPECT_EQ(draw(), 5001u);
}

TEST_F(Buffer, ATagThatIsThereKeepsItsStockThoughSomebodyWouldMakeItAboveANumber) {
  draw();
  EXPECT_FAILS(store->segment_create("n", "t", 5), Status::tag_exists, "there");
  EXPECT_EQ(draw(), 11u);
}

TEST_F(Buffer, ADatabaseThatWentBackStopsAllUntilTheTagIsLifted) {
  draw();
  const std::shared_ptr<Store> other = open();
  disk.tags["t"] = 20;
  for (int i = 0; i < 5; ++i) draw();
  EXPECT_FAILS(draw(), Status::store_regressed, "segment advance");
  EXPECT_FAILS(draw(), Status::store_regressed, "segment advance");
  EXPECT_FAILS(other->segment_grant("n", "t", {.step = 10}), Status::store_regressed, "up to ");
  queue->away = true;
  EXPECT_FAILS(draw(), Status::store_regressed, "segment advance");  // it remembers
  queue->away = false;
  other->segment_advance("n", "t", 5000);
  EXPECT_GT(draw(), 5000u);
  EXPECT_GT(other->segment_grant("n", "t", {.step = 10}).first, 5000u);
}

TEST_F(Buffer, ADatabaseThatWentBackIsNoticedInTheBackgroundToo) {
  draw();
  disk.tags["t"] = 0;
  draw();
  draw();
  runtime->run_all();
  EXPECT_FAILS(draw(), Status::store_regressed, "segment advance");
}

TEST_F(Buffer, ADatabaseThatWentBackIsNoticedWithoutRedisByWhoKnowsBetter) {
  draw();
  queue->away = true;
  draw();  // 61 to 70
  disk.tags["t"] = 20;
  EXPECT_FAILS(draw(), Status::store_regressed, "up to 70");
}

TEST_F(Buffer, ARowWithAStrideIsRefused) {
  disk.stride = 2;
  EXPECT_FAILS(draw(), Status::unsupported, "stride 2");
}

TEST_F(Buffer, NearTheEndOfAllNumbersOnlyWhatIsNeededIsAskedFor) {
  disk.tags["t"] = std::uint64_t{0x7fffffffffffffff} - 15;
  EXPECT_EQ(draw(), std::uint64_t{0x7fffffffffffffff} - 14);
  EXPECT_FAILS(draw(), Status::exhausted, "2^63");
}

TEST_F(Buffer, WindowsAreNotItsBusiness) { EXPECT_FAILS(windows_of(*store), Status::unsupported, "kind = segment"); }

TEST_F(Buffer, WhatIsGivenBackIsBurned) {
  draw();
  store->segment_return("n", "t", 10, 5);
  EXPECT_EQ(draw(), 11u);
  EXPECT_FAILS(store->segment_return("n", "t", 1, 2), Status::argument, "cannot be unused");
}

TEST_F(Buffer, OneSideMayBeAwayWhenItIsOpened) {
  bool away = true;
  const auto missing = [&]() -> std::shared_ptr<Queue> {
    if (away) throw Error(Status::store_unavailable, "cannot connect");
    return queue;
  };
  const auto without_database = [&]() -> std::shared_ptr<Store> {
    throw Error(Status::store_unavailable, "cannot connect either");
  };
  const auto with_database = [&]() -> std::shared_ptr<Store> { return database; };
  const std::shared_ptr<Store> late = make_buffer_store({missing, with_database, options, runtime});
  EXPECT_EQ(late->segment_grant("n", "t", {.step = 10}).first, 1u);
  EXPECT_EQ(counter(), 10u);
  away = false;
  late->segment_grant("n", "t", {.step = 10});
  EXPECT_EQ(counter(), 70u);
  const std::shared_ptr<Store> of_stock = make_buffer_store({missing, without_database, options, runtime});
  EXPECT_EQ(of_stock->segment_grant("n", "t", {.step = 10}).first, 21u);
  EXPECT_FAILS(of_stock->segment_show("n", "t"), Status::store_unavailable, "cannot connect either");
  away = true;
  EXPECT_FAILS(make_buffer_store({missing, without_database, options, runtime}), Status::store_unavailable, "either");
}

TEST_F(Buffer, ABreakerLeavesRedisAloneAndTriesItOnce) {
  draw();
  queue->away = true;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(stats().redis, BreakerState::closed);
    draw();
  }
  EXPECT_EQ(stats().redis, BreakerState::open);
  EXPECT_GE(stats().redis_failures, 3u);
  EXPECT_EQ(stats().database_failures, 0u);
  const int calls = queue->calls;
  for (int i = 0; i < 5; ++i) draw();
  EXPECT_EQ(queue->calls, calls);
  runtime->pass(kPauseMs * kMs);
  EXPECT_EQ(stats().redis, BreakerState::half_open);
  draw();
  draw();
  EXPECT_EQ(queue->calls, calls + 1);  // it failed, and the pause started over
  EXPECT_EQ(stats().redis, BreakerState::open);
  queue->away = false;
  runtime->pass(kPauseMs * kMs);
  draw();
  EXPECT_EQ(stats().redis, BreakerState::closed);
  EXPECT_EQ(stats().database, BreakerState::closed);
}

TEST_F(Buffer, ABreakerLeavesTheDatabaseAloneAndSaysForHowLong) {
  queue->away = true;
  database_away(true);
  for (int i = 0; i < 3; ++i) EXPECT_FAILS(draw(), Status::store_unavailable, "the database is down");
  EXPECT_EQ(stats().database, BreakerState::open);
  const int calls = database->calls;
  try {
    draw();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::store_unavailable);
    EXPECT_EQ(error.retry_after_ns(), static_cast<std::uint64_t>(kPauseMs * kMs));
    EXPECT_LT(error.message().size(), 496u);
  }
  EXPECT_EQ(database->calls, calls);
  database_away(false);
  runtime->pass(kPauseMs * kMs);
  EXPECT_EQ(draw(), 1u);
  EXPECT_EQ(stats().database, BreakerState::closed);
}

TEST_F(Buffer, AnAnswerThatIsNoIsNoFailureOfTheDatabase) {
  database->before = [] { throw Error(Status::tag_unknown, "no such tag"); };
  for (int i = 0; i < 10; ++i) EXPECT_FAILS(draw(), Status::tag_unknown, "no such tag");
  EXPECT_EQ(stats().database, BreakerState::closed);
}

// A generator, which refuses grants below earlier ones.
TEST_F(Buffer, AGeneratorGoesOnThroughOutagesOfBothSidesAndReportsThem) {
  Config config;
  config.runtime = runtime;
  config.store = store;
  for (const auto& [key, value] : {std::pair{"kind", "segment"},
                                   {"tag", "t"},
                                   {"segment.step", "10"},
                                   {"segment.runway", "0"},
                                   {"segment.stride", "4"},
                                   {"segment.offset", "1"},
                                   {"wait_max", "1s"}})
    config.set(key, value);
  Handle ids(config);
  std::uint64_t last = 0;
  int drawn = 0;
  for (int i = 0; i < 2000; ++i) {
    queue->away = i / 100 % 2 == 1;
    database_away(i / 150 % 5 == 1);
    runtime->pass(20 * kMs);
    try {
      const std::uint64_t id = ids.next();
      EXPECT_GT(id, last);
      EXPECT_EQ(id % 4, 1u);
      last = id;
      ++drawn;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::store_unavailable) << error.message();
    }
  }
  EXPECT_GT(drawn, 1000);
  const Stats found = ids.stats();
  ASSERT_TRUE(found.has_buffer);
  const Handle* const handles[] = {&ids};
  const std::string text = Handle::metrics(handles);
  EXPECT_NE(text.find("\nidgen_buffer_stock{"), std::string::npos);
  EXPECT_NE(text.find("side=\"database\""), std::string::npos);
  EXPECT_NE(ids.describe().find("buffer.runway"), std::string::npos);
  EXPECT_NE(ids.describe().find("simulated"), std::string::npos);
}

TEST(BufferBreaker, OfSeveralThatAskAfterThePauseOneGoesThrough) {
  Breaker breaker;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(breaker.allows(3, 0));
    breaker.failed(3, 100, 0);
  }
  EXPECT_EQ(breaker.state(3, 99), BreakerState::open);
  EXPECT_FALSE(breaker.allows(3, 99));
  EXPECT_TRUE(breaker.allows(3, 100));
  EXPECT_EQ(breaker.state(3, 100), BreakerState::half_open);
  EXPECT_FALSE(breaker.allows(3, 100));
  breaker.failed(3, 100, 150);
  EXPECT_FALSE(breaker.allows(3, 249));
  EXPECT_TRUE(breaker.allows(3, 250));
  breaker.succeeded();
  EXPECT_EQ(breaker.state(3, 250), BreakerState::closed);
  EXPECT_TRUE(breaker.allows(3, 250));
}

TEST(BufferBreaker, ASuccessInBetweenBeginsTheCountAnew) {
  Breaker breaker;
  for (int i = 0; i < 10; ++i) {
    breaker.failed(2, 100, 0);
    breaker.succeeded();
  }
  EXPECT_EQ(breaker.state(2, 0), BreakerState::closed);
}

TEST(BufferUrl, WhatCannotBeMeantIsRefusedWithoutTheSecret) {
  const auto open = [](const std::string& redis, const std::string& database) {
    StoreOptions options;
    options.buffer.redis = redis;
    options.buffer.database = database;
    return open_store("buffer", options);
  };
  EXPECT_FAILS(open("", "sqlite:ids.db"), Status::value, "buffer.redis");
  EXPECT_FAILS(open("mysql://app:secret@db/ids", "sqlite:ids.db"), Status::value,
               "not shown, it may hold a password); allowed: redis://");
  for (const char* database : {"", "memory", "memory:x", "buffer", "buffer:", "jdbc:buffer", "jdbc:memory"})
    EXPECT_FAILS(open("redis://cache", database), Status::value, "buffer.database");
  EXPECT_FAILS(open_store("buffer:redis", {}), Status::value, "alone");
  StoreOptions harmless;
  harmless.buffer.redis = "redis://cache";
  EXPECT_NO_THROW(open_store("memory", harmless));
}

TEST(BufferUrl, WhatWouldMakeATagIsWhatTheDatabaseRuns) {
  StoreOptions options;
  options.buffer.redis = "redis://cache";
  options.buffer.database = "sqlite:ids.db";
  const std::string text = segment_statements("buffer", options, "ns", "t");
  EXPECT_NE(text.find("CREATE TABLE idgen_segment"), std::string::npos);
  EXPECT_NE(text.find("VALUES('ns', 't', 0, 0, "), std::string::npos);
  options.buffer.database = "memory";
  EXPECT_FAILS(segment_statements("buffer", options, "ns", "t"), Status::value, "buffer.database");
}

}  // namespace
}  // namespace idgen::sim
