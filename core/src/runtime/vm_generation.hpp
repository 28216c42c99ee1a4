// Whether this machine is a copy: restored from a snapshot, or cloned. Its hypervisor says so with a number that it
// changes then, in a page of memory that processes can map: /dev/vmclock0, from Linux 6.13 on.
//
// Most machines have no such page, and often only root may read it. Then there is no generation, and nothing is said:
// the host has idgen_reset() for all cases.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace idgen {

// Trivially destroyed, because it may be used after static destructors. All calls may run at once.
class VmGeneration {
 public:
  // A test names a file of its own, which must not get shorter afterwards.
  explicit constexpr VmGeneration(const char* path) noexcept : path_(path) {}
  VmGeneration(const VmGeneration&) = delete;
  VmGeneration& operator=(const VmGeneration&) = delete;

  // Another number than before, if the machine was copied in between. Empty: nothing says so. The first call opens the
  // device and maps it for good: a process may give up the right to open it, and a child inherits the mapping.
  std::optional<std::uint64_t> read() noexcept;

  // It was looked for, and is not there: read() says nothing until map_again(). One load, for every id.
  bool is_missing() const noexcept { return page_.load(std::memory_order_acquire) == none(); }

  // Until map_again(), read() says nothing. For a checkpoint: CRIU refuses a process that has mapped a device.
  void unmap() noexcept;
  // Also looks for a device that was missing: this may be another machine.
  void map_again() noexcept;

 private:
  struct Page;
  // In place of a page, where there is none.
  static constexpr std::uint64_t kNone[14] = {};
  static const Page* none() noexcept { return reinterpret_cast<const Page*>(kNone); }
  const Page* page() noexcept;
  const Page* open(void* at) const noexcept;  // null: none that can be used. at: where to map it; null: anywhere

  const char* const path_;
  std::atomic<const Page*> page_{nullptr};  // null: not looked yet
};

// The one of this machine.
extern constinit VmGeneration system_vm_generation;

}  // namespace idgen
