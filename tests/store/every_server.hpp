// EveryStore for stores over a network: $IDGEN_TEST_STORES holds NAME=URL, separated by spaces.
#pragma once

#include <map>
#include <sstream>
#include <vector>

#include "store/store_test_support.hpp"

namespace idgen {

inline std::map<std::string, std::string> servers_under_test() {
  const char* const variable = std::getenv("IDGEN_TEST_STORES");
  std::istringstream words(variable == nullptr ? "" : variable);
  std::map<std::string, std::string> urls;
  for (std::string word; words >> word;) urls[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  return urls;
}

inline std::vector<std::string> names_of_servers_under_test() {
  std::vector<std::string> names;
  for (const auto& [name, url] : servers_under_test()) names.push_back(name);
  return names;
}

// Separates tests on one server: each has its own namespaces.
class StoreOfATest final : public Store, public WindowStore {
 public:
  explicit StoreOfATest(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  SegmentGrant segment_grant(const std::string& ns, const std::string& tag, const SegmentRequest& request) override {
    return store_->segment_grant(mine(ns), tag, request);
  }
  void segment_return(const std::string& ns, const std::string& tag, std::uint64_t last,
                      std::uint64_t unused) override {
    store_->segment_return(mine(ns), tag, last, unused);
  }
  WindowStore* windows() noexcept override { return store_->windows() ? this : nullptr; }
  Window window_take(const WindowRequest& request) override {
    WindowRequest asked = request;
    asked.name_space = mine(request.name_space);
    return store_->windows()->window_take(asked);
  }
  std::vector<WindowInfo> window_list(const std::string& ns, Detail detail) override {
    return store_->windows()->window_list(mine(ns), detail);
  }
  WindowInfo window_show(const std::string& ns, std::uint64_t worker) override {
    return store_->windows()->window_show(mine(ns), worker);
  }
  void window_repair(const std::string& ns, std::uint64_t worker, const WindowInfo& seen, std::int64_t hw) override {
    store_->windows()->window_repair(mine(ns), worker, seen, hw);
  }
  void window_release(const std::string& ns, std::uint64_t worker, const WindowInfo& seen, bool even_if_live) override {
    store_->windows()->window_release(mine(ns), worker, seen, even_if_live);
  }
  std::string namespace_format(const std::string& ns, const std::string& format) override {
    return store_->namespace_format(mine(ns), format);
  }
  bool has_leases() const override { return store_->windows()->has_leases(); }
  void window_return(const std::string& ns, std::uint64_t worker, std::uint64_t fence, std::int64_t end,
                     std::int64_t used) override {
    store_->windows()->window_return(mine(ns), worker, fence, end, used);
  }
  void segment_create(const std::string& ns, const std::string& tag, std::uint64_t above) override {
    store_->segment_create(mine(ns), tag, above);
  }
  SegmentInfo segment_show(const std::string& ns, const std::string& tag) override {
    return store_->segment_show(mine(ns), tag);
  }
  std::vector<SegmentInfo> segment_list() override {
    std::vector<SegmentInfo> rows;
    for (SegmentInfo& row : store_->segment_list()) {
      if (row.name_space.rfind(prefix_, 0) != 0) continue;
      row.name_space.erase(0, prefix_.size());
      rows.push_back(std::move(row));
    }
    return rows;
  }
  SegmentInfo segment_advance(const std::string& ns, const std::string& tag, std::uint64_t to) override {
    return store_->segment_advance(mine(ns), tag, to);
  }
  SegmentInfo segment_set_step(const std::string& ns, const std::string& tag, std::uint64_t step) override {
    return store_->segment_set_step(mine(ns), tag, step);
  }
  std::string describe() const override { return store_->describe(); }
  bool survives_fork() const override { return store_->survives_fork(); }
  void disconnect() noexcept override { store_->disconnect(); }

 private:
  std::string mine(const std::string& ns) const { return prefix_ + ns; }
  const std::string prefix_ = std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
                              "%:" + std::to_string(getpid()) + "/";
  const std::shared_ptr<Store> store_;
};

class EveryStore : public ::testing::TestWithParam<std::string> {
 protected:
  std::string url() const { return servers_under_test().at(GetParam()); }
  std::shared_ptr<Store> open(StoreOptions options = creating()) const {
    if (const char* const folder = std::getenv("IDGEN_TEST_MODULE_PATH")) options.module_path = folder;
    return std::make_shared<StoreOfATest>(open_store(url(), options));
  }
};

#define IDGEN_EVERY_STORE ::testing::ValuesIn(names_of_servers_under_test())

inline std::vector<std::string> names_of_servers_with_windows() {
  std::vector<std::string> names = names_of_servers_under_test();
  std::erase(names, "redis");
  return names;
}
#define IDGEN_EVERY_STORE_WITH_WINDOWS ::testing::ValuesIn(names_of_servers_with_windows())

}  // namespace idgen
