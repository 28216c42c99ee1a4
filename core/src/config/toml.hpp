// A TOML file as a tree. Only toml_file.cpp knows the library that reads it; tables.cpp makes configurations of the
// tree, and route/table_reader.cpp a table of routes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace idgen {

struct TomlValue {
  enum class Kind : std::uint8_t { table, list, text, integer, other };

  const TomlValue* find(std::string_view wanted) const {
    for (const TomlValue& value : values) {
      if (value.name == wanted) return &value;
    }
    return nullptr;
  }

  Kind kind = Kind::table;
  std::string name;        // in a table
  std::uint32_t line = 0;  // where the name stands, or in a list the value
  // In the form that idgen_config_set takes; none for a table, a list or a time of day.
  std::optional<std::string> text;
  std::int64_t integer = 0;
  std::vector<TomlValue> values;  // of a table, sorted by name; of a list, in its order
};

// The file's table. Throws Error{config_file}; Error{unsupported} in a build without TOML.
TomlValue parse_toml(const std::string& path);

}  // namespace idgen
