// What --help prints: summary, usage, options in one aligned column, details, examples, exit statuses.
#pragma once

#include <string>

#include "shared/command.hpp"

namespace idgen_tool {

std::string help_of(const std::string& full_name, const Command& command);

// "-n, --count N"
std::string heading_of(const Option& option);
// "Examples"
std::string example_title_of(const Command& command);

}  // namespace idgen_tool
