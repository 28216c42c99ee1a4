// Properties from the environment: IDGEN_ORDERS_STORE_TIMEOUT is store_timeout of the generator "orders".
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "idgen/config.hpp"
#include "idgen/text.hpp"

namespace idgen {
namespace {

// As names of variables are written: capitals and digits, all else an underscore.
std::string as_variable(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9')) c = '_';
  }
  return out;
}

// A property for which `rest` may be a mistake, or empty. What is neither is not for us: orchestrators make variables
// of the names of services (IDGEN_ORDERS_SERVICE_HOST), and another generator's name may begin like this one's.
std::string_view misspelled(std::string_view rest, const std::vector<std::string>& names) {
  std::string_view near;
  for (const std::string& name : names) {
    if (rest.ends_with(concat({"_", name}))) return {};  // of the generator "orders_eu"
    if (near.empty() || edit_distance(rest, name) < edit_distance(rest, near)) near = name;
  }
  constexpr std::size_t kMostMistakes = 2, kLeastLetters = 5;
  return near.size() >= kLeastLetters && edit_distance(rest, near) <= kMostMistakes ? near : std::string_view();
}

}  // namespace

void Config::load_environment(const std::string& name) {
  const std::string prefix = "IDGEN_" + as_variable(name) + "_";
  std::vector<std::string> names;
  for (const Property& property : properties()) names.push_back(as_variable(property.name));
  Config next = *this;
  next.set("name", name);
  // A setuid program has the variables of the user who started it.
  for (char** entry = getauxval(AT_SECURE) != 0 ? nullptr : environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(prefix) || equals == std::string_view::npos) continue;
    const std::string variable(text.substr(0, equals));
    const std::string_view value = text.substr(equals + 1);
    const std::string_view rest = std::string_view(variable).substr(prefix.size());
    const auto found = std::find(names.begin(), names.end(), rest);
    if (found == names.end()) {
      const std::string_view near = misspelled(rest, names);
      if (near.empty()) continue;
      throw Error(Status::unknown_key, concat({"environment variable ", variable,
                                               ": no property has this name; the nearest is ", prefix, near}));
    }
    const Property& property = properties()[static_cast<std::size_t>(found - names.begin())];
    if (value.empty() || std::string_view(property.name) == "name") continue;
    try {
      next.set(property.name, value);
    } catch (const Error& error) {
      throw Error(error.status(), concat({"environment variable ", variable, ": ", error.message()}));
    }
  }
  *this = std::move(next);
}

}  // namespace idgen
