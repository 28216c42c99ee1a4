// The module's side of idgen/module.h: turns a class with the methods below into the C functions, and every exception
// into a status.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "connection_slot.hpp"
#include "guard.hpp"
#include "idgen/module.h"
#include "idgen/number_store.hpp"
#include "idgen/status.hpp"
#include "idgen/store.hpp"
#include "idgen/url.hpp"
#include "store/queue.hpp"
#include "store/url_parameters.hpp"

namespace idgen::module {

struct Settings {
  StoreUrl url;
  bool create = false;  // make a tag that is missing, at 0
  std::int64_t timeout_ms = 5000;
  std::string schema = "idgen";
  std::string pattern;          // of serials, for the schemas key_producer and incr
  std::uint64_t step = 0;       // of a new tag, if the schema's row needs one
  std::uint64_t grant_log = 0;  // how many grants of a tag to remember
  bool queue = false;           // only the functions of QueueStore will be called
  std::string queue_of;         // the database whose numbers it holds
};

// What a module implements. Contracts: idgen/store.hpp.
class SegmentStore {
 public:
  virtual ~SegmentStore() = default;
  virtual SegmentGrant take(const std::string& name_space, const std::string& tag, const SegmentRequest& request) = 0;
  virtual void give_back(const std::string& name_space, const std::string& tag, std::uint64_t last,
                         std::uint64_t unused) = 0;
  virtual void create(const std::string& name_space, const std::string& tag, std::uint64_t above) = 0;
  virtual SegmentInfo show(const std::string& name_space, const std::string& tag) = 0;
  virtual SegmentInfo advance(const std::string& name_space, const std::string& tag, std::uint64_t target) = 0;
  virtual SegmentInfo set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) = 0;
  virtual void list(const std::function<void(const SegmentInfo&)>& row) = 0;
  virtual std::string describe() = 0;
  virtual void disconnect() noexcept = 0;
  virtual void create_store() {}  // where nothing has to be made before the first row
};

// What a module implements as well if it grants windows of a worker's time. Contracts: idgen/store.hpp.
class WindowStore {
 public:
  virtual ~WindowStore() = default;
  virtual Window window_take(const WindowRequest& request) = 0;
  virtual void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence,
                             std::int64_t end_ms, std::int64_t used_ms) = 0;
  virtual WindowInfo window_show(const std::string& name_space, std::uint64_t worker) = 0;
  virtual std::vector<WindowInfo> window_list(const std::string& name_space, bool numbers_only) = 0;
  virtual void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                             std::int64_t hw_ms) = 0;
  virtual void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                              bool even_if_live) = 0;
  virtual std::string namespace_format(const std::string& name_space, const std::string& format) = 0;
};

// What a module implements as well if it knows the rows of another generator's workers. Contracts: idgen/store.hpp.
class NumberStore {
 public:
  virtual ~NumberStore() = default;
  virtual ClaimedNumber number_claim(const NumberRequest& request) = 0;
  virtual ClaimedNumber number_keep(const NumberRequest& request, const ClaimedNumber& held) = 0;
  virtual void number_release(const NumberRequest& request, const ClaimedNumber& held,
                              std::optional<std::int64_t> used_ms) = 0;
};

// What a module also implements if it can keep the queue of a buffer. Contracts: class Queue in store/queue.hpp.
class QueueStore {
 public:
  virtual ~QueueStore() = default;
  virtual QueuePart queue_take(const std::string& name_space, const std::string& tag, const QueueRequest& request) = 0;
  virtual bool queue_load(const std::string& name_space, const std::string& tag, const std::string& label,
                          std::uint64_t first, std::uint64_t count, std::uint64_t stock_max) = 0;
  virtual void queue_reset(const std::string& name_space, const std::string& tag, std::uint64_t witness,
                           bool stopped) = 0;
};

// What all stores keep, and how they reach their server.
template <class Connection>
class ConnectedStore : public SegmentStore {
 public:
  void disconnect() noexcept final { slot_.disconnect(); }

 protected:
  // Throws Error{value} for a parameter that is not among `known`.
  ConnectedStore(const Settings& settings, std::span<const std::string_view> known)
      : way_(std::make_shared<const Way>(Way{settings, Parameters(settings.url, known)})),
        slot_(2 * settings.timeout_ms) {}

  // work(connection), one thread at a time; see ConnectionSlot.
  template <class Work>
  auto use(Work&& work) {
    return slot_.use([way = way_] { return std::make_unique<Connection>(way->settings, way->parameters); }, work);
  }

 private:
  // Shared with a connection being made, which may outlive the store.
  struct Way {
    const Settings settings;
    const Parameters parameters;
  };
  const std::shared_ptr<const Way> way_;
  ConnectionSlot<Connection> slot_;

