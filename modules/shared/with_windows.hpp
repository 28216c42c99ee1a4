// A module's store whose server keeps rows of workers; see store/worker_rows.hpp.
#pragma once

#include <string>
#include <vector>

#include "module.hpp"
#include "store/worker_rows.hpp"

namespace idgen::module {

// A store with such rows: Base, a store of segments, and windows beside them. Server also knows workers().
template <class Base, class Server>
class WithWindows : public Base, public WindowStore {
 public:
  using Base::Base;

  Window window_take(const WindowRequest& request) override {
    return this->use([&](Server& server) { return server.workers().take(server, request); });
  }
  void window_return(const std::string& name_space, std::uint64_t worker, std::uint64_t fence, std::int64_t end_ms,
                     std::int64_t used_ms) override {
    this->use([&](Server& server) { server.workers().give_back(server, name_space, worker, fence, end_ms, used_ms); });
  }
  WindowInfo window_show(const std::string& name_space, std::uint64_t worker) override {
    return this->use([&](Server& server) { return server.workers().show(server, name_space, worker); });
  }
  std::vector<WindowInfo> window_list(const std::string& name_space, bool numbers_only) override {
    return this->use([&](Server& server) { return server.workers().list(server, name_space, numbers_only); });
  }
  void window_repair(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                     std::int64_t hw_ms) override {
    this->use([&](Server& server) { server.workers().repair(server, name_space, worker, seen, hw_ms); });
  }
  void window_release(const std::string& name_space, std::uint64_t worker, const WindowInfo& seen,
                      bool even_if_live) override {
    this->use([&](Server& server) { server.workers().release(server, name_space, worker, seen, even_if_live); });
  }
  std::string namespace_format(const std::string& name_space, const std::string& format) override {
    return this->use([&](Server& server) { return server.format_of(name_space, format); });
  }
};

}  // namespace idgen::module
