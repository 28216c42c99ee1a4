// Windows of a worker's time in stores on servers: one row a worker, which is replaced if it is still what was read.
// The arithmetic is that of every store (store/grant_rules.hpp); here is how a row is read, decided upon and replaced.
//
// Uniqueness depends on the row alone: its high-water mark only rises, and every change compares the fence, the owner
// and the mark that it was decided by. That the owner counts as alive, by a lease or a session, only keeps others from
// taking a worker that is in use.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "idgen/mutex.hpp"
#include "idgen/store.hpp"
#include "store/grant_rules.hpp"

namespace idgen {

// For describe().
inline constexpr const char* kWorkersSentence =
    "worker: its windows never overlap, whoever draws them; a second owner is refused while the first one's lease "
    "lasts. After a crash or kill -9 a restart with the same number waits for that lease to end\n";

// A worker as a server holds it. A worker that nobody has had yet has fence 0.
struct HeldWorker {
  WorkerRow row;
  bool is_live = false;                        // its owner's lease or session has not ended
  std::int64_t lease_left_ms = 0;              // until it does; 0: not known
  std::optional<std::int64_t> store_ms;        // the server's clock when it was read; none: it has no clock to ask
  std::optional<std::int64_t> clock_ahead_ms;  // WindowInfo
};

// What WorkerRows asks, for servers that share its code as it is compiled. Contracts: below.
class WorkerServer {
 public:
  using EachWorker = std::function<void(std::uint64_t worker, const HeldWorker& held)>;

  virtual ~WorkerServer() = default;
  virtual HeldWorker read_worker(const std::string& name_space, std::uint64_t worker) = 0;
  virtual void list_workers(const std::string& name_space, bool numbers_only, const EachWorker& each) = 0;
  virtual bool replace_worker(const std::string& name_space, std::uint64_t worker, HeldWorker& held,
                              const WorkerRow& next, const WindowRequest* request) = 0;
  virtual std::string format_of(const std::string& name_space, const std::string& format) = 0;
};

// Server, a connection or a store of the host, has a type HeldRow that derives from HeldWorker, and
//   HeldRow read_worker(name_space, worker)
//   void list_workers(name_space, numbers_only, row(worker, const HeldWorker&))
//   bool replace_worker(name_space, worker, HeldRow& held, const WorkerRow& next, const WindowRequest* request)
//     if it is still what was read, and if the clock of a request is no further ahead than allowed; `held` is then what
//     was written. Without a request the worker is nobody's afterwards.
//   void settle_worker(name_space, worker), if it can forget what it acknowledged
//     called before a worker is acquired: what may have been granted and forgotten is then below the row's mark.
//   std::string format_of(name_space, format)
//     what the namespace has, after it has been given `format` if it had none; with "" only what it has.
// Threads: any, several at once, as far as the server allows that. No lock is held while it is asked.
template <class Server, class Held = typename Server::HeldRow>
class WorkerRows {
 public:
  explicit WorkerRows(std::string shown) : shown_(std::move(shown)) {}

  Window take(Server& server, const WindowRequest& request) {
    check_window_request(request);
    std::optional<Held> held = recall(request);
    for (int attempt = 0;; ++attempt) {
      const bool is_remembered = held.has_value();
      if (!held) held = read(server, request);
      const Window window = next_window(held->row, request);
      if (!is_remembered && held->store_ms) check_clock(request, *held->store_ms);
      const WorkerRow next{window.fence, request.owner, true, window.end_ms, request.holder};
      if (server.replace_worker(request.name_space, request.worker, *held, next, &request)) {
        remember(request, std::move(*held), window);
        return window;
      }
      if (attempt == kMostAttempts) throw_crowded(worker_name(request.name_space, request.worker));
      held.reset();
    }
  }

  void give_back(Server& server, const std::string& name_space, std::uint64_t worker, std::uint64_t fence,
                 std::int64_t end_ms, std::int64_t used_ms) {
    high_water_after_return(end_ms, end_ms, used_ms);  // says what is invalid
    const std::int64_t lowered =
        high_water_after_return(began_at({name_space, worker}, fence).value_or(end_ms), end_ms, used_ms);
    change(server, name_space, worker, [&](const Held& held) -> std::optional<WorkerRow> {
      if (held.row.fence != fence || !held.row.owned) return std::nullopt;  // somebody else's by now
      WorkerRow next = held.row;
      next.owned = false;
      next.owner = {};
      if (next.hw == end_ms) next.hw = lowered;
      return next;
    });
  }

  WindowInfo show(Server& server, const std::string& name_space, std::uint64_t worker) {
    return info_of(worker, server.read_worker(name_space, worker), server.format_of(name_space, ""));
  }
  std::vector<WindowInfo> list(Server& server, const std::string& name_space, bool numbers_only) {
    const std::string format = numbers_only ? "" : server.format_of(name_space, "");
    std::vector<WindowInfo> found;
    server.list_workers(name_space, numbers_only, [&](std::uint64_t worker, const HeldWorker& held) {
      if (numbers_only || held.row.fence != 0) found.push_back(info_of(worker, held, format));
    });
    std::sort(found.begin(), found.end(), [](const WindowInfo& a, const WindowInfo& b) { return a.worker < b.worker; });
    return found;
  }

