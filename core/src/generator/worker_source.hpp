// Who says which number to try, for a worker that is leased. Whether it is ours is decided by its window in the store.
#pragma once

#include <cstdint>
#include <memory>

#include "generator/node.hpp"
#include "idgen/store.hpp"

namespace idgen {

// It gets one call at a time.
class WorkerSource {
 public:
  virtual ~WorkerSource() = default;
  // The number of all node fields to acquire next; `attempt` counts from 0. Asked again if the store says that somebody
  // has it. Throws Error{worker_busy, exhausted} if there is none, and what a store throws.
  virtual std::uint64_t propose(const WindowRequest& request, int attempt) IDGEN_RUNS_HOST_CODE = 0;
  // The latest proposal is not used, or no longer.
  virtual void release() noexcept IDGEN_RUNS_HOST_CODE {}
};

// For a node whose number is leased. Throws Error{value, store_unsafe, store_missing, store_permission}.
std::unique_ptr<WorkerSource> make_worker_source(const Config& config, const Node& node, std::shared_ptr<Store> store,
                                                 Runtime& runtime);

// What describe() says of it: the end of a sentence.
std::string describe_worker_source(const Config& config, const Node& node);

}  // namespace idgen
