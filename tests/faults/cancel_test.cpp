// pthread_cancel: a thread is cancelled when it enters a call that may block, never within. The cancellation must not
// be caught like an exception, and a call cancelled in the middle would leave locks behind.
#include <idgen/admin.h>
#include <idgen/cipher.h>
#include <idgen/host.h>
#include <idgen/idgen.h>
#include <idgen/route.h>
#include <idgen/sql.h>
#include <idgen/testing.h>
#include <idgen/view.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <thread>

#include "../draws.h"
#include "support.hpp"

namespace idgen::faults {
namespace {

// A cancellation point in the host's code, such as reading a file.
std::atomic<bool> clock_reads_a_file{false};
std::int64_t now_ns(void*) {
  if (clock_reads_a_file) pthread_testcancel();
  return (kEpochMs + 3'600'000) * 1'000'000;
}
void release(void*) { pthread_testcancel(); }

constexpr idgen_clock_t kClock{sizeof kClock, 0, now_ns, nullptr, release};
constexpr idgen_store_t kStore = [] {
  idgen_store_t store{};
  store.struct_size = sizeof store;
  store.segment_take = [](void*, const idgen_segment_request_t*, idgen_segment_t*, idgen_error_t*) -> idgen_status_t {
    return IDGEN_E_HOST;
  };
  store.release = release;
  return store;
}();
constexpr idgen_sql_connections_t kConnections = [] {
  idgen_sql_connections_t connections{};
  connections.struct_size = sizeof connections;
  connections.with_connection = [](void*, idgen_sql_work_fn, void*, idgen_sql_error_t*) -> idgen_status_t {
    return IDGEN_E_HOST;
  };
  connections.execute = [](void*, void*, const idgen_sql_statement_t*, idgen_sql_outcome_t*,
                           idgen_sql_error_t*) -> idgen_status_t { return IDGEN_E_HOST; };
  connections.begin = [](void*, void*, idgen_sql_error_t*) -> idgen_status_t { return IDGEN_E_HOST; };
  connections.commit = connections.begin;
  connections.rollback = [](void*, void*) {};
  connections.release = release;
  return connections;
}();
constexpr idgen_log_t kLog{sizeof kLog, 0, [](void*, std::int32_t, const char*) {}, release};

constexpr idgen_keys_t kKeys{sizeof kKeys, 0,
                             [](void*, idgen_key_fn, void*, idgen_error_t*) -> idgen_status_t { return IDGEN_E_HOST; },
                             release};

// The calls' subject: one store, with a tag and a worker, and a cipher.
struct Scene {
  TempFolder folder;
  const std::string url = folder.url();
  const std::string toml = folder.file("idgen.toml");
  Config segment{{{"kind", "segment"},
                  {"tag", "t"},
                  {"store", url},
                  {"segment.step", "10"},
                  {"segment.runway", "0"},
                  {"store_timeout", "60s"},
                  {"wait_max", "60s"}}};
  Config snowflake{{{"worker", "1"}, {"store", url}, {"store_timeout", "60s"}}};
  Config archiving{{{"store", url},
                    {"layout", "business64"},
                    {"namespace", "archiving"},
                    {"cipher.key", "file:" + folder.file("old key")},
                    {"store_timeout", "60s"}}};
  const std::string routes = folder.file("routes.toml");
  idgen_t* generator = nullptr;
  idgen_t* owned = nullptr;
  idgen_t* on_clock = nullptr;
  idgen_route_table_t* table = nullptr;
  idgen_router_t* router = nullptr;
  idgen_cipher_t* cipher = nullptr;
  int made = 0;
  // What the calls write to: not in the frame of a call that is cancelled, which the sanitizer cannot take down.
  std::string path;
  char text[8192];
  std::size_t size = 0, written = 0;
  std::uint64_t id = 0, ids[30];
  idgen_wide_id_t wide_ids[30];
  idgen_view_t view = IDGEN_VIEW_INIT;
  idgen_draw_t block = IDGEN_DRAW_INIT;
  idgen_segment_info_t segment_info = IDGEN_SEGMENT_INFO_INIT;
  idgen_worker_info_t worker_info = IDGEN_WORKER_INFO_INIT;

