// Stores in SQL databases over a driver of the host.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "store/store_schemes.hpp"

namespace idgen {

// Opens what the module of mysql:// or postgres:// would, where that is absent. `absent` says so, for messages. Null:
// the host has no driver either.
using OpenDriverStore = std::shared_ptr<Store> (*)(const StoreScheme& scheme, const std::string& url,
                                                   const StoreOptions& options, const std::string& absent);
inline constinit std::atomic<OpenDriverStore> driver_store = nullptr;  // null until the host says that it has drivers

}  // namespace idgen
