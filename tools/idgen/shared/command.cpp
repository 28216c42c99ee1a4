#include "shared/command.hpp"

#include <iterator>
#include <utility>

namespace idgen_tool {

const std::vector<ExitStatus>& exit_statuses() {
  static const std::vector<ExitStatus> statuses = {
      {"0", "done"},
      {"1", "the library or the system refused; stderr says `idgen: error: STATUS: why`"},
      {"2", "the command line is wrong"},
      {"3", "of audit alone: ids came more than once"},
      {"75", "refused for now: the same command can succeed later (a busy worker, an unreachable store)"},
      {"130", "stopped by Ctrl-C, 143 by SIGTERM, 141 by a reader that went away; the generator was closed first"},
  };
  return statuses;
}

bool is_argument(const Option& option) { return option.names[0] != '-'; }

bool is_flag(const Option& option) {
  return std::holds_alternative<std::monostate>(option.target) || std::holds_alternative<bool*>(option.target);
}

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t comma = option.names.find(','); comma != std::string::npos; comma = option.names.find(',', begin)) {
    out.push_back(option.names.substr(begin, comma - begin));
    begin = comma + 1;
  }
  out.push_back(option.names.substr(begin));
  return out;
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::vector<Option> joined(std::vector<Option> first, std::vector<Option> rest) {
  first.insert(first.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  return first;
}

const Command* find(const Command& command, const std::string& name) {
  for (const Command& sub : command.commands) {
    if (sub.name == name) return &sub;
  }
  return nullptr;
}

void for_each_command(const Command& command, const std::string& full_name,
                      const std::function<void(const std::string&, const Command&)>& use) {
  use(full_name, command);
  for (const Command& sub : command.commands) for_each_command(sub, full_name + ' ' + sub.name, use);
}

}  // namespace idgen_tool
