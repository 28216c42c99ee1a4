// A lane on a system thread. The thread starts when something is posted, ends after it has been idle for a while, and
// is never joined: the library stays loaded (-z nodelete), and a thread that is left ends with the process.
#pragma once

#include <memory>

#include "idgen/runtime.hpp"

namespace idgen {

std::shared_ptr<Lane> make_system_lane();

}  // namespace idgen
