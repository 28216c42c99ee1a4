// From Python keywords to the core's table of properties.
#pragma once

#include "callbacks.hpp"

namespace idgen_python {

// An idgen_config_t that is being built from keywords. For one thread.
class Config {
 public:
  Config();
  ~Config();
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;

  // What the table [name] of a TOML file holds.
  // None instead of a path: what the environment has, and no file.
  void load(const py::object& toml_path, const std::string& name);
  // Properties, `_` for `.`; also clock=, log=, keys=, an object as store=, and what idgen.testing gives. None leaves a
  // property as it is.
  void set(const py::kwargs& keywords);
  std::string get(const char* key) const;

  const idgen_config_t* raw() const { return raw_; }
  // Of clock=, log=, keys= and store=.
  const Callables& callables() const { return callables_; }

 private:
  void begin_test(const py::object& test);

  idgen_config_t* raw_ = nullptr;
  Callables callables_;
};

// A str or path object as the bytes that the operating system uses. Rejects NUL, which would cut it silently.
std::string path_bytes(const py::object& path, const char* what);

// A str as UTF-8, and back. A path that is not UTF-8 has surrogates in Python ("surrogateescape"): they stand for its
// bytes here too.
std::string text_bytes(const py::object& text);
py::str text_object(const std::string& bytes);

// Text of any length out of a function of the form f(buffer, &size).
template <typename Function>
std::string read_text(Function&& function) {
  std::string text(1023, '\0');
  while (true) {
    std::size_t size = text.size() + 1;
    CallError error;
    const idgen_status_t status = function(text.data(), &size, &error);
    if (status == IDGEN_OK) {
      text.resize(size - 1);
      return text;
    }
    // Always grows, in case the text got longer between two calls.
    if (status != IDGEN_E_BUFFER || size <= text.size() + 1) throw_error(status, error);
    text.resize(size - 1);
  }
}

}  // namespace idgen_python
