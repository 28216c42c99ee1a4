// Memory that a forked child reads as zeros, also after a raw clone(): pages marked MADV_WIPEONFORK (Linux 4.14).
// pthread_atfork would miss raw clones, and getpid() for every id would cost 100 ns; this costs nothing.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace idgen {

// Zeroed, page-aligned, wiped in children. Throws Error{unsupported} if the kernel cannot do it.
void* map_fork_page(std::size_t bytes);
void unmap_fork_page(void* page, std::size_t bytes) noexcept;

// A T, and room behind it, that a child finds as all zero bytes. T must be in its initial state when all its bytes are
// zero: true for atomics of integers and, with glibc and musl, for Mutex and std::condition_variable, so that a lock
// held by a thread that the child lacks is free there. What is put into the room must be like that, too.
template <class T>
class ForkPage {
 public:
  explicit ForkPage(std::size_t room = 0) : bytes_(sizeof(T) + room), value_(new (map_fork_page(bytes_)) T) {}
  ForkPage(const ForkPage&) = delete;
  ForkPage& operator=(const ForkPage&) = delete;
  // T's destructor does not run: a child must not destroy what was never constructed in it.
  ~ForkPage() { unmap_fork_page(value_, bytes_); }

  T* operator->() const noexcept { return value_; }
  T& operator*() const noexcept { return *value_; }

 private:
  const std::size_t bytes_;
  T* const value_;
};

}  // namespace idgen
