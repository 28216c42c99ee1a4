// A lane on a thread of the system's. The thread starts when something is posted, ends when there has been nothing to
// do for a while, and is never joined: the library stays loaded (-z nodelete), and what is left of the thread ends with
// the process.
#pragma once

#include <memory>

#include "idgen/runtime.hpp"

namespace idgen {

std::shared_ptr<Lane> make_system_lane();

}  // namespace idgen
