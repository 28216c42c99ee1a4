#include "idgen/config.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "config/paths.hpp"
#include "idgen/text.hpp"
#include "runtime/absolute_path.hpp"
#include "runtime/made_once.hpp"

namespace idgen {
namespace {

// wait-max is wait_max.
bool is_named(const Property& property, std::string_view key) noexcept {
  const std::string_view name = property.name;
  return std::equal(name.begin(), name.end(), key.begin(), key.end(),
                    [](char ours, char theirs) { return ours == theirs || (ours == '_' && theirs == '-'); });
}

const Property* find_property(std::string_view key) noexcept {
  for (const Property& property : properties()) {
    if (is_named(property, key)) return &property;
  }
  return nullptr;
}

const Property& property_named(std::string_view key) {
  if (const Property* property = find_property(key)) return *property;
  std::vector<std::string_view> names;
  for (const Property& property : properties()) names.push_back(property.name);
  const std::string_view near = nearest(key, names);
  throw Error(Status::unknown_key, concat({"unknown property ", in_quotes(key),
                                           (near.empty() ? "" : "; the nearest is '" + std::string(near) + "'"),
                                           ". `idgen properties` lists all"}));
}

std::vector<std::string_view> choices(const Property& property) {
  std::vector<std::string_view> result;
  for (std::string_view rest = property.range; !rest.empty();) {
    const std::size_t end = rest.find(" | ");
    result.push_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 3);
  }
  return result;
}

// A text is not shown: it may be a URL with a password, and its length says enough.
[[noreturn]] void refuse(const Property& property, std::string_view value, const std::string& why) {
  const bool is_shown = property.type != PropertyType::text && !may_hold_secret(value);
  throw Error(Status::value, concat({property.name, (is_shown ? " = " + in_quotes(value) : ""), " ", why,
                                     "; allowed: ", property.range}));
}

template <class T>
T parse_number(const Property& property, std::string_view value) {
  T result{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error == std::errc::result_out_of_range) refuse(property, value, "is out of range");
  if (error != std::errc() || end != value.data() + value.size()) {
    refuse(property, value,
           std::string("is not ") + (property.type == PropertyType::integer ? "an integer" : "a number"));
  }
  return result;
}

void check_range(const Property& property, std::string_view value, double number) {
  if (!(number >= property.min && number <= property.max)) refuse(property, value, "is out of range");
}

// Throws unless value is one for this property.
void check(const Property& property, std::string_view value) {
  if (value.find('\0') != std::string_view::npos) refuse(property, value, "holds a NUL character");
  if (value.empty() && *property.default_value == '\0') return;  // back to "none"
  switch (property.type) {
    case PropertyType::integer: {
      if (value == kAuto && std::string_view(property.range).starts_with(kAuto)) return;
      if (value.starts_with('-')) refuse(property, value, "is out of range");
      check_range(property, value, static_cast<double>(parse_number<std::uint64_t>(property, value)));
      return;
    }
    case PropertyType::number:
      check_range(property, value, parse_number<double>(property, value));
      return;
    case PropertyType::boolean:
      if (value != "true" && value != "false") refuse(property, value, "is not a boolean");
      return;
    case PropertyType::duration:
    case PropertyType::instant:
      try {
        if (property.type == PropertyType::instant) {
          parse_instant(value);
        } else {
          check_range(property, value, static_cast<double>(parse_duration_ms(value)));
        }
      } catch (const Error& error) {
        if (error.message().starts_with(property.name)) throw;
        refuse(property, value, "is not understood" + (may_hold_secret(value) ? "" : ": " + error.message()));
      }
      return;
    case PropertyType::text: {
      if (static_cast<double>(value.size()) < property.min) refuse(property, value, "is empty");
      if (static_cast<double>(value.size()) > property.max) {
        refuse(property, value,
               "is too long with " + std::to_string(value.size()) + " bytes of at most " +
                   std::to_string(static_cast<std::uint64_t>(property.max)));
      }
      return;
    }
    case PropertyType::choice: {
      const auto all = choices(property);
      if (std::find(all.begin(), all.end(), value) == all.end()) refuse(property, value, "is not a choice");
      return;
    }
  }
}

}  // namespace

void Config::set(std::string_view key, std::string_view value) {
  const Property& property = property_named(key);
  check(property, value);
  if (value.empty() && *property.default_value == '\0') {
    values_.erase(property.name);
  } else {
    const std::string_view name = property.name;
    const bool is_store = name == "store" || name == "buffer.database" || name == "worker_url";
    values_.insert_or_assign(property.name, is_store ? plain_store(std::string(value)) : std::string(value));
  }
  // The latest setting of the store overrides a store object given before.
  if (std::string_view(property.name) == "store") store.reset();
  if (std::string_view(property.name) == "cipher.key") keys.reset();
}

