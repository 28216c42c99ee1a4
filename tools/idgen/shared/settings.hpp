// The options that make a configuration: a file's table, then single options, then --set; later ones override earlier
// ones.
#pragma once

#include <idgen/admin.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "shared/command.hpp"
#include "shared/handles.hpp"

namespace idgen_tool {

class Settings {
 public:
  // `keys`: properties that get an option of their own ("worker" becomes --worker, "segment.schema" --schema).
  // --config, --name and --set are always there, --config first. The options point into this object.
  std::vector<Option> options(const std::vector<std::string>& keys);
  // Throws Failure (file, key or value) and UsageError (--name missing where the file has several tables, --set without
  // "=").
  Config make() const;

  // True: --set names the property.
  bool sets(const std::string& key) const;
  // True: an option or --set names the property.
  bool gives(const std::string& key) const;
  // True: one of the options was given, besides --config and --name.
  bool gives_any() const;
  const std::string& file() const noexcept { return file_; }
  const std::string& name() const noexcept { return name_; }
  // The configuration of one named table of the file, with the options on top.
  Config make(const std::string& name) const;

 private:
  std::string file_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> options_;  // property, value; "" = not given
  std::vector<std::string> sets_;
};

// A command reserves what it needs, not what a service would hold: `ids` segment ids, unless that is more than
// segment.step, or --set says how many. A step in the tag's row overrides it; close() gives the rest back.
void reserve_only(const Config& config, const Settings& settings, std::uint64_t ids);

// Every property that the library knows, in its order.
std::vector<idgen_property_t> all_properties();
// A property's possible values, as words for a shell to complete: "wait", "borrow", "sqlite:". Empty if it is free
// text.
std::vector<std::string> choices(const idgen_property_t& property);

// The tables of a TOML file, in its order.
std::vector<std::string> names_in(const std::string& toml_path);

}  // namespace idgen_tool
