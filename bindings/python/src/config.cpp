#include "config.hpp"

#include "callbacks.hpp"

namespace idgen_python {
namespace {

// "segment_step" -> "segment.step", but "on_clock_back" stays: the table of properties decides, not the spelling. A
// keyword that is no property is passed on as it is, so that the core words the error and names the nearest property.
std::string property_of(const std::string& keyword) {
  for (std::size_t i = 0; i < idgen_property_count(); ++i) {
    idgen_property_t property = IDGEN_PROPERTY_INIT;
    if (idgen_property_at(i, &property) != IDGEN_OK) continue;
    std::string as_keyword = property.name;
    for (char& c : as_keyword) {
      if (c == '.') c = '_';
    }
    if (as_keyword == keyword) return property.name;
  }
  return keyword;
}

}  // namespace

Config::Config() {
  const idgen_status_t status = idgen_config_create(&raw_);
  if (status != IDGEN_OK) throw_error(status, CallError{});
}

Config::~Config() { idgen_config_destroy(raw_); }

void Config::load(const std::string& toml_path, const std::string& name) {
  CallError error;
  check(idgen_config_load(raw_, toml_path.c_str(), name.c_str(), &error), error);
}

void Config::set(const py::kwargs& keywords) {
  const py::object to_text = py::module_::import("idgen._values").attr("to_text");
  for (const auto& [key, value] : keywords) {
    const auto keyword = py::cast<std::string>(key);
    const auto object = py::reinterpret_borrow<py::object>(value);
    if (object.is_none()) continue;
    if (keyword == "clock") {
      set_clock(raw_, object);
    } else if (keyword == "log") {
      set_log(raw_, object);
    } else {
      CallError error;
      // A key that does not exist is reported before a value that does not fit: the value may be of any type then.
      const std::string property = property_of(keyword);
      if (property.find('\0') != std::string::npos) {
        throw_error(IDGEN_E_ARGUMENT, "a keyword has a NUL character: " + std::string(py::repr(key)));
      }
      char probe[1];
      std::size_t size = sizeof probe;
      const idgen_status_t known = idgen_config_get(raw_, property.c_str(), probe, &size, &error);
      if (known == IDGEN_E_UNKNOWN_KEY) throw_error(known, error);
      const auto text = py::cast<std::string>(to_text(key, object));
      check(idgen_config_set(raw_, property.c_str(), text.c_str(), &error), error);
    }
  }
}

std::string Config::get(const char* key) const {
  return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_get(raw_, key, buffer, size, error);
  });
}

std::string path_bytes(const py::object& path, const char* what) {
  auto bytes = py::cast<std::string>(py::module_::import("os").attr("fsencode")(path));
  if (bytes.find('\0') != std::string::npos) {
    throw_error(IDGEN_E_ARGUMENT, std::string(what) + " " + std::string(py::repr(path)) + " has a NUL character");
  }
  return bytes;
}

}  // namespace idgen_python
