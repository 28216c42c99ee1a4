// The host's own clock, store, keys and log, behind the core's interfaces.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "border.hpp"
#include "host_context.hpp"
#include "idgen/runtime.hpp"
#include "idgen/store.hpp"
#include "idgen/text.hpp"
#include "store/nonce_text.hpp"
#include "store/worker_rows.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

template <class F>
void call_host(F&& function) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  const idgen_status_t status = function(&err);
  if (status == IDGEN_OK) return;
  err.message[sizeof err.message - 1] = '\0';
  const std::string message = *err.message ? err.message : idgen_status_message(status);
  throw Error(static_cast<Status>(status), message, err.retry_after_ns, err.cause);
}

constexpr const char* kHostsStore = "the host's own";

// The host's wall clock; everything else is the system's.
class HostClock final : public Runtime {
 public:
  HostClock(const idgen_clock_t& clock, void* ctx) : clock_(clock), ctx_(ctx, clock.release) {}

  std::int64_t wall_ns() noexcept override { return clock_.now_ns(ctx_.get()); }
  // Time slept on the host's clock counts as waited, even if it passes at once.
  std::int64_t mono_ns() noexcept override { return system_.mono_ns() + slept_ns_.load(); }
  void sleep_ns(std::int64_t ns) override {
    if (!clock_.sleep_ns) return system_.sleep_ns(ns);
    if (ns <= 0) return;
    const std::int64_t before = system_.mono_ns();
    clock_.sleep_ns(ctx_.get(), static_cast<uint64_t>(ns));
    slept_ns_ += std::max<std::int64_t>(0, ns - (system_.mono_ns() - before));
  }
  void nonce(std::span<std::uint8_t> out) override { system_.nonce(out); }
  std::shared_ptr<Lane> make_lane() override { return system_.make_lane(); }
  void wait(MutexLock& lock, std::condition_variable& changed, std::int64_t timeout_ns) override {
    system_.wait(lock, changed, timeout_ns);
  }

 private:
  Runtime& system_ = system_runtime();
  const idgen_clock_t clock_;
  HostContext ctx_;
  std::atomic<std::int64_t> slept_ns_{0};
};

// The rows of workers in a store of the host, for WorkerRows.
class HostRows final : public WorkerServer {
 public:
  HostRows(const idgen_store_t& store, void* ctx) : store_(store), ctx_(ctx) {}

  std::string format_of(const std::string& name_space, const std::string& format) override {
    std::array<char, 1025> found{};
    call_host([&](idgen_error_t* err) {
      return store_.namespace_format(ctx_, name_space.c_str(), format.c_str(), found.data(), found.size(), err);
    });
    found.back() = '\0';
    return found.data();
  }
  HeldWorker read_worker(const std::string& name_space, std::uint64_t worker) override {
    idgen_worker_row_t row{};
    row.struct_size = sizeof row;
    row.worker = worker;
    call_host([&](idgen_error_t* err) { return store_.worker_read(ctx_, name_space.c_str(), worker, &row, err); });
    return held_of(name_space, worker, row);
  }
  void list_workers(const std::string& name_space, bool, const EachWorker& add) override {
    Rows rows;
    call_host([&](idgen_error_t* err) { return store_.worker_list(ctx_, name_space.c_str(), keep, &rows, err); });
    if (rows.lacks_memory) throw std::bad_alloc();
    for (const idgen_worker_row_t& row : rows.all) add(row.worker, held_of(name_space, row.worker, row));
  }
  bool replace_worker(const std::string& name_space, std::uint64_t worker, HeldWorker& held, const WorkerRow& next,
                      const WindowRequest* request) override {
    const std::string seen_owner = owner_text(held.row), owner = owner_text(next);
    idgen_worker_change_t change{};
    change.struct_size = sizeof change;
    change.name_space = name_space.c_str();
    change.worker = worker;
    change.seen_fence = held.row.fence;
    change.seen_owner = seen_owner.c_str();
    change.seen_hw_ms = held.row.hw;
    change.fence = next.fence;
    change.owner = owner.c_str();
    change.holder = next.holder.c_str();
    change.hw_ms = next.hw;
    if (request != nullptr) {
      change.lease_ms = request->lease_ms;
      change.now_ms = request->now_ms;
      change.max_lead_ms = request->max_lead_ms;
    }
    std::uint32_t changed = 0;
    call_host([&](idgen_error_t* err) { return store_.worker_replace(ctx_, &change, &changed, err); });
    if (changed == 0) return false;
    held.row = next;
    return true;
  }

