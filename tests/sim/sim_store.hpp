// A transparent store: the rules of store.hpp in a few lines, and a switch for everything that can go wrong.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "idgen/store.hpp"
#include "sim/sim_runtime.hpp"
#include "sim/windows.hpp"

namespace idgen::sim {

// What is durable. Shared by all simulated processes.
struct SimDisk {
  struct Worker {
    std::uint64_t fence = 0;
    Nonce owner{};
    std::int64_t hw = 0;
  };
  std::map<std::string, std::uint64_t> tags;
  std::map<std::uint64_t, Worker> workers;
  std::string format;
  std::map<std::string, std::string> formats;  // Store::namespace_format
  // The row of every tag.
  std::uint64_t step = 0;
  std::uint64_t stride = 1;
  std::uint64_t offset = 0;
};

// One process's connection.
class SimStore : public Store, public WindowsOfASimulation {
 public:
  explicit SimStore(SimDisk& disk) : disk_(disk) {}

  // Called before each operation: may throw, as an error before anything was done.
  std::function<void()> before = [] {};
  // Called after the commit: may throw, as an acknowledgement that was lost.
  std::function<void()> after = [] {};
  bool dead = false;  // the process was killed: its calls are ignored
  std::atomic<int> calls = 0;
  int disconnects = 0;
  std::vector<WindowRequest> requests;
  std::vector<SegmentRequest> grants;

  SegmentGrant segment_grant(const std::string&, const std::string& tag, const SegmentRequest& request) override {
    enter();
    grants.push_back(request);
    std::uint64_t& max_id = disk_.tags[tag];
    max_id = std::max(max_id, request.above);
    SegmentGrant grant{.first = max_id + 1,
                       .count = std::max(disk_.step != 0 ? disk_.step : request.step, request.wanted),
                       .stride = disk_.stride,
                       .offset = disk_.offset};
    if (grant.first > kLargest - grant.count + 1) throw Error(Status::exhausted, "2^63 - 1 would be passed");
    max_id += grant.count;
    after();
    return grant;
  }
  void segment_return(const std::string&, const std::string& tag, std::uint64_t last, std::uint64_t unused) override {
    enter();
    if (disk_.tags[tag] == last) disk_.tags[tag] = last - unused;
    after();
  }
  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    if (!format.empty()) disk_.formats.emplace(name_space, format);
    const auto found = disk_.formats.find(name_space);
    return found != disk_.formats.end() ? found->second : "";
  }
  WindowStore* windows() noexcept override { return this; }
  bool has_leases() const override { return false; }
  Window window_take(const WindowRequest& request) override {
    enter();
    requests.push_back(request);
    if (disk_.format.empty()) disk_.format = request.format;
    if (disk_.format != request.format) throw Error(Status::format_mismatch, "another format");
    SimDisk::Worker& row = disk_.workers[request.worker];
    if (request.fence != 0 && (row.fence != request.fence || row.owner != request.owner)) {
      throw Error(Status::worker_busy, "taken over");
    }
    const std::int64_t start = std::max(row.hw, request.now_ms);
    if (start > request.max_start_ms) throw Error(Status::clock_back, "reserved too far ahead");
    if (request.fence == 0) {
      ++row.fence;
      row.owner = request.owner;
    }
    row.hw = std::max(start + request.min_ms, request.now_ms + request.width_ms);
    const Window window{start, std::max(start + request.min_ms, request.now_ms + request.width_ms), row.fence};
    after();
    return window;
  }
  void window_return(const std::string&, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    enter();
    SimDisk::Worker& row = disk_.workers[worker];
    if (row.fence == fence && row.hw == end_ms) row.hw = std::min(used_ms, row.hw);
    after();
  }
  void segment_create(const std::string&, const std::string& tag, std::uint64_t above) override {
    if (!disk_.tags.try_emplace(tag, above).second) throw Error(Status::tag_exists, "it is there");
  }
  SegmentInfo segment_show(const std::string&, const std::string& tag) override {
    const auto found = disk_.tags.find(tag);
    if (found == disk_.tags.end()) throw Error(Status::tag_unknown, "it is not there");
    return {"", tag, found->second, 0, 0, disk_.step, 0, ""};
  }
  std::vector<SegmentInfo> segment_list() override { return {}; }
  SegmentInfo segment_advance(const std::string&, const std::string& tag, std::uint64_t to) override {
    disk_.tags[tag] = std::max(disk_.tags[tag] + 1, to);
    return segment_show("", tag);
  }
  SegmentInfo segment_set_step(const std::string&, const std::string& tag, std::uint64_t step) override {
    disk_.step = step;
    return segment_show("", tag);
  }
  std::string describe() const override { return "simulated\n"; }
  bool survives_fork() const override { return true; }
  void disconnect() noexcept override { ++disconnects; }

 private:
  void enter() {
    if (dead) throw Error(Status::store_unavailable, "killed");
    ++calls;
    before();
  }
  static constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();

  SimDisk& disk_;
};

}  // namespace idgen::sim
