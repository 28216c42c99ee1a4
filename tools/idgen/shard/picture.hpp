// The load of shards before and after a plan, side by side: for the terminal and as an SVG. Pure.
#pragma once

#include <string>
#include <vector>

#include "shared/terminal.hpp"

namespace idgen_tool {

struct LoadPicture {
  std::string title;  // "rebalance, version 7"
  std::string unit;   // "nodes"
  std::vector<std::string> shards;
  std::vector<double> before;
  std::vector<double> after;
};

// Two bars for each shard, with the load and its share of all.
std::string draw_load(const LoadPicture& picture, const Terminal& terminal, std::size_t width);
// A whole document, with colours for a light or a dark page, whichever its reader prefers.
std::string draw_load_svg(const LoadPicture& picture);

// 12345.678 as a person reads it: "12 346", "0.25".
std::string load_label(double load);

}  // namespace idgen_tool
