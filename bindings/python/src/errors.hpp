// From a status of the core to a Python exception. The classes are in idgen/_errors.py; the text is the core's.
#pragma once

#include <idgen/idgen.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <new>
#include <string>

namespace idgen_python {

namespace py = pybind11;

// An idgen_error_t that is ready to be passed.
struct CallError : idgen_error_t {
  CallError() : idgen_error_t(IDGEN_ERROR_INIT) {}
};

// The exception object for a failed call. `written`: ids that are real despite the failure.
py::object make_exception(idgen_status_t status, const CallError& error, std::size_t written);

// Sets Python's error indicator. For functions of the C API; never throws.
void set_error(idgen_status_t status, const CallError& error, std::size_t written = 0) noexcept;

// Throws what set_error sets. For functions bound by pybind11.
[[noreturn]] void throw_error(idgen_status_t status, const CallError& error);
[[noreturn]] void throw_error(idgen_status_t status, const std::string& message);

inline void check(idgen_status_t status, const CallError& error) {
  if (status != IDGEN_OK) throw_error(status, error);
}

// For functions of the C API: C++ exceptions must not reach the interpreter.
template <typename Body>
PyObject* guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (py::error_already_set& failure) {
    failure.restore();
  } catch (const py::builtin_exception& failure) {  // py::type_error
    failure.set_error();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& failure) {
    PyErr_SetString(PyExc_SystemError, failure.what());
  }
  return nullptr;
}

// The attribute, or None if there is none. py::hasattr and py::getattr take any exception for that, Ctrl-C too.
py::object optional_attribute(const py::object& object, const char* name);

}  // namespace idgen_python
