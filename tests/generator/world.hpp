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

}  // namespace idgen::sim