  Scene() {
    make_store(url);
    idgen_destroy(snowflake.open());
    generator = segment.open();
    EXPECT_EQ(idgen_config_set(segment.get(), "kind", "business", nullptr), IDGEN_OK);
    owned = segment.open();
    EXPECT_EQ(idgen_config_set(segment.get(), "kind", "segment", nullptr), IDGEN_OK);
    const Config timed({{"worker", "2"}, {"store", url}});
    EXPECT_EQ(idgen_config_set_clock(timed.get(), &kClock, nullptr, nullptr), IDGEN_OK);
    on_clock = timed.open();
    std::ofstream(toml) << "[orders]\nkind = \"segment\"\ntag = \"t\"\nstore = \"" << url << "\"\n"
                        << "cipher.key = \"file:keys\"\n";
    std::ofstream(routes) << "version = 1\nbits = 1\nshards = [\"a\"]\n[[range]]\nupto = 1\nshard = \"a\"\n";
    EXPECT_EQ(idgen_route_table_read(routes.c_str(), &table, nullptr), IDGEN_OK);
    EXPECT_EQ(idgen_router_open(routes.c_str(), nullptr, &router, nullptr), IDGEN_OK);
    std::ofstream(folder.file("keys")) << "1 2B7E151628AED2A6ABF7158809CF4F3C\n";
    EXPECT_EQ(chmod(folder.file("keys").c_str(), 0600), 0);
    EXPECT_EQ(idgen_cipher_create(hiding(), &cipher, nullptr), IDGEN_OK);
    // A key that was begun, and is retired since.
    for (const char* const state : {"", " retired"}) {
      std::ofstream(folder.file("old key")) << "1 000102030405060708090a0b0c0d0e0f" << state << "\n";
      EXPECT_EQ(chmod(folder.file("old key").c_str(), 0600), 0);
      idgen_cipher_t* begun = nullptr;
      EXPECT_EQ(idgen_cipher_create(archiving.get(), &begun, nullptr), IDGEN_OK);
      idgen_cipher_destroy(begun);
    }
  }
  ~Scene() {
    clock_reads_a_file = false;
    idgen_destroy(generator);
    idgen_destroy(owned);
    idgen_destroy(on_clock);
    idgen_route_table_destroy(table);
    idgen_router_destroy(router);
    idgen_cipher_destroy(cipher);
  }

  const idgen_config_t* hiding() {
    EXPECT_EQ(idgen_config_set(segment.get(), "cipher.key", ("file:" + folder.file("keys")).c_str(), nullptr),
              IDGEN_OK);
    return segment.get();
  }

