// The store of a simulation, and the network before it. What is durable is in Disk; each process has a ServerStore, its
// connection. The arithmetic is the stores' own (grant_rules.hpp, worker_rows.hpp).
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "idgen/store.hpp"
#include "sim/machine.hpp"
#include "sim/oracle.hpp"
#include "sim/windows.hpp"
#include "store/grant_rules.hpp"
#include "store/worker_rows.hpp"

namespace idgen::sim {

// Of the stores that there are, what makes a difference.
enum class StoreKind {
  file,        // SQLite: no network; whether an owner lives is known, by a lock
  statements,  // MariaDB, PostgreSQL: a change is one statement, with its conditions
  versions,    // etcd, ZooKeeper: a row is replaced if it is what was read; a request may be delivered twice
};

// What is durable.
struct Disk {
  struct Worker {
    WorkerRow row;
    std::uint64_t version = 0;
    std::int64_t lease_until_ms = 0;  // by the server's clock
    std::int64_t first_start_ms = 0;  // of the grant with row.fence
  };
  struct Tag {
    SegmentInfo info;
    std::uint64_t version = 0;
  };
  std::map<std::uint64_t, Worker> workers;
  std::map<std::string, Tag> tags;
  std::string format;
};

// How calls fail; percentages.
struct Network {
  unsigned request_lost = 0;
  unsigned answer_lost = 0;
  unsigned late = 0;      // it arrives after the client has given up
  unsigned repeated = 0;  // it is delivered twice; only where a client library may do that (StoreKind::versions)
  unsigned stale_lists = 0;
  unsigned disconnected = 0;
  std::int64_t slowest = 2 * kMs;
  std::int64_t timeout = 5 * kSecond;
};

struct Server {
  Server(Scheduler& scheduling, Oracle& judging) : scheduler(scheduling), oracle(judging) {}
  Scheduler& scheduler;
  Oracle& oracle;
  StoreKind kind = StoreKind::statements;
  Disk disk;
  std::deque<Disk> earlier;  // states that may come back, or be read by who may read old ones
  Network network;
  std::int64_t clock_ahead_ms = 0;               // of true time
  std::map<std::uint64_t, std::uint64_t> locks;  // of a file's workers: which process image holds one
  std::set<const Image*> cut_off;                // they do not reach it
  std::uint64_t calls = 0, lost = 0, old_lists = 0;

  std::int64_t now_ms() const { return kBeginsMs + scheduler.now / kMs + clock_ahead_ms; }
  void remember() {
    earlier.push_back(disk);
    if (earlier.size() > 8) earlier.pop_front();
  }
  void dies(std::uint64_t image) {
    std::erase_if(locks, [image](const auto& lock) { return lock.second == image; });
  }
};

class ServerStore final : public Store, public WindowsOfASimulation {
 public:
  ServerStore(Server& server, Image& image, MachineRuntime& runtime, std::uint64_t number)
      : server_(server), scheduler_(server.scheduler), image_(image), runtime_(runtime), number_(number) {}

  // A forked child: another process, with a connection of its own.
  void fork(std::uint64_t number) {
    number_ = number;
    is_busy_ = false;
    left_.push_back(std::move(connection_));
  }
  std::uint64_t number() const { return number_; }

