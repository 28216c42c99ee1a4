// A cut-over, driven step by step through the table's file.
#pragma once

#include <cstdint>
#include <string>

namespace idgen_tool {

struct CutOver {
  std::string file;
  std::string nodes;  // "": all that are in cut-over
  std::string to;
  std::string step = "5%";
  std::string every = "1m";
  bool is_once = false;
  bool is_back = false;
  bool is_finish = false;
  bool is_confirmed = false;
};

// Returns the exit status; throws Failure, UsageError, IoError, Interrupted.
int drive(const CutOver& arguments);

}  // namespace idgen_tool