 protected:
  const Settings& settings_ = way_->settings;
  const Parameters& parameters_ = way_->parameters;
  const std::string shown_{settings_.url.shown()};
};

inline Settings settings_of(const idgen_module_setting* settings, std::size_t count) {
  Settings out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view key = settings[i].key;
    if (key == "url") out.url = StoreUrl::parse(settings[i].value);
    if (key == "create") out.create = settings[i].value == std::string_view("1");
    if (key == "timeout_ms") out.timeout_ms = std::stoll(settings[i].value);
    if (key == "schema") out.schema = settings[i].value;
    if (key == "pattern") out.pattern = settings[i].value;
    if (key == "step") out.step = std::stoull(settings[i].value);
    if (key == "grant_log") out.grant_log = std::stoull(settings[i].value);
    if (key == "queue_of") out.queue_of = settings[i].value;
    if (key == "queue") out.queue = settings[i].value == std::string_view("1");
  }
  return out;
}

inline void report(idgen_module_row_fn row, void* to, const SegmentInfo& info) {
  const idgen_module_segment out{info.name_space.c_str(), info.tag.c_str(), info.max_id, info.grants,
                                 info.updated_unix_ms,    info.step,        info.rate,   info.holder.c_str()};
  row(to, &out);
}

inline void report(idgen_module_worker_fn row, void* to, const WindowInfo& info) {
  const idgen_module_worker out{.worker = info.worker,
                                .fence = info.fence,
                                .hw_ms = info.hw_ms,
                                .format = info.format.c_str(),
                                .holder = info.holder.c_str(),
                                .is_live = info.is_live ? 1 : 0,
                                .has_clock = info.clock_ahead_ms ? 1 : 0,
                                .clock_ahead_ms = info.clock_ahead_ms.value_or(0),
                                .lease_left_ms = info.lease_left_ms};
  row(to, &out);
}

template <class S>
void add_windows(idgen_module_store* out) {
  static constexpr auto windows_of = [](void* ctx) -> WindowStore& {
    return *static_cast<S*>(static_cast<SegmentStore*>(ctx));
  };
  out->window_take = [](void* ctx, const idgen_module_window_request* request, idgen_module_window* window,
                        idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      WindowRequest asked{.name_space = request->name_space,
                          .worker = request->worker,
                          .fence = request->fence,
                          .owner = {},
                          .holder = request->holder,
                          .format = request->format,
                          .now_ms = request->now_ms,
                          .width_ms = request->width_ms,
                          .min_ms = request->min_ms,
                          .max_start_ms = request->max_start_ms,
                          .max_lead_ms = request->max_lead_ms,
                          .lease_ms = request->lease_ms};
      std::copy(std::begin(request->owner), std::end(request->owner), asked.owner.begin());
      const Window taken = windows_of(ctx).window_take(asked);
      *window = {taken.start_ms, taken.end_ms, taken.fence};
    });
  };
  out->window_return = [](void* ctx, const char* name_space, std::uint64_t worker, std::uint64_t fence,
                          std::int64_t end_ms, std::int64_t used_ms, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { windows_of(ctx).window_return(name_space, worker, fence, end_ms, used_ms); });
  };
  out->window_show = [](void* ctx, const char* name_space, std::uint64_t worker, idgen_module_worker_fn row, void* to,
                        idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { report(row, to, windows_of(ctx).window_show(name_space, worker)); });
  };
  out->window_list = [](void* ctx, const char* name_space, std::int32_t numbers_only, idgen_module_worker_fn row,
                        void* to, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      for (const WindowInfo& info : windows_of(ctx).window_list(name_space, numbers_only != 0)) report(row, to, info);
    });
  };
  out->window_repair = [](void* ctx, const char* name_space, std::uint64_t worker, std::uint64_t seen_fence,
                          std::int64_t seen_hw_ms, std::int64_t hw_ms, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      WindowInfo seen;
      seen.fence = seen_fence;
      seen.hw_ms = seen_hw_ms;
      windows_of(ctx).window_repair(name_space, worker, seen, hw_ms);
    });
  };
  out->window_release = [](void* ctx, const char* name_space, std::uint64_t worker, std::uint64_t seen_fence,
                           std::int32_t even_if_live, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      WindowInfo seen;
      seen.fence = seen_fence;
      windows_of(ctx).window_release(name_space, worker, seen, even_if_live != 0);
    });
  };
  out->namespace_format = [](void* ctx, const char* name_space, const char* format, idgen_module_text_fn text, void* to,
                             idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { text(to, windows_of(ctx).namespace_format(name_space, format).c_str()); });
  };
}

