#include "help.hpp"

#include <charconv>
#include <memory>
#include <sstream>

namespace idgen_tool {
namespace {

constexpr std::size_t kColumn = 26;  // where descriptions begin
constexpr std::size_t kWidth = 100;

constexpr const char* kExitStatus =
    "Exit status:\n"
    "  0    done\n"
    "  1    the library or the system refused; stderr says `idgen: error: STATUS: why`\n"
    "  2    the command line is wrong\n"
    "  75   refused for now: the same command can succeed later (a busy worker, an unreachable store)\n"
    "  130  stopped by Ctrl-C, 143 by SIGTERM, 141 by a reader that went away; the generator was closed first\n";

// "  --name NAME         words of the description, wrapped below themselves"
std::string entry(const std::string& left, const std::string& description) {
  std::string out = "  " + left;
  if (out.size() + 2 > kColumn) {
    out += '\n';
    out.append(kColumn, ' ');
  } else {
    out.append(kColumn - out.size(), ' ');
  }
  std::istringstream words(description);
  std::size_t column = kColumn;
  for (std::string word; words >> word;) {
    if (column > kColumn && column + 1 + word.size() > kWidth) {
      out += '\n';
      out.append(kColumn, ' ');
      column = kColumn;
    } else if (column > kColumn) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::string usage, std::string details) : usage_(std::move(usage)), details_(std::move(details)) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::string out = app->get_description() + "\n\nUsage: " + usage_ + "\n";
    const auto commands = app->get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); });
    if (!commands.empty()) {
      out += "\nCommands:\n";
      for (const CLI::App* sub : commands) out += entry(sub->get_name(), sub->get_description());
    }
    const auto positionals = app->get_options([](const CLI::Option* option) { return option->get_positional(); });
    if (!positionals.empty()) {
      out += "\nArguments:\n";
      for (const CLI::Option* option : positionals)
        out += entry(option->get_name(true, false), option->get_description());
    }
    out += "\nOptions:\n";
    for (const CLI::Option* option :
         app->get_options([](const CLI::Option* option) { return option->nonpositional(); })) {
      std::string left;
      for (const std::string& name : option->get_snames()) left += (left.empty() ? "-" : ", -") + name;
      for (const std::string& name : option->get_lnames()) left += (left.empty() ? "--" : ", --") + name;
      if (option->get_items_expected_max() > 0) left += ' ' + option->get_type_name();
      out += entry(left, option->get_description());
    }
    return out + '\n' + details_ + '\n' + kExitStatus;
  }

 private:
  std::string usage_;
  std::string details_;
};

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& summary, const std::string& usage,
                      const std::string& details) {
  CLI::App* sub = app.add_subcommand(name, summary);
  sub->formatter(std::make_shared<HelpFormatter>("idgen " + usage, details));
  sub->get_help_ptr()->description("Print this and exit.");
  return sub;
}

std::string whole_number(const std::string& text) {
  std::uint64_t number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return "'" + text + "' is not a whole number from 0 to 18446744073709551615";
}

void set_program_help(CLI::App& app, const std::string& usage, const std::string& details) {
  app.formatter(std::make_shared<HelpFormatter>(usage, details));
  app.get_help_ptr()->description("Print this and exit; `idgen COMMAND --help` for a command.");
}

}  // namespace idgen_tool