  SegmentGrant segment_grant(const std::string& name_space, const std::string& tag,
                             const SegmentRequest& request) override {
    const Turn turn(*this, "segment_grant");
    const SegmentGrant grant =
        server_.kind == StoreKind::versions
            ? change_tag<SegmentGrant>(name_space, tag, [&](SegmentInfo& row) { return take_grant(row, request); })
            : call<SegmentGrant>("grant of tag " + tag, [&server = server_, name_space, tag, request] {
                return take_grant(tag_at(server, name_space, tag).info, request);
              });
    trace("granted: tag " + tag + " " + std::to_string(grant.first) + " to " +
          std::to_string(grant.first + grant.count) + " (exclusive)");
    if (!image_.is_dead) {
      const auto first = static_cast<std::int64_t>(grant.first);
      server_.oracle.acknowledged(number_, {tag, 0}, first, first + static_cast<std::int64_t>(grant.count));
    }
    return grant;
  }
  void segment_return(const std::string& name_space, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    const Turn turn(*this, "segment_return");
    check_segment_return(last, unused);
    trace("returns tag " + tag + " " + std::to_string(last - unused + 1) + " to " + std::to_string(last + 1) +
          " (exclusive)");
    if (!image_.is_dead)
      server_.oracle.returned(number_, {tag, 0}, static_cast<std::int64_t>(last - unused + 1),
                              static_cast<std::int64_t>(last + 1));
    const auto change = [last, unused](SegmentInfo& row) {
      if (row.max_id == last || IDGEN_FAULT(server_takes_back_blindly)) row.max_id = last - unused;
      return true;
    };
    if (server_.kind == StoreKind::versions) {
      change_tag<bool>(name_space, tag, change);
    } else {
      call<bool>("return of tag " + tag,
                 [&server = server_, name_space, tag, change] { return change(tag_at(server, name_space, tag).info); });
    }
  }

  WindowStore* windows() noexcept override { return this; }
  Window window_take(const WindowRequest& request) override {
    const Turn turn(*this, "window_take");
    const Window window = server_.kind == StoreKind::file
                              ? take_in_file(request)
                              : with_connection([&](auto& link) { return link.workers().take(link, request); });
    trace("granted: worker " + std::to_string(request.worker) + " " + std::to_string(window.start_ms) + " to " +
          std::to_string(window.end_ms) + " ms (exclusive), fence " + std::to_string(window.fence));
    if (!image_.is_dead) server_.oracle.acknowledged(number_, {"", request.worker}, window.start_ms, window.end_ms);
    return window;
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    const Turn turn(*this, "window_return");
    trace("returns worker " + std::to_string(worker) + " " + std::to_string(used_ms) + " to " + std::to_string(end_ms) +
          " ms (exclusive)");
    if (!image_.is_dead && used_ms < end_ms) server_.oracle.returned(number_, {"", worker}, used_ms, end_ms);
    if (server_.kind == StoreKind::file) return return_in_file(worker, fence, end_ms, used_ms);
    with_connection([&](auto& link) {
      link.workers().give_back(link, name_space, worker, fence, end_ms, used_ms);
      return 0;
    });
  }
  std::vector<WindowInfo> window_list(const std::string& name_space, Detail detail) override {
    const Turn turn(*this, "window_list");
    if (server_.kind == StoreKind::file) return list_in_file();
    return with_connection(
        [&](auto& link) { return link.workers().list(link, name_space, detail == Detail::numbers); });
  }
  bool has_leases() const override { return server_.kind != StoreKind::file; }

  void segment_create(const std::string& name_space, const std::string& tag, std::uint64_t) override {
    tag_at(server_, name_space, tag);
  }
  SegmentInfo segment_show(const std::string& name_space, const std::string& tag) override {
    return tag_at(server_, name_space, tag).info;
  }
  std::vector<SegmentInfo> segment_list() override { return {}; }
  SegmentInfo segment_advance(const std::string& name_space, const std::string& tag, std::uint64_t) override {
    return tag_at(server_, name_space, tag).info;
  }
  SegmentInfo segment_set_step(const std::string& name_space, const std::string& tag, std::uint64_t step) override {
    tag_at(server_, name_space, tag).info.step = step;
    return tag_at(server_, name_space, tag).info;
  }
  std::string describe() const override { return "simulated\n"; }
  bool survives_fork() const override { return true; }
  void disconnect() noexcept override {
    if (!is_busy_) connection_.reset();
  }

