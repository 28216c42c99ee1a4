// Who says which number to try, for a worker that is leased. Whether it is ours is decided by its window in the store.
#pragma once

#include <cstdint>
#include <memory>

#include "idgen/log.hpp"
#include "idgen/store.hpp"
#include "workers/node.hpp"

namespace idgen {

// It gets one call at a time.
class WorkerSource {
 public:
  virtual ~WorkerSource() = default;
  // The number of all node fields to acquire next; `attempt` counts from 0. Asked again if the store says that somebody
  // has it. Throws Error{worker_busy, exhausted} if there is none, and what a store throws.
  virtual std::uint64_t propose(const WindowRequest& request, int attempt) IDGEN_RUNS_HOST_CODE = 0;
  // False: it would propose the same number again.
  virtual bool has_others() const { return true; }
  // The latest proposal's first window was granted.
  virtual void begin() IDGEN_RUNS_HOST_CODE {}
  // Before ids of the number up to `until_ms` are issued. Throws Error{worker_busy} if it is no longer ours by what is
  // known outside the store, Error{store_unavailable} if it is not known to be ours for so long.
  virtual void confirm(std::int64_t until_ms) IDGEN_RUNS_HOST_CODE { (void)until_ms; }
  // The latest proposal is not used, because the store says that somebody has it.
  virtual void leave() noexcept IDGEN_RUNS_HOST_CODE { release(0); }
  // The latest proposal is not used, or no longer: no id of it is of `used_ms` or later.
  virtual void release(std::int64_t used_ms) noexcept IDGEN_RUNS_HOST_CODE { (void)used_ms; }
  // As release(), in a copy of the process that has it: it may be the original's.
  virtual void abandon() noexcept IDGEN_RUNS_HOST_CODE { release(0); }
};

// What a source is made from.
struct WorkerSourceContext {
  const Config& config;
  const Node& node;
  std::shared_ptr<Store> store;
  std::shared_ptr<Runtime> runtime;
  Log log{};
  bool is_copy = false;  // of a process that may have a number under the same address
};

}  // namespace idgen
