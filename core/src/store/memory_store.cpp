// The store in this process's memory: for tests, and for ids that need not survive the process.
//
// One state per name, shared by all handles of the process and kept until it ends: a handle that is opened again must
// continue where the last one stopped. A child process gets none of it, because it belongs to the parent.
#include <unistd.h>

#include <map>
#include <utility>
#include <vector>

#include "idgen/mutex.hpp"
#include "runtime/fork_page.hpp"
#include "runtime/made_once.hpp"
#include "runtime/process_image.hpp"
#include "store/grant_rules.hpp"
#include "store/store_schemes.hpp"

namespace idgen {

using MemoryKey = std::pair<std::string, std::string>;          // namespace, tag
using MemoryWorkerKey = std::pair<std::string, std::uint64_t>;  // namespace, worker

constexpr const char* kMemoryTagHow = "Set store_create = true";

struct MemoryWorker {
  WorkerRow row;
  std::int64_t first_start_ms = 0;  // of the grant with row.fence
  const void* through = nullptr;    // the handle that acquired it
};

struct MemoryState {
  explicit MemoryState(std::uint64_t granted = 0) : before(granted) {}

  const std::uint64_t before;  // this many numbers of each tag, or of each period, count as granted
  const std::uint64_t image = process_image();
  const pid_t process = getpid();  // for messages
  Mutex mutex;
  std::map<MemoryKey, SegmentInfo> segments IDGEN_GUARDED_BY(mutex);
  std::map<MemoryWorkerKey, MemoryWorker> workers IDGEN_GUARDED_BY(mutex);
  std::map<std::string, std::string> formats IDGEN_GUARDED_BY(mutex);
};

struct MemoryStates {
  Mutex mutex;
  std::map<std::string, std::shared_ptr<MemoryState>> by_name IDGEN_GUARDED_BY(mutex);
};

// Never freed. A child makes its own and leaks the parent's, whose mutex may have been locked when it was copied.
static MemoryStates& memory_states() {
  static constinit MadeOnce<ForkPage<MadeOnce<MemoryStates>>> page;
  return page.get()->get();
}

class MemoryStore final : public Store, public WindowStore {
 public:
  MemoryStore(std::string url, std::shared_ptr<MemoryState> state, bool create)
      : url_(std::move(url)), state_(std::move(state)), create_(create) {}