  void repair(Server& server, const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
              std::int64_t hw_ms) {
    change(server, name_space, worker, [&](const Held& held) -> std::optional<WorkerRow> {
      return repaired_row(name_space, worker, held.row, held.row.owned && held.is_live, seen, hw_ms);
    });
  }

  void release(Server& server, const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
               bool even_if_live) {
    change(server, name_space, worker, [&](const Held& held) -> std::optional<WorkerRow> {
      return released_row(name_space, worker, held.row, held.row.owned && held.is_live, seen, even_if_live);
    });
  }

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // namespace, worker
  // Everybody who changes a row has seen the one before, so of those who meet on it one gets through each time.
  static constexpr int kMostAttempts = 20;

  // What was written last for this grant, so that a renewal costs one round trip. It is forgotten here: after a change
  // whose outcome is unknown the row is read.
  std::optional<Held> recall(const WindowRequest& request) {
    const MutexLock lock(mutex_);
    auto known = last_.extract({request.name_space, request.worker});
    if (known.empty()) return std::nullopt;
    Last& last = known.mapped();
    const WorkerRow& row = last.held.row;
    const bool is_of_grant = row.fence == request.fence && row.owner == request.owner && last.format == request.format;
    return is_of_grant ? std::optional(std::move(last.held)) : std::nullopt;
  }
  void remember(const WindowRequest& request, Held held, const Window& window) {
    const Key key{request.name_space, request.worker};
    const MutexLock lock(mutex_);
    last_.insert_or_assign(key, Last{std::move(held), request.format});
    if (request.fence == 0) began_.insert_or_assign(key, Began{window.fence, window.start_ms});
  }
  // Where a grant that ends began. Only who acquired it knows that; nobody else gives time back, which makes a gap.
  std::optional<std::int64_t> began_at(const Key& key, std::uint64_t fence) {
    const MutexLock lock(mutex_);
    last_.erase(key);
    const auto began = began_.extract(key);
    if (began.empty() || began.mapped().fence != fence) return std::nullopt;
    return began.mapped().start_ms;
  }

  static WindowInfo info_of(std::uint64_t worker, const HeldWorker& held, const std::string& format) {
    WindowInfo info;
    info.worker = worker;
    info.fence = held.row.fence;
    info.hw_ms = held.row.hw;
    info.format = format;
    info.holder = held.row.holder;
    info.is_live = held.row.owned && held.is_live;
    info.lease_left_ms = info.is_live ? held.lease_left_ms : 0;
    info.clock_ahead_ms = held.clock_ahead_ms;
    return info;
  }

  // Throws what stands against the request.
  Held read(Server& server, const WindowRequest& request) {
    const std::string format = server.format_of(request.name_space, request.format);
    if (format != request.format) throw_format_mismatch(request.name_space, format, request.format);
    if constexpr (requires { server.settle_worker(request.name_space, request.worker); })
      server.settle_worker(request.name_space, request.worker);
    Held held = server.read_worker(request.name_space, request.worker);
    const WorkerRow& row = held.row;
    const bool is_ours = row.owned && row.owner == request.owner;
    if (request.fence != 0 && !(is_ours && row.fence == request.fence)) throw_not_owner(request, row);
    // Ours with another fence: the answer to our own acquire was lost.
    if (request.fence == 0 && row.owned && held.is_live && !is_ours)
      throw_leased(request, row, held.lease_left_ms, shown_);
    return held;
  }

  template <class Change>
  void change(Server& server, const std::string& name_space, std::uint64_t worker, Change&& change) {
    for (int attempt = 0; attempt <= kMostAttempts; ++attempt) {
      Held held = server.read_worker(name_space, worker);
      const std::optional<WorkerRow> next = change(held);
      if (!next || server.replace_worker(name_space, worker, held, *next, nullptr)) return;
    }
    throw_crowded(worker_name(name_space, worker));
  }

  [[noreturn]] void throw_crowded(const std::string& name) const {
    throw Error(Status::store_unavailable,
                shown_ + ": the row of " + name + " was not changed in " + std::to_string(kMostAttempts) +
                    " attempts: others change it all the time, or row-level security, a trigger or a rule keeps it as "
                    "it is");
  }

  struct Began {
    std::uint64_t fence;
    std::int64_t start_ms;
  };

  struct Last {
    Held held;
    std::string format;
  };

  const std::string shown_;
  Mutex mutex_;
  std::map<Key, Last> last_ IDGEN_GUARDED_BY(mutex_);    // what was written last
  std::map<Key, Began> began_ IDGEN_GUARDED_BY(mutex_);  // the first window of the grant that was acquired last
};

}  // namespace idgen
