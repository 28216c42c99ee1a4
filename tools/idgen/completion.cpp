// idgen completion: scripts with which a shell completes commands, options and values. Each script holds the whole
// table, so that the tab key starts no process.
#include <idgen/admin.h>
#include <idgen/idgen.h>

#include <map>
#include <memory>

#include "shared/command.hpp"
#include "shared/failure.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Prints the script that makes a shell complete commands, options and their values. An installed idgen has it where the
shell finds it. Else, once for each shell that is started:

  bash  source <(idgen completion bash)
  zsh   source <(idgen completion zsh), after compinit
  fish  idgen completion fish | source
)";

// ---- what all shells need of the table

using Use = std::function<void(const std::string&, const Command&)>;

void for_each(const Use& use) { for_each_command(program(), program().name, use); }

std::vector<std::string> names_of_commands(const Command& command) {
  std::vector<std::string> out;
  for (const Command& sub : command.commands) out.push_back(sub.name);
  return out;
}

std::string spaced(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// "segment.step=", each property.
std::vector<std::string> settings() {
  std::vector<std::string> out;
  for (const idgen_property_t& property : all_properties()) out.push_back(std::string(property.name) + '=');
  return out;
}

std::string replaced(const std::string& text, char what, const std::string& with) {
  std::string out;
  for (const char c : text) out += c == what ? with : std::string(1, c);
  return out;
}

// In single quotes, for bash and zsh.
std::string quoted(const std::string& text) { return "'" + replaced(text, '\'', "'\\''") + "'"; }

// "idgen segment set-step" as a function's name.
std::string function_name(const std::string& full_name) {
  return "_" + replaced(replaced(full_name, ' ', "_"), '-', "_");
}

// ---- bash

// The branches of a `case`; equal ones are merged.
class Branches {
 public:
  void add(const std::string& pattern, const std::string& action) {
    std::string& patterns = by_action_[action];
    patterns += (patterns.empty() ? "" : " | \\\n      ") + quoted(pattern);
  }
  std::string str() const {
    std::string out;
    for (const auto& [action, patterns] : by_action_) out += "    " + patterns + ")\n      " + action + " ;;\n";
    return out;
  }

 private:
  std::map<std::string, std::string> by_action_;
};

std::string bash_action(const Option& option) {
  switch (option.value) {
    case Value::file:
      return "kind=file";
    case Value::folder:
      return "kind=folder";
    case Value::setting:
      return "kind=setting";
    default:
      return "kind=word list=" + quoted(spaced(option.values));
  }
}

constexpr const char* kBashBegin = R"(
_idgen() {
  # Bash parts words at = and : and @, as far as COMP_WORDBREAKS says: here they are whole again.
  local breaks=${COMP_WORDBREAKS-=:@} word last=
  breaks=${breaks//[^=:@]/}
  local -a words=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $breaks && ${#words[@]} -gt 0 && $word && $word != -* && ($last == *["$breaks"] || $word == ["$breaks"]*) ]]
    then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    last=$word
  done
  local current=${words[${#words[@]} - 1]} option= path=idgen kind= list=
  ((${#words[@]} > 1)) && option=${words[${#words[@]} - 2]}
  if [[ $current == --*=* ]]; then
    option=${current%%=*} current=${current#*=}
  fi
  for word in "${words[@]:0:${#words[@]}-1}"; do
    case "$path $word" in
)";

constexpr const char* kBashOptions = R"(
    esac
  done
  case "$path $option" in
)";

constexpr const char* kBashWords = R"(
  esac
  case $kind,$path in
)";

constexpr const char* kBashSettings = R"(
  esac
  if [[ $kind == setting && $current == *=* ]]; then
    word=${current%%=*} current=${current#*=} list=
    case $word in
)";

constexpr const char* kBashEnd = R"(
    esac
  fi
  [[ $kind == word && $current == sqlite:* ]] && kind=file current=${current#sqlite:}
  case $kind in
    file)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
    folder)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W "$list" -- "$current")
      [[ ${COMPREPLY[0]} == *[=:/] ]] && compopt -o nospace 2>/dev/null
      ;;
  esac
  # What stands before the last of the characters at which bash parts words is not replaced.
  if [[ $breaks && $current == *["$breaks"]* ]]; then
    local before=${current%"${current##*["$breaks"]}"}
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
  fi
}
complete -F _idgen idgen
)";

std::string bash_script() {
  Branches paths, options, words, values;
  for_each([&](const std::string& full_name, const Command& command) {
    for (const Command& sub : command.commands) paths.add(full_name + ' ' + sub.name, "path+=\" $word\"");
    std::vector<std::string> names;
    std::string argument = "list=" + quoted(spaced(names_of_commands(command)));
    for (const Option& option : command.options) {
      if (is_argument(option)) {
        argument = "list=" + quoted(spaced(option.values));
        continue;
      }
      for (const std::string& name : names_of(option)) {
        names.push_back(name);
        if (!is_flag(option)) options.add(full_name + ' ' + name, bash_action(option));
      }
    }
    words.add("," + full_name,
              "if [[ $current == -* ]]; then list=" + quoted(spaced(names)) + "; else " + argument + "; fi");
  });
  for (const idgen_property_t& property : all_properties()) {
    if (!choices(property).empty()) values.add(property.name, "list=" + quoted(spaced(choices(property))));
  }
  return std::string("# bash completion of idgen " IDGEN_VERSION_STRING ", made by `idgen completion bash`.\n") +
         (kBashBegin + 1) + paths.str() + (kBashOptions + 1) + options.str() + (kBashWords + 1) + words.str() +
         "    setting,*)\n      list=" + quoted(spaced(settings())) + " ;;\n" + (kBashSettings + 1) + values.str() +
         (kBashEnd + 1);
}

// ---- zsh

// In a specification of _arguments colons and brackets have a meaning.
std::string zsh_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const Option& option) {
  switch (option.value) {
    case Value::file:
      return "_files";
    case Value::folder:
      return "_files -/";
    case Value::setting:
      return "_idgen_settings";
    default:
      break;
  }
  if (option.values.empty()) return " ";
  return option.names == "--store" ? "_idgen_stores" : "(" + zsh_escaped(spaced(option.values)) + ")";
}

std::string zsh_specification(const Option& option, const std::string& name) {
  const std::string help = "[" + zsh_escaped(first_sentence(option.help)) + "]";
  const std::vector<std::string> names = names_of(option);
  const bool is_repeated = std::holds_alternative<std::vector<std::string>*>(option.target);
  std::string excluded = is_repeated ? "" : spaced(names);
  if (!option.excludes.empty()) excluded += ' ' + option.excludes;
  const std::string before = is_repeated ? "*" : "(" + excluded + ")";
  if (is_flag(option)) return before + name + help;
  return before + name + (name.starts_with("--") ? "=" : "+") + help + ':' + zsh_escaped(option.placeholder) + ':' +
         zsh_action(option);
}

std::string zsh_function(const std::string& full_name, const Command& command) {
  std::string specifications;
  for (const Option& option : command.options) {
    if (is_argument(option)) {
      const bool is_repeated = std::holds_alternative<std::vector<std::string>*>(option.target);
      specifications += " \\\n    " + quoted((is_repeated ? "*:" : ":") + option.names + ':' + zsh_action(option));
      continue;
    }
    for (const std::string& name : names_of(option)) {
      specifications += " \\\n    " + quoted(zsh_specification(option, name));
    }
  }
  std::string out = function_name(full_name) + "() {\n";
  if (command.commands.empty()) return out + "  _arguments -s" + specifications + "\n}\n\n";
  std::string commands, cases;
  for (const Command& sub : command.commands) {
    commands += "        " + quoted(replaced(sub.name, ':', "\\:") + ':' + sub.summary) + '\n';
    cases += "        " + sub.name + ") " + function_name(full_name + ' ' + sub.name) + " ;;\n";
  }
  out += "  local curcontext=$curcontext state line\n  typeset -A opt_args\n  _arguments -C" + specifications +
         " \\\n    '1:command:->command' '*::argument:->argument' && return\n";
  out += "  case $state in\n    command)\n      local -a commands=(\n" + commands +
         "      )\n      _describe command commands\n      ;;\n";
  return out + "    argument)\n      case $line[1] in\n" + cases + "      esac\n      ;;\n  esac\n}\n\n";
}

std::string zsh_script() {
  std::string out =
      "#compdef idgen\n# zsh completion of idgen " IDGEN_VERSION_STRING ", made by `idgen completion zsh`.\n\n";
  std::string cases, stores;
  for (const idgen_property_t& property : all_properties()) {
    const std::string name = property.name;
    if (choices(property).empty()) continue;
    if (name == "store") stores = spaced(choices(property));
    cases += "      " + name + ") compadd -S '' -- " + spaced(choices(property)) + " ;;\n";
  }
  out += "_idgen_settings() {\n  if compset -P 1 '*='; then\n    case ${${IPREFIX%=}##*=} in\n" + cases +
         "    esac\n  else\n    compadd -S '' -- " + spaced(settings()) + "\n  fi\n}\n\n";
  out += "_idgen_stores() {\n  if compset -P 'sqlite:'; then\n    _files\n  else\n    compadd -S '' -- " + stores +
         "\n  fi\n}\n\n";
  for_each([&](const std::string& full_name, const Command& command) { out += zsh_function(full_name, command); });
  return out + "if [[ $funcstack[1] == _idgen ]]; then\n  _idgen \"$@\"\nelse\n  compdef _idgen idgen\nfi\n";
}

// ---- fish

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, '\\', "\\\\"), '\'', "\\'") + "'";
}

