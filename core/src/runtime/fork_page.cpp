#include "runtime/fork_page.hpp"

#include <sys/mman.h>

#include <condition_variable>
#include <cstring>

#include "idgen/mutex.hpp"
#include "idgen/status.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define IDGEN_LEAK_SEARCH(call) call
#else
#define IDGEN_LEAK_SEARCH(call)
#endif

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // older headers on a newer kernel
#endif

namespace idgen {
namespace {

template <class T>
bool fresh_is_zero() {
  alignas(T) unsigned char bytes[sizeof(T)];
  std::memset(bytes, 0, sizeof bytes);
  new (bytes) T;
  static constexpr unsigned char zeros[sizeof(T)]{};
  return std::memcmp(bytes, zeros, sizeof bytes) == 0;  // the T is trivially destroyed where this holds
}

[[noreturn]] void refuse(const char* what) {
  throw Error(
      Status::unsupported,
      std::string("cannot make memory that a forked child finds empty: ") + what +
          "; idgen needs Linux 4.14 or newer with glibc or musl, so that a child never issues its parent's ids");
}

}  // namespace

void* map_fork_page(std::size_t bytes) {
  const bool locks_are_zero = fresh_is_zero<Mutex>() && fresh_is_zero<std::condition_variable>();
  if (!locks_are_zero) refuse("this C library's locks are not zero when free");
  void* page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::bad_alloc();
  // An emulator may accept any advice and ignore it: one that takes -1 does.
  if (madvise(page, bytes, MADV_WIPEONFORK) != 0 || madvise(page, bytes, -1) == 0) {
    munmap(page, bytes);
    refuse("the kernel does not know MADV_WIPEONFORK");
  }
  IDGEN_LEAK_SEARCH(__lsan_register_root_region(page, bytes));  // such a page holds pointers
  return page;
}

void unmap_fork_page(void* page, std::size_t bytes) noexcept {
  IDGEN_LEAK_SEARCH(__lsan_unregister_root_region(page, bytes));
  munmap(page, bytes);
}

}  // namespace idgen
