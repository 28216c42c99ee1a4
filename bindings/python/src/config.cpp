#include "config.hpp"

#include <idgen/admin.h>
#include <idgen/testing.h>

#include <tuple>

#include "self.hpp"

namespace idgen_python {
namespace {

// "segment_step" -> "segment.step", but "on_clock_back" stays: the table of properties decides, not the spelling. An
// unknown keyword is passed on as it is, so that the core words the error and names the nearest property.
std::string property_of(const std::string& keyword) {
  for (std::size_t i = 0; i < idgen_property_count(); ++i) {
    idgen_property_t property = IDGEN_PROPERTY_INIT;
    if (idgen_property_at(i, &property, nullptr) != IDGEN_OK) continue;
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
  CallError error;
  check(idgen_config_create(&raw_, &error), error);
}

Config::~Config() { idgen_config_destroy(raw_); }

void Config::load(const py::object& toml_path, const std::string& name) {
  CallError error;
  if (toml_path.is_none()) {
    check(idgen_config_load_environment(raw_, name.c_str(), &error), error);
  } else {
    check(idgen_config_load(raw_, path_bytes(toml_path, "toml_path").c_str(), name.c_str(), &error), error);
  }
}

void Config::set(const py::kwargs& keywords) {
  const py::object to_text = module_named("idgen._values").attr("to_text");
  py::object test = py::none();
  for (const auto& [key, value] : keywords) {
    const std::string keyword = text_bytes(py::reinterpret_borrow<py::object>(key));
    const auto object = py::reinterpret_borrow<py::object>(value);
    if (object.is_none()) continue;
    if (keyword == "_test") {
      test = object;
    } else if (keyword == "clock") {
      set_clock(raw_, object, &callables_);
    } else if (keyword == "log") {
      set_log(raw_, object, &callables_);
    } else if (keyword == "keys") {
      set_keys(raw_, object, &callables_);
    } else if (keyword == "store" && is_store(object)) {
      has_connections(object) ? set_sql_store(raw_, object, &callables_) : set_store(raw_, object, &callables_);
    } else {
      CallError error;
      // An unknown key is reported before a value that does not fit, because such a value may have any type.
      const std::string property = property_of(keyword);
      if (property.find('\0') != std::string::npos) {
        throw_error(IDGEN_E_ARGUMENT, "a keyword has a NUL character: " + std::string(py::repr(key)));
      }
      char probe[1];
      std::size_t size = sizeof probe;
      const idgen_status_t known = idgen_config_get(raw_, property.c_str(), probe, &size, &error);
      if (known == IDGEN_E_UNKNOWN_KEY) throw_error(known, error);
      const std::string text = text_bytes(to_text(key, object));
      check(idgen_config_set(raw_, property.c_str(), text.c_str(), &error), error);
    }
  }
  if (!test.is_none()) begin_test(test);
}

// (start, sequence, clock): the last makes the clock, given the Unix ms where it stands if nobody says another time.
void Config::begin_test(const py::object& test) {
  const auto [start, sequence, clock] = py::cast<std::tuple<std::int64_t, std::int64_t, py::object>>(test);
  std::uint64_t first_unix_ms = 0;
  CallError error;
  check(idgen_test_begin(raw_, start, sequence, &first_unix_ms, &error), error);
  set_clock(raw_, clock(first_unix_ms), &callables_);
}

std::string Config::get(const char* key) const {
  return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_get(raw_, key, buffer, size, error);
  });
}

std::string path_bytes(const py::object& path, const char* what) {
  auto bytes = py::cast<std::string>(module_named("os").attr("fsencode")(path));
  if (bytes.find('\0') != std::string::npos) {
    throw_error(IDGEN_E_ARGUMENT, std::string(what) + " " + std::string(py::repr(path)) + " has a NUL character");
  }
  return bytes;
}

std::string text_bytes(const py::object& text) {
  const auto bytes =
      py::reinterpret_steal<py::object>(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (bytes) return py::cast<std::string>(bytes);
  if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  throw_error(IDGEN_E_VALUE, std::string(py::repr(text)) + " has a surrogate that no file name can have");
}

py::str text_object(const std::string& bytes) {
  auto text = py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
  if (!text) throw py::error_already_set();
  return text;
}

}  // namespace idgen_python
