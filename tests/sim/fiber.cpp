#include "sim/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace idgen::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStackBytes = 1024 * 1024;
#else
constexpr std::size_t kStackBytes = 256 * 1024;
#endif

Fiber* running = nullptr;

std::vector<void*>& free_stacks() {
  static std::vector<void*> stacks;
  return stacks;
}

void* new_stack() {
  std::vector<void*>& stacks = free_stacks();
  if (!stacks.empty()) {
    void* const stack = stacks.back();
    stacks.pop_back();
    return stack;
  }
  void* const stack =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  mprotect(stack, 4096, PROT_NONE);  // where an overflow ends
  return stack;
}

#if defined(__SANITIZE_ADDRESS__)
const void* outside_stack = nullptr;
std::size_t outside_bytes = 0;
#endif
#if defined(__SANITIZE_THREAD__)
void* outside_thread = nullptr;
#endif

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(new_stack()) {
  getcontext(&here_);
  here_.uc_stack.ss_sp = stack_;
  here_.uc_stack.ss_size = kStackBytes;
  here_.uc_link = nullptr;
  makecontext(&here_, &Fiber::enter, 0);
#if defined(__SANITIZE_THREAD__)
  thread_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(thread_);
#endif
#if defined(__SANITIZE_ADDRESS__)
  // What ran there has left marks around its variables.
  __asan_unpoison_memory_region(static_cast<char*>(stack_) + 4096, kStackBytes - 4096);
#endif
  free_stacks().push_back(stack_);
}

bool Fiber::is_here() noexcept { return running != nullptr; }

void Fiber::swap_exceptions() noexcept {
  Exceptions outside;
  auto* const globals = abi::__cxa_get_globals();
  std::memcpy(&outside, static_cast<void*>(globals), sizeof outside);
  std::memcpy(static_cast<void*>(globals), &exceptions_, sizeof exceptions_);
  exceptions_ = outside;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A sanitizer takes longjmp() for a return on the same stack.
void Fiber::switch_to() { swapcontext(&outside_, &here_); }
void Fiber::switch_back() { swapcontext(&here_, &outside_); }
#else
void Fiber::switch_to() {
  if (_setjmp(quick_outside_) != 0) return;
  if (has_begun_) _longjmp(quick_here_, 1);
  has_begun_ = true;
  setcontext(&here_);
}
void Fiber::switch_back() {
  if (_setjmp(quick_here_) == 0) _longjmp(quick_outside_, 1);
}
#endif

void Fiber::resume() {
  running = this;
  swap_exceptions();
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, stack_, kStackBytes);
#endif
#if defined(__SANITIZE_THREAD__)
  outside_thread = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(thread_, 0);
#endif
  switch_to();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  swap_exceptions();
  running = nullptr;
}

void Fiber::enter() { running->run(); }

void Fiber::run() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &outside_stack, &outside_bytes);
#endif
  body_();
  has_ended_ = true;
  leave();
}

void Fiber::leave() {
  Fiber& me = *running;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(me.has_ended_ ? nullptr : &me.fake_stack_, outside_stack, outside_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(outside_thread, 0);
#endif
  me.switch_back();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(me.fake_stack_, &outside_stack, &outside_bytes);
#endif
}

}  // namespace idgen::sim
