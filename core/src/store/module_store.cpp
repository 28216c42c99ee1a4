#include "store/module_store.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include "idgen/module.h"
#include "idgen/number_store.hpp"
#include "idgen/text.hpp"
#include "idgen/url.hpp"
#include "module/module_loader.hpp"
#include "store/grant_rules.hpp"

namespace idgen {
namespace {

const idgen_module& load(const StoreScheme& scheme, const StoreOptions& options) {
  return *static_cast<const idgen_module*>(load_module({.what = "store = \"" + std::string(scheme.name) + "://...\"",
                                                        .name = scheme.module,
                                                        .package = scheme.package,
                                                        .abi = IDGEN_MODULE_ABI},
                                                       options.module_path, options.directory));
}

template <class F>
void call_module(F&& function) {
  idgen_module_error err{};
  const std::int32_t status = function(&err);
  if (status == 0) return;
  err.message[sizeof err.message - 1] = '\0';
  throw Error(static_cast<Status>(status), err.message, err.retry_after_ns);
}

void append_text(void* to, const char* text) { *static_cast<std::string*>(to) += text; }

// The settings for a module, valid as long as this object.
class ModuleSettings {
 public:
  ModuleSettings(const std::string& url, const StoreOptions& options, bool queue = false)
      : url_(url),
        schema_(options.schema),
        pattern_(options.pattern),
        timeout_(std::to_string(options.timeout_ms)),
        step_(std::to_string(options.step)),
        grant_log_(std::to_string(options.grant_log)),
        settings_{{{"url", url_.c_str()},
                   {"create", options.create ? "1" : "0"},
                   {"timeout_ms", timeout_.c_str()},
                   {"schema", schema_.c_str()},
                   {"pattern", pattern_.c_str()},
                   {"step", step_.c_str()},
                   {"grant_log", grant_log_.c_str()},
                   {"queue", queue ? "1" : "0"},
                   {"queue_of", options.buffer.identity.c_str()}}} {}
  ModuleSettings(const ModuleSettings&) = delete;
  ModuleSettings& operator=(const ModuleSettings&) = delete;
  const idgen_module_setting* data() const { return settings_.data(); }
  std::size_t size() const { return settings_.size(); }