inline NumberRequest number_request_of(const idgen_module_number_request& asked) {
  return {.kind = asked.kind,
          .name_space = asked.name_space,
          .address = asked.address,
          .numbers = asked.numbers,
          .now_ms = asked.now_ms,
          .guard_ms = asked.guard_ms,
          .clock_limit_ms = asked.clock_limit_ms};
}
inline ClaimedNumber claimed_of(const idgen_module_number& number) {
  return {.number = number.number,
          .used_to_ms = number.used_to_ms,
          .reported_ms = number.reported_ms,
          .version = number.version,
          .is_unknown = number.is_unknown != 0,
          .taken = static_cast<ClaimedNumber::Taken>(number.taken),
          .lost = number.lost};
}
inline idgen_module_number number_of(const ClaimedNumber& claimed) {
  idgen_module_number out{.number = claimed.number,
                          .used_to_ms = claimed.used_to_ms,
                          .reported_ms = claimed.reported_ms,
                          .version = claimed.version,
                          .is_unknown = claimed.is_unknown ? 1 : 0,
                          .taken = static_cast<std::int32_t>(claimed.taken),
                          .lost = ""};
  std::strncpy(out.lost, claimed.lost.c_str(), sizeof out.lost - 1);
  return out;
}

template <class S>
void add_numbers(idgen_module_store* out) {
  static constexpr auto numbers_of = [](void* ctx) -> NumberStore& {
    return *static_cast<S*>(static_cast<SegmentStore*>(ctx));
  };
  out->number_claim = [](void* ctx, const idgen_module_number_request* request, idgen_module_number* number,
                         idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { *number = number_of(numbers_of(ctx).number_claim(number_request_of(*request))); });
  };
  out->number_keep = [](void* ctx, const idgen_module_number_request* request, idgen_module_number* number,
                        idgen_module_error* e) -> std::int32_t {
    return guard(
        e, [&] { *number = number_of(numbers_of(ctx).number_keep(number_request_of(*request), claimed_of(*number))); });
  };
  out->number_release = [](void* ctx, const idgen_module_number_request* request, const idgen_module_number* number,
                           std::int32_t gives_back, std::int64_t used_ms, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      numbers_of(ctx).number_release(number_request_of(*request), claimed_of(*number),
                                     gives_back != 0 ? std::optional(used_ms) : std::nullopt);
    });
  };
}

template <class S>
void add_queue(idgen_module_store* out) {
  static constexpr auto queue_of = [](void* ctx) -> QueueStore& {
    return *static_cast<S*>(static_cast<SegmentStore*>(ctx));
  };
  out->queue_take = [](void* ctx, const char* name_space, const char* tag, const idgen_module_queue_request* request,
                       idgen_module_queue_part* part, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      const QueuePart taken = queue_of(ctx).queue_take(name_space, tag,
                                                       {.count = request->count,
                                                        .above = request->above,
                                                        .least = request->least,
                                                        .rate = request->rate,
                                                        .runway_ms = request->runway_ms,
                                                        .stock_max = request->stock_max});
      if (taken.label.size() >= sizeof part->label) throw Error(Status::store_damaged, "the queue's label is too long");
      *part = {.label = "",
               .witness = taken.witness,
               .first = taken.first,
               .count = taken.count,
               .stock = taken.stock,
               .wanted = taken.wanted,
               .stopped = taken.stopped ? 1 : 0,
               .load = taken.load ? 1 : 0};
      std::memcpy(part->label, taken.label.c_str(), taken.label.size() + 1);
    });
  };
  out->queue_load = [](void* ctx, const char* name_space, const char* tag, const char* label, std::uint64_t first,
                       std::uint64_t count, std::uint64_t stock_max, std::int32_t* accepted,
                       idgen_module_error* e) -> std::int32_t {
    return guard(
        e, [&] { *accepted = queue_of(ctx).queue_load(name_space, tag, label, first, count, stock_max) ? 1 : 0; });
  };
  out->queue_reset = [](void* ctx, const char* name_space, const char* tag, std::uint64_t witness, std::int32_t stopped,
                        idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { queue_of(ctx).queue_reset(name_space, tag, witness, stopped != 0); });
  };
}

