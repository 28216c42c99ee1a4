#include "shared/parser.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "shared/failure.hpp"
#include "shared/help.hpp"
#include "shared/output.hpp"

namespace idgen_tool {
namespace {

std::string whole_number(const std::string& text) {
  std::uint64_t number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return "'" + text + "' is not a whole number from 0 to 18446744073709551615";
}

// Adds an option of the table to the parser.
struct Adder {
  CLI::App& app;
  const Option& option;

  CLI::Option* operator()(std::monostate) const {
    if (option.names == "--version") return app.set_version_flag(option.names, version_text(), option.help);
    return app.set_help_flag(option.names, option.help);
  }
  CLI::Option* operator()(bool* target) const { return app.add_flag(option.names, *target); }
  CLI::Option* operator()(std::uint64_t* target) const {
    return app.add_option(option.names, *target)->check(whole_number);
  }
  CLI::Option* operator()(std::string* target) const { return app.add_option(option.names, *target); }
  CLI::Option* operator()(std::vector<std::string>* target) const {
    CLI::Option* added = app.add_option(option.names, *target);
    if (!is_argument(option)) {
      // One word each time that the option is given: the words behind it are arguments.
      added->expected(1)->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    return added;
  }
};

void fill(CLI::App& app, const Command& command) {
  for (const Option& option : command.options) {
    CLI::Option* added = std::visit(Adder{app, option}, option.target);
    if (!is_flag(option)) added->type_name(option.placeholder);
    if (option.is_required) added->required();
    if (!option.excludes.empty()) added->excludes(app.get_option(option.excludes));
    if (option.value != Value::one_of) continue;
    added->check([&values = option.values](const std::string& text) {
      const bool known = std::find(values.begin(), values.end(), text) != values.end();
      return known ? std::string() : "'" + text + "' is not one of " + listed(values);
    });
  }
  if (!command.commands.empty()) app.require_subcommand(1);
  for (const Command& sub : command.commands) fill(*app.add_subcommand(sub.name), sub);
}

// The command chosen by the words, in the parser and in the table.
struct Chosen {
  const CLI::App* app;
  const Command* command;
  std::string full_name;
};

Chosen chosen(const CLI::App& app, const Command& program) {
  Chosen at{&app, &program, program.name};
  while (!at.app->get_subcommands().empty()) {
    at.app = at.app->get_subcommands().front();
    at.command = find(*at.command, at.app->get_name());
    at.full_name += ' ' + at.app->get_name();
  }
  return at;
}

// The parser's own message, except for a missing or misspelt command: then it names the commands there are.
std::string what_is_wrong(const Chosen& at, const CLI::ParseError& error) {
  if (at.command->commands.empty()) return error.what();
  std::vector<std::string> commands;
  for (const Command& sub : at.command->commands) commands.push_back(sub.name);
  for (const std::string& word : at.app->remaining()) {
    if (word[0] == '-') return at.full_name + " has no option " + word;
    return at.full_name + " has no command '" + word + "'; it has " + listed(commands);
  }
  if (error.get_name() == "RequiredError") return at.full_name + " needs a command: " + listed(commands);
  return error.what();
}

std::vector<std::string> words;

Run printing(const std::string& text) {
  return [text] {
    print(text);
    return kExitOk;
  };
}

}  // namespace

const std::vector<std::string>& command_words() { return words; }

Parsed parse(const Command& program, int argc, char** argv) {
  if (argc > 2) words.assign(argv + 2, argv + argc);
  CLI::App app("", program.name);
  fill(app, program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    return {chosen(app, program).full_name, "", printing(version_text())};
  } catch (const CLI::CallForHelp&) {
    const Chosen at = chosen(app, program);
    return {at.full_name, "", printing(help_of(at.full_name, *at.command))};
  } catch (const CLI::ParseError& error) {
    const Chosen at = chosen(app, program);
    return {at.full_name, what_is_wrong(at, error), {}};
  }
  const Chosen at = chosen(app, program);
  return {at.full_name, "", at.command->run};
}

}  // namespace idgen_tool
