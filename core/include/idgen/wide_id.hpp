// Ids of 8 and of 16 bytes side by side.
#pragma once

namespace idgen {

using Id128 = unsigned __int128;

// Its length tells an id of 8 bytes from one of 16, not its value.
struct WideId {
  Id128 value = 0;
  unsigned bytes = 0;
};

}  // namespace idgen
