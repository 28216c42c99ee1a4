// One simulated machine with one store, for tests of generators.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "idgen/handle.hpp"
#include "idgen/text.hpp"
#include "sim/sim_runtime.hpp"
#include "sim/sim_store.hpp"
#include "vectors/expect_error.hpp"

namespace idgen::sim {

using ::testing::_;
using Settings = std::vector<std::pair<std::string, std::string>>;

class World : public ::testing::Test {
 protected:
  ~World() override { runtime->drop_all(); }

  // A configuration on this world's clock and store.
  Config config(const Settings& settings) {
    Config config;
    config.runtime = runtime;
    config.store = store;
    for (const auto& [key, value] : settings) config.set(key, value);
    return config;
  }
  std::unique_ptr<Handle> open(const Settings& settings) { return std::make_unique<Handle>(config(settings)); }

  // As after kill -9: the process does nothing more, the next one has its own connection.
  void kill(std::unique_ptr<Handle>& handle) {
    store->dead = true;
    handle.reset();
    store = std::make_shared<SimStore>(disk);
  }

  // Time goes by, and what it makes due is done.
  void pass(std::int64_t ns, int times = 1) {
    for (int i = 0; i < times; ++i) {
      runtime->pass(ns);
      runtime->run_all();
    }
  }
  static void draw(Handle& handle, int count) {
    for (int i = 0; i < count; ++i) handle.next();
  }
  static std::vector<std::uint64_t> many(Handle& handle, std::size_t count) {
    std::vector<std::uint64_t> ids(count);
    std::size_t written = 0;
    handle.fill(ids, written);
    EXPECT_EQ(written, count);
    return ids;
  }
  static SharedLog log_to(std::vector<std::string>& lines) {
    return std::make_shared<const Log>([&lines](LogLevel, const std::string& line) { lines.push_back(line); });
  }
  void take_store_down() {
    store->before = [] { throw Error(Status::store_unavailable, "no route to the host"); };
  }

  static std::int64_t ms_of(const Handle& handle, std::uint64_t id) { return handle.layout().decode(id).unix_ms; }
  static std::uint64_t worker_of(const Handle& handle, std::uint64_t id) { return handle.layout().decode(id).worker; }
  std::int64_t now_ms() const { return runtime->wall_ns() / kMs; }

  template <class F>
  static Error error_of(F&& body) {
    try {
      body();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(Status::ok, "");
  }

  std::shared_ptr<SimRuntime> runtime = std::make_shared<SimRuntime>();
  SimDisk disk;
  std::shared_ptr<SimStore> store = std::make_shared<SimStore>(disk);
};

// A row is free when it has no owner, and rows can be listed.
class LeasingStore : public SimStore {
 public:
  explicit LeasingStore(SimDisk& disk) : SimStore(disk), disk_(disk) {}
  Window window_take(const WindowRequest& request) override {
    const auto found = disk_.workers.find(request.worker);
    if (request.fence == 0 && found != disk_.workers.end() && found->second.owner != Nonce{})
      throw Error(Status::worker_busy, "another owner is alive");
    return SimStore::window_take(request);
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    SimStore::window_return(name_space, worker, fence, end_ms, used_ms);
    if (disk_.workers.at(worker).fence == fence) disk_.workers.at(worker).owner = {};
  }
  std::vector<WindowInfo> window_list(const std::string&, Detail) override {
    std::vector<WindowInfo> rows;
    for (const auto& [worker, row] : disk_.workers)
      rows.push_back({.worker = worker, .fence = row.fence, .hw_ms = row.hw, .is_live = row.owner != Nonce{}});
    return rows;
  }

 protected:
  SimDisk& disk_;
};

// The system's, for tests with threads; a test overrides what it watches or changes.
class SystemOfATest : public Runtime {
 public:
  std::int64_t wall_ns() noexcept override { return system_.wall_ns(); }
  std::int64_t mono_ns() noexcept override { return system_.mono_ns(); }
  void sleep_ns(std::int64_t ns) override { system_.sleep_ns(ns); }
  void nonce(std::span<std::uint8_t> out) override { system_.nonce(out); }
  std::shared_ptr<Lane> make_lane() override { return system_.make_lane(); }
  void wait(MutexLock& lock, std::condition_variable& changed, std::int64_t timeout_ns) override {
    system_.wait(lock, changed, timeout_ns);
  }

 private:
  Runtime& system_ = system_runtime();
};

}  // namespace idgen::sim