 private:
  // One call at a time uses the connection, as with the modules' ConnectionSlot.
  class Turn {
   public:
    Turn(ServerStore& store, const char* what) : store_(store) {
      store_.runtime_.host_code_runs(what);
      store_.scheduler_.step();
      while (store_.is_busy_) store_.scheduler_.sleep(kMs);
      store_.is_busy_ = true;
      number_ = store_.number_;
      ++store_.server_.calls;
    }
    ~Turn() {
      if (number_ == store_.number_) store_.is_busy_ = false;
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    ServerStore& store_;
    std::uint64_t number_;
  };

  // What worker_rows.hpp asks of a connection.
  class Connection {
   public:
    struct HeldRow : HeldWorker {
      std::uint64_t version = 0;
    };
    explicit Connection(ServerStore& store) : store_(store) {}
    WorkerRows<Connection>& workers() { return workers_; }

    std::string format_of(const std::string&, const std::string& format) {
      Server& server = store_.server_;
      return store_.call<std::string>("format", [&server, format] {
        if (server.disk.format.empty()) server.disk.format = format;
        return server.disk.format;
      });
    }
    HeldRow read_worker(const std::string&, std::uint64_t worker) {
      Server& server = store_.server_;
      const HeldRow held = store_.call<HeldRow>("read of worker " + std::to_string(worker), [&server, worker] {
        const auto found = server.disk.workers.find(worker);
        HeldRow row = held_of(server, found == server.disk.workers.end() ? Disk::Worker{} : found->second);
        row.store_ms = server.now_ms();
        return row;
      });
      store_.trace("worker " + std::to_string(worker) + ": fence " + std::to_string(held.row.fence) + ", reserved to " +
                   std::to_string(held.row.hw) + (held.row.owned ? ", owned" : "") + (held.is_live ? ", live" : ""));
      return held;
    }
    template <class Row>
    void list_workers(const std::string&, bool, Row&& row) {
      Server& server = store_.server_;
      const bool is_stale = !server.earlier.empty() && store_.chance(server.network.stale_lists);
      server.old_lists += is_stale;
      const std::size_t which = is_stale ? server.scheduler.random.below(server.earlier.size()) : 0;
      const Disk seen =
          store_.call<Disk>(is_stale ? "old list of workers" : "list of workers", [&server, is_stale, which] {
            return is_stale && which < server.earlier.size() ? server.earlier[which] : server.disk;
          });
      for (const auto& [number, worker] : seen.workers) row(number, held_of(server, worker));
    }
    bool replace_worker(const std::string&, std::uint64_t worker, HeldRow& held, const WorkerRow& next,
                        const WindowRequest* request) {
      Server& server = store_.server_;
      std::optional<WindowRequest> asked;
      if (request != nullptr) asked = *request;
      // etcd compares the clock itself, before it asks; SQL does it in the statement.
      if (asked && server.kind == StoreKind::versions) check_clock(*asked, server.now_ms());
      const HeldRow before = held;
      const bool is_done =
          store_.call<bool>("replacing worker " + std::to_string(worker), [&server, worker, before, next, asked] {
            Disk::Worker& row = server.disk.workers[worker];
            if (server.kind == StoreKind::versions) {
              if (row.version != before.version && !IDGEN_FAULT(server_compares_nothing)) return false;
            } else {
              const bool is_same = row.row.fence == before.row.fence &&
                                   (row.row.hw == before.row.hw || IDGEN_FAULT(server_does_not_compare_hw)) &&
                                   row.row.owned == before.row.owned && row.row.owner == before.row.owner;
              if (!is_same && !IDGEN_FAULT(server_compares_nothing)) return false;
              if (asked && asked->now_ms - server.now_ms() > asked->max_lead_ms) return false;
            }
            ++row.version;
            row.row = next;
            row.lease_until_ms = server.now_ms() + (asked ? asked->lease_ms : 0);
            return true;
          });
      store_.trace(is_done ? "replaced" : "not replaced: it has changed");
      if (!is_done) return false;
      held.row = next;
      ++held.version;
      return true;
    }

