// The bits of an id, drawn: one row of bits in the fields' colours, and a line from each field to its name and value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/terminal.hpp"

namespace idgen_tool {

struct PictureField {
  std::uint32_t kind;  // IDGEN_FIELD_*; 0: bits that belong to no field
  unsigned bits;
  unsigned shift;
  std::string name;
  std::string value;  // "4 of 31"
};

// Fields from the most significant on, without gaps, down to bit 0. Lines end with '\n'. A picture wider than `width`
// is replaced by the plain list of fields.
std::string draw(std::uint64_t id, const std::vector<PictureField>& fields, const Terminal& terminal,
                 std::size_t width);

}  // namespace idgen_tool