 private:
  const std::string url_, schema_, pattern_, timeout_, step_, grant_log_;
  const std::array<idgen_module_setting, 9> settings_;
};

std::string description_of(const idgen_module_store& store) {
  std::string text;
  call_module([&](idgen_module_error* err) { return store.describe(store.ctx, append_text, &text, err); });
  return text;
}

// A module has all functions of a kind, or none.
class ModuleStore final : public Store, public WindowStore, public NumberStore {
 public:
  explicit ModuleStore(const idgen_module_store& store) : store_(store) {}
  ModuleStore(const ModuleStore&) = delete;
  ModuleStore& operator=(const ModuleStore&) = delete;
  ~ModuleStore() override { store_.close(store_.ctx); }

  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    const idgen_module_request asked{request.step, request.wanted, request.rate, request.holder.c_str(), request.above};
    idgen_module_grant grant{};
    call_module([&](idgen_module_error* err) {
      return store_.segment_grant(store_.ctx, name_space.c_str(), tag.c_str(), &asked, &grant, err);
    });
    return {grant.first, grant.count, grant.stride, grant.offset};
  }
  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    call_module([&](idgen_module_error* err) {
      return store_.segment_return(store_.ctx, name_space.c_str(), tag.c_str(), last, unused, err);
    });
  }
  WindowStore* windows() noexcept override { return store_.window_take != nullptr ? this : nullptr; }
  NumberStore* numbers() noexcept override { return store_.number_claim != nullptr ? this : nullptr; }
  bool has_leases() const override { return true; }
  Window window_take(const WindowRequest& request) override {
    idgen_module_window_request asked{.name_space = request.name_space.c_str(),
                                      .worker = request.worker,
                                      .fence = request.fence,
                                      .owner = {},
                                      .holder = request.holder.c_str(),
                                      .format = request.format.c_str(),
                                      .now_ms = request.now_ms,
                                      .width_ms = request.width_ms,
                                      .min_ms = request.min_ms,
                                      .max_start_ms = request.max_start_ms,
                                      .max_lead_ms = request.max_lead_ms,
                                      .lease_ms = request.lease_ms};
    std::copy(request.owner.begin(), request.owner.end(), asked.owner);
    idgen_module_window window{};
    call_module([&](idgen_module_error* err) { return store_.window_take(store_.ctx, &asked, &window, err); });
    return {window.start_ms, window.end_ms, window.fence};
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    call_module([&](idgen_module_error* err) {
      return store_.window_return(store_.ctx, name_space.c_str(), worker, fence, end_ms, used_ms, err);
    });
  }
  std::vector<WindowInfo> window_list(const std::string& name_space, Detail detail) override {
    return rows<WindowInfo>([&](idgen_module_worker_fn row, void* to, idgen_module_error* err) {
      return store_.window_list(store_.ctx, name_space.c_str(), detail == Detail::numbers ? 1 : 0, row, to, err);
    });
  }
  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) override {
    return only(rows<WindowInfo>([&](idgen_module_worker_fn row, void* to, idgen_module_error* err) {
      return store_.window_show(store_.ctx, name_space.c_str(), worker, row, to, err);
    }));
  }
  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) override {
    call_module([&](idgen_module_error* err) {
      return store_.window_repair(store_.ctx, name_space.c_str(), worker, seen.fence, seen.hw_ms, hw_ms, err);
    });
  }
  void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                      bool even_if_live) override {
    call_module([&](idgen_module_error* err) {
      return store_.window_release(store_.ctx, name_space.c_str(), worker, seen.fence, even_if_live ? 1 : 0, err);
    });
  }
  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    if (store_.namespace_format == nullptr) return Store::namespace_format(name_space, format);
    std::string found;
    call_module([&](idgen_module_error* err) {
      return store_.namespace_format(store_.ctx, name_space.c_str(), format.c_str(), append_text, &found, err);
    });
    return found;
  }
  ClaimedNumber number_claim(const NumberRequest& request) override {
    const idgen_module_number_request asked = asked_of(request);
    idgen_module_number number{};
    call_module([&](idgen_module_error* err) { return store_.number_claim(store_.ctx, &asked, &number, err); });
    return number_of(number);
  }
  ClaimedNumber number_keep(const NumberRequest& request, const ClaimedNumber& held) override {
    const idgen_module_number_request asked = asked_of(request);
    idgen_module_number number = number_of(held);
    call_module([&](idgen_module_error* err) { return store_.number_keep(store_.ctx, &asked, &number, err); });
    return number_of(number);
  }
  void number_release(const NumberRequest& request, const ClaimedNumber& held,
                      std::optional<std::int64_t> used_ms) override {
    const idgen_module_number_request asked = asked_of(request);
    const idgen_module_number number = number_of(held);
    call_module([&](idgen_module_error* err) {
      return store_.number_release(store_.ctx, &asked, &number, used_ms ? 1 : 0, used_ms.value_or(0), err);
    });
  }
  void create() override {
    call_module([&](idgen_module_error* err) { return store_.create(store_.ctx, err); });
  }
  void segment_create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    call_module([&](idgen_module_error* err) {
      return store_.segment_create(store_.ctx, name_space.c_str(), tag.c_str(), above, err);
    });
  }
  SegmentInfo segment_show(const std::string& name_space, const std::string& tag) override {
    return one_row([&](idgen_module_row_fn row, void* to, idgen_module_error* err) {
      return store_.segment_show(store_.ctx, name_space.c_str(), tag.c_str(), row, to, err);
    });
  }
  SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t target) override {
    return one_row([&](idgen_module_row_fn row, void* to, idgen_module_error* err) {
      return store_.segment_advance(store_.ctx, name_space.c_str(), tag.c_str(), target, row, to, err);
    });
  }
  SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    return one_row([&](idgen_module_row_fn row, void* to, idgen_module_error* err) {
      return store_.segment_set_step(store_.ctx, name_space.c_str(), tag.c_str(), step, row, to, err);
    });
  }
  NumberedColumn segment_column(const std::string& table, const std::string& column,
                                const std::optional<std::string>& sequence) override {
    if (store_.segment_column == nullptr) return Store::segment_column(table, column, sequence);
    idgen_module_column found{};
    call_module([&](idgen_module_error* err) {
      return store_.segment_column(store_.ctx, table.c_str(), column.c_str(), sequence ? sequence->c_str() : nullptr,
                                   &found, err);
    });
    found.counter[sizeof found.counter - 1] = found.others[sizeof found.others - 1] = '\0';
    return {found.largest, found.counter, found.issued, found.increment, found.is_always != 0, found.others};
  }
  LoggedGrant segment_grant_of(const std::string& name_space, const std::string& tag, std::uint64_t number) override {
    if (store_.segment_grant_of == nullptr) return Store::segment_grant_of(name_space, tag, number);
    idgen_module_logged_grant found{};
    call_module([&](idgen_module_error* err) {
      return store_.segment_grant_of(store_.ctx, name_space.c_str(), tag.c_str(), number, &found, err);
    });
    found.holder[sizeof found.holder - 1] = '\0';
    return {found.grant, found.first, found.last, found.granted_unix_ms, found.holder};
  }
  std::vector<SegmentInfo> segment_list() override {
    Rows<SegmentInfo> found;
    SegmentInfo damaged = row_or_damage([&] {
      call_module([&](idgen_module_error* err) {
        return store_.segment_list(store_.ctx, &Rows<SegmentInfo>::add, &found, err);
      });
      return SegmentInfo();
    });
    if (found.failure) std::rethrow_exception(found.failure);
    if (damaged.damage) found.all.push_back(std::move(damaged));
    return std::move(found.all);
  }
  std::string describe() const override { return description_of(store_); }
  // A child opens its own connection.
  bool survives_fork() const override { return true; }
  void disconnect() noexcept override { store_.disconnect(store_.ctx); }

 private:
  static SegmentInfo info_of(const idgen_module_segment& row) {
    SegmentInfo info;
    info.name_space = row.name_space;
    info.tag = row.tag;
    info.max_id = row.max_id;
    info.grants = row.grants;
    info.updated_unix_ms = row.updated_unix_ms;
    info.step = row.step;
    info.rate = row.rate;
    info.holder = row.holder;
    return info;
  }
  static WindowInfo info_of(const idgen_module_worker& row) {
    WindowInfo info;
    info.worker = row.worker;
    info.fence = row.fence;
    info.hw_ms = row.hw_ms;
    info.format = row.format;
    info.holder = row.holder;
    info.is_live = row.is_live != 0;
    info.lease_left_ms = row.lease_left_ms;
    if (row.has_clock != 0) info.clock_ahead_ms = row.clock_ahead_ms;
    return info;
  }

  static idgen_module_number_request asked_of(const NumberRequest& request) {
    return {.kind = request.kind.c_str(),
            .name_space = request.name_space.c_str(),
            .address = request.address.c_str(),
            .numbers = request.numbers,
            .now_ms = request.now_ms,
            .guard_ms = request.guard_ms,
            .clock_limit_ms = request.clock_limit_ms};
  }
  static idgen_module_number number_of(const ClaimedNumber& held) {
    return {.number = held.number,
            .used_to_ms = held.used_to_ms,
            .reported_ms = held.reported_ms,
            .version = held.version,
            .is_unknown = held.is_unknown ? 1 : 0,
            .taken = static_cast<std::int32_t>(held.taken),
            .lost = ""};
  }
  static ClaimedNumber number_of(idgen_module_number& number) {
    number.lost[sizeof number.lost - 1] = '\0';
    return {.number = number.number,
            .used_to_ms = number.used_to_ms,
            .reported_ms = number.reported_ms,
            .version = number.version,
            .is_unknown = number.is_unknown != 0,
            .taken = static_cast<ClaimedNumber::Taken>(number.taken),
            .lost = number.lost};
  }

  // The callback runs inside the module, and no exception may pass through that.
  template <class Info>
  struct Rows {
    std::vector<Info> all;
    std::exception_ptr failure;

    template <class Row>
    static void add(void* to, const Row* row) noexcept {
      auto& rows = *static_cast<Rows*>(to);
      try {
        rows.all.push_back(info_of(*row));
      } catch (...) {
        rows.failure = std::current_exception();
      }
    }
  };
  template <class Info, class F>
  static std::vector<Info> rows(F&& function) {
    Rows<Info> found;
    call_module([&](idgen_module_error* err) { return function(&Rows<Info>::add, &found, err); });
    if (found.failure) std::rethrow_exception(found.failure);
    return std::move(found.all);
  }
  template <class Info>
  static Info only(std::vector<Info> found) {
    if (found.size() != 1) throw Error(Status::store_damaged, "the store module returned no row; it is defective");
    return std::move(found.front());
  }
  template <class F>
  static SegmentInfo one_row(F&& function) {
    return only(rows<SegmentInfo>(function));
  }

  const idgen_module_store store_;
};

