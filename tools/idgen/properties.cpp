// idgen properties: the table of properties, for a terminal, a program, or as the page docs/configuration.md.
#include <algorithm>
#include <memory>
#include <sstream>
#include <vector>

#include "command.hpp"
#include "help.hpp"
#include "json.hpp"
#include "layout_fields.hpp"
#include "output.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails =
    "The names are the same in a TOML file, in C, in each language and in --set. docs/configuration.md is what "
    "--markdown\n"
    "prints. With --json one object a line: name, type, default, range, unit, help, since.\n"
    "\n"
    "Examples:\n"
    "  idgen properties\n"
    "  idgen properties --json | jq -r 'select(.type == \"duration\") | .name'\n"
    "  idgen properties --markdown > docs/configuration.md\n";

constexpr const char* kIntroduction =
    "# Configuration\n"
    "\n"
    "<!-- Made by `idgen properties --markdown` from the library's own table. Change that, not this page. -->\n"
    "\n"
    "A generator is configured by the properties on this page. Their names, meanings and checks are the same "
    "everywhere, because\n"
    "one table in the library holds them: in a TOML file, in C, in Python, Java and Go, and on the command line. All "
    "have a\n"
    "default, so that a configuration says only what is special about it.\n"
    "\n"
    "```toml\n"
    "# idgen.toml: one table for each generator. The tag of a segment is the table's name unless it is set.\n"
    "[orders]\n"
    "kind  = \"segment\"\n"
    "store = \"sqlite:ids.db\"       # beside this file\n"
    "\n"
    "[events]\n"
    "kind   = \"snowflake\"\n"
    "layout = \"time:41ms worker:10 sequence:12\"\n"
    "worker = 7\n"
    "store  = \"sqlite:ids.db\"\n"
    "```\n"
    "\n"
    "The same property, everywhere:\n"
    "\n"
    "| Where | How |\n"
    "|---|---|\n"
    "| TOML file | `segment.step = 1000` |\n"
    "| C | `idgen_config_set(config, \"segment.step\", \"1000\", &err)` |\n"
    "| Python | `idgen.Generator(segment_step=1000)` |\n"
    "| Java | `Generator.builder().segmentStep(1000)` |\n"
    "| Go | `idgen.New(ctx, idgen.With(\"segment.step\", 1000))` |\n"
    "| Command line | `idgen next --set segment.step=1000` |\n"
    "\n"
    "Durations are `\"250ms\"`, `\"10s\"`, `\"5m\"`, `\"2h\"`, `\"1d\"`, `\"3y\"` or a bare number of milliseconds; "
    "instants are RFC 3339 or a number of\n"
    "Unix milliseconds. An unknown name, a value of the wrong type and a value out of range are errors that say what "
    "is allowed;\n"
    "nothing is ignored. `idgen doctor --config idgen.toml` opens every generator of a file and says what its\n"
    "configuration protects against and what not.\n";

std::vector<idgen_property_t> all_properties() {
  std::vector<idgen_property_t> out;
  for (std::size_t i = 0; i < idgen_property_count(); ++i) {
    idgen_property_t property = IDGEN_PROPERTY_INIT;
    check(idgen_property_at(i, &property, nullptr));
    out.push_back(property);
  }
  return out;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

// In a table's cell a bar would begin the next cell.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

bool has_choices(const idgen_property_t& property) {
  const std::string type = property.type;
  return type == "choice" || type == "boolean";
}

// "`wait`, `borrow`" from "wait | borrow"; another range as it is.
std::string allowed(const idgen_property_t& property) {
  if (!has_choices(property)) return property.range;
  std::istringstream words(property.range);
  std::string out;
  for (std::string word; words >> word;) {
    if (word != "|") out += (out.empty() ? "" : ", ") + code(word);
  }
  return out;
}

// The part of GitHub's rule for anchors that names like "segment.step" and "on_fork" need.
std::string anchor(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c != '.') out += c;
  }
  return out;
}

std::string first_sentence(const std::string& help) {
  const auto stop = help.find(". ");
  return stop == std::string::npos ? help : help.substr(0, stop + 1);
}

std::string markdown(const std::vector<idgen_property_t>& properties) {
  std::string out = kIntroduction;
  out += "\n| Property | Type | Default | Allowed | |\n|---|---|---|---|---|\n";
  for (const auto& property : properties) {
    out += "| [`" + std::string(property.name) + "`](#" + anchor(property.name) + ") | " + property.type + " | " +
           code(property.default_value) + " | " + cell(allowed(property)) + " | " +
           cell(first_sentence(property.help)) + " |\n";
  }
  for (const auto& property : properties) {
    out += "\n## " + std::string(property.name) + "\n\n" + property.help + "\n\n";
    out += "- Type: " + std::string(property.type) + '\n';
    out += "- Default: " + (*property.default_value ? code(property.default_value) : "none") + '\n';
    if (*property.range) out += "- Allowed: " + allowed(property) + '\n';
    if (*property.unit) out += "- Unit: " + std::string(property.unit) + '\n';
    out += "- Since: " + std::string(property.since) + '\n';
  }
  return out;
}

std::string json(const std::vector<idgen_property_t>& properties) {
  std::string out;
  for (const auto& property : properties) {
    JsonObject object;
    object.text("name", property.name).text("type", property.type).text("default", property.default_value);
    object.text("range", property.range)
        .text("unit", property.unit)
        .text("help", property.help)
        .text("since", property.since);
    out += object.str() + '\n';
  }
  return out;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::istringstream words(text);
  std::string out(indent, ' ');
  std::size_t column = indent;
  for (std::string word; words >> word;) {
    if (column > indent && column + 1 + word.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string list(const std::vector<idgen_property_t>& properties, const Terminal& terminal) {
  const std::size_t width = std::min<std::size_t>(terminal.width(), 100);
  std::string out;
  for (const auto& property : properties) {
    std::string facts = property.type;
    if (*property.range) facts += ": " + std::string(property.range);
    if (*property.unit) facts += " (" + std::string(property.unit) + ')';
    if (*property.default_value) facts += ", default " + std::string(property.default_value);
    out += terminal.paint(ink::bold, padded(property.name, 18)) + ' ' + terminal.paint(ink::cyan, facts) + '\n';
    out += wrapped(property.help, 4, width);
  }
  return out;
}

struct Arguments {
  bool json = false;
  bool markdown = false;
};

int show(const Arguments& arguments) {
  const auto properties = all_properties();
  Output out;
  out.write(arguments.json       ? json(properties)
            : arguments.markdown ? markdown(properties)
                                 : list(properties, Terminal(stdout)));
  out.flush();
  return kExitOk;
}

}  // namespace

void add_properties(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = add_command(app, "properties", "List the properties of a configuration.",
                                  "properties [--json | --markdown]", kDetails);
  CLI::Option* json = command->add_flag("--json", arguments->json, "One JSON object a line.");
  command->add_flag("--markdown", arguments->markdown, "The page docs/configuration.md.")->excludes(json);
  command->callback([arguments, &run] { run = [arguments] { return show(*arguments); }; });
}

}  // namespace idgen_tool
