// The windows of a simulated store, whose rows no operator looks at.
#pragma once

#include <string>
#include <vector>

#include "idgen/store.hpp"

namespace idgen::sim {

class WindowsOfASimulation : public WindowStore {
 public:
  std::vector<WindowInfo> window_list(const std::string&, Detail) override { refuse(); }
  WindowInfo window_show(const std::string&, std::uint64_t) override { refuse(); }
  void window_repair(const std::string&, std::uint64_t, const WindowInfo&, std::int64_t) override { refuse(); }
  void window_release(const std::string&, std::uint64_t, const WindowInfo&, bool) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw Error(Status::unsupported, "the simulated store shows no rows"); }
};

}  // namespace idgen::sim
