// A process that is about to be copied: by a checkpoint, a snapshot, a clone of its machine.
//
// A copy has everything that the original reserved. So nothing may be reserved while it is made, or nobody may use it
// afterwards.
#pragma once

#include "idgen/mutex.hpp"

namespace idgen {

// All generators of this process give back what they have reserved, and their workers, and close their connections.
// Until reset(), calls wait. Nothing happens to generators that a child has inherited and not used. May block on
// stores, each for its wait_max.
void quiesce() IDGEN_RUNS_HOST_CODE;

// What was reserved before is never issued: each generator starts over with its next call. What quiesce() gave back is
// not given back again; without it nothing is given back, because it belongs to the original, too.
void reset() IDGEN_RUNS_HOST_CODE;

}  // namespace idgen
