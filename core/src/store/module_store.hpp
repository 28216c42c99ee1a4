// Stores in separate modules, libidgen_NAME.so, because they need a client library that not everybody has. A module is
// loaded when a URL needs it, and never unloaded: client libraries keep threads and thread-local data.
#pragma once

#include "store/queue.hpp"
#include "store/store_schemes.hpp"

namespace idgen {

std::shared_ptr<Store> open_module_store(const StoreScheme& scheme, const std::string& url,
                                         const StoreOptions& options);
std::string module_segment_statements(const StoreScheme& scheme, const std::string& url, const StoreOptions& options,
                                      const std::string& name_space, const std::string& tag);

// Throws the same; Error{unsupported} for a module without queues.
std::shared_ptr<Queue> open_module_queue(const StoreScheme& scheme, const std::string& url,
                                         const StoreOptions& options);

}  // namespace idgen
