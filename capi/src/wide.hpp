// Ids of either length at the border.
#pragma once

#include "border.hpp"
#include "idgen/wide_id.hpp"

namespace idgen::capi {

inline idgen_wide_id_t to_c(const WideId& id) noexcept {
  idgen_wide_id_t out{id.bytes, 0, {}};
  for (unsigned i = 0; i < id.bytes; ++i) out.bytes[i] = static_cast<std::uint8_t>(id.value >> 8 * (id.bytes - 1 - i));
  return out;
}

// Throws Error{value} if its length is none.
inline WideId from_c(const idgen_wide_id_t* id) {
  require(id, "id");
  if (id->size != 8 && id->size != 16)
    throw Error(Status::value, "an id has 8 or 16 bytes; this one's size is " + std::to_string(id->size));
  WideId out{0, id->size};
  for (unsigned i = 0; i < id->size; ++i) out.value = out.value << 8 | id->bytes[i];
  return out;
}

}  // namespace idgen::capi