  ~MemoryStore() override {
    if (state_->image != process_image_if_known()) return;
    const MutexLock lock(state_->mutex);
    for (auto& [key, worker] : state_->workers) {
      if (worker.through != this) continue;
      worker.through = nullptr;
      worker.row.owned = false;
    }
  }

  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    check_process();
    const MutexLock lock(state_->mutex);
    const MemoryKey key{name_space, tag};
    const auto found = state_->segments.find(key);
    if (found == state_->segments.end() && !create_) throw_tag_unknown(name_space, tag, url_, kMemoryTagHow);
    SegmentInfo row = found == state_->segments.end() ? new_segment(name_space, tag) : found->second;
    SegmentRequest asked = request;
    if (row.max_id <= asked.above) asked.above += state_->before;  // nothing was granted yet
    const SegmentGrant grant = take_grant(row, asked);
    state_->segments[key] = std::move(row);
    return grant;
  }

  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    check_segment_return(last, unused);
    check_process();
    const MutexLock lock(state_->mutex);
    SegmentInfo& segment = segment_at(name_space, tag);
    if (segment.max_id != last || unused == 0) return;
    segment.max_id = last - unused;
    segment.updated_unix_ms = store_clock_unix_ms();
  }

  WindowStore* windows() noexcept override { return this; }
  bool has_leases() const override { return false; }

  Window window_take(const WindowRequest& request) override {
    check_window_request(request);
    check_process();
    const MutexLock lock(state_->mutex);
    const auto format = state_->formats.find(request.name_space);
    if (format != state_->formats.end() && format->second != request.format) {
      throw_format_mismatch(request.name_space, format->second, request.format);
    }
    const MemoryWorkerKey key{request.name_space, request.worker};
    const auto found = state_->workers.find(key);
    const WorkerRow before = found == state_->workers.end() ? WorkerRow{} : found->second.row;
    if (request.fence == 0 && before.owned) {
      throw Error(Status::worker_busy,
                  concat({worker_name(request.name_space, request.worker), " is owned by ", before.holder,
                          " (this process, store ", url_, "); close that generator, or use another worker number"}));
    }
    if (request.fence != 0 && (!before.owned || before.fence != request.fence || before.owner != request.owner)) {
      throw_not_owner(request, before);
    }
    const Window window = next_window(before, request);
    state_->formats[request.name_space] = request.format;
    MemoryWorker& worker = state_->workers[key];
    if (request.fence == 0) {
      worker.first_start_ms = window.start_ms;
      worker.through = this;
    }
    worker.row = {window.fence, request.owner, true, window.end_ms, request.holder};
    return window;
  }

  void window_return(const std::string& name_space, std::uint64_t number, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    check_process();
    const MutexLock lock(state_->mutex);
    const auto found = state_->workers.find({name_space, number});
    if (found == state_->workers.end()) return;
    MemoryWorker& worker = found->second;
    if (!worker.row.owned || worker.row.fence != fence) return;
    const std::int64_t lowered = high_water_after_return(worker.first_start_ms, end_ms, used_ms);
    if (worker.row.hw == end_ms) worker.row.hw = lowered;
    worker.row.owned = false;
    worker.through = nullptr;
  }

  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    check_process();
    const MutexLock lock(state_->mutex);
    const auto found = state_->formats.find(name_space);
    if (found != state_->formats.end()) return found->second;
    if (!format.empty()) state_->formats[name_space] = format;
    return format;
  }

  void create() override { check_process(); }  // exists as soon as it is named

  std::vector<WindowInfo> window_list(const std::string& name_space, Detail) override {
    check_process();
    const MutexLock lock(state_->mutex);
    std::vector<WindowInfo> found;
    for (const auto& [key, worker] : state_->workers)
      if (key.first == name_space) found.push_back(info_of(key.second, worker.row, name_space));
    return found;
  }
  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) override {
    check_process();
    const MutexLock lock(state_->mutex);
    const auto found = state_->workers.find({name_space, worker});
    if (found == state_->workers.end()) return {.worker = worker};
    return info_of(worker, found->second.row, name_space);
  }

  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) override {
    check_process();
    const MutexLock lock(state_->mutex);
    WorkerRow& row = state_->workers[{name_space, worker}].row;
    row = repaired_row(name_space, worker, row, row.owned, seen, hw_ms);
  }

  void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                      bool even_if_live) override {
    check_process();
    const MutexLock lock(state_->mutex);
    WorkerRow& row = state_->workers[{name_space, worker}].row;
    row = released_row(name_space, worker, row, row.owned, seen, even_if_live);
  }

  void segment_create(const std::string& name_space, const std::string& tag, std::uint64_t above) override {
    check_process();
    const MutexLock lock(state_->mutex);
    const auto [found, made] = state_->segments.try_emplace({name_space, tag}, new_segment(name_space, tag, above));
    if (!made) throw_tag_exists(name_space, tag, found->second.max_id);
  }

  SegmentInfo segment_show(const std::string& name_space, const std::string& tag) override {
    check_process();
    const MutexLock lock(state_->mutex);
    return segment_at(name_space, tag);
  }

  SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t to) override {
    check_advance(to);
    check_process();
    const MutexLock lock(state_->mutex);
    SegmentInfo& segment = segment_at(name_space, tag);
    segment.max_id = advanced(name_space, tag, segment.max_id, to);
    ++segment.grants;
    segment.updated_unix_ms = store_clock_unix_ms();
    return segment;
  }

  SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    check_step(step);
    check_process();
    const MutexLock lock(state_->mutex);
    SegmentInfo& segment = segment_at(name_space, tag);
    segment.step = step;
    segment.updated_unix_ms = store_clock_unix_ms();
    return segment;
  }

  std::vector<SegmentInfo> segment_list() override {
    check_process();
    const MutexLock lock(state_->mutex);
    std::vector<SegmentInfo> rows;
    for (const auto& [key, segment] : state_->segments) rows.push_back(segment);
    return rows;
  }

  std::string describe() const override {
    return "store " + url_ +
           ": in this process's memory, shared by all its generators of that name.\n"
           "A restart of the process is not protected: counters begin at 0 again, and the time before the start is not "
           "known, so a clock "
           "that was set back can repeat ids.\n"
           "Two processes are not protected from each other: each has a memory of its own. So has another copy of this "
           "library in the same process (a wheel beside a jar, two class loaders).\n";
  }

  std::string unnoticed_restore() const override { return ""; }
  bool is_durable() const override { return false; }
  bool survives_fork() const override { return false; }

 private:
  WindowInfo info_of(std::uint64_t worker, const WorkerRow& row, const std::string& name_space) const
      IDGEN_REQUIRES(state_->mutex) {
    return {.worker = worker,
            .fence = row.fence,
            .hw_ms = row.hw,
            .format = state_->formats[name_space],
            .holder = row.holder,
            .is_live = row.owned};
  }
  void check_process() const {
    if (state_->image != process_image()) {
      throw Error(Status::forked,
                  concat({"the store ", url_, " lives in the memory of process ", state_->process,
                          ", which made this process by fork; open a generator in the child, or use a sqlite store"}));
    }
  }

  SegmentInfo& segment_at(const std::string& name_space, const std::string& tag) const IDGEN_REQUIRES(state_->mutex) {
    const auto found = state_->segments.find({name_space, tag});
    if (found == state_->segments.end()) throw_tag_unknown(name_space, tag, url_, kMemoryTagHow);
    return found->second;
  }

  const std::string url_;
  const std::shared_ptr<MemoryState> state_;
  const bool create_;
};

std::shared_ptr<Store> own_memory_store(std::uint64_t before) {
  return std::make_shared<MemoryStore>("memory", std::make_shared<MemoryState>(before), true);
}

std::string memory_store_identity(const std::string& rest, const StoreOptions&) {
  return rest.empty() ? "memory" : "memory:" + rest;
}

std::shared_ptr<Store> open_memory_store(const std::string& rest, const StoreOptions& options) {
  MemoryStates& states = memory_states();
  const MutexLock lock(states.mutex);
  std::shared_ptr<MemoryState>& state = states.by_name[rest];
  if (state == nullptr) state = std::make_shared<MemoryState>();
  return std::make_shared<MemoryStore>(memory_store_identity(rest, options), state, options.create);
}

}  // namespace idgen
