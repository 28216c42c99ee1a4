// One thread a process for work that may block on a store. It starts when first needed, sleeps when there is nothing to do, and is
// never joined: the library stays loaded (-z nodelete), and the thread ends with the process.
#pragma once

#include <chrono>
#include <functional>

namespace idgen {

// Throws std::system_error if the thread cannot be started. A delay does not count the time that the machine is suspended.
void post_to_background(std::function<void()> task, std::chrono::nanoseconds delay = {});

}  // namespace idgen
