// Redis in front of a database: only the database makes numbers, and Redis hands out what the database has granted
// ahead of need.
#pragma once

#include <functional>
#include <memory>

#include "idgen/runtime.hpp"
#include "idgen/store.hpp"
#include "store/queue.hpp"

namespace idgen {

struct BufferParts {
  // Each may be called again after an outage, and by several threads.
  std::function<std::shared_ptr<Queue>()> queue;
  std::function<std::shared_ptr<Store>()> database;
  BufferOptions options;
  std::shared_ptr<Runtime> runtime;
  std::int64_t longest_load_ms = 10'000;  // how long a close waits for a load in the background
};

// Opens both sides. One of them may be unavailable; it is then opened when it returns. Throws if both are unavailable,
// or one cannot be used.
std::shared_ptr<Store> make_buffer_store(BufferParts parts);

}  // namespace idgen
