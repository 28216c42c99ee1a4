#include "shared/stop.hpp"

#include <csignal>
#include <initializer_list>

namespace idgen_tool {
namespace {

volatile std::sig_atomic_t caught = 0;

extern "C" void remember_signal(int number) { caught = number; }

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  // No SA_RESTART: a write to a pipe that nobody reads must return, or Ctrl-C would go unnoticed.
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    // What the parent chose to ignore (nohup) stays ignored.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int stop_signal() noexcept { return caught; }
int stop_requested(void*) noexcept { return caught != 0; }

}  // namespace idgen_tool
