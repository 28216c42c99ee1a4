#include "errors.hpp"

#include <cstring>

#include "self.hpp"

namespace idgen_python {

namespace {

py::object make_exception(idgen_status_t status, const char* message, std::uint64_t retry_after_ns, std::size_t written,
                          std::uint64_t cause) {
  if (message[0] == '\0') message = idgen_status_message(status);
  // "replace": a file name in a message need not be UTF-8, and an error must not turn into another one.
  auto text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::strlen(message)), "replace"));
  if (!text) throw py::error_already_set();
  // Looked up each time: errors are rare, and nothing then outlives the interpreter.
  return module_named("idgen._failures")
      .attr("from_core")(text, status, idgen_status_name(status), idgen_status_is_retryable(status) != 0,
                         retry_after_ns, written, cause);
}

}  // namespace

py::object make_exception(idgen_status_t status, const CallError& error, std::size_t written) {
  return make_exception(status, error.message, error.retry_after_ns, written, error.cause);
}

void set_error(idgen_status_t status, const CallError& error, std::size_t written) noexcept {
  try {
    const py::object exception = make_exception(status, error, written);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  } catch (py::error_already_set& failure) {
    failure.restore();
  } catch (...) {
    PyErr_NoMemory();
  }
}

void throw_error(idgen_status_t status, const CallError& error) {
  set_error(status, error);
  throw py::error_already_set();
}

void throw_error(idgen_status_t status, const std::string& message) {
  const py::object exception = make_exception(status, message.c_str(), 0, 0, 0);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw py::error_already_set();
}

py::object optional_attribute(const py::object& object, const char* name) {
  PyObject* const found = PyObject_GetAttrString(object.ptr(), name);
  if (found != nullptr) return py::reinterpret_steal<py::object>(found);
  if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  return py::none();
}

}  // namespace idgen_python