class ModuleQueue final : public Queue {
 public:
  explicit ModuleQueue(const idgen_module_store& store) : store_(store) {}
  ModuleQueue(const ModuleQueue&) = delete;
  ModuleQueue& operator=(const ModuleQueue&) = delete;
  ~ModuleQueue() override { store_.close(store_.ctx); }

  QueuePart take(const std::string& name_space, const std::string& tag, const QueueRequest& request) override {
    const idgen_module_queue_request asked{request.count, request.above,     request.least,
                                           request.rate,  request.runway_ms, request.stock_max};
    idgen_module_queue_part part{};
    call_module([&](idgen_module_error* err) {
      return store_.queue_take(store_.ctx, name_space.c_str(), tag.c_str(), &asked, &part, err);
    });
    part.label[sizeof part.label - 1] = '\0';
    return {.label = part.label,
            .witness = part.witness,
            .first = part.first,
            .count = part.count,
            .stock = part.stock,
            .wanted = part.wanted,
            .stopped = part.stopped != 0,
            .load = part.load != 0};
  }
  bool load(const std::string& name_space, const std::string& tag, const std::string& label, std::uint64_t first,
            std::uint64_t count, std::uint64_t stock_max) override {
    std::int32_t accepted = 0;
    call_module([&](idgen_module_error* err) {
      return store_.queue_load(store_.ctx, name_space.c_str(), tag.c_str(), label.c_str(), first, count, stock_max,
                               &accepted, err);
    });
    return accepted != 0;
  }
  void reset(const std::string& name_space, const std::string& tag, std::uint64_t witness, bool stopped) override {
    call_module([&](idgen_module_error* err) {
      return store_.queue_reset(store_.ctx, name_space.c_str(), tag.c_str(), witness, stopped ? 1 : 0, err);
    });
  }
  std::string describe() const override { return description_of(store_); }
  void disconnect() noexcept override { store_.disconnect(store_.ctx); }

