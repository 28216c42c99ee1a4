// The one interface for everything that is not a value: time, sleep, randomness, background work. The tests' simulator
// is another implementation, so nothing in core/ may bypass it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "idgen/mutex.hpp"

namespace idgen {

// Says whether a waiting caller should stop. Called with no lock held.
using Cancelled = std::function<bool()>;

// A thread's worth of background work, one task after the other. Each store has its own lane, so that a store that
// hangs delays no other. The thread exists only while there is work, and a little longer.
class Lane {
 public:
  virtual ~Lane() = default;

  // Runs task soon on this lane's thread. Tasks may block. Throws std::system_error if no thread can be started: then
  // nothing was posted.
  virtual void post(std::function<void()> task) = 0;
  // The same, but not before delay_ns have passed.
  virtual void post_after(std::int64_t delay_ns, std::function<void()> task) = 0;
  // True on this lane's own thread, where posting a task and waiting for it would be a deadlock.
  virtual bool is_here() const noexcept = 0;
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  // ns since 1970-01-01 UTC. Jumps when somebody sets the clock; called for every id. May be the host's code: never
  // under a lock.
  virtual std::int64_t wall_ns() noexcept IDGEN_RUNS_HOST_CODE = 0;
  // ns since some start; only moves forward, counts suspended time. For measuring waits. Never the host's code.
  virtual std::int64_t mono_ns() noexcept = 0;
  // Waits for the wall clock to move on by about ns. May be the host's code: never under a lock.
  virtual void sleep_ns(std::int64_t ns) IDGEN_RUNS_HOST_CODE = 0;
  // Random bytes from the kernel: every process image draws its own (I3).
  virtual void nonce(std::span<std::uint8_t> out) = 0;
  // Starts no thread until something is posted.
  virtual std::shared_ptr<Lane> make_lane() = 0;
  // Waits for changed, for at most timeout_ns. A simulator runs posted tasks here instead.
  virtual void wait(MutexLock& lock, std::condition_variable& changed, std::int64_t timeout_ns) = 0;

  // This machine's name; "" if it has none. The system's, unless a test says otherwise.
  virtual std::string host_name();
  // A variable of this process that the configuration names; empty if it is not set. TRAP: not while another thread
  // changes the environment, so only when a generator is made.
  virtual std::optional<std::string> environment(const std::string& name);

  // A number that changes when this machine is restored from a snapshot or cloned. Empty: nothing says so here. Read
  // wherever something was reserved or is about to be; costs a few loads. The machine's, unless a test says otherwise:
  // no setting names the device, because a wrong one would go unnoticed.
  virtual std::optional<std::uint64_t> vm_generation() noexcept;
  // One lane for the whole process, for what must go on while a store hangs. Its thread ends soon after the last holder
  // has let it go.
  virtual std::shared_ptr<Lane> process_lane();

  // True: wall_ns() is the system's clock, and the fast path may read that itself.
  virtual bool is_system_clock() const noexcept { return false; }
};

// The machine's own clock, kernel and threads.
Runtime& system_runtime();

}  // namespace idgen