   private:
    static HeldRow held_of(const Server& server, const Disk::Worker& worker) {
      HeldRow held;
      held.row = worker.row;
      held.version = worker.version;
      held.lease_left_ms = std::max<std::int64_t>(worker.lease_until_ms - server.now_ms(), 0);
      held.is_live = held.lease_left_ms > 0;
      return held;
    }

    ServerStore& store_;
    WorkerRows<Connection> workers_{"simulated"};
  };

  template <class Work>
  auto with_connection(Work&& work) -> decltype(work(std::declval<Connection&>())) {
    if (!connection_) connection_ = std::make_shared<Connection>(*this);
    const std::shared_ptr<Connection> link = connection_;
    try {
      return work(*link);
    } catch (const Error&) {
      if (connection_ == link && chance(server_.network.disconnected)) connection_.reset();
      throw;
    }
  }

  // One request and its answer: `work` is done at one moment in between, or never, or later. It holds what it needs.
  template <class Result>
  Result call(const std::string& what, std::function<Result()> work) {
    check_alive();
    Network& network = server_.network;
    Random& random = scheduler_.random;
    const bool has_network = server_.kind != StoreKind::file;
    const auto fail = [&](const char* why) -> Error {
      trace(what + ": " + why);
      ++server_.lost;
      return Error(Status::store_unavailable, why);
    };
    trace(what + " ...");
    scheduler_.step();
    if (server_.cut_off.contains(&image_)) {
      scheduler_.sleep(random.between(0, 1) * network.timeout);
      throw fail("the store is not reached");
    }
    if (chance(network.request_lost)) {
      scheduler_.sleep(has_network ? network.timeout : 0);
      throw fail("the request is lost");
    }
    if (has_network && chance(network.late)) {
      const std::int64_t delay = random.between(0, 3) * kSecond;
      scheduler_.later(network.timeout + delay, [work, this_server = &server_, what] {
        this_server->scheduler.trace("late: " + what);
        try {
          work();
        } catch (const Error&) {
        }
      });
      scheduler_.sleep(network.timeout);
      throw fail("no answer yet");
    }
    scheduler_.sleep(random.between(0, network.slowest));
    if (image_.is_dead && random.chance(50)) check_alive();  // killed before it was sent
    const auto do_it = [&] {
      if (server_.kind == StoreKind::versions && chance(network.repeated)) {
        trace("delivered twice");
        try {
          work();
        } catch (const Error&) {
        }
      }
      return work();
    };
    if (IDGEN_FAULT(server_answers_before_it_commits)) {
      const Disk before = server_.disk;
      Result result = do_it();
      server_.disk = before;
      return result;
    }
    Result result = do_it();
    scheduler_.step();
    if (has_network) scheduler_.sleep(random.between(0, network.slowest));
    check_alive();
    if (server_.cut_off.contains(&image_) || chance(network.answer_lost)) {
      scheduler_.sleep(has_network ? network.timeout : 0);
      throw fail("the answer is lost");
    }
    return result;
  }
  void check_alive() const {
    if (image_.is_dead) throw Error(Status::store_unavailable, "killed");
  }
  bool chance(unsigned percent) { return percent > 0 && scheduler_.random.chance(percent); }
  void trace(const std::string& what) const {
    if (!image_.is_dead) scheduler_.trace("store: " + what);
  }

