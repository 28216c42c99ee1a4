#include "shared/settings.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "shared/layout_fields.hpp"

namespace idgen_tool {
namespace {

// Help and type of a property, from the library's own table, so that they are not written twice.
idgen_property_t property(const std::string& key) {
  for (const idgen_property_t& found : all_properties()) {
    if (key == found.name) return found;
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

std::vector<Option> Settings::options(const std::vector<std::string>& keys) {
  std::vector<Option> out = {
      {.names = "--config",
       .placeholder = "FILE",
       .help = "TOML file with a table for each generator.",
       .target = &file_,
       .value = Value::file},
      {.names = "--name",
       .placeholder = "NAME",
       .help = "The table of FILE to use; not needed if it has only one. Without --config: the property `name`.",
       .target = &name_},
  };
  options_.reserve(keys.size());  // the table keeps the address of each value
  for (const std::string& key : keys) {
    const idgen_property_t found = property(key);
    options_.emplace_back(key, "");
    std::string help = found.help;
    if (*found.default_value) help += std::string(" Default: ") + found.default_value + ".";
    out.push_back({.names = "--" + key.substr(key.rfind('.') + 1),
                   .placeholder = without_spaces(type_name(found)),
                   .help = help,
                   .target = &options_.back().second,
                   .values = key == "layout" ? preset_names() : choices(found)});
  }
  out.push_back({.names = "--set",
                 .placeholder = "KEY=VALUE",
                 .help = "Any property, as in the file; may be repeated. `idgen properties` lists them.",
                 .target = &sets_,
                 .value = Value::setting});
  return out;
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

bool Settings::gives(const std::string& key) const {
  return sets(key) || std::any_of(options_.begin(), options_.end(),
                                  [&](const auto& option) { return option.first == key && !option.second.empty(); });
}

bool Settings::gives_any() const {
  return !sets_.empty() ||
         std::any_of(options_.begin(), options_.end(), [](const auto& option) { return !option.second.empty(); });
}

std::vector<idgen_property_t> all_properties() {
  std::vector<idgen_property_t> out;
  for (std::size_t i = 0; i < idgen_property_count(); ++i) {
    idgen_property_t property = IDGEN_PROPERTY_INIT;
    check(idgen_property_at(i, &property, nullptr));
    out.push_back(property);
  }
  return out;
}

std::vector<std::string> choices(const idgen_property_t& property) {
  const std::string range = property.range;
  std::vector<std::string> out;
  if (range.find(" | ") == std::string::npos) return out;
  std::istringstream words(range);
  for (std::string word; words >> word;) {
    if (word != "|") out.push_back(word.substr(0, word.find_first_of("P.")));  // "sqlite:PATH", "mysql://..."
  }
  return out;
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