 private:
  struct Rows {
    std::vector<idgen_worker_row_t> all;
    bool lacks_memory = false;
  };
  static void keep(void* rows, const idgen_worker_row_t* row) noexcept {  // no exception may pass through the host
    auto& kept = *static_cast<Rows*>(rows);
    try {
      idgen_worker_row_t copy{};
      std::memcpy(&copy, row, std::min<std::size_t>(row->struct_size, sizeof copy));
      kept.all.push_back(copy);
    } catch (const std::bad_alloc&) {
      kept.lacks_memory = true;
    }
  }
  static std::string owner_text(const WorkerRow& row) { return row.owned ? hex_of(row.owner) : ""; }

  // What cannot be is damage, and never taken for a worker that is free.
  static HeldWorker held_of(const std::string& name_space, std::uint64_t worker, const idgen_worker_row_t& row) {
    HeldWorker held;
    held.store_ms = row.store_now_ms;
    if (row.fence == 0) return held;
    if (row.fence >= kLargestNumber || worker > kLargestNumber)
      fail_damaged(name_space, worker, "its fence or number is above 2^63 - 2");
    if (row.owner[0] != '\0') {
      const std::optional<Nonce> owner = nonce_of({row.owner, strnlen(row.owner, sizeof row.owner)});
      if (!owner) fail_damaged(name_space, worker, "its owner is no text of 32 hexadecimal digits");
      held.row.owner = *owner;
      held.row.owned = true;
    }
    held.row.fence = row.fence;
    held.row.hw = row.hw_ms;
    held.row.holder.assign(row.holder, strnlen(row.holder, sizeof row.holder));
    held.lease_left_ms = std::max<std::int64_t>(row.lease_left_ms, 0);
    held.is_live = row.lease_left_ms > 0;
    held.clock_ahead_ms = row.clock_ahead_ms;
    return held;
  }
  [[noreturn]] static void fail_damaged(const std::string& name_space, std::uint64_t worker, const char* what) {
    throw Error(Status::store_damaged, concat({"the host's store: ", worker_name(name_space, worker), ": ", what,
                                               ". Set its row right by hand"}));
  }

  const idgen_store_t& store_;
  void* const ctx_;
};

class HostStore final : public Store, public WindowStore {
 public:
  HostStore(const idgen_store_t& store, void* ctx)
      : store_(store), ctx_(ctx, store.release), rows_(store_, ctx), workers_(kHostsStore) {}

  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    need(store_.segment_take, "segment_take", "kind = segment");
    idgen_segment_request_t asked{};
    asked.struct_size = sizeof asked;
    asked.name_space = name_space.c_str();
    asked.tag = tag.c_str();
    asked.count = std::max(request.step, request.wanted);
    asked.rate = request.rate;
    asked.holder = request.holder.c_str();
    asked.above = request.above;
    idgen_segment_t granted{};
    granted.struct_size = sizeof granted;
    granted.count = asked.count;
    call_host([&](idgen_error_t* err) { return store_.segment_take(ctx_.get(), &asked, &granted, err); });
    constexpr auto kLargest = static_cast<std::uint64_t>(INT64_MAX);
    if (granted.first == 0 || granted.first > kLargest || granted.count == 0 ||
        granted.count - 1 > kLargest - granted.first) {
      throw Error(Status::store_damaged,
                  concat({"the host's store granted ", granted.count, " numbers from ", granted.first,
                          " on; allowed: at least one, from 1 on, up to 2^63 - 1"}));
    }
    return {.first = granted.first, .count = granted.count};
  }
  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    if (!store_.segment_return) return;
    call_host([&](idgen_error_t* err) {
      return store_.segment_return(ctx_.get(), name_space.c_str(), tag.c_str(), last, unused, err);
    });
  }
  WindowStore* windows() noexcept override { return this; }
  Window window_take(const WindowRequest& request) override {
    if (has_leases()) return workers_.take(rows_, request);
    need(store_.window_take, "window_take", "kind = snowflake");
    idgen_window_request_t asked{};
    asked.struct_size = sizeof asked;
    asked.name_space = request.name_space.c_str();
    asked.worker = request.worker;
    asked.fence = request.fence;
    std::copy(request.owner.begin(), request.owner.end(), asked.owner);
    asked.holder = request.holder.c_str();
    asked.format = request.format.c_str();
    asked.now_ms = request.now_ms;
    asked.width_ms = request.width_ms;
    asked.min_ms = request.min_ms;
    asked.max_start_ms = request.max_start_ms;
    idgen_window_t window{};
    window.struct_size = sizeof window;
    call_host([&](idgen_error_t* err) { return store_.window_take(ctx_.get(), &asked, &window, err); });
    if (window.fence == 0 || window.end_ms <= window.start_ms) {
      throw Error(Status::store_damaged, "the host's store granted an empty window, or one without a fence");
    }
    return {window.start_ms, window.end_ms, window.fence};
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    if (has_leases()) return workers_.give_back(rows_, name_space, worker, fence, end_ms, used_ms);
    if (!store_.window_return) return;
    call_host([&](idgen_error_t* err) {
      return store_.window_return(ctx_.get(), name_space.c_str(), worker, fence, end_ms, used_ms, err);
    });
  }

  bool has_leases() const override { return store_.worker_read != nullptr; }
  std::vector<WindowInfo> window_list(const std::string& name_space, Detail detail) override {
    need(store_.worker_list, "worker_list", "a worker that is auto, or the list of workers,");
    return workers_.list(rows_, name_space, detail == Detail::numbers);
  }
  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) override {
    need(store_.worker_read, "worker_read", "a look at a worker's row");
    return workers_.show(rows_, name_space, worker);
  }
  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) override {
    need(store_.worker_replace, "worker_replace", "the repair of a worker's row");
    workers_.repair(rows_, name_space, worker, seen, hw_ms);
  }
  void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                      bool even_if_live) override {
    need(store_.worker_replace, "worker_replace", "the release of a worker's row");
    workers_.release(rows_, name_space, worker, seen, even_if_live);
  }

  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    need(store_.namespace_format, "namespace_format", "the check of keys of hidden ids");
    return rows_.format_of(name_space, format);
  }

  void create() override { throw Error(Status::unsupported, "the host's own store is made by the host"); }
  void segment_create(const std::string&, const std::string&, std::uint64_t) override { refuse(); }
  SegmentInfo segment_show(const std::string&, const std::string&) override { refuse(); }
  std::vector<SegmentInfo> segment_list() override { refuse(); }
  SegmentInfo segment_advance(const std::string&, const std::string&, std::uint64_t) override { refuse(); }
  SegmentInfo segment_set_step(const std::string&, const std::string&, std::uint64_t) override { refuse(); }

  std::string describe() const override {
    return std::string("store: ") + kHostsStore + "; what a crash or a lost commit means there is the host's to say\n" +
           (has_leases() ? kWorkersSentence : "");
  }
  // Connections, locks and interpreters of the host are not made for a child.
  bool survives_fork() const override { return false; }

 private:
  template <class F>
  static void need(F function, const char* name, const char* what) {
    if (!function)
      throw Error(Status::unsupported, concat({"the host's store has no ", name, ", which ", what, " needs"}));
  }
  [[noreturn]] static void refuse() {
    throw Error(Status::unsupported, "tags of the host's own store are created, shown and advanced by the host");
  }

  const idgen_store_t store_;
  HostContext ctx_;
  HostRows rows_;
  WorkerRows<WorkerServer, HeldWorker> workers_;
};

