// idgen man: the manual pages, a page for each command, in the man macros of roff.
#include <idgen/idgen.h>

#include <cctype>
#include <memory>
#include <sstream>

#include "shared/command.hpp"
#include "shared/failure.hpp"
#include "shared/help.hpp"
#include "shared/output.hpp"

namespace idgen_tool {
namespace {

constexpr const char* kDetails = R"(
Prints the page of COMMAND, or of idgen itself, for `man -l -`. With an installed idgen, man finds the pages by
itself: `man idgen-segment-show`.

--into FOLDER writes all pages to files in an existing folder: idgen.1, idgen-next.1 and so on.
)";

// Text that roff shows unchanged: hyphens stay hyphens, and no line is taken for a request.
std::string literal(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string bold(const std::string& text) { return "\\fB" + literal(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + literal(text) + "\\fR"; }

// A sentence in which `code` is bold.
std::string prose(const std::string& text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t open = text.find('`'); open != text.npos; open = text.find('`', begin)) {
    const std::size_t close = text.find('`', open + 1);
    if (close == text.npos) break;
    out += literal(text.substr(begin, open - begin)) + bold(text.substr(open + 1, close - open - 1));
    begin = close + 1;
  }
  return out + literal(text.substr(begin));
}

std::string entry(const std::string& heading, const std::string& text) {
  return ".TP\n" + heading + '\n' + prose(text) + '\n';
}

std::string heading(const Option& option) {
  if (is_argument(option)) return italic(option.names);
  std::string out;
  for (const std::string& name : names_of(option)) out += (out.empty() ? "" : ", ") + bold(name);
  return is_flag(option) ? out : out + ' ' + italic(option.placeholder);
}

// Paragraphs, and entries: lines that begin with two spaces, "  name  what it is".
std::string details(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  bool is_new = false;  // whether this line begins a paragraph
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) {
      const std::size_t gap = line.find("  ", 2);
      const std::size_t meaning = line.find_first_not_of(' ', gap);
      out += entry(bold(line.substr(2, gap - 2)), line.substr(meaning));
      is_new = true;
    } else if (line.empty()) {
      is_new = true;
    } else {
      out += (is_new ? ".PP\n" : "") + prose(line) + '\n';
      is_new = false;
    }
  }
  return out;
}

// "idgen-segment-show"
std::string page_of(std::string full_name) {
  for (char& c : full_name) {
    if (c == ' ') c = '-';
  }
  return full_name;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// "draw ids, one per line", as a page's name line has it.
std::string phrase(std::string sentence) {
  sentence.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence.front())));
  if (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

std::string section(const std::string& title) { return ".SH " + title + '\n'; }

std::string see_also(const std::string& full_name, const Command& command) {
  std::string out;
  const auto add = [&](const std::string& other) { out += (out.empty() ? "" : ",\n") + bold(page_of(other)) + "(1)"; };
  if (const std::size_t parent = full_name.rfind(' '); parent != full_name.npos) add(full_name.substr(0, parent));
  for (const Command& sub : command.commands) add(full_name + ' ' + sub.name);
  return section("SEE ALSO") + out + '\n';
}

std::string page(const std::string& full_name, const Command& command) {
  std::string out = ".\\\" Made by `" + full_name.substr(0, 5) + " man" + full_name.substr(5) + "`.\n";
  out += ".TH " + literal(upper(page_of(full_name))) + " 1 \"\" \"idgen " IDGEN_VERSION_STRING "\" \"idgen manual\"\n";
  out += ".nh\n.ad l\n";  // words of code are not hyphenated, and lines not stretched
  out += section("NAME") + literal(page_of(full_name)) + " \\- " + literal(phrase(command.summary)) + '\n';
  out += section("SYNOPSIS");
  for (const std::string& form : command.usage) {
    if (&form != &command.usage.front()) out += ".br\n";
    out += bold(full_name) + ' ' + literal(form) + '\n';
  }
  if (!command.details.empty()) out += section("DESCRIPTION") + details(command.details);
  if (!command.commands.empty()) out += section("COMMANDS");
  for (const Command& sub : command.commands) out += entry(bold(sub.name), sub.summary);
  out += section("OPTIONS");
  for (const Option& option : command.options) out += entry(heading(option), option.help);
  out += section("EXIT STATUS");
  for (const ExitStatus& row : exit_statuses()) out += entry(bold(row.status), row.meaning);
  out += section(upper(example_title_of(command).substr(0, example_title_of(command).find(','))));
  const std::string& title = command.example_title;
  if (const std::size_t comma = title.find(", "); comma != title.npos) {
    out += prose(title.substr(comma + 2)) + ":\n.PP\n";
  }
  out += ".EX\n";
  for (const std::string& example : command.examples) out += literal(example) + '\n';
  return out + ".EE\n" + see_also(full_name, command);
}

struct Arguments {
  std::vector<std::string> words;
  std::string folder;
};

int print_page(const std::vector<std::string>& words) {
  const Command* at = &program();
  std::string full_name = at->name;
  for (const std::string& word : words) {
    const Command* const sub = find(*at, word);
    if (!sub) {
      std::vector<std::string> names;
      for (const Command& known : at->commands) names.push_back(known.name);
      throw UsageError(full_name + " has no command '" + word + "'" +
                       (names.empty() ? "" : "; it has " + listed(names)));
    }
    full_name += ' ' + word;
    at = sub;
  }
  print(page(full_name, *at));
  return kExitOk;
}

int write_pages(const std::string& folder) {
  for_each_command(program(), program().name, [&](const std::string& full_name, const Command& command) {
    write_file(folder + '/' + page_of(full_name) + ".1", page(full_name, command));
  });
  return kExitOk;
}

int man(const Arguments& arguments) {
  if (arguments.folder.empty()) return print_page(arguments.words);
  if (!arguments.words.empty()) throw UsageError("--into writes all pages: name no command with it");
  return write_pages(arguments.folder);
}

}  // namespace

Command man_command() {
  auto arguments = std::make_shared<Arguments>();
  return {
      .name = "man",
      .summary = "Print a manual page, for man.",
      .usage = {"[COMMAND...]", "--into FOLDER"},
      .details = kDetails,
      .examples = {"idgen man segment show | man -l -", "idgen man --into /usr/local/share/man/man1"},
      .options = {{.names = "COMMAND",
                   .help = "A command, such as next or segment show; left out: idgen itself.",
                   .target = &arguments->words},
                  {.names = "--into",
                   .placeholder = "FOLDER",
                   .help = "Write the pages of all commands to this folder.",
                   .target = &arguments->folder,
                   .value = Value::folder}},
      .run = [arguments] { return man(*arguments); },
  };
}

}  // namespace idgen_tool