  // Calls that take a tag that does not exist yet.
  const idgen_config_t* with_new_tag() {
    EXPECT_EQ(idgen_config_set(segment.get(), "tag", ("t" + std::to_string(++made)).c_str(), nullptr), IDGEN_OK);
    return segment.get();
  }
  std::size_t* room() {
    size = sizeof text;
    return &size;
  }
};

enum class WaitsFor { nothing, store, file, routes };

struct Call {
  const char* name;
  WaitsFor waits_for;
  std::function<idgen_status_t(Scene&)> make;
  idgen_status_t gives = IDGEN_OK;
};
void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

int never(void*) { return 0; }
constexpr idgen_owner_t kOwner{"a", 1};
constexpr std::int64_t kIntOwner = 7;

// Draws past what is reserved.
template <class Draw>
idgen_status_t thirty_times(Draw&& draw) {
  idgen_status_t status = IDGEN_OK;
  for (int i = 0; i < 30 && status == IDGEN_OK; ++i) status = draw();
  return status;
}

// The second replaces, and so releases, what the first has set.
template <class Set>
idgen_status_t twice(Set&& set) {
  const Config config({});
  const idgen_status_t first = set(config.get());
  return first == IDGEN_OK ? set(config.get()) : first;
}

// Keeps nothing of what a call has made.
template <class Made, class Make>
idgen_status_t unmade(void (*destroy)(Made*), Make&& make) {
  Made* made = nullptr;
  const idgen_status_t status = make(&made);
  destroy(made);
  return status;
}

template <class Made>
idgen_status_t destroyed(void (*destroy)(Made*), Made*& made) {
  destroy(std::exchange(made, nullptr));
  return IDGEN_OK;
}

// A call that does not wait may have nothing to give.
template <class Draw>
idgen_status_t tried(Draw&& draw) {
  (void)thirty_times(draw);
  return IDGEN_OK;
}

// All calls that may wait, read files, or call the host: tests/abi/check reports those that are missing here.
const std::vector<Call> kCalls = {
    {"idgen_config_load", WaitsFor::file,
     [](Scene& s) { return idgen_config_load(s.segment.get(), s.toml.c_str(), "orders", nullptr); }},
    {"idgen_config_destroy", WaitsFor::nothing,
     [](Scene&) {
       const Config config({});
       return idgen_config_set_store(config.get(), &kStore, nullptr, nullptr);
     }},
    {"idgen_config_set_clock", WaitsFor::nothing,
     [](Scene&) { return twice([](auto c) { return idgen_config_set_clock(c, &kClock, nullptr, nullptr); }); }},
    {"idgen_test_begin", WaitsFor::nothing,
     [](Scene& s) {
       const Config config({});
       const idgen_status_t set = idgen_config_set_store(config.get(), &kStore, nullptr, nullptr);
       return set == IDGEN_OK ? idgen_test_begin(config.get(), IDGEN_TEST_UNSET, 0, &s.id, nullptr) : set;
     }},
    {"idgen_config_set_store", WaitsFor::nothing,
     [](Scene&) { return twice([](auto c) { return idgen_config_set_store(c, &kStore, nullptr, nullptr); }); }},
    {"idgen_config_set_sql_store", WaitsFor::nothing,
     [](Scene&) {
       return twice([](auto c) { return idgen_config_set_sql_store(c, &kConnections, nullptr, nullptr); });
     }},
    {"idgen_set_sql_driver", WaitsFor::nothing, [](Scene&) { return idgen_set_sql_driver(nullptr, nullptr, nullptr); }},
    {"idgen_config_set_log", WaitsFor::nothing,
     [](Scene&) { return twice([](auto c) { return idgen_config_set_log(c, &kLog, nullptr, nullptr); }); }},
    {"idgen_config_names", WaitsFor::file,
     [](Scene& s) { return idgen_config_names(s.toml.c_str(), s.text, s.room(), nullptr); }},
    {"idgen_open", WaitsFor::file,
     [](Scene& s) {
       return unmade(idgen_destroy, [&](auto made) { return idgen_open(s.toml.c_str(), "orders", made, nullptr); });
     }},
    {"idgen_create", WaitsFor::store,
     [](Scene& s) {
       return unmade(idgen_destroy, [&](auto made) { return idgen_create(s.segment.get(), made, nullptr); });
     }},
    {"idgen_create_wait", WaitsFor::store,
     [](Scene& s) {
       return unmade(idgen_destroy,
                     [&](auto made) { return idgen_create_wait(s.segment.get(), made, never, nullptr, nullptr); });
     }},
    {"idgen_close", WaitsFor::store, [](Scene& s) { return idgen_close(s.generator, nullptr); }},
    {"idgen_close_wait", WaitsFor::store,
     [](Scene& s) { return idgen_close_wait(s.generator, never, nullptr, nullptr); }},
    {"idgen_destroy", WaitsFor::store, [](Scene& s) { return destroyed(idgen_destroy, s.generator); }},
    {"idgen_try_next", WaitsFor::nothing,
     [](Scene& s) { return tried([&] { return idgen_try_next(s.generator, &s.id); }); }},
    {"idgen_draw_at_once", WaitsFor::nothing,
     [](Scene& s) { return tried([&] { return try_batch(s.generator, s.ids, 10, &s.written); }); }},
    {"idgen_draw_a_block_at_once", WaitsFor::nothing,
     [](Scene& s) { return tried([&] { return try_block(s.generator, 10, &s.block); }); }},
    {"idgen_next", WaitsFor::store,
     [](Scene& s) { return thirty_times([&] { return idgen_next(s.generator, &s.id, nullptr); }); }},
    {"idgen_next_text", WaitsFor::store,
     [](Scene& s) { return thirty_times([&] { return idgen_next_text(s.generator, s.text, s.room(), nullptr); }); }},
    {"idgen_pattern_create", WaitsFor::nothing,
     [](Scene&) {
       return unmade(idgen_pattern_destroy,
                     [](auto made) { return idgen_pattern_create("{decimal}", nullptr, nullptr, made, nullptr); });
     }},
    {"idgen_pattern_of", WaitsFor::nothing,
     [](Scene& s) {
       return unmade(idgen_pattern_destroy,
                     [&](auto made) { return idgen_pattern_of(s.segment.get(), made, nullptr); });
     }},
    {"idgen_next_batch", WaitsFor::store,
     [](Scene& s) { return idgen_next_batch(s.generator, s.ids, 30, &s.written, nullptr); }},
    {"idgen_draw", WaitsFor::store,
     [](Scene& s) { return draw_batch(s.generator, s.ids, 30, &s.written, never, nullptr, nullptr); }},
    {"idgen_draw_waited_before", WaitsFor::store,
     [](Scene& s) {
       return thirty_times([&] { return draw_waited(s.generator, 1000, &s.id, never, nullptr, nullptr); });
     }},
    {"idgen_wait_for_room", WaitsFor::store,
     [](Scene& s) {
       return thirty_times([&] {
         while (idgen_try_next(s.generator, &s.id) == IDGEN_OK) continue;
         return idgen_wait_for_room(s.generator, 1000, never, nullptr, nullptr);
       });
     }},
    {"idgen_draw_drawn", WaitsFor::store,
     [](Scene& s) {
       if (const idgen_status_t status = idgen_view(s.generator, &s.view, nullptr)) return status;
       return thirty_times([&] { return idgen_view_next(s.generator, &s.view, &s.id, nullptr); });
     }},
    {"idgen_draw_drawn_at_once", WaitsFor::nothing,
     [](Scene& s) {
       if (const idgen_status_t status = idgen_view(s.generator, &s.view, nullptr)) return status;
       return tried([&] {
         if (idgen_view_counter(&s.view, &s.id)) return IDGEN_OK;
         return draw_drawn(s.generator, IDGEN_DRAW_TRY, s.id, &s.id, nullptr);
       });
     }},
    {"idgen_draw_a_block", WaitsFor::store,
     [](Scene& s) { return thirty_times([&] { return draw_block(s.generator, 10, &s.block, nullptr); }); }},
    {"idgen_draw_a_block_cancelled", WaitsFor::store,
     [](Scene& s) {
       s.block.cancelled = never;
       return thirty_times([&] { return draw_block(s.generator, 10, &s.block, nullptr); });
     }},
    {"idgen_try_next_for", WaitsFor::nothing,
     [](Scene& s) { return tried([&] { return idgen_try_next_for(s.owned, "a", 1, &s.id); }); }},
    {"idgen_next_for", WaitsFor::store,
     [](Scene& s) { return thirty_times([&] { return idgen_next_for(s.owned, "a", 1, &s.id, nullptr); }); }},
    {"idgen_next_for_int", WaitsFor::store,
     [](Scene& s) { return thirty_times([&] { return idgen_next_for_int(s.owned, 7, &s.id, nullptr); }); }},
    {"idgen_draw_an_owner", WaitsFor::store,
     [](Scene& s) {
       return draw_for(s.owned, &kOwner, nullptr, 1, s.ids, nullptr, 30, &s.written, never, nullptr, nullptr);
     }},
    {"idgen_draw_an_owner_that_is_an_integer", WaitsFor::store,
     [](Scene& s) {
       return draw_for(s.owned, nullptr, &kIntOwner, 1, s.ids, nullptr, 30, &s.written, never, nullptr, nullptr);
     }},
    {"idgen_draw_wide", WaitsFor::store,
     [](Scene& s) {
       return draw_for(s.owned, &kOwner, nullptr, 1, nullptr, s.wide_ids, 30, &s.written, never, nullptr, nullptr);
     }},
    {"idgen_draw_wide_an_owner_that_is_an_integer", WaitsFor::store,
     [](Scene& s) {
       return draw_for(s.owned, nullptr, &kIntOwner, 1, nullptr, s.wide_ids, 30, &s.written, never, nullptr, nullptr);
     }},
    {"idgen_stats", WaitsFor::nothing,
     [](Scene& s) {
       clock_reads_a_file = true;
       idgen_stats_t stats = IDGEN_STATS_INIT;
       return idgen_stats(s.on_clock, &stats, nullptr);
     }},
    {"idgen_metrics", WaitsFor::nothing,
     [](Scene& s) {
       clock_reads_a_file = true;
       return idgen_metrics(&s.on_clock, 1, s.text, s.room(), nullptr);
     }},
    {"idgen_describe", WaitsFor::nothing,
     [](Scene& s) { return idgen_describe(s.generator, s.text, s.room(), nullptr); }},
    {"idgen_config_describe", WaitsFor::nothing,
     [](Scene& s) { return idgen_config_describe(s.segment.get(), s.text, s.room(), nullptr); }},
    {"idgen_quiesce", WaitsFor::nothing, [](Scene&) { return idgen_quiesce(nullptr); }},
    {"idgen_reset", WaitsFor::nothing, [](Scene&) { return idgen_reset(nullptr); }},
    {"idgen_store_create", WaitsFor::store,
     [](Scene& s) {
       // One that is not there yet, and the one that is.
       const Config other({{"store", s.folder.url(std::to_string(++s.made))}});
       const idgen_status_t status = idgen_store_create(other.get(), nullptr);
       return status == IDGEN_OK ? idgen_store_create(s.segment.get(), nullptr) : status;
     }},
    {"idgen_segment_create", WaitsFor::store, [](Scene& s) { return idgen_segment_create(s.with_new_tag(), nullptr); }},
    {"idgen_segment_create_above", WaitsFor::store,
     [](Scene& s) { return idgen_segment_create_above(s.with_new_tag(), 9, nullptr); }},
    {"idgen_segment_show", WaitsFor::store,
     [](Scene& s) { return idgen_segment_show(s.segment.get(), &s.segment_info, nullptr); }},
    {"idgen_segment_grant_of", WaitsFor::store,
     [](Scene& s) {
       idgen_segment_grant_t grant = IDGEN_SEGMENT_GRANT_INIT;
       return idgen_segment_grant_of(s.segment.get(), 1, &grant, nullptr);
     }},
    {"idgen_segment_advance", WaitsFor::store,
     [](Scene& s) { return idgen_segment_advance(s.segment.get(), 100, nullptr, nullptr); }},
    {"idgen_segment_retire", WaitsFor::store,
     [](Scene& s) {
       const idgen_config_t* const fresh = s.with_new_tag();
       const idgen_status_t status = idgen_segment_create(fresh, nullptr);
       return status == IDGEN_OK ? idgen_segment_retire(fresh, &s.segment_info, nullptr) : status;
     }},
    {"idgen_segment_set_step", WaitsFor::store,
     [](Scene& s) { return idgen_segment_set_step(s.segment.get(), 20, nullptr, nullptr); }},
    {"idgen_segment_list", WaitsFor::store,
     [](Scene& s) {
       const auto each = [](void*, const char*, const char*, const idgen_segment_info_t*) {};
       return idgen_segment_list(s.segment.get(), each, nullptr, nullptr);
     }},
    {"idgen_segment_max_of", WaitsFor::nothing,
     [](Scene& s) { return idgen_segment_max_of(s.segment.get(), "idgen_segment", "max_id", &s.id, nullptr); },
     IDGEN_E_UNSUPPORTED},
    {"idgen_segment_column_of", WaitsFor::nothing,
     [](Scene& s) {
       idgen_segment_column_t column = IDGEN_SEGMENT_COLUMN_INIT;
       return idgen_segment_column_of(s.segment.get(), "idgen_segment", "max_id", nullptr, &column, nullptr);
     },
     IDGEN_E_UNSUPPORTED},
    {"idgen_segment_statements", WaitsFor::nothing,
     [](Scene& s) { return idgen_segment_statements(s.segment.get(), s.text, s.room(), nullptr); }},
    {"idgen_config_set_keys", WaitsFor::nothing,
     [](Scene&) { return twice([](auto c) { return idgen_config_set_keys(c, &kKeys, nullptr, nullptr); }); }},
    {"idgen_cipher_create", WaitsFor::store,
     [](Scene& s) {
       return unmade(idgen_cipher_destroy, [&](auto made) { return idgen_cipher_create(s.hiding(), made, nullptr); });
     }},
    {"idgen_cipher_open", WaitsFor::file,
     [](Scene& s) {
       return unmade(idgen_cipher_destroy,
                     [&](auto made) { return idgen_cipher_open(s.toml.c_str(), "orders", made, nullptr); });
     }},
    {"idgen_cipher_destroy", WaitsFor::nothing, [](Scene& s) { return destroyed(idgen_cipher_destroy, s.cipher); }},
    {"idgen_cipher_reload", WaitsFor::store,
     [](Scene& s) { return s.cipher != nullptr ? idgen_cipher_reload(s.cipher, nullptr) : IDGEN_OK; }},
    {"idgen_cipher_archive", WaitsFor::store,
     [](Scene& s) { return idgen_cipher_archive(s.archiving.get(), 1, nullptr); }},
    {"idgen_cipher_check", WaitsFor::store,
     [](Scene& s) { return idgen_cipher_check(s.hiding(), s.text, s.room(), nullptr); }},
    {"idgen_worker_show", WaitsFor::store,
     [](Scene& s) { return idgen_worker_show(s.snowflake.get(), &s.worker_info, nullptr); }},
    {"idgen_worker_list", WaitsFor::store,
     [](Scene& s) {
       return idgen_worker_list(
           s.snowflake.get(), [](void*, const idgen_worker_info_t*) {}, nullptr, nullptr);
     }},
    {"idgen_worker_plan_repair", WaitsFor::store,
     [](Scene& s) { return idgen_worker_plan_repair(s.snowflake.get(), 1, &s.worker_info, nullptr); },
     IDGEN_E_VALUE},  // there is nothing to repair
    {"idgen_worker_repair", WaitsFor::store,
     [](Scene& s) { return idgen_worker_repair(s.snowflake.get(), 1, nullptr, nullptr); }, IDGEN_E_VALUE},
    {"idgen_worker_release", WaitsFor::store,
     [](Scene& s) { return idgen_worker_release(s.snowflake.get(), 1, nullptr, nullptr); },
     IDGEN_E_VALUE},  // it has no owner
    {"idgen_route_table_read", WaitsFor::routes,
     [](Scene& s) {
       return unmade(idgen_route_table_destroy,
                     [&](auto made) { return idgen_route_table_read(s.routes.c_str(), made, nullptr); });
     }},
    {"idgen_route_table_write", WaitsFor::nothing,
     [](Scene& s) {
       s.path = s.folder.file(std::to_string(++s.made));
       return idgen_route_table_write(s.table, s.path.c_str(), 0, nullptr);
     }},
    {"idgen_router_open", WaitsFor::routes,
     [](Scene& s) {
       return unmade(idgen_router_destroy,
                     [&](auto made) { return idgen_router_open(s.routes.c_str(), nullptr, made, nullptr); });
     }},
    {"idgen_router_reload", WaitsFor::routes, [](Scene& s) { return idgen_router_reload(s.router, nullptr); }},
    {"idgen_router_stats", WaitsFor::nothing,
     [](Scene& s) {
       idgen_router_stats_t stats = IDGEN_ROUTER_STATS_INIT;
       return idgen_router_stats(s.router, &stats, nullptr);
     }},
    {"idgen_router_swap", WaitsFor::nothing, [](Scene& s) { return idgen_router_swap(s.router, s.table, 7, nullptr); },
     IDGEN_E_STALE},
    {"idgen_router_destroy", WaitsFor::nothing, [](Scene& s) { return destroyed(idgen_router_destroy, s.router); }},
};

// A thread that makes one call, and ends when it is next cancelled outside of one.
class Caller {
 public:
  // is_cancelled: already when it begins.
  Caller(const Call& call, Scene& scene, bool is_cancelled) : call_(call), scene_(scene), is_cancelled_(is_cancelled) {
    if (pthread_create(&thread_, nullptr, run, this) != 0) throw std::runtime_error("pthread_create");
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  void cancel() const { pthread_cancel(thread_); }
  bool was_cancelled() const {
    void* result = nullptr;
    return pthread_join(thread_, &result) == 0 && result == PTHREAD_CANCELED;
  }
  // Only inside the call does it sleep.
  void wait_until_it_waits() const {
    for (std::string text; text.find(") S ") == std::string::npos; std::this_thread::yield())
      if (const long id = id_; id != 0)
        std::getline(std::ifstream("/proc/self/task/" + std::to_string(id) + "/stat"), text);
  }

 private:
  static void* run(void* of) {
    auto& self = *static_cast<Caller*>(of);
    if (self.is_cancelled_) pthread_cancel(pthread_self());
    self.id_ = syscall(SYS_gettid);
    (void)self.call_.make(self.scene_);
    pthread_testcancel();
    return nullptr;
  }

  const Call& call_;
  Scene& scene_;
  const bool is_cancelled_;
  std::atomic<long> id_{0};
  pthread_t thread_;
};

class CancelledThread : public testing::TestWithParam<Call> {};

TEST_P(CancelledThread, EndsBeforeTheCallOrAfterItAndOthersGoOn) {
  const pid_t child = spawn([&] {
    Scene scene;
    if (!Caller(GetParam(), scene, true).was_cancelled()) return 1;
    return GetParam().make(scene) == GetParam().gives ? 0 : 2;
  });
  EXPECT_EQ(wait_for(child), 0);
}

TEST_P(CancelledThread, WhileItWaitsComesBackFromTheCallFirst) {
  const pid_t child = spawn([&] {
    Scene scene;
    if (GetParam().waits_for == WaitsFor::store) {
      std::optional<Locker> locker(std::in_place, scene.folder.file("ids.db"), "EXCLUSIVE");
      const Caller caller(GetParam(), scene, false);
      caller.wait_until_it_waits();
      caller.cancel();
      locker.reset();
      if (!caller.was_cancelled()) return 1;
    }
    if (GetParam().waits_for == WaitsFor::file || GetParam().waits_for == WaitsFor::routes) {
      const std::string& file = GetParam().waits_for == WaitsFor::file ? scene.toml : scene.routes;
      const std::string text = file + ".text";
      if (rename(file.c_str(), text.c_str()) != 0 || mkfifo(file.c_str(), 0600) != 0) return 3;
      const Caller caller(GetParam(), scene, false);
      caller.wait_until_it_waits();
      caller.cancel();
      std::ofstream(file) << std::ifstream(text).rdbuf();
      if (!caller.was_cancelled()) return 1;
      if (rename(text.c_str(), file.c_str()) != 0) return 4;
    }
    return GetParam().make(scene) == GetParam().gives ? 0 : 2;
  });
  EXPECT_EQ(wait_for(child), 0);
}

INSTANTIATE_TEST_SUITE_P(In, CancelledThread, testing::ValuesIn(kCalls),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace idgen::faults
