#include <time.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <new>

#include "idgen/runtime.hpp"
#include "idgen/status.hpp"
#include "idgen/system_calls.hpp"
#include "idgen/time_units.hpp"
#include "runtime/made_once.hpp"
#include "runtime/slots.hpp"
#include "runtime/system_lane.hpp"

namespace idgen {
namespace {

std::int64_t read_clock(clockid_t clock) noexcept {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

class SystemRuntime final : public Runtime {
 public:
  std::int64_t wall_ns() noexcept override { return read_clock(CLOCK_REALTIME); }
  std::int64_t mono_ns() noexcept override { return read_clock(CLOCK_BOOTTIME); }

  void sleep_ns(std::int64_t ns) override {
    if (ns <= 0) return;
    timespec left{ns / kNsPerSecond, ns % kNsPerSecond};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
  }

  void nonce(std::span<std::uint8_t> out) override {
    if (!random_bytes(out.data(), out.size()))
      throw Error(Status::internal, "the kernel gave no random bytes (getrandom failed)");
  }

  std::shared_ptr<Lane> make_lane() override { return make_system_lane(); }

  void wait(MutexLock& lock, std::condition_variable& changed, std::int64_t timeout_ns) override {
    changed.wait_for(lock.to_wait_with(), std::chrono::nanoseconds(timeout_ns));
  }

  bool is_system_clock() const noexcept override { return true; }
};

}  // namespace

std::string Runtime::host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

std::optional<std::string> Runtime::environment(const std::string& name) {
  // Not of the user who started a setuid program.
  const char* const value = ::secure_getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): said in the header
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::shared_ptr<Lane> Runtime::process_lane() {
  static constinit Slots<Lane> lanes;
  const std::shared_ptr<Slot<Lane>> slot = lanes.at("");
  const MutexLock lock(slot->mutex);
  std::shared_ptr<Lane> lane = slot->value.lock();
  if (!lane) slot->value = lane = make_system_lane();
  return lane;
}

Runtime& system_runtime() {
  static constinit MadeOnce<SystemRuntime> runtime;
  return runtime.get();
}

}  // namespace idgen
