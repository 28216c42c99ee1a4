// Calls of Linux for which the C library has had functions only since glibc 2.25 to 2.28, and musl in part has none.
// Made without those functions, so that what is compiled here loads with an older C library too.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

namespace idgen {

// Fills `out` with random bytes. False, with errno set, if the kernel has none. Unlike getrandom(), it is no point at
// which a thread may be cancelled.
inline bool random_bytes(void* out, std::size_t size) noexcept {
  for (std::size_t done = 0; done < size;) {
    const long got = syscall(SYS_getrandom, static_cast<char*>(out) + done, size - done, 0);
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Renames a file unless the other name exists. 0 or an errno; EINVAL or ENOSYS where the file system or the kernel
// cannot.
inline int rename_without_replacing(const char* from, const char* to) noexcept {
#ifdef SYS_renameat2
  constexpr unsigned kNoReplace = 1;
  return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, kNoReplace) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

// The mount that a path, links not followed, is on. Empty if the kernel does not say (before Linux 5.8).
inline std::optional<std::uint64_t> mount_of(const char* path) noexcept {
#ifdef SYS_statx
  constexpr unsigned kMountId = 0x1000, kNoAutomount = 0x800;
  struct {  // struct statx, which headers declare in ways that exclude each other
    std::uint32_t mask;
    unsigned char others[140];
    std::uint64_t mount_id;
    unsigned char rest[104];
  } info{};
  static_assert(sizeof info == 256);
  if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | kNoAutomount, kMountId, &info) == 0 &&
      (info.mask & kMountId) != 0)
    return info.mount_id;
#endif
  return std::nullopt;
}

// Overwrites a secret with zeros, also where nothing reads them.
inline void wipe_memory(void* secret, std::size_t size) noexcept {
  std::memset(secret, 0, size);
  __asm__ __volatile__("" : : "r"(secret) : "memory");
}

}  // namespace idgen
