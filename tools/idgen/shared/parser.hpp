// Reads a command line according to the table of commands. Only parser.cpp knows the library that does it.
#pragma once

#include <string>
#include <vector>

#include "shared/command.hpp"

namespace idgen_tool {

struct Parsed {
  std::string command;  // the chosen command, as far as it is known: "idgen segment show"
  std::string mistake;  // what is wrong with the line, or ""
  Run run;              // if nothing is wrong: the command, or what prints its help or the version
};

// Afterwards the values are in the targets of the table's options.
Parsed parse(const Command& program, int argc, char** argv);

// What followed the name of the command, as it was given.
const std::vector<std::string>& command_words();

std::string version_text();

}  // namespace idgen_tool