 private:
  const idgen_module_store store_;
};

idgen_module_store open_module(const StoreScheme& scheme, const std::string& url, const StoreOptions& options,
                               bool queue) {
  const idgen_module& module = load(scheme, options);
  const ModuleSettings settings(url, options, queue);
  idgen_module_store opened{};
  call_module([&](idgen_module_error* err) { return module.open(settings.data(), settings.size(), &opened, err); });
  return opened;
}

}  // namespace

std::shared_ptr<Store> open_module_store(const StoreScheme& scheme, const std::string& url,
                                         const StoreOptions& options) {
  return std::make_shared<ModuleStore>(open_module(scheme, url, options, false));
}

std::shared_ptr<Queue> open_module_queue(const StoreScheme& scheme, const std::string& url,
                                         const StoreOptions& options) {
  const idgen_module_store opened = open_module(scheme, url, options, true);
  if (opened.queue_take == nullptr) {
    opened.close(opened.ctx);
    throw Error(Status::unsupported, concat({"buffer.redis: the module of ", scheme.name, " has no queues"}));
  }
  return std::make_shared<ModuleQueue>(opened);
}

std::string module_segment_statements(const StoreScheme& scheme, const std::string& url, const StoreOptions& options,
                                      const std::string& name_space, const std::string& tag) {
  const idgen_module& module = load(scheme, options);
  const ModuleSettings settings(url, options);
  std::string text;
  call_module([&](idgen_module_error* err) {
    return module.segment_statements(settings.data(), settings.size(), name_space.c_str(), tag.c_str(), append_text,
                                     &text, err);
  });
  return text;
}

}  // namespace idgen