const std::string& Config::get(std::string_view key) const {
  if (const auto found = values_.find(key); found != values_.end()) return found->second;
  // Defaults as strings, made once.
  using Defaults = std::map<std::string, std::string, std::less<>>;
  static constinit MadeOnce<const Defaults> once;
  const Defaults& defaults = once.get([] {
    auto all = std::make_unique<Defaults>();
    for (const Property& property : properties()) all->emplace(property.name, property.default_value);
    return all;
  });
  if (const auto found = defaults.find(key); found != defaults.end()) return found->second;
  return get(property_named(key).name);
}

bool Config::is_set(std::string_view key) const { return values_.contains(key); }

std::uint64_t Config::integer(std::string_view key) const {
  const std::string& value = get(key);
  return value.empty() ? 0 : parse_number<std::uint64_t>(property_named(key), value);
}
double Config::number(std::string_view key) const { return parse_number<double>(property_named(key), get(key)); }
bool Config::boolean(std::string_view key) const { return get(key) == "true"; }
std::int64_t Config::duration_ms(std::string_view key) const { return parse_duration_ms(get(key)); }
std::size_t Config::choice(std::string_view key) const {
  const auto all = choices(property_named(key));
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), get(key)) - all.begin());
}

void Config::load(const std::string& toml_path, const std::string& name) {
  const std::vector<ConfigTable> tables = read_toml(toml_path);
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const ConfigTable& table) { return table.name == name; });
  if (found == tables.end()) {
    std::string names;
    for (const ConfigTable& table : tables) names += (names.empty() ? "" : ", ") + table.name;
    throw Error(Status::config_file,
                concat({toml_path, " has no table [", name, "]; it has: ", (names.empty() ? "none" : names)}));
  }
  if (!found->error.empty()) throw Error(Status::config_file, found->error);
  Config next = *this;
  next.set("name", name);
  const std::string file = absolute_path(toml_path);
  next.set("directory", file.substr(0, std::max<std::size_t>(file.rfind('/'), 1)));
  std::set<std::string> given;
  for (const auto& [key, value] : found->settings) {
    try {
      next.set(key, value);
      std::string property = key;
      std::replace(property.begin(), property.end(), '-', '_');
      if (!given.insert(property).second)
        throw Error(Status::config_file, in_quotes(property) + " is given twice, with hyphens and without");
    } catch (const Error& error) {
      throw Error(error.status(), concat({toml_path, " [", name, "]: ", error.message()}));
    }
  }
  next.load_environment(name);
  *this = std::move(next);
}

std::string path_of(const Config& config, std::string_view key) {
  const std::string &path = config.get(key), &start = config.get("directory");
  const bool is_whole = start.empty() || path.starts_with('/');
  return std::filesystem::path(absolute_path(is_whole ? path : concat({start, "/", path}))).lexically_normal();
}

StoreOptions Config::store_options() const {
  StoreOptions options;
  options.create = boolean("store_create");
  options.timeout_ms = duration_ms("store_timeout");
  options.directory = get("directory");
  options.module_path = get("module.path");
  options.schema = get("segment.schema");
  if (get("kind") == "serial" && (options.schema == "key_producer" || options.schema == "incr"))
    options.pattern = get("pattern");
  options.step = integer("segment.step");
  options.grant_log = integer("segment.grant_log");
  options.buffer = {.redis = get("buffer.redis"),
                    .database = get("buffer.database"),
                    .runway_ms = duration_ms("buffer.runway"),
                    .stock_max = integer("buffer.stock_max"),
                    .errors = static_cast<std::uint32_t>(integer("buffer.errors")),
                    .pause_ms = duration_ms("buffer.pause"),
                    .timeout_ms = duration_ms("buffer.timeout")};
  options.runtime = runtime;
  return options;
}

Config Config::with_absolute_directory() const {
  Config next = *this;
  next.set("directory", absolute_path(get("directory")));
  return next;
}

bool Config::operator==(const Config& other) const {
  if (runtime != other.runtime || store != other.store || keys != other.keys) return false;
  return std::all_of(properties().begin(), properties().end(),
                     [&](const Property& property) { return get(property.name) == other.get(property.name); });
}

}  // namespace idgen
