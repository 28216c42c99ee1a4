// A command as data: its name, its options, its help and its function. The parser, --help, the man pages and the
// shells' completions are all made from these tables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace idgen_tool {

// Returns the exit status; throws Failure, UsageError or IoError.
using Run = std::function<int()>;

// Where an option's value goes. A flag sets its bool; the parser checks numbers; an option with a vector may be
// repeated. Nowhere: --help and --version, which end the parsing.
using Target = std::variant<std::monostate, bool*, std::uint64_t*, std::string*, std::vector<std::string>*>;

enum class Value {
  text,     // completed with `values`; the library decides what is allowed
  one_of,   // one of `values`, which the parser checks
  file,     // a path
  folder,   // the path of a folder
  setting,  // KEY=VALUE, for a property
};

struct Option {
  std::string names{};        // "-n,--count"; without a dash it is an argument: "ID"
  std::string placeholder{};  // the name of its value: "N"
  std::string help{};
  Target target{};
  Value value = Value::text;
  std::vector<std::string> values{};
  bool is_required = false;
  std::string excludes{};  // an earlier option of the table that cannot be given with this one
};

struct Command {
  std::string name{};
  std::string summary{};
  std::vector<std::string> usage{};  // each after the command's full name
  // Lines, wrapped by hand. A line that begins with two spaces is an entry: "  name  description".
  std::string details{};
  std::string example_title{};  // "" for "Example" or "Examples"
  std::vector<std::string> examples{};
  std::vector<Option> options{};
  std::vector<Command> commands{};  // if there are any, one of them must follow
  Run run{};
};

struct ExitStatus {
  const char* status;
  const char* meaning;
};
// The same for every command.
const std::vector<ExitStatus>& exit_statuses();

bool is_argument(const Option& option);
bool is_flag(const Option& option);
// "-n", "--count"
std::vector<std::string> names_of(const Option& option);
// "decimal, hex, base58"
std::string listed(const std::vector<std::string>& words);
std::vector<Option> joined(std::vector<Option> first, std::vector<Option> rest);
// The command's own, or nullptr.
const Command* find(const Command& command, const std::string& name);

// Calls `use` for this command and all below it, with the full name, such as "idgen segment show".
void for_each_command(const Command& command, const std::string& full_name,
                      const std::function<void(const std::string& full_name, const Command& command)>& use);

// `idgen` itself, with all the others below it. Made once.
const Command& program();

Command audit_command();
Command bench_command();
Command completion_command();
Command convert_command();
Command decode_command();
Command doctor_command();
Command explain_command();
Command import_command();
Command key_command();
Command standard_command();
Command layout_command();
Command man_command();
Command segment_move_command();
Command metrics_command();
Command next_command();
Command plan_command();
Command properties_command();
Command segment_retire_command();
Command segment_command();
Command shard_command();
Command store_command();
Command version_command();
Command worker_command();

}  // namespace idgen_tool