  static Disk::Tag& tag_at(Server& server, const std::string& name_space, const std::string& tag) {
    const auto found = server.disk.tags.find(tag);
    if (found == server.disk.tags.end()) throw_tag_unknown(name_space, tag, "simulated", "Create it");
    return found->second;
  }
  // etcd, ZooKeeper: read, then replace what was read.
  template <class Result>
  Result change_tag(const std::string& name_space, const std::string& tag, std::function<Result(SegmentInfo&)> change) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      Disk::Tag row = call<Disk::Tag>("read of tag " + tag,
                                      [&server = server_, name_space, tag] { return tag_at(server, name_space, tag); });
      const std::uint64_t before = row.version;
      const std::uint64_t stood = row.info.max_id;
      const Result result = change(row.info);
      if (row.info.max_id == stood) return result;
      const bool is_done = call<bool>("replacing tag " + tag, [&server = server_, name_space, tag, row, before] {
        Disk::Tag& now = tag_at(server, name_space, tag);
        if (now.version != before && !IDGEN_FAULT(server_compares_nothing)) return false;
        now = row;
        ++now.version;
        return true;
      });
      if (is_done) return result;
      trace("not replaced: it has changed");
    }
    throw Error(Status::store_unavailable, "others change the row all the time");
  }

  // --- a file: each call is one transaction, and whether an owner lives is known

  Window take_in_file(const WindowRequest& request) {
    check_window_request(request);
    auto& locks = server_.locks;
    if (request.fence == 0) {
      if (locks.contains(request.worker))
        throw Error(Status::worker_busy, worker_name(request.name_space, request.worker) + " is owned");
      locks[request.worker] = number_;
    }
    try {
      return call<Window>("transaction", [this, request] {
        Disk& disk = server_.disk;
        if (disk.format.empty()) disk.format = request.format;
        if (disk.format != request.format) throw_format_mismatch(request.name_space, disk.format, request.format);
        Disk::Worker& worker = disk.workers[request.worker];
        const bool is_ours = worker.row.owned && worker.row.fence == request.fence && worker.row.owner == request.owner;
        if (request.fence != 0 && !is_ours) throw_not_owner(request, worker.row);
        const Window window = next_window(worker.row, request);
        if (request.fence == 0) worker.first_start_ms = window.start_ms;
        worker.row = {window.fence, request.owner, true, window.end_ms, request.holder};
        return window;
      });
    } catch (const Error&) {
      if (request.fence == 0) unlock(request.worker);
      throw;
    }
  }
  void unlock(std::uint64_t worker) {
    const auto lock = server_.locks.find(worker);
    if (lock != server_.locks.end() && lock->second == number_) server_.locks.erase(lock);
  }
  void return_in_file(std::uint64_t number, std::uint64_t fence, std::int64_t end_ms, std::int64_t used_ms) {
    const auto lock = server_.locks.find(number);
    if (lock == server_.locks.end() || lock->second != number_) return;
    try {
      call<bool>("transaction", [this, number, fence, end_ms, used_ms] {
        Disk::Worker& worker = server_.disk.workers[number];
        if (!worker.row.owned || worker.row.fence != fence) return false;
        const std::int64_t lowered = high_water_after_return(worker.first_start_ms, end_ms, used_ms);
        if (worker.row.hw == end_ms) worker.row.hw = lowered;
        worker.row.owned = false;
        worker.row.owner = {};
        return true;
      });
    } catch (const Error&) {
      unlock(number);
      throw;
    }
    unlock(number);
  }
  std::vector<WindowInfo> list_in_file() {
    return call<std::vector<WindowInfo>>("list of workers", [this] {
      std::vector<WindowInfo> found;
      for (const auto& [number, worker] : server_.disk.workers) {
        found.push_back({.worker = number,
                         .fence = worker.row.fence,
                         .hw_ms = worker.row.hw,
                         .format = server_.disk.format,
                         .holder = worker.row.holder,
                         .is_live = worker.row.owned && server_.locks.contains(number)});
      }
      return found;
    });
  }

  Server& server_;
  Scheduler& scheduler_;
  Image& image_;
  MachineRuntime& runtime_;
  std::uint64_t number_;  // of the process image
  bool is_busy_ = false;
  std::shared_ptr<Connection> connection_;
  std::vector<std::shared_ptr<Connection>> left_;  // a forked child's parent's
};

}  // namespace idgen::sim
