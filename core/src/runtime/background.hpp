// One thread a process for work that may block on a store. It starts when first needed, sleeps when there is nothing to do, and is
// never joined: the library stays loaded (-z nodelete), and the thread ends with the process.
#pragma once

#include <functional>

namespace idgen {

// Throws std::system_error if the thread cannot be started.
void post_to_background(std::function<void()> task);

}  // namespace idgen
