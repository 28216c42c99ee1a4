// From a Python object to the C++ value inside, without pybind11's cast.
//
// The cast costs more than an id, and on an object whose __init__ never ran (T.__new__(T)) it makes up an uninitialised
// value. All our classes are final, so their only value is the first one, NULL until __init__ has run.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

namespace idgen_python {

namespace py = pybind11;

// REQUIRES: `self` is a T. NULL if its __init__ never ran.
template <typename T>
T* value_of(PyObject* self) noexcept {
  return static_cast<T*>(reinterpret_cast<py::detail::instance*>(self)->simple_value_holder[0]);
}

template <typename T>
[[noreturn, gnu::cold]] void throw_not_a(const py::object& self) {
  const auto name = py::cast<std::string>(py::type::of<T>().attr("__name__"));
  if (py::isinstance<T>(self))
    throw py::type_error("this " + name + " was made without __init__; call idgen." + name + "(...)");
  throw py::type_error("needs an idgen." + name + ", not " + std::string(Py_TYPE(self.ptr())->tp_name));
}

// Throws TypeError if `self` is not a T, or its __init__ never ran.
template <typename T>
T& checked(const py::object& self) {
  T* const value = py::isinstance<T>(self) ? value_of<T>(self.ptr()) : nullptr;
  if (value == nullptr) throw_not_a<T>(self);
  return *value;
}

// What a call needs and `import idgen` does not load: under the lock of idgen/__init__.py, for which a fork waits.
inline py::module_ module_named(const char* name) {
  const auto known = py::reinterpret_steal<py::object>(PyImport_GetModule(py::str(name).ptr()));
  if (known) return py::module_::import(name);
  if (PyErr_Occurred()) throw py::error_already_set();
  return py::module_::import("idgen").attr("_import")(name);
}

// A class of idgen/_types.py, by name.
inline py::object type_named(const char* name) { return module_named("idgen._types").attr(name); }

// Makes a function on a T a method of its Python class.
template <typename T, typename Result, typename... Arguments>
auto method(Result (*function)(T&, Arguments...)) {
  return [function](const py::object& self, Arguments... arguments) -> Result {
    return function(checked<T>(self), std::forward<Arguments>(arguments)...);
  };
}

}  // namespace idgen_python
