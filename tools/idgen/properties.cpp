// idgen properties: the table of properties, for a terminal, a program, or as the page docs/configuration.md.
#include <algorithm>
#include <memory>
#include <sstream>
#include <vector>

#include "shared/command.hpp"
#include "shared/json.hpp"
#include "shared/output.hpp"
#include "shared/settings.hpp"
#include "shared/terminal.hpp"
#include "shared/text.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
The names are the same in a TOML file, in C, in each language and in --set. --markdown prints
docs/configuration.md. With --json one object per line: name, type, default, range, unit, help, since.
)";

constexpr const char* kIntroduction = R"(# Configuration

<!-- Made by `idgen properties --markdown` from the library's own table. Change that, not this page. -->

A generator is configured by the properties on this page. Their names, meanings and checks are the same everywhere,
because one table in the library holds them: in a TOML file, in C, in Python, Java and Go, and on the command line. All
have a default, so that a configuration says only what is special about it.

```toml
# idgen.toml: one table for each generator. The tag of a segment is the table's name unless it is set.
[orders]
kind  = "segment"
store = "sqlite:ids.db"       # beside this file

[events]
kind   = "snowflake"
layout = "time:41ms worker:10 sequence:12"
worker = 7
store  = "sqlite:ids.db"
```

The same property, everywhere:

| Where | How |
|---|---|
| TOML file | `segment.step = 1000` |
| C | `idgen_config_set(config, "segment.step", "1000", &err)` |
| Python | `idgen.Generator(segment_step=1000)` |
| Java | `Generator.builder().segmentStep(1000)` |
| Go | `idgen.New(ctx, idgen.With("segment.step", 1000))` |
| Command line | `idgen next --set segment.step=1000` |
| Environment | `IDGEN_ORDERS_SEGMENT_STEP=1000`, for the generator `orders` |

**The environment** overrides the file, and is overridden by what the program sets. The variable of a property is
`IDGEN_`, the generator's name, `_` and the property's name; letters are capitals, and all but letters and digits are
underscores. An empty variable counts as none, one that looks like a property misspelled is an error, and others
(`IDGEN_ORDERS_SERVICE_HOST`, which Kubernetes makes) are left alone. A program can do without a file:
`idgen.open(None, "orders")`, `Generator.builder().loadEnvironment("orders")`,
`idgen.New(ctx, idgen.Environment("orders"))`, `idgen_config_load_environment`.

Hyphens in names stand for underscores: `wait-max` is `wait_max`.

Durations are `"250ms"`, `"10s"`, `"5m"`, `"2h"`, `"1d"`, `"3y"` or a bare number of milliseconds; instants are RFC 3339
or a number of Unix milliseconds. An unknown name, a value of the wrong type and a value out of range are errors that
say what is allowed; nothing is ignored. A file has at most 64 MiB and 32 levels of tables, lists and parts of a name.
`idgen doctor --config idgen.toml` opens every generator of a file and says what its configuration protects against and
what not.
)";

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

// In a table's cell a bar would start the next cell.
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

constexpr std::size_t kPageWidth = 120;

// An entry of a list: its later lines are aligned with its text.
std::string item(const std::string& text) { return "- " + wrapped(text, 2, kPageWidth).substr(2); }

std::string markdown(const std::vector<idgen_property_t>& properties) {
  std::string out = kIntroduction;
  out += "\n| Property | Type | Default | Allowed | |\n|---|---|---|---|---|\n";
  for (const auto& property : properties) {
    out += "| [`" + std::string(property.name) + "`](#" + anchor(property.name) + ") | " + property.type + " | " +
           code(property.default_value) + " | " + cell(allowed(property)) + " | " +
           cell(first_sentence(property.help)) + " |\n";
  }
  for (const auto& property : properties) {
    out += "\n## " + std::string(property.name) + "\n\n" + wrapped(property.help, 0, kPageWidth) + '\n';
    out += item("Type: " + std::string(property.type));
    out += item("Default: " + (*property.default_value ? code(property.default_value) : "none"));
    if (*property.range) out += item("Allowed: " + allowed(property));
    if (*property.unit) out += item("Unit: " + std::string(property.unit));
    out += item("Since: " + std::string(property.since));
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

Command properties_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "properties",
      .summary = "List the properties of a configuration.",
      .usage = {"[--json | --markdown]"},
      .details = kDetails,
      .examples = {"idgen properties", "idgen properties --json | jq -r 'select(.type == \"duration\") | .name'",
                   "idgen properties --markdown > docs/configuration.md"},
      .options = {{.names = "--json", .help = "One JSON object per line.", .target = &arguments->json},
                  {.names = "--markdown",
                   .help = "The page docs/configuration.md.",
                   .target = &arguments->markdown,
                   .excludes = "--json"}},
      .run = [arguments] { return show(*arguments); },
  };
}

}  // namespace idgen_tool
