// One simulated machine with one store, for tests of generators.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "idgen/handle.hpp"
#include "idgen/text.hpp"
#include "sim/sim_runtime.hpp"
#include "sim/sim_store.hpp"

namespace idgen::sim {

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

  static std::int64_t ms_of(const Handle& handle, std::uint64_t id) { return handle.layout().decode(id).unix_ms; }
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
