// The host's own clock, store, log and threads: slow, hanging, calling back, holding their own locks, cancelled.
#include <idgen/host.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "../draws.h"
#include "patience.hpp"
#include "support.hpp"

namespace idgen::faults {
namespace {

// A store of the host that counts, with a hook before each call.
struct HostStore {
  std::function<void(const std::string& tag)> before = [](const std::string&) {};
  std::mutex mutex;
  std::uint64_t max_id = 0;

  static idgen_status_t take(void* ctx, const idgen_segment_request_t* request, idgen_segment_t* segment,
                             idgen_error_t*) {
    auto& self = *static_cast<HostStore*>(ctx);
    self.before(request->tag);
    const std::lock_guard lock(self.mutex);
    segment->first = self.max_id + 1;
    self.max_id += request->count;
    return IDGEN_OK;
  }
  void use_in(const Config& config) {
    idgen_store_t vtable{};
    vtable.struct_size = sizeof vtable;
    vtable.segment_take = take;
    ASSERT_EQ(idgen_config_set_store(config.get(), &vtable, this, nullptr), IDGEN_OK);
  }
};

// Opened once, then for all.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

TEST(HostCode, AStoreThatHangsDelaysNoGeneratorOfAnotherStore) {
  StoreFolder folder;
  const Config hanging({{"kind", "segment"}, {"tag", "a"}, {"segment.step", "10"}, {"wait_max", "100ms"}});
  HostStore store;
  store.use_in(hanging);
  idgen_t* const a = hanging.open();
  Gate gate, entered;
  store.before = [&](const std::string&) {
    entered.open();
    gate.wait();
  };
  std::uint64_t id = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(idgen_try_next(a, &id), IDGEN_OK);
  entered.wait();
  Ids b(
      {{"kind", "segment"}, {"tag", "t"}, {"store", folder.url()}, {"segment.step", "1000"}, {"segment.runway", "0"}});
  ASSERT_TRUE(b) << b.outcome().message;
  for (int i = 0; i < 50'000; ++i) ASSERT_NE(b.next(), 0u) << i << ": " << b.outcome().message;
  EXPECT_EQ(b.close().status, IDGEN_OK);
  gate.open();
  idgen_destroy(a);
}

// Without the sanitizers: the allocator of ASan is copied with its locks held, and TSan lets no child start a thread.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// On the background thread of the library, which goes on in the child when the store's call returns there.
TEST(HostCode, AChildThatAStoreForksInItsCallGivesNothingBackOfItsParents) {
  struct ForkingStore {
    Shared<std::atomic<std::uint64_t>> max_id, given_back, given_back_by_child;
    std::atomic<pid_t> child{-1};
    std::atomic<bool> forks{false};
    const pid_t parent = getpid();

    static idgen_status_t take(void* ctx, const idgen_segment_request_t* request, idgen_segment_t* segment,
                               idgen_error_t*) {
      auto& self = *static_cast<ForkingStore*>(ctx);
      segment->first = self.max_id->fetch_add(request->count) + 1;
      if (self.forks.exchange(false)) self.child = fork();  // both get the same segment
      return IDGEN_OK;
    }
    static idgen_status_t give_back(void* ctx, const char*, const char*, std::uint64_t last, std::uint64_t unused,
                                    idgen_error_t*) {
      auto& self = *static_cast<ForkingStore*>(ctx);
      *(getpid() == self.parent ? self.given_back : self.given_back_by_child).data() += unused;
      self.max_id->compare_exchange_strong(last, last - unused);
      return IDGEN_OK;
    }
  } store;
  const Config config({{"kind", "segment"},
                       {"tag", "a"},
                       {"segment.step", "10"},
                       {"segment.runway", "0"},
                       {"segment.max_age", "50ms"}});
  idgen_store_t vtable{};
  vtable.struct_size = sizeof vtable;
  vtable.segment_take = ForkingStore::take;
  vtable.segment_return = ForkingStore::give_back;
  ASSERT_EQ(idgen_config_set_store(config.get(), &vtable, &store, nullptr), IDGEN_OK);
  idgen_t* const ids = config.open();
  ASSERT_TRUE(becomes_true([&] { return store.given_back->load() != 0; })) << "nothing was given back at max_age";
  store.forks = true;
  std::uint64_t id = 0;
  ASSERT_EQ(idgen_next(ids, &id, nullptr), IDGEN_OK);
  ASSERT_TRUE(becomes_true([&] { return store.child >= 0; })) << "the store was not asked again, so it has not forked";
  waitpid(store.child, nullptr, 0);
  EXPECT_EQ(store.given_back_by_child->load(), 0u);
  idgen_destroy(ids);
}
#endif

TEST(HostCode, AStoreMayDrawFromAnotherGeneratorOnAnyStoreItsOwnIncluded) {
  // Tag a's grants draw from b, say for an audit row: on a separate store, and on the same one.
  const Config other({{"kind", "segment"}, {"tag", "b"}, {"segment.step", "25"}, {"segment.runway", "0"}});
  const Config config({{"kind", "segment"}, {"tag", "b"}, {"segment.step", "10"}, {"segment.runway", "0"}});
  HostStore store, other_store;
  other_store.use_in(other);
  store.use_in(config);
  idgen_t* const inner[] = {other.open(), config.open()};
  std::atomic<int> drawn{0};
  store.before = [&](const std::string& tag) {
    for (int i = 0; tag == "a" && i < 160; ++i) {
      std::uint64_t id = 0;
      idgen_error_t err = IDGEN_ERROR_INIT;
      EXPECT_EQ(idgen_next(inner[i % 2], &id, &err), IDGEN_OK) << err.message;
      ++drawn;
    }
  };
  EXPECT_EQ(idgen_config_set(config.get(), "tag", "a", nullptr), IDGEN_OK);
  idgen_t* const outer = config.open();
  for (int i = 0; i < 200; ++i) {
    std::uint64_t id = 0;
    idgen_error_t err = IDGEN_ERROR_INIT;
    ASSERT_EQ(idgen_next(outer, &id, &err), IDGEN_OK) << err.message;
  }
  EXPECT_GE(drawn.load(), 160 * 20);
  idgen_destroy(outer);
  for (idgen_t* const generator : inner) idgen_destroy(generator);
}

TEST(HostCode, ALogThatHangsInAForkedChildHoldsUpNoOtherThread) {
  StoreFolder folder;
  const Config config({{"kind", "segment"}, {"tag", "t"}, {"store", folder.url()}, {"segment.step", "10"}});
  struct Said {
    Gate entered, go_on;
  } said;
  const auto hangs = [](void* ctx, std::int32_t, const char*) {
    auto& self = *static_cast<Said*>(ctx);
    self.entered.open();
    self.go_on.wait();
  };
  const idgen_log_t log{sizeof log, 0, hangs, nullptr};
  ASSERT_EQ(idgen_config_set_log(config.get(), &log, &said, nullptr), IDGEN_OK);
  idgen_t* const generator = config.open();
  const pid_t child = spawn([&] {
    std::thread logging([&] {
      std::uint64_t id = 0;
      if (idgen_next(generator, &id, nullptr) != IDGEN_OK) _exit(1);
    });
    said.entered.wait();
    // With the log's callback on the stack of another thread, so long as that takes.
    for (int i = 0; i < 100; ++i) {
      std::uint64_t id = 0;
      if (idgen_next(generator, &id, nullptr) != IDGEN_OK) return 2;
      idgen_stats_t stats = IDGEN_STATS_INIT;
      if (idgen_stats(generator, &stats, nullptr) != IDGEN_OK) return 3;
    }
    said.go_on.open();
    logging.join();
    return 0;
  });
  EXPECT_EQ(wait_for(child), 0);
  idgen_destroy(generator);
}

// Allowed by rule 9, if not wise: the child returns from the same call.
TEST(HostCode, AStoreThatForksInTheMiddleOfACallGivesTheChildNothing) {
  const Config config({{"kind", "segment"}, {"tag", "t"}, {"segment.step", "10"}, {"segment.runway", "0"}});
  HostStore store;
  store.use_in(config);
  pid_t child = -1;
  store.before = [&](const std::string&) {
    if (child == -1) child = fork();
  };
  idgen_t* generator = nullptr;
  idgen_error_t err = IDGEN_ERROR_INIT;
  const idgen_status_t status = idgen_create(config.get(), &generator, &err);
  if (child == 0) _exit(status == IDGEN_E_FORKED ? 0 : 1);
  EXPECT_EQ(status, IDGEN_OK) << err.message;
  EXPECT_EQ(wait_for(child), 0);
  std::uint64_t id = 0;
  EXPECT_EQ(idgen_next(generator, &id, &err), IDGEN_OK);
  EXPECT_EQ(id, 1u);
  idgen_destroy(generator);
}

// Without the sanitizers: a child of a process with threads finds ASan's allocator as another thread held it, and TSan
// lets it start no thread.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// The same from the callback that says whether a wait is to end. When it is asked first, the wait has not begun.
TEST(HostCode, ACancelledCallbackThatForksGivesTheChildForkedOrNumbersOfItsOwn) {
  using Wait = std::function<idgen_status_t(idgen_t*, const Config&, idgen_cancelled_fn, void*, std::uint64_t* id)>;
  const std::pair<const char*, Wait> waits[] = {
      {"idgen_draw",
       [](idgen_t* generator, const Config&, idgen_cancelled_fn cancelled, void* ctx, std::uint64_t* id) {
         std::size_t written = 0;
         return draw_batch(generator, id, 1, &written, cancelled, ctx, nullptr);
       }},
      {"idgen_draw, a block, cancelled",
       [](idgen_t* generator, const Config&, idgen_cancelled_fn cancelled, void* ctx, std::uint64_t* id) {
         idgen_draw_t block = IDGEN_DRAW_INIT;
         const idgen_status_t status =
             (block.cancelled = cancelled, block.ctx = ctx, draw_block(generator, 1, &block, nullptr));
         *id = block.first;
         return status;
       }},
      {"idgen_create_wait",
       [](idgen_t*, const Config& config, idgen_cancelled_fn cancelled, void* ctx, std::uint64_t* id) {
         idgen_t* made = nullptr;
         idgen_status_t status = idgen_create_wait(config.get(), &made, cancelled, ctx, nullptr);
         if (status == IDGEN_OK) status = idgen_next(made, id, nullptr);
         idgen_destroy(made);
         return status;
       }},
  };
  for (int i = 0; i < 6; ++i) {
    const auto& [name, wait] = waits[i / 2];
    StoreFolder folder;
    const Config config({{"kind", "segment"},
                         {"tag", "t"},
                         {"store", folder.url()},
                         {"segment.step", "1"},
                         {"segment.runway", "0"},
                         {"store_timeout", "60s"},
                         {"wait_max", "60s"}});
    idgen_t* const generator = config.open();
    std::vector<std::uint64_t> ids;
    Shared<std::uint64_t> childs(2);
    struct Fork {
      int left;
      std::optional<Locker> locker{};
      pid_t child = -1;
    } forking{i % 2 == 0 ? 1 : 3};
    forking.locker.emplace(folder.file("ids.db"));
    const auto forks = [](void* ctx) {
      auto& self = *static_cast<Fork*>(ctx);
      if (--self.left != 0) return 0;
      fflush(stdout);
      self.child = fork();
      if (self.child == 0) alarm(60);
      if (self.child > 0) self.locker.reset();
      return 0;
    };
    idgen_status_t status = IDGEN_OK;
    std::uint64_t id = 0;
    for (; forking.child == -1 && status == IDGEN_OK; ids.push_back(id))
      status = wait(generator, config, forks, &forking, &id);
    if (forking.child == 0) {
      if (status == IDGEN_OK) childs[0] = id;
      if (status != IDGEN_OK && status != IDGEN_E_FORKED) _exit(1);
      _exit(wait(generator, config, nullptr, nullptr, &childs[1]) == IDGEN_OK ? 0 : 2);
    }
    EXPECT_EQ(status, IDGEN_OK) << name;
    EXPECT_EQ(wait_for(forking.child), 0) << name;
    ASSERT_EQ(idgen_next(generator, &id, nullptr), IDGEN_OK) << name;
    ids.push_back(id);
    EXPECT_EQ(count_duplicates({ids, {childs[0], childs[1]}}), 0u) << name;
    idgen_destroy(generator);
  }
}

// And from the clock, at any of its readings: while opening, in the fast path, in a wait for a tick, in a refill.
// What the child still issues is not its parent's.
TEST(HostCode, AClockThatForksGivesTheChildNothingOfItsParents) {
  for (const char* order : {"strict", "relaxed"}) {
    int forked = 0;
    for (int reading = 1; reading <= 60; ++reading) {
      TempFolder folder;
      constexpr std::size_t kMost = 4096;
      Shared<std::uint64_t> childs(kMost);
      std::vector<std::uint64_t> ids;
      struct Host {
        int left;
        int readings = 0;
        const std::vector<std::uint64_t>& ids;
        std::size_t drawn_before = 0;
        std::int64_t now_ns = (kEpochMs + 3'600'000) * 1'000'000;
        pid_t child = -1;
        const pid_t parent = getpid();
        std::int64_t read() {
          if (getpid() == parent && --left == 0) {
            drawn_before = ids.size();
            fflush(stdout);
            child = fork();
            if (child == 0) alarm(60);
          }
          return now_ns += ++readings % 4 == 0 ? 4'000'000 : 0;
        }
      } host{reading, 0, ids};
      const idgen_clock_t clock{
          sizeof clock, 0, [](void* ctx) { return static_cast<Host*>(ctx)->read(); },
          [](void* ctx, std::uint64_t ns) { static_cast<Host*>(ctx)->now_ns += static_cast<std::int64_t>(ns); },
          nullptr};
      const Config config({{"worker", "1"},
                           {"store", folder.url()},
                           {"store_create", "true"},
                           {"layout", "time:41ms worker:10 sequence:1"},
                           {"order", order},
                           {"window", "100ms"},
                           {"max_ahead", "100ms"},
                           {"wait_max", "2s"}});
      ASSERT_EQ(idgen_config_set_clock(config.get(), &clock, &host, nullptr), IDGEN_OK);
      idgen_t* generator = nullptr;
      idgen_status_t status = idgen_create(config.get(), &generator, nullptr);
      for (int i = 0; i < 20 && (status == IDGEN_OK || status == IDGEN_E_FORKED); ++i) {
        std::uint64_t id = 0;
        idgen_draw_t block = IDGEN_DRAW_INIT;
        if (!generator) break;
        if ((status = idgen_next(generator, &id, nullptr)) == IDGEN_OK) ids.push_back(id);
        if (idgen_try_next(generator, &id) == IDGEN_OK) ids.push_back(id);
        if (draw_block(generator, 1, &block, nullptr) == IDGEN_OK) ids.push_back(block.first);
      }
      if (host.child == 0) {
        std::copy(ids.begin() + static_cast<std::ptrdiff_t>(host.drawn_before), ids.end(), childs.data());
        _exit(ids.size() <= kMost ? 0 : 1);
      }
      if (host.child > 0) {
        ++forked;
        EXPECT_EQ(wait_for(host.child), 0) << order << " " << reading;
      }
      EXPECT_TRUE(is_strictly_rising(ids)) << order << " " << reading;
      for (std::size_t i = 0; i < kMost && childs[i] != 0; ++i)
        EXPECT_EQ(std::count(ids.begin(), ids.end(), childs[i]), 0) << order << " " << reading << ": " << childs[i];
      idgen_destroy(generator);
    }
    EXPECT_GT(forked, 50) << order;
  }
}

#endif

// A host with one big lock (an interpreter's), which it holds during calls that do not wait, and which its clock takes.
TEST(HostCode, AClockThatTakesTheHostsLockClosesNoCircle) {
  for (const char* order : {"strict", "relaxed"}) {
    const pid_t child = spawn([&] {
      static std::recursive_mutex big;
      static std::atomic<bool> stop{false};
      const Config config({{"worker", "1"},
                           {"store", "memory"},
                           {"window", "100ms"},
                           {"max_ahead", "100ms"},
                           {"on_overflow", "borrow"},
                           {"order", order}});
      // Ten times as fast as the system's, so that its windows pass in a tenth of the time.
      const auto now = [](void*) -> std::int64_t {
        const std::lock_guard lock(big);
        return kEpochMs * 1'000'000 + mono_ns() * 10;
      };
      const idgen_clock_t clock{sizeof clock, 0, now, nullptr, nullptr};
      if (idgen_config_set_clock(config.get(), &clock, nullptr, nullptr) != IDGEN_OK) return 1;
      idgen_t* const generator = config.open();
      std::atomic<long> tried{0}, waited{0};
      std::vector<std::thread> threads;
      threads.emplace_back([&] {
        while (!stop) {
          const std::lock_guard lock(big);
          std::uint64_t id = 0;
          tried += idgen_try_next(generator, &id) <= IDGEN_E_WOULD_BLOCK;
        }
      });
      for (int i = 0; i < 2; ++i)
        threads.emplace_back([&] {
          std::uint64_t id = 0;
          while (!stop) waited += idgen_next(generator, &id, nullptr) == IDGEN_OK;
        });
      // For twenty windows: at the end of each, both kinds meet in the slow path. A deadlock ends with the child's
      // alarm.
      idgen_stats_t stats = IDGEN_STATS_INIT;
      while (idgen_stats(generator, &stats, nullptr) == IDGEN_OK && stats.refills < 20) usleep(1000);
      stop = true;
      for (auto& thread : threads) thread.join();
      idgen_destroy(generator);
      return tried > 0 && waited > 0 ? 0 : 2;
    });
    EXPECT_EQ(wait_for(child), 0) << order;
  }
}

// A thread that waits for the store: cancel_test.cpp. This one waits for the clock, with the sequence used up again and
// again.
TEST(HostCode, AThreadThatWaitsForTheClockIsCancelledOutsideOfTheCall) {
  const pid_t child = spawn([&] {
    const Config timed(
        {{"worker", "1"}, {"store", "memory"}, {"layout", "time:41ms worker:10 sequence:2"}, {"wait_max", "1s"}});
    idgen_t* const snowflake = timed.open();
    pthread_t thread;
    const auto draw = [](void* of) -> void* {
      std::uint64_t id = 0;
      while (idgen_next(static_cast<idgen_t*>(of), &id, nullptr) == IDGEN_OK) {
      }
      pthread_testcancel();
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&thread, nullptr, draw, snowflake), 0);
    idgen_stats_t stats = IDGEN_STATS_INIT;
    EXPECT_TRUE(becomes_true([&] { return idgen_stats(snowflake, &stats, nullptr) != IDGEN_OK || stats.waits >= 5; }))
        << "no thread waits for the clock";
    EXPECT_EQ(pthread_cancel(thread), 0);
    (void)idgen_close(snowflake, nullptr);
    void* result = nullptr;
    EXPECT_EQ(pthread_join(thread, &result), 0);
    idgen_destroy(snowflake);
    return result == PTHREAD_CANCELED ? 0 : 3;
  });
  EXPECT_EQ(wait_for(child), 0);
}

}  // namespace
}  // namespace idgen::faults
