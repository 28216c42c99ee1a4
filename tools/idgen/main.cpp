// The idgen command: parses, runs one command, and turns what went wrong into a line on stderr and an exit status.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <new>
#include <sstream>
#include <string>

#include "command.hpp"
#include "failure.hpp"
#include "help.hpp"
#include "output.hpp"
#include "stop.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails =
    "`idgen COMMAND --help` has the options and examples of each command.\n"
    "\n"
    "Examples:\n"
    "  idgen next --store memory --worker 1 -n 3\n"
    "  idgen decode --layout twitter 1541815603606036480 --json\n"
    "  idgen explain 1541815603606036480\n"
    "  idgen doctor --config idgen.toml\n";

std::string version() {
  std::string out = "idgen " IDGEN_VERSION_STRING;
  if (std::string(IDGEN_VERSION_STRING) != idgen_version_string())
    out += std::string(", libidgen ") + idgen_version_string();
  return out + ", ABI " + std::to_string(idgen_abi_version());
}

// One line, whatever names and paths the message quotes.
void report(const std::string& kind, const std::string& message, const std::string& advice = "") {
  const std::string line = "idgen: error: " + kind + (kind.empty() ? "" : ": ") + one_line(message) + '\n' + advice;
  std::fputs(line.c_str(), stderr);
}

// The command that the arguments chose, as far as they go.
const CLI::App& chosen(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

// "idgen segment show"
std::string full_name(const CLI::App& app) {
  return (app.get_parent() ? full_name(*app.get_parent()) + ' ' : "") + app.get_name();
}

// The parser's own words, but where a command is missing or misspelt: those name what there is.
std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen(app);
  std::string commands;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    commands += (commands.empty() ? "" : ", ") + sub->get_name();
  }
  if (commands.empty()) return error.what();
  for (const std::string& word : command.remaining()) {
    if (word[0] == '-') return full_name(command) + " has no option " + word;
    return full_name(command) + " has no command '" + word + "'; it has " + commands;
  }
  if (error.get_name() == "RequiredError") return full_name(command) + " needs a command: " + commands;
  return error.what();
}

int usage_error(const CLI::App& app, const std::string& message) {
  report("", message, "See `" + full_name(chosen(app)) + " --help`.\n");
  return kExitUsage;
}

int run_command(const CLI::App& app, const Run& run) {
  try {
    const int status = run();
    close_standard_output();
    return status;
  } catch (const Failure& failure) {
    std::string message = failure.what();
    if (failure.retry_after_ns()) {
      message +=
          " (a retry can succeed in " + std::to_string((failure.retry_after_ns() + 999'999) / 1'000'000) + " ms)";
    }
    report(idgen_status_name(failure.status()), message);
    return failure.exit_status();
  } catch (const UsageError& error) {
    return usage_error(app, error.what());
  } catch (const IoError& error) {
    report("", error.what());
    return kExitFailure;
  } catch (const ReaderGone&) {
    return 128 + SIGPIPE;
  } catch (const Interrupted&) {
    return 128 + stop_signal();
  } catch (const std::bad_alloc&) {
    report("", "out of memory");
    return kExitFailure;
  }
}

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): only for want of memory before anything began
  CLI::App app("Unique, ordered ids from the command line.", "idgen");
  Run run;
  set_program_help(app, "idgen COMMAND [OPTIONS]", kDetails);
  app.set_version_flag("--version", version(), "Print the version and exit.");
  app.require_subcommand(1);
  add_next(app, run);
  add_decode(app, run);
  add_explain(app, run);
  add_layout(app, run);
  add_store(app, run);
  add_segment(app, run);
  add_worker(app, run);
  add_properties(app, run);
  add_doctor(app, run);
  add_bench(app, run);
  CLI::App* version_command =
      add_command(app, "version", "Print the version.", "version", "Example:\n  idgen version\n");
  version_command->callback([&run] {
    run = [] {
      print(version() + '\n');
      return kExitOk;
    };
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    std::ostringstream text;
    app.exit(wanted, text);
    run = [text = text.str()] {
      print(text);
      return kExitOk;
    };
  } catch (const CLI::ParseError& error) {
    return usage_error(app, what_is_wrong(app, error));
  }
  return run_command(app, run);
}

}  // namespace
}  // namespace idgen_tool

int main(int argc, char** argv) {
  idgen_tool::hold_standard_descriptors();
  try {
    return idgen_tool::main(argc, argv);
  } catch (const std::exception& error) {  // building the parser: a libidgen of another version
    std::fprintf(stderr, "idgen: error: %s\n", error.what());
    return idgen_tool::kExitFailure;
  }
}
