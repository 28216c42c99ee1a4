#include "shared/help.hpp"

#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr std::size_t kColumn = 26;  // where descriptions begin
constexpr std::size_t kWidth = 100;

// "  --name NAME         words of the description, wrapped below themselves"
std::string entry(const std::string& left, const std::string& description) {
  std::string out = "  " + left;
  if (out.size() + 2 > kColumn) {
    out += '\n';
    out.append(kColumn, ' ');
  } else {
    out.append(kColumn - out.size(), ' ');
  }
  return out + wrapped(description, kColumn, kWidth).substr(kColumn);
}

std::string usage(const std::string& full_name, const Command& command) {
  std::string out;
  for (const std::string& form : command.usage) {
    out += (out.empty() ? "Usage: " : "       ") + full_name + (form.empty() ? "" : " ") + form + '\n';
  }
  return out;
}

}  // namespace

std::string heading_of(const Option& option) {
  std::string out;
  for (const std::string& name : names_of(option)) out += (out.empty() ? "" : ", ") + name;
  return out + (is_argument(option) || is_flag(option) ? "" : ' ' + option.placeholder);
}

std::string example_title_of(const Command& command) {
  if (!command.example_title.empty()) return command.example_title;
  return command.examples.size() == 1 ? "Example" : "Examples";
}

std::string help_of(const std::string& full_name, const Command& command) {
  std::string out = command.summary + "\n\n" + usage(full_name, command);
  if (!command.commands.empty()) out += "\nCommands:\n";
  for (const Command& sub : command.commands) out += entry(sub.name, sub.summary);
  std::string arguments, options;
  for (const Option& option : command.options) {
    (is_argument(option) ? arguments : options) += entry(heading_of(option), option.help);
  }
  if (!arguments.empty()) out += "\nArguments:\n" + arguments;
  out += "\nOptions:\n" + options + '\n';
  if (!command.details.empty()) out += command.details + '\n';
  out += example_title_of(command) + ":\n";
  for (const std::string& example : command.examples) out += "  " + example + '\n';
  out += "\nExit status:\n";
  for (const ExitStatus& row : exit_statuses()) out += "  " + padded(row.status, 5) + row.meaning + '\n';
  return out;
}

}  // namespace idgen_tool
