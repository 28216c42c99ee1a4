// Stores that live in a module of their own, libidgen_NAME.so, because they need a client library that not everybody
// has. Loaded when a URL asks for it, and never unloaded: client libraries keep threads and thread-local data.
#pragma once

#include "store/queue.hpp"
#include "store/store_schemes.hpp"

namespace idgen {

std::shared_ptr<Store> open_module_store(const StoreScheme& scheme, const std::string& url,
                                         const StoreOptions& options);
std::string module_segment_statements(const StoreScheme& scheme, const std::string& url, const StoreOptions& options,
                                      const std::string& name_space, const std::string& tag);

// Throws as that does; Error{unsupported} for a module that has no queues.
std::shared_ptr<Queue> open_module_queue(const StoreScheme& scheme, const std::string& url,
                                         const StoreOptions& options);

}  // namespace idgen
