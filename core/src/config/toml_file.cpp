// The only file that knows toml++. A build without it (the Go package reads TOML with a Go library) compiles
// toml_absent.cpp instead.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <system_error>

#include "idgen/config.hpp"

#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

namespace idgen {
namespace {

// In the form that `idgen_config_set` takes; empty for an array or a time of day.
std::optional<std::string> as_text(const toml::node& node) {
  std::ostringstream out;
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  if (const auto* number = node.as_floating_point()) {
    char digits[32];  // the shortest form that reads back as the same number
    const auto end = std::to_chars(digits, digits + sizeof digits, number->get()).ptr;
    out.write(digits, end - digits);
  } else if (const auto* instant = node.as_date_time()) {
    out << instant->get();
  } else if (const auto* date = node.as_date()) {
    out << date->get() << "T00:00:00Z";
  } else {
    return std::nullopt;
  }
  return out.str();
}

void flatten(const toml::table& table, const std::string& prefix, const std::string& where, ConfigTable& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const toml::table* nested = node.as_table()) {
      flatten(*nested, name + ".", where, out);
    } else if (auto text = as_text(node)) {
      out.settings.emplace_back(name, std::move(*text));
    } else if (out.error.empty()) {
      out.error = where + " [" + out.name + "]: " + name +
                  " is an array or a time of day; a text, number, boolean or instant is wanted";
    }
  }
}

// Not read by toml++, which cannot say why a file does not open, and ends the process if there is no memory to open it.
std::string read_text(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  std::string text;
  char part[4096];
  for (std::size_t got = 1; file && got > 0;) text.append(part, got = std::fread(part, 1, sizeof part, file.get()));
  if (!file || std::ferror(file.get())) {
    if (errno == ENOMEM) throw std::bad_alloc();
    throw Error(Status::config_file, path + ": the file cannot be read: " + std::generic_category().message(errno));
  }
  return text;
}

}  // namespace

std::vector<ConfigTable> read_toml(const std::string& path) {
  toml::table file;
  try {
    file = toml::parse(read_text(path), path);
  } catch (const toml::parse_error& error) {
    std::ostringstream message;
    const toml::source_position at = error.source().begin;
    message << path << ": ";
    if (at.line > 0) message << "line " << at.line << ", column " << at.column << ": ";
    message << error.description();
    throw Error(Status::config_file, message.str());
  }
  // toml++ keeps keys sorted; the file's order is the order of the source.
  std::vector<std::pair<std::uint32_t, ConfigTable>> found;
  for (const auto& [key, node] : file) {
    const toml::table* table = node.as_table();
    if (!table) {
      throw Error(Status::config_file,
                  path + ": '" + std::string(key.str()) + "' is outside a table; put it under a [name]");
    }
    ConfigTable entry{std::string(key.str()), {}, {}};
    flatten(*table, "", path, entry);
    found.emplace_back(key.source().begin.line, std::move(entry));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ConfigTable> tables;
  for (auto& [line, table] : found) tables.push_back(std::move(table));
  return tables;
}

}  // namespace idgen
