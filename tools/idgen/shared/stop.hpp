// Ctrl-C and SIGTERM as a request to finish: the generator is closed, so that its reservation goes back to the store.
#pragma once

namespace idgen_tool {

// From now on SIGINT, SIGTERM and SIGHUP only set a flag, and a second one kills; SIGPIPE becomes an error of write().
void catch_signals();
// The signal that asked us to stop, else 0.
int stop_signal() noexcept;
// For idgen_draw_t.
int stop_requested(void*) noexcept;

}  // namespace idgen_tool
