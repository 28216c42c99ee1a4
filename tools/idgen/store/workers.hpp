// The workers of a namespace, as the store lists them.
#pragma once

#include <vector>

#include "shared/settings.hpp"

namespace idgen_tool {

inline std::vector<idgen_worker_info_t> workers_of(const Config& config) {
  ErrorSlot error;
  std::vector<idgen_worker_info_t> rows;
  const auto add = [](void* to, const idgen_worker_info_t* info) {
    static_cast<std::vector<idgen_worker_info_t>*>(to)->push_back(*info);
  };
  check(idgen_worker_list(config.get(), add, &rows, error), error);
  return rows;
}

}  // namespace idgen_tool
