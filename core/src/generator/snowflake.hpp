#pragma once

#include <string>

#include "idgen/config.hpp"
#include "idgen/layout.hpp"

namespace idgen {

// What two snowflake generators must not share: store, namespace and node number. Throws if the configuration is wrong.
std::string snowflake_identity(const Config& config);

// The worker that a snowflake configuration names, and how to recognise its ids. Throws as snowflake_identity, and for
// a layout that makes no snowflake ids.
struct WorkerPlace {
  Layout layout;
  std::uint64_t number = 0;  // of all node fields together
  std::uint64_t bits = 0;    // of its ids, within `mask`
  std::uint64_t mask = 0;    // of the node fields
};
WorkerPlace worker_place(const Config& config);

}  // namespace idgen
