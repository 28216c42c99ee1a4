// Configuration: one table of properties that drives parsing, checking, error texts and docs/configuration.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "idgen/log.hpp"
#include "idgen/runtime.hpp"
#include "idgen/store.hpp"

namespace idgen {

enum class PropertyType { integer, number, boolean, duration, instant, text, choice };

struct Property {
  const char* name;
  PropertyType type;
  const char* default_value;  // "" = none
  const char* range;          // for people; choices are separated by " | "
  const char* unit;
  const char* help;
  const char* since;
  double min = 0;  // integer, number, duration (ms)
  double max = 0;
};

// A value of an integer whose range begins with this word: the library finds the number.
inline constexpr std::string_view kAuto = "auto";

std::span<const Property> properties() noexcept;
const char* property_type_name(PropertyType type) noexcept;

// The host's own keys for hidden ids.
class KeySource {
 public:
  virtual ~KeySource() = default;
  using Each = void (*)(void* to, std::uint32_t version, const std::uint8_t* key, std::size_t size,
                        std::int32_t retired);
  // Calls each(to, ...) for every key version.
  virtual void read(Each each, void* to) IDGEN_RUNS_HOST_CODE = 0;
};

class Config {
 public:
  // Throws Error{unknown_key} naming the nearest key, Error{value} naming the range. Then nothing has changed.
  void set(std::string_view key, std::string_view value);
  // What was set, else the default.
  const std::string& get(std::string_view key) const;
  bool is_set(std::string_view key) const;

  // Typed reads of checked values.
  std::uint64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::int64_t duration_ms(std::string_view key) const;
  // Position of the value in the property's list of choices.
  std::size_t choice(std::string_view key) const;

  // What opening the store needs to know.
  StoreOptions store_options() const;
  // The same with an absolute `directory`, from which relative paths start: for a handle, whose paths must name the
  // same files after the program has changed its working directory.
  Config with_absolute_directory() const;

  // [name] of a TOML file; see idgen_config_load. Throws Error{config_file, unknown_key, value}; then nothing has
  // changed.
  void load(const std::string& toml_path, const std::string& name);
  // What the environment has for this generator; see idgen_config_load_environment. Throws as load().
  void load_environment(const std::string& name);

  bool operator==(const Config& other) const;

  // The host's own parts; null = ours.
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<Store> store;
  std::shared_ptr<KeySource> keys;
  SharedLog log;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

// The tables of a TOML file with their settings as text, in the file's order; nested tables are joined with dots.
struct ConfigTable {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings;
  std::string error;  // why this table (and only this one) cannot be loaded; empty if it can
};
std::vector<ConfigTable> read_toml(const std::string& path);

}  // namespace idgen
