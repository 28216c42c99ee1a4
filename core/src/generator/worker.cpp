#include "idgen/worker.hpp"

#include <algorithm>
#include <limits>

#include "generator/snowflake.hpp"
#include "idgen/runtime.hpp"
#include "idgen/text.hpp"
#include "idgen/time_units.hpp"

namespace idgen {
namespace {

// Saturates: a damaged row must not cause an overflow.
std::int64_t ahead_of(std::int64_t now_ms, std::int64_t ms) {
  std::int64_t ahead;
  if (__builtin_sub_overflow(ms, now_ms, &ahead)) return ms < 0 ? INT64_MIN : INT64_MAX;
  return ahead;
}

// A worker, its clock, and its row.
struct FoundWorker {
  const Config& config;
  WorkerPlace place;
  std::shared_ptr<Store> store;
  std::int64_t now_ms;
  WindowInfo row;

  std::string name() const {
    return "worker " + std::to_string(place.number) + " of namespace " + in_quotes(config.get("namespace"));
  }
  std::int64_t ahead_ms(std::int64_t ms) const { return ahead_of(now_ms, ms); }
  // "2036-11-20T03:11:48.122Z, 315360000000 ms ahead of this clock, 2026-11-22T03:11:48.236Z"
  std::string beside_clock(std::int64_t ms) const {
    const std::int64_t ahead = ahead_ms(ms);
    return format_instant(ms) + ", " + (ahead > 0 ? std::to_string(ahead) + " ms ahead" : "not ahead") +
           " of this clock, " + format_instant(now_ms);
  }
  WorkerInfo info(std::int64_t hw_ms) const {
    return {place.number, row.fence, hw_ms, ahead_ms(hw_ms), row.is_live, row.holder, row.clock_ahead_ms};
  }
};

std::shared_ptr<Store> store_of(const Config& config) {
  if (config.store) return config.store;
  StoreOptions options = config.store_options();
  options.create = false;
  return open_store(config.get("store"), options);
}

std::int64_t now_ms(const Config& config) {
  return (config.runtime ? *config.runtime : system_runtime()).wall_ns() / kNsPerMs;
}

FoundWorker find_worker(const Config& config) {
  if (config.get("kind") != "snowflake") {
    throw Error(Status::unsupported,
                concat({"kind = ", config.get("kind"),
                        ": only a snowflake generator has a worker; tags are shown by `idgen segment "
                        "show`"}));
  }
  WorkerPlace place = worker_place(config);
  std::shared_ptr<Store> store = store_of(config);
  WindowInfo row = windows_of(*store).window_show(config.get("namespace"), place.number);
  return {config, std::move(place), std::move(store), now_ms(config), std::move(row)};
}

// The start of the first tick that begins at or after `ms`.
std::int64_t tick_at_or_after(const Layout& layout, std::int64_t ms) {
  if (ms <= layout.epoch_unix_ms()) return layout.epoch_unix_ms();
  const auto since = static_cast<std::uint64_t>(ms - layout.epoch_unix_ms());
  const auto tick = static_cast<std::uint64_t>(layout.tick_ms());
  return layout.tick_start_unix_ms(since / tick + (since % tick != 0));
}

// The new hw. Throws as plan_worker_repair.
std::int64_t repaired_hw(const FoundWorker& found, std::uint64_t highest_id) {
  const Layout& layout = found.place.layout;
  const std::int64_t allowed_ms = found.config.duration_ms("max_ahead");
  const std::string stands = found.name() + ": its time is reserved up to " + found.beside_clock(found.row.hw_ms);
  if (found.row.fence == 0) {
    throw Error(Status::value, found.name() +
                                   " is not in the store: nobody has had it yet, so there is nothing to "
                                   "repair. Check namespace, worker and store");
  }
  if (found.row.is_live) {
    throw Error(
        Status::worker_busy,
        concat({found.name(), " has a live owner, ", (found.row.holder.empty() ? "unknown" : found.row.holder),
                ". Stop it, then repair: what it has reserved is its own. If it is gone, first release the worker "
                "(`idgen worker release --force`)"}));
  }
  if (found.row.format != layout.fingerprint()) {
    throw Error(
        Status::format_mismatch,
        concat({found.name(), ": the namespace has the format ", in_quotes(found.row.format), ", the configuration ",
                in_quotes(layout.fingerprint()), ". Give the layout and epoch in use"}));
  }
  if (found.ahead_ms(found.row.hw_ms) <= allowed_ms) {
    throw Error(Status::value,
                concat({stands, ". Up to max_ahead = ", found.config.get("max_ahead"),
                        " is as it should be after a crash: a generator continues from there. Nothing to "
                        "repair; if the clock is wrong, set that"}));
  }
  const Parts parts = layout.decode(highest_id);
  if ((highest_id & found.place.mask) != found.place.bits) {
    throw Error(Status::value,
                concat({"the id ", std::to_string(highest_id), " is not of ", found.name(), " by the layout ",
                        in_quotes(layout.text()), ". Give the highest id of this worker that is in use"}));
  }
  const std::int64_t end_ms = layout.tick_start_unix_ms(parts.time + 1);
  if (end_ms > found.row.hw_ms) {
    throw Error(Status::value,
                concat({"the id ", std::to_string(highest_id), " is of ", format_instant(parts.unix_ms), ", but ",
                        stands, ". So it was not made through this store. Check store, layout and epoch"}));
  }
  if (found.ahead_ms(end_ms) > allowed_ms) {
    throw Error(Status::value,
                concat({"the id ", std::to_string(highest_id), " is of ", found.beside_clock(parts.unix_ms),
                        ", itself by more than max_ahead = ", found.config.get("max_ahead"),
                        ". While that id is in use the worker cannot continue below it: use another "
                        "worker number, or on_clock_back = continue"}));
  }
  return std::max(end_ms, tick_at_or_after(layout, found.now_ms));
}

}  // namespace

std::vector<WorkerInfo> list_workers(const Config& config) {
  std::vector<WorkerInfo> found;
  const std::int64_t now = now_ms(config);
  const std::shared_ptr<Store> store = store_of(config);
  for (const WindowInfo& row : windows_of(*store).window_list(config.get("namespace"), WindowStore::Detail::owners)) {
    found.push_back(
        {row.worker, row.fence, row.hw_ms, ahead_of(now, row.hw_ms), row.is_live, row.holder, row.clock_ahead_ms});
  }
  return found;
}

WorkerInfo show_worker(const Config& config) {
  const FoundWorker found = find_worker(config);
  return found.info(found.row.hw_ms);
}

WorkerInfo plan_worker_repair(const Config& config, std::uint64_t highest_id) {
  const FoundWorker found = find_worker(config);
  return found.info(repaired_hw(found, highest_id));
}

WorkerInfo repair_worker(const Config& config, std::uint64_t highest_id) {
  const FoundWorker found = find_worker(config);
  const std::int64_t hw_ms = repaired_hw(found, highest_id);
  windows_of(*found.store).window_repair(config.get("namespace"), found.place.number, found.row, hw_ms);
  return show_worker(config);
}

WorkerInfo release_worker(const Config& config, bool even_if_live) {
  const FoundWorker found = find_worker(config);
  windows_of(*found.store).window_release(config.get("namespace"), found.place.number, found.row, even_if_live);
  return show_worker(config);
}

}  // namespace idgen
