// The table's root: idgen itself.
#include <idgen/idgen.h>

#include "shared/command.hpp"
#include "shared/failure.hpp"
#include "shared/output.hpp"
#include "shared/parser.hpp"

namespace idgen_tool {
namespace {

void finish(Command& command, const std::string& help) {
  command.options.insert(command.options.begin(), {.names = "-h,--help", .help = help});
  if (command.details.starts_with('\n')) command.details.erase(0, 1);  // a raw string begins on a line of its own
  for (Command& sub : command.commands) finish(sub, "Print this and exit.");
}

Command make_program() {
  Command idgen{
      .name = "idgen",
      .summary = "Unique, ordered ids from the command line.",
      .usage = {"COMMAND [OPTIONS]"},
      .details = "`idgen COMMAND --help` has the options and examples of each command.\n",
      .examples = {"idgen next --store memory --worker 1 -n 3",
                   "idgen decode --layout twitter 1541815603606036480 --json", "idgen explain 1541815603606036480",
                   "idgen doctor --config idgen.toml"},
      .options = {{.names = "--version", .help = "Print the version and exit."}},
      .commands = {next_command(),    decode_command(), convert_command(),    explain_command(),    audit_command(),
                   layout_command(),  plan_command(),   store_command(),      segment_command(),    worker_command(),
                   shard_command(),   key_command(),    standard_command(),   properties_command(), doctor_command(),
                   metrics_command(), bench_command(),  completion_command(), man_command(),        version_command()},
  };
  for (const Command& command : idgen.commands) {
    for (Command& man : idgen.commands) {
      if (man.name == "man") man.options.front().values.push_back(command.name);
    }
  }
  finish(idgen, "Print this and exit; `idgen COMMAND --help` for a command.");
  return idgen;
}

}  // namespace

const Command& program() {
  static const Command idgen = make_program();
  return idgen;
}

std::string version_text() {
  std::string out = "idgen " IDGEN_VERSION_STRING;
  if (std::string(IDGEN_VERSION_STRING) != idgen_version_string())
    out += std::string(", libidgen ") + idgen_version_string();
  return out + ", ABI " + std::to_string(idgen_abi_version()) + '\n';
}

Command version_command() {
  return {
      .name = "version",
      .summary = "Print the version.",
      .usage = {""},
      .examples = {"idgen version"},
      .run =
          [] {
            print(version_text());
            return kExitOk;
          },
  };
}

}  // namespace idgen_tool
