// Locks whose use clang checks when it compiles (-Wthread-safety, a part of `make lint`): what a lock guards, which
// function expects it to be held, and which must not be called while any lock is held. For other compilers a Mutex is a
// std::mutex, and these annotations are empty.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define IDGEN_CLANG(attribute) __attribute__((attribute))
#else
#define IDGEN_CLANG(attribute)
#endif

// A variable that is only read and written with this lock held.
#define IDGEN_GUARDED_BY(lock) IDGEN_CLANG(guarded_by(lock))
// A function whose caller holds this lock.
#define IDGEN_REQUIRES(lock) IDGEN_CLANG(requires_capability(lock, ::idgen::any_lock))
// A function whose caller does not hold this lock.
#define IDGEN_EXCLUDES(lock) IDGEN_CLANG(locks_excluded(lock))
// A function that may run the host's code: its clock, store, log, or the callback that cancels a wait. The host has
// locks of its own, which could deadlock with ours, so the caller must hold none of our locks.
#define IDGEN_RUNS_HOST_CODE IDGEN_EXCLUDES(::idgen::any_lock)
// A function that clang cannot follow. Say why.
#define IDGEN_UNCHECKED_LOCKS IDGEN_CLANG(no_thread_safety_analysis)

namespace idgen {

// Held together with any Mutex, so that a function can require that none is held without naming them. It exists only
// for the compiler. It cannot be held twice, so a function that holds one lock cannot take a second.
struct IDGEN_CLANG(capability("lock of ours")) AnyLock {};
extern AnyLock any_lock;

// All bytes are zero when it is free, as a ForkPage needs it: with glibc and musl (fork_page.cpp looks).
class IDGEN_CLANG(capability("mutex")) Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // True: a MutexLock is to adopt it.
  bool try_lock() IDGEN_CLANG(try_acquire_capability(true, this, any_lock)) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds a Mutex until the end of the block, or until unlock().
class IDGEN_CLANG(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) IDGEN_CLANG(acquire_capability(mutex, any_lock)) : lock_(mutex.mutex_) {}
  MutexLock(Mutex& mutex, std::adopt_lock_t adopt) IDGEN_CLANG(requires_capability(mutex, any_lock))
      : lock_(mutex.mutex_, adopt) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() IDGEN_CLANG(release_capability()) = default;

  void lock() IDGEN_CLANG(acquire_capability()) { lock_.lock(); }
  void unlock() IDGEN_CLANG(release_capability()) { lock_.unlock(); }

  // For a std::condition_variable, which returns it as it was: held.
  std::unique_lock<std::mutex>& to_wait_with() noexcept { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace idgen
