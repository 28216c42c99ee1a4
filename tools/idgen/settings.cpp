#include "settings.hpp"

#include <algorithm>
#include <sstream>

namespace idgen_tool {
namespace {

// Help and type of a property, from the library's own table, so that they are written once.
idgen_property_t property(const std::string& key) {
  for (std::size_t i = 0; i < idgen_property_count(); ++i) {
    idgen_property_t found = IDGEN_PROPERTY_INIT;
    if (idgen_property_at(i, &found, nullptr) == IDGEN_OK && key == found.name) return found;
  }
  throw Failure(IDGEN_E_INTERNAL,
                "this libidgen has no property '" + key + "'; the idgen command is of another version");
}

std::string type_name(const idgen_property_t& found) {
  const std::string key = found.name;
  if (key == "store") return "URL";
  const std::string type = found.type;
  if (type == "integer" || type == "number") return "N";
  if (type == "choice") return found.range;
  if (type == "duration") return "DURATION";
  if (type == "instant") return "TIME";
  std::string out;
  for (const char c : key) out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

void Settings::add_options(CLI::App& command, const std::vector<std::string>& keys) {
  command.add_option("--config", file_, "TOML file with a table for each generator.")->type_name("FILE");
  command
      .add_option("--name", name_,
                  "The table of FILE to use; not needed if it has only one. Without --config: the property `name`.")
      ->type_name("NAME");
  options_.reserve(keys.size());  // CLI11 keeps the address of each value
  for (const std::string& key : keys) {
    const idgen_property_t found = property(key);
    std::string help = found.help;
    if (*found.default_value) help += std::string(" Default: ") + found.default_value + ".";
    options_.emplace_back(key, "");
    const std::string option = "--" + key.substr(key.rfind('.') + 1);
    command.add_option(option, options_.back().second, help)->type_name(without_spaces(type_name(found)));
  }
  command.add_option("--set", sets_, "Any property, as in the file; may be repeated. `idgen properties` lists them.")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Config Settings::make() const {
  if (file_.empty() || !name_.empty()) return make(name_);
  const auto names = names_in(file_);
  if (names.size() == 1) return make(names.front());
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
  throw UsageError("--config " + file_ + " has " + std::to_string(names.size()) + " tables" +
                   (names.empty() ? "" : " (" + list + ")") + "; choose one with --name");
}

Config Settings::make(const std::string& name) const {
  Config config = make_config();
  if (!file_.empty()) {
    ErrorSlot error;
    check(idgen_config_load(config.get(), file_.c_str(), name.c_str(), error), error);
  } else if (!name.empty()) {
    set(config, "name", name);
  }
  for (const auto& [key, value] : options_) {
    if (!value.empty()) set(config, key, value);
  }
  for (const std::string& pair : sets_) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) throw UsageError("--set takes KEY=VALUE, not '" + pair + "'");
    set(config, pair.substr(0, equals), pair.substr(equals + 1));
  }
  return config;
}

bool Settings::sets(const std::string& key) const {
  return std::any_of(sets_.begin(), sets_.end(),
                     [&](const std::string& pair) { return pair.substr(0, pair.find('=')) == key; });
}

void reserve_only(const Config& config, const Settings& settings, std::uint64_t ids) {
  if (settings.sets("segment.step")) return;
  if (ids >= std::stoull(value(config, "segment.step"))) return;
  set(config, "segment.step", std::to_string(std::max<std::uint64_t>(ids, 1)));
  set(config, "segment.runway", "0");
  set(config, "segment.prefetch", "1");  // nothing ahead of need
}

std::vector<std::string> names_in(const std::string& toml_path) {
  std::istringstream lines(read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_names(toml_path.c_str(), buffer, size, error);
  }));
  std::vector<std::string> names;
  for (std::string name; std::getline(lines, name);) names.push_back(name);
  return names;
}

}  // namespace idgen_tool