template <class S>
void open(const Settings& settings, idgen_module_store* out) {
  auto store = std::make_unique<S>(settings);
  out->segment_grant = [](void* ctx, const char* name_space, const char* tag, const idgen_module_request* request,
                          idgen_module_grant* grant, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      const SegmentGrant taken = static_cast<SegmentStore*>(ctx)->take(
          name_space, tag, {request->step, request->wanted, request->rate, request->holder, request->above});
      *grant = {taken.first, taken.count, taken.stride, taken.offset};
    });
  };
  out->segment_return = [](void* ctx, const char* name_space, const char* tag, std::uint64_t last, std::uint64_t unused,
                           idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { static_cast<SegmentStore*>(ctx)->give_back(name_space, tag, last, unused); });
  };
  out->segment_create = [](void* ctx, const char* name_space, const char* tag, std::uint64_t above,
                           idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { static_cast<SegmentStore*>(ctx)->create(name_space, tag, above); });
  };
  out->segment_show = [](void* ctx, const char* name_space, const char* tag, idgen_module_row_fn row, void* to,
                         idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { report(row, to, static_cast<SegmentStore*>(ctx)->show(name_space, tag)); });
  };
  out->segment_advance = [](void* ctx, const char* name_space, const char* tag, std::uint64_t target,
                            idgen_module_row_fn row, void* to, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { report(row, to, static_cast<SegmentStore*>(ctx)->advance(name_space, tag, target)); });
  };
  out->segment_set_step = [](void* ctx, const char* name_space, const char* tag, std::uint64_t step,
                             idgen_module_row_fn row, void* to, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { report(row, to, static_cast<SegmentStore*>(ctx)->set_step(name_space, tag, step)); });
  };
  out->segment_list = [](void* ctx, idgen_module_row_fn row, void* to, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] {
      std::optional<Error> damage;
      static_cast<SegmentStore*>(ctx)->list([&](const SegmentInfo& info) {
        if (!info.damage)
          report(row, to, info);
        else if (!damage)
          damage = info.damage;
      });
      if (damage) throw Error(*damage);
    });
  };
  out->describe = [](void* ctx, idgen_module_text_fn text, void* to, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { text(to, static_cast<SegmentStore*>(ctx)->describe().c_str()); });
  };
  if constexpr (requires(S & s) { s.column_of(std::string(), std::string(), std::nullopt); }) {
    out->segment_column = [](void* ctx, const char* table, const char* column, const char* sequence,
                             idgen_module_column* found, idgen_module_error* e) -> std::int32_t {
      return guard(e, [&] {
        const NumberedColumn is =
            static_cast<S*>(static_cast<SegmentStore*>(ctx))
                ->column_of(table, column, sequence ? std::optional<std::string>(sequence) : std::nullopt);
        *found = {is.largest, is.issued, is.increment, is.is_always, "", ""};
        std::strncpy(found->counter, is.counter.c_str(), sizeof found->counter - 1);
        std::strncpy(found->others, is.others.c_str(), sizeof found->others - 1);
      });
    };
  }
  if constexpr (requires(S & s) { s.grant_of(std::string(), std::string(), 0); }) {
    out->segment_grant_of = [](void* ctx, const char* name_space, const char* tag, std::uint64_t number,
                               idgen_module_logged_grant* grant, idgen_module_error* e) -> std::int32_t {
      return guard(e, [&] {
        const LoggedGrant found = static_cast<S*>(static_cast<SegmentStore*>(ctx))->grant_of(name_space, tag, number);
        *grant = {found.grant, found.first, found.last, found.granted_unix_ms, ""};
        std::strncpy(grant->holder, found.holder.c_str(), sizeof grant->holder - 1);
      });
    };
  }
  out->close = [](void* ctx) { delete static_cast<SegmentStore*>(ctx); };
  out->disconnect = [](void* ctx) { static_cast<SegmentStore*>(ctx)->disconnect(); };
  out->create = [](void* ctx, idgen_module_error* e) -> std::int32_t {
    return guard(e, [&] { static_cast<SegmentStore*>(ctx)->create_store(); });
  };
  if constexpr (std::is_base_of_v<WindowStore, S>) add_windows<S>(out);
  if constexpr (std::is_base_of_v<NumberStore, S>) add_numbers<S>(out);
  if constexpr (std::is_base_of_v<QueueStore, S>) add_queue<S>(out);
  out->ctx = static_cast<SegmentStore*>(store.release());
}

// S has a constructor S(const Settings&), which connects, and S::statements(settings, name_space, tag), the text of
// what create() runs. It may have column_of(table, column, sequence) and grant_of(name_space, tag, number). A type
// S::Serials is the store of the schema S::Serials::kSchema.
template <class S>
constexpr idgen_module interface_of(const char* name) {
  return {IDGEN_MODULE_ABI, 0, name,
          [](const idgen_module_setting* settings, std::size_t count, idgen_module_store* out,
             idgen_module_error* err) -> std::int32_t {
            return guard(err, [&] {
              const Settings known = settings_of(settings, count);
              if constexpr (requires { typename S::Serials; })
                if (known.schema == S::Serials::kSchema) return open<typename S::Serials>(known, out);
              open<S>(known, out);
            });
          },
          [](const idgen_module_setting* settings, std::size_t count, const char* name_space, const char* tag,
             idgen_module_text_fn text, void* to, idgen_module_error* err) -> std::int32_t {
            return guard(err, [&] { text(to, S::statements(settings_of(settings, count), name_space, tag).c_str()); });
          }};
}

}  // namespace idgen::module
