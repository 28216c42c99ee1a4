// A thread of a simulated process: a stack of its own, which runs until it leaves by itself.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace idgen::sim {

class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  // Its stack is used again, whether or not the body has ended: what lies there is not destroyed.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it leaves or ends. From outside of all fibers.
  void resume();
  // Within a fiber: back to whoever resumed it.
  static void leave();
  static bool is_here() noexcept;
  bool has_ended() const noexcept { return has_ended_; }

 private:
  // What the C++ runtime knows of the exceptions that a thread is handling (__cxa_eh_globals).
  struct Exceptions {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };
  static void enter();
  void run();
  void switch_to();
  void switch_back();
  void swap_exceptions() noexcept;

  std::function<void()> body_;
  void* stack_;
  ucontext_t here_{};
  [[maybe_unused]] ucontext_t outside_{};
  // In place of the two, once it has begun: swapcontext() asks the kernel for the signal mask each time.
  jmp_buf quick_here_;
  jmp_buf quick_outside_;
  bool has_begun_ = false;
  Exceptions exceptions_;
  bool has_ended_ = false;
  // For the sanitizers.
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* thread_ = nullptr;
};

}  // namespace idgen::sim