class HostKeys final : public KeySource {
 public:
  HostKeys(const idgen_keys_t& keys, void* ctx) : keys_(keys), ctx_(ctx, keys.release) {}
  void read(Each each, void* to) override {
    call_host([&](idgen_error_t* err) { return keys_.read(ctx_.get(), each, to, err); });
  }

 private:
  const idgen_keys_t keys_;
  HostContext ctx_;
};

// Throws Error{argument}.
void check_store(const idgen_store_t& store) {
  if (!store.segment_take && !store.window_take && !store.worker_read) {
    throw Error(Status::argument,
                "store: segment_take, window_take and worker_read are all NULL; at least one is required");
  }
  const int rows = (store.namespace_format != nullptr) + (store.worker_read != nullptr) +
                   (store.worker_list != nullptr) + (store.worker_replace != nullptr);
  if (rows != 0 && rows != 4) {
    throw Error(Status::argument,
                "store: namespace_format, worker_read, worker_list and worker_replace belong together, and " +
                    std::to_string(4 - rows) + " of them are NULL");
  }
  if (rows != 0 && (store.window_take || store.window_return)) {
    throw Error(Status::argument,
                "store: window_take and window_return are for a store without worker_read; set them to NULL");
  }
}

}  // namespace

extern "C" {

idgen_status_t idgen_config_set_clock(idgen_config_t* config, const idgen_clock_t* clock, void* ctx,
                                      idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    const idgen_clock_t copy = check_vtable(clock, "clock");
    require(copy.now_ns, "clock.now_ns");
    target.runtime = std::make_shared<HostClock>(copy, ctx);
  });
}

idgen_status_t idgen_config_set_store(idgen_config_t* config, const idgen_store_t* store, void* ctx,
                                      idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    const idgen_store_t copy = check_vtable(store, "store", offsetof(idgen_store_t, namespace_format));
    check_store(copy);
    target.store = std::make_shared<HostStore>(copy, ctx);
  });
}

idgen_status_t idgen_config_set_keys(idgen_config_t* config, const idgen_keys_t* keys, void* ctx, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    const idgen_keys_t copy = check_vtable(keys, "keys");
    require(copy.read, "keys.read");
    target.keys = std::make_shared<HostKeys>(copy, ctx);
  });
}

idgen_status_t idgen_config_set_log(idgen_config_t* config, const idgen_log_t* log, void* ctx, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    HostLog made(log, ctx);
    target.log = made.log;
    made.own();
  });
}

}  // extern "C"
