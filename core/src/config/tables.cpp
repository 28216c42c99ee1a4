// The tables of a configuration file.
#include <algorithm>

#include "config/toml.hpp"
#include "idgen/config.hpp"

namespace idgen {
namespace {

void flatten(const TomlValue& table, const std::string& prefix, const std::string& where, ConfigTable& out) {
  for (const TomlValue& value : table.values) {
    const std::string name = prefix + value.name;
    if (value.kind == TomlValue::Kind::table) {
      flatten(value, name + ".", where, out);
    } else if (value.text) {
      out.settings.emplace_back(name, *value.text);
    } else if (out.error.empty()) {
      out.error = where + " [" + out.name + "]: " + name +
                  " is an array or a time of day; a text, number, boolean or instant is wanted";
    }
  }
}

}  // namespace

std::vector<ConfigTable> read_toml(const std::string& path) {
  TomlValue file = parse_toml(path);
  for (const TomlValue& table : file.values) {
    if (table.kind != TomlValue::Kind::table) {
      throw Error(Status::config_file,
                  concat({path, ": '", table.name, "' is outside a table; put it under a [name]"}));
    }
  }
  const auto is_above = [](const TomlValue& a, const TomlValue& b) { return a.line < b.line; };
  std::stable_sort(file.values.begin(), file.values.end(), is_above);
  std::vector<ConfigTable> tables;
  for (const TomlValue& table : file.values) {
    tables.push_back({table.name, {}, {}});
    flatten(table, "", path, tables.back());
  }
  return tables;
}

}  // namespace idgen
