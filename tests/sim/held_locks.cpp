#include "sim/held_locks.hpp"

#include <pthread.h>
#include <time.h>

static thread_local int held = 0;

static int counted(int result) {
  if (result == 0) ++held;
  return result;
}

extern "C" {
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t* mutex);
int __real_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until);
int __real_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until);
int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) { return counted(__real_pthread_mutex_lock(mutex)); }
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) { return counted(__real_pthread_mutex_trylock(mutex)); }
int __wrap_pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return counted(__real_pthread_mutex_clocklock(mutex, clock, until));
}
int __wrap_pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return counted(__real_pthread_mutex_timedlock(mutex, until));
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  --held;
  return __real_pthread_mutex_unlock(mutex);
}
}

namespace idgen::sim {
int held_locks() noexcept { return held; }
}  // namespace idgen::sim