std::string fish_values(const Option& option) {
  switch (option.value) {
    case Value::file:
      return " -r -F";
    case Value::folder:
      return " -x -a '(__fish_complete_directories)'";
    case Value::setting:
      return " -x -a '(__idgen_settings)'";
    default:
      return option.values.empty() ? " -x" : " -x -a " + fish_quoted(spaced(option.values));
  }
}

std::string fish_option(const Option& option) {
  std::string out;
  for (const std::string& name : names_of(option)) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return out + (is_flag(option) ? "" : fish_values(option)) + " -d " + fish_quoted(first_sentence(option.help));
}

constexpr const char* kFishBegin = R"(
# The command that the words before the cursor chose.
function __idgen_path
    set -l path idgen
    for word in (commandline -opc)[2..-1]
        contains -- "$path $word" $__idgen_paths
        and set path "$path $word"
    end
    echo $path
end

function __idgen_at
    test (__idgen_path) = "$argv"
end

complete -c idgen -f
)";

std::string fish_script() {
  std::string paths, body, all_settings;
  for_each([&](const std::string& full_name, const Command& command) {
    const std::string at = "complete -c idgen -n '__idgen_at " + full_name + "'";
    paths += " \\\n    " + fish_quoted(full_name);
    for (const Command& sub : command.commands) {
      body += at + " -a " + sub.name + " -d " + fish_quoted(sub.summary) + '\n';
    }
    for (const Option& option : command.options) {
      if (!is_argument(option)) body += at + fish_option(option) + '\n';
      if (is_argument(option) && !option.values.empty()) {
        body += at + " -a " + fish_quoted(spaced(option.values)) + '\n';
      }
    }
  });
  for (const idgen_property_t& property : all_properties()) {
    const std::string name = std::string(property.name) + '=';
    all_settings += " \\\n        " + fish_quoted(name);
    for (const std::string& choice : choices(property)) all_settings += ' ' + fish_quoted(name + choice);
  }
  return "# fish completion of idgen " IDGEN_VERSION_STRING
         ", made by `idgen completion fish`.\n\nset -g __idgen_paths" +
         paths + "\n\nfunction __idgen_settings\n    printf '%s\\n'" + all_settings + "\nend\n" + kFishBegin + body;
}

// ---- the command

struct Shell {
  const char* name;
  std::string (*script)();
};
constexpr Shell kShells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

int complete(const std::string& name) {
  for (const Shell& shell : kShells) {
    if (name == shell.name) print(shell.script());
  }
  return kExitOk;
}

}  // namespace

Command completion_command() {
  auto shell = std::make_shared<std::string>();
  return {
      .name = "completion",
      .summary = "Print a shell's completion of this command.",
      .usage = {"bash|zsh|fish"},
      .details = kDetails,
      .examples = {"source <(idgen completion bash)", "idgen completion fish > ~/.config/fish/completions/idgen.fish"},
      .options = {{.names = "SHELL",
                   .help = "bash, zsh or fish.",
                   .target = shell.get(),
                   .value = Value::one_of,
                   .values = {"bash", "zsh", "fish"},
                   .is_required = true}},
      .run = [shell] { return complete(*shell); },
  };
}

}  // namespace idgen_tool
