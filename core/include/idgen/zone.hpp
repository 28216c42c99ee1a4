// Time zones: what the clocks of a place show. UTC and offsets are known here; names of the tz database are a module's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "idgen/pattern.hpp"

namespace idgen {

// A time in which the clocks of a zone are not changed.
struct ZoneSpan {
  std::int64_t from_s;
  std::int64_t until_s;  // exclusive
  std::int64_t offset_s;
};

class Zone {
 public:
  virtual ~Zone() = default;
  // Throws what the module throws.
  virtual ZoneSpan at(std::int64_t unix_s) const = 0;
  LocalTime local_time(std::int64_t unix_ms) const;
};

// "" and "UTC", an offset such as "+08:00", or a name such as "Europe/Berlin", which needs the module libidgen_zone.so.
// Throws Error{value} for an unknown zone, Error{unsupported} without the module. module_path and directory: the
// properties module.path and directory.
std::shared_ptr<const Zone> open_zone(const std::string& name, const std::string& module_path = {},
                                      const std::string& directory = {});

}  // namespace idgen
