// idgen.TextPattern: how ids are written as text.
#pragma once

#include <cstddef>
#include <memory>

#include "config.hpp"

namespace idgen_python {

// What idgen_pattern_format and idgen_next_text need at most, with the NUL.
constexpr std::size_t kMostTextBytes = 193;

// Owns an idgen_pattern_t. Immutable, so any number of threads may share it.
class TextPattern {
 public:
  // `arguments`: those with which Python makes the same one; none if a configuration made it.
  TextPattern(idgen_pattern_t* raw, std::string text, py::object arguments)
      : raw_(raw), text_(std::move(text)), arguments_(std::move(arguments)) {}
  ~TextPattern() { idgen_pattern_destroy(raw_); }
  TextPattern(const TextPattern&) = delete;
  TextPattern& operator=(const TextPattern&) = delete;

  const idgen_pattern_t* raw() const { return raw_; }
  const std::string& text() const { return text_; }
  const py::object& arguments() const { return arguments_; }

 private:
  idgen_pattern_t* raw_;
  std::string text_;
  py::object arguments_;
};

// The one that a generator of this configuration has.
std::shared_ptr<TextPattern> pattern_of(const Config& config);

// A new str of what the core wrote, `size` with its NUL; null with Python's error set.
inline PyObject* decoded_text(const char* text, std::size_t size) noexcept {
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size - 1), "surrogateescape");
}

void bind_pattern(py::module_& module);

}  // namespace idgen_python
