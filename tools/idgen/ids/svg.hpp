// The bits of an id as an SVG picture: a bar with a box for each field, as wide as the field has bits, and a line from
// each box to the field's name and value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ids/picture.hpp"

namespace idgen_tool {

struct SvgPicture {
  std::string title;
  std::string subtitle;
  std::vector<PictureField> fields;  // as for draw()
};

// A whole document, with colours for a light or a dark page, whichever its reader prefers.
std::string draw_svg(std::uint64_t id, const std::vector<SvgPicture>& pictures);

}  // namespace idgen_tool
