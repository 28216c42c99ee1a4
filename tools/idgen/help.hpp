// What --help prints: usage, options in one aligned column, then the text of the command itself with its examples.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace idgen_tool {

// Adds a subcommand whose help reads: summary, usage (without "idgen "), options, `details`, exit status.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary, const std::string& usage,
                      const std::string& details);

// A check for CLI::Option: "" if the text is a number from 0 to 2^64 - 1, else what is wrong.
std::string whole_number(const std::string& text);

// The same help for the program itself.
void set_program_help(CLI::App& app, const std::string& usage, const std::string& details);

}  // namespace idgen_tool
