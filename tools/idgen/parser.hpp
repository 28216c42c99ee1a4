// Reads a command line by the table of commands. parser.cpp alone knows the library that does it.
#pragma once

#include <string>

#include "command.hpp"

namespace idgen_tool {

struct Parsed {
  std::string command;  // the one that was chosen, as far as the words go: "idgen segment show"
  std::string mistake;  // what is wrong with the line, or ""
  Run run;              // if nothing is wrong: the command, or what prints its help or the version
};

// The values are in the targets of the table's options afterwards.
Parsed parse(const Command& program, int argc, char** argv);

std::string version_text();

}  // namespace idgen_tool
