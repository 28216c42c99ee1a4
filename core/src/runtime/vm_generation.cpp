#include "runtime/vm_generation.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>

#include "idgen/runtime.hpp"

namespace idgen {

// What linux/vmclock-abi.h calls vmclock_abi. All numbers are little-endian: elsewhere kMagic does not match, and there
// is no generation.
struct VmGeneration::Page {
  // Constant.
  std::uint32_t magic;
  std::uint32_t size;  // of all that is there
  std::uint16_t version;
  std::uint8_t counter_and_type[2];
  // What follows is changed while this is odd.
  std::uint32_t sequence;
  std::uint64_t disruption;  // also changes when the machine moves to another host, which copies nothing
  std::uint64_t flags;
  std::uint8_t clock[72];
  std::uint64_t generation;
};

namespace {

constexpr std::uint32_t kMagic = 0x4b4c4356;  // "VCLK"
constexpr std::uint16_t kVersion = 1;
constexpr std::uint64_t kHasGeneration = 1 << 8;
// An update is a few stores. One that takes longer is looked at again at the next occasion.
constexpr int kMostTries = 1000;

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// The hypervisor writes there.
template <class T>
T load(const T& from) noexcept {
  return __atomic_load_n(&from, __ATOMIC_ACQUIRE);
}

template <class Page>
bool is_known(const Page& page) noexcept {
  return load(page.magic) == kMagic && load(page.size) >= sizeof(Page) && load(page.version) == kVersion;
}

}  // namespace

const VmGeneration::Page* VmGeneration::open(void* at) const noexcept {
  static_assert(offsetof(Page, sequence) == 12 && offsetof(Page, flags) == 24 && offsetof(Page, generation) == 104);
  static_assert(sizeof kNone == sizeof(Page));
  const int fd = ::open(path_, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return nullptr;
  const auto map = [fd](void* where) {
    return mmap(where, page_bytes(), PROT_READ, MAP_SHARED | (where != nullptr ? MAP_FIXED : 0), fd, 0);
  };
  struct stat what {};
  const bool is_device = fstat(fd, &what) == 0 && S_ISCHR(what.st_mode);
  const bool is_file = S_ISREG(what.st_mode) && what.st_size >= static_cast<off_t>(sizeof(Page));
  void* mapped = is_device || is_file ? map(nullptr) : MAP_FAILED;
  if (mapped != MAP_FAILED && (at != nullptr || !is_known(*static_cast<const Page*>(mapped)))) {
    // Tried elsewhere first: where this fails, nothing is left at `at`.
    const bool is_good = is_known(*static_cast<const Page*>(mapped));
    munmap(mapped, page_bytes());
    mapped = is_good ? map(at) : MAP_FAILED;
  }
  close(fd);
  return mapped == MAP_FAILED ? nullptr : static_cast<const Page*>(mapped);
}

const VmGeneration::Page* VmGeneration::page() noexcept {
  const Page* seen = page_.load(std::memory_order_acquire);
  if (seen != nullptr) return seen;
  const Page* const mapped = open(nullptr);
  const Page* const mine = mapped != nullptr ? mapped : none();
  if (page_.compare_exchange_strong(seen, mine, std::memory_order_acq_rel)) return mine;
  if (mapped != nullptr) munmap(const_cast<Page*>(mapped), page_bytes());  // another thread was faster
  return seen;
}

std::optional<std::uint64_t> VmGeneration::read() noexcept {
  const Page& page = *this->page();
  for (int tries = 0; tries < kMostTries; ++tries) {
    // Checked each time, and last: unmap() may put zeros in its place at any moment.
    const std::uint32_t before = load(page.sequence);
    const bool has_generation = (load(page.flags) & kHasGeneration) != 0;
    const std::uint64_t generation = load(page.generation);
    const bool is_whole = (before & 1) == 0 && load(page.sequence) == before;
    if (!is_known(page)) return std::nullopt;
    if (is_whole) return has_generation ? std::optional(generation) : std::nullopt;
  }
  return std::nullopt;
}

// Replaced, not taken away: another thread may be reading.
void VmGeneration::unmap() noexcept {
  const Page* const mapped = page_.load(std::memory_order_acquire);
  if (mapped == nullptr || mapped == none()) return;
  static_cast<void>(
      mmap(const_cast<Page*>(mapped), page_bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

void VmGeneration::map_again() noexcept {
  const Page* seen = none();
  if (page_.compare_exchange_strong(seen, nullptr, std::memory_order_acq_rel) || seen == nullptr) return;
  static_cast<void>(open(const_cast<Page*>(seen)));
}

constinit VmGeneration system_vm_generation("/dev/vmclock0");

std::optional<std::uint64_t> Runtime::vm_generation() noexcept { return system_vm_generation.read(); }

}  // namespace idgen
