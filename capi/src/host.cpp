// The host's own clock, store and log, behind the core's interfaces.
#include <atomic>

#include "border.hpp"
#include "idgen/runtime.hpp"
#include "idgen/store.hpp"

using namespace idgen;
using namespace idgen::capi;

namespace {

// ctx and its release, which is called once when nothing uses ctx any more.
class HostContext {
 public:
  HostContext(void* ctx, void (*release)(void*)) : ctx_(ctx), release_(release) {}
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;
  ~HostContext() {
    if (release_) release_(ctx_);
  }
  void* get() const noexcept { return ctx_; }
  // From now on ctx is ours.
  void own(void (*release)(void*)) noexcept { release_ = release; }

 private:
  void* ctx_;
  void (*release_)(void*);
};

template <class V>
void check_vtable(const V* vtable, const char* what) {
  if (require(vtable, what)->struct_size < sizeof(V)) {
    throw Error(Status::argument, std::string(what) + ": struct_size is " + std::to_string(vtable->struct_size) +
                                      "; set it to sizeof, " + std::to_string(sizeof(V)));
  }
  if (vtable->reserved != 0) {  // or it could never get a meaning: existing programs would leave it unset
    throw Error(Status::argument,
                std::string(what) + ".reserved is " + std::to_string(vtable->reserved) + "; set it to 0");
  }
}

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

class HostStore final : public Store {
 public:
  HostStore(const idgen_store_t& store, void* ctx) : store_(store), ctx_(ctx, store.release) {}

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
    idgen_segment_t granted{};
    granted.struct_size = sizeof granted;
    granted.count = asked.count;
    call([&](idgen_error_t* err) { return store_.segment_take(ctx_.get(), &asked, &granted, err); });
    constexpr auto kLargest = static_cast<std::uint64_t>(INT64_MAX);
    if (granted.first == 0 || granted.first > kLargest || granted.count == 0 ||
        granted.count - 1 > kLargest - granted.first) {
      throw Error(Status::store_damaged, "the host's store granted " + std::to_string(granted.count) +
                                             " numbers from " + std::to_string(granted.first) +
                                             " on; allowed: at least one, from 1 on, up to 2^63 - 1");
    }
    return {.first = granted.first, .count = granted.count};
  }
  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    if (!store_.segment_return) return;
    call([&](idgen_error_t* err) {
      return store_.segment_return(ctx_.get(), name_space.c_str(), tag.c_str(), last, unused, err);
    });
  }
  Window window_take(const WindowRequest& request) override {
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
    call([&](idgen_error_t* err) { return store_.window_take(ctx_.get(), &asked, &window, err); });
    if (window.fence == 0 || window.end_ms <= window.start_ms) {
      throw Error(Status::store_damaged, "the host's store granted an empty window, or one without a fence");
    }
    return {window.start_ms, window.end_ms, window.fence};
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    if (!store_.window_return) return;
    call([&](idgen_error_t* err) {
      return store_.window_return(ctx_.get(), name_space.c_str(), worker, fence, end_ms, used_ms, err);
    });
  }

  void create() override { throw Error(Status::unsupported, "the host's own store is made by the host"); }
  void segment_create(const std::string&, const std::string&) override { refuse(); }
  SegmentInfo segment_show(const std::string&, const std::string&) override { refuse(); }
  std::vector<SegmentInfo> segment_list() override { refuse(); }
  SegmentInfo segment_advance(const std::string&, const std::string&, std::uint64_t) override { refuse(); }
  SegmentInfo segment_set_step(const std::string&, const std::string&, std::uint64_t) override { refuse(); }

  std::string describe() const override {
    return "store: the host's own; what a crash or a lost commit means there is the host's to say\n";
  }
  // Connections, locks and interpreters of the host are not made for a child.
  bool survives_fork() const override { return false; }

 private:
  template <class F>
  static void need(F function, const char* name, const char* kind) {
    if (!function)
      throw Error(Status::unsupported, std::string("the host's store has no ") + name + ", which " + kind + " needs");
  }
  template <class F>
  static void call(F&& function) {
    idgen_error_t err = IDGEN_ERROR_INIT;
    const idgen_status_t status = function(&err);
    if (status == IDGEN_OK) return;
    err.message[sizeof err.message - 1] = '\0';
    const std::string message = *err.message ? err.message : idgen_status_message(status);
    throw Error(static_cast<Status>(status), message, err.retry_after_ns, err.cause);
  }
  [[noreturn]] static void refuse() {
    throw Error(Status::unsupported, "tags of the host's own store are created, shown and advanced by the host");
  }

  const idgen_store_t store_;
  HostContext ctx_;
};

}  // namespace

extern "C" {

idgen_status_t idgen_config_set_clock(idgen_config_t* config, const idgen_clock_t* clock, void* ctx,
                                      idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    check_vtable(clock, "clock");
    require(clock->now_ns, "clock.now_ns");
    target.runtime = std::make_shared<HostClock>(*clock, ctx);
  });
}

idgen_status_t idgen_config_set_store(idgen_config_t* config, const idgen_store_t* store, void* ctx,
                                      idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    check_vtable(store, "store");
    if (!store->segment_take && !store->window_take) {
      throw Error(Status::argument, "store: segment_take and window_take are both NULL; at least one is required");
    }
    target.store = std::make_shared<HostStore>(*store, ctx);
  });
}

idgen_status_t idgen_config_set_log(idgen_config_t* config, const idgen_log_t* log, void* ctx, idgen_error_t* err) {
  return guard_uncancelled(err, [&] {
    Config& target = open_handle(config, "config");
    check_vtable(log, "log");
    auto context = std::make_shared<HostContext>(ctx, nullptr);
    target.log = std::make_shared<const Log>(
        [write = require(log->write, "log.write"), context](LogLevel level, const std::string& message) {
          write(context->get(), static_cast<int32_t>(level), message.c_str());
        });
    context->own(log->release);  // only now, when nothing can fail any more: on failure the host still owns ctx
  });
}

}  // extern "C"
