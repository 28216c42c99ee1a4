// idgen audit: runs idgen-audit, the program of the Python package that does the work, with the same words.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <memory>
#include <string_view>

#include "audit_options.hpp"  // made from python/src/idgen/audit/options.tsv
#include "shared/command.hpp"
#include "shared/failure.hpp"
#include "shared/layout_fields.hpp"
#include "shared/parser.hpp"

extern char** environ;

namespace idgen_tool {
namespace {

constexpr const char* kProgram = "idgen-audit";

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> out;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? text.size() : end + 1)) {
    end = text.find(separator);
    out.emplace_back(text.substr(0, end));
  }
  return out;
}

// Those that do not depend on the working directory, where another user may have put a program or a module. An empty
// one stands for that directory.
std::vector<std::string> absolute_folders(const char* variable) {
  const char* const value = std::getenv(variable);
  std::vector<std::string> out = value ? parts_of(value, ':') : std::vector<std::string>();
  std::erase_if(out, [](const std::string& folder) { return !folder.starts_with('/'); });
  return out;
}

// Of this program first: both may be of one virtual environment.
std::string find_program() {
  std::error_code none;
  std::vector<std::string> folders = absolute_folders("PATH");
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (!none) folders.insert(folders.begin(), self.parent_path());
  for (const std::string& folder : folders) {
    std::string path = folder + '/' + kProgram;
    if (std::filesystem::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0) return path;
  }
  throw IoError(
      "the program idgen-audit is neither in the folder of idgen nor in an absolute folder of PATH. It is written in "
      "Python: pip install 'idgen[audit]'");
}

int run() {
  std::string path = find_program();
  std::string modules;
  for (const std::string& folder : absolute_folders("PYTHONPATH")) modules += (modules.empty() ? "" : ":") + folder;
  if (modules.empty()) {
    unsetenv("PYTHONPATH");
  } else {
    setenv("PYTHONPATH", modules.c_str(), 1);
  }
  std::vector<std::string> words = command_words();
  std::vector<char*> arguments{path.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execve(path.c_str(), arguments.data(), environ);
  throw IoError("cannot start " + path + ": " + std::strerror(errno) +
                ". Install it again: pip install 'idgen[audit]'");
}

// Where the parser puts values, which only idgen-audit uses.
struct Ignored {
  std::list<std::string> texts;
  std::list<std::uint64_t> numbers;
  std::list<bool> flags;
  std::vector<std::string> files;
};

Option option_of(const std::vector<std::string>& row, Ignored& to) {
  Option option{.names = row[1], .placeholder = row[2], .help = row[6]};
  const std::string& kind = row[3];
  if (!row[4].empty()) option.values = parts_of(row[4], ' ');
  option.excludes = row[5];
  if (kind == "flag") {
    option.target = &to.flags.emplace_back();
  } else if (kind == "number") {
    option.target = &to.numbers.emplace_back();
  } else if (kind == "file*") {
    option.target = &to.files;
    option.is_required = true;
  } else {
    option.target = &to.texts.emplace_back();
  }
  if (kind.starts_with("file")) option.value = Value::file;
  if (kind == "folder") option.value = Value::folder;
  if (kind == "layout") option.values = preset_names();
  if (kind == "one_of") {
    option.value = Value::one_of;
    option.help = listed(option.values) + ". " + option.help;
  }
  return option;
}

}  // namespace

Command audit_command() {
  const auto ignored = std::make_shared<Ignored>();
  Command audit{.name = "audit", .run = [ignored] { return run(); }};
  for (const std::string& line : parts_of(kAuditOptions, '\n')) {
    const std::vector<std::string> row = parts_of(line, '\t');
    if (row[0] == "summary") audit.summary = row[1];
    if (row[0] == "usage") audit.usage.push_back(row[1]);
    if (row[0] == "details") audit.details += (row.size() > 1 ? row[1] : "") + '\n';
    if (row[0] == "example") audit.examples.push_back(row[1]);
    if (row[0] == "option") audit.options.push_back(option_of(row, *ignored));
  }
  return audit;
}

}  // namespace idgen_tool
