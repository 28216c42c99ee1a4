// Which worker a configuration names: the values of a layout's node fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "idgen/config.hpp"
#include "idgen/layout.hpp"
#include "workers/worker_choice.hpp"

namespace idgen {

inline constexpr FieldKind kNodeFields[] = {FieldKind::datacenter, FieldKind::worker, FieldKind::process,
                                            FieldKind::shard};

// Where the number of a field comes from that is auto; the order of the property's choices.
enum class NumberSource { store, ordinal, env, slot, uid_generator, cosid, zookeeper };

struct Node {
  // The node fields as a part of an id, with the layout's fixed bits, and as one number.
  std::uint64_t bits = 0;
  std::uint64_t number = 0;
  unsigned bits_wide = 0;
  std::string text;                   // "worker 7", "datacenter 1 worker 7"
  std::string origin;                 // of a number that nobody typed and nobody leases; "" = there is none
  std::optional<LeasedField> leased;  // the field that is leased; `bits` and `number` have 0 there
  unsigned leased_shift = 0;          // in an id
  NumberSource source = NumberSource::store;

  std::uint64_t bits_with(std::uint64_t leased_number) const {
    return leased ? bits | leased->value_of(leased_number) << leased_shift : bits;
  }
};

// Reads the host's name and environment if worker_source says so. Throws Error{value}; also if worker_source is set and
// no field is auto, unless a number may be typed in its place.
Node node_of(const Config& config, const Layout& layout, bool may_be_typed = false);

}  // namespace idgen
