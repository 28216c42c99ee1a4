#include "buffers.hpp"

#include <pybind11/gil_safe_call_once.h>

#include <cstdio>
#include <cstring>

#include "self.hpp"

namespace idgen_python {
namespace {

constexpr char kWanted[] =
    "fill needs a writable, contiguous buffer of 8-byte integers, such as array('q') or a numpy int64 array";

bool is_native_int64(const Py_buffer& view) {
  const char* format = view.format != nullptr ? view.format : "B";
  constexpr char kNativeOrder = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
  if (*format == '@' || *format == '=' || *format == kNativeOrder) ++format;
  return view.itemsize == sizeof(std::uint64_t) && std::strlen(format) == 1 &&
         std::strchr("qQlLnN", *format) != nullptr;
}

// Sets InvalidBufferError. `found`: what is wrong with this object; `remedy`: what to do.
void refuse(PyObject* object, const std::string& found, const char* remedy) {
  CallError error;
  std::snprintf(error.message, sizeof error.message, "%s; this %s %s. %s", kWanted, Py_TYPE(object)->tp_name,
                found.c_str(), remedy);
  set_error(IDGEN_E_BUFFER, error);
}

// array(type, [0]), made once: looking up its class costs more than 100 ids.
const py::object& one_zero(bool is_unsigned) {
  static py::gil_safe_call_once_and_store<py::object> made[2];
  return made[is_unsigned ? 1 : 0]
      .call_once_and_store_result(
          [&] { return module_named("array").attr("array")(is_unsigned ? "Q" : "q", py::make_tuple(0)); })
      .get_stored();
}

}  // namespace

bool IdBuffer::open(PyObject* object) {
  if (PyObject_CheckBuffer(object) == 0) {
    refuse(object, "is not a buffer", "Use next_batch to get an array");
    return false;
  }
  if (PyObject_GetBuffer(object, &view_, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    refuse(object, "does not give its memory away", "Release it first, or use next_batch");
    return false;
  }
  if (view_.readonly != 0) {
    refuse(object, "is read-only", "Make a writable copy");
  } else if (!is_native_int64(view_)) {
    const char* format = view_.format != nullptr ? view_.format : "B";
    refuse(object,
           std::string("has items of format '") + format + "', " + std::to_string(view_.itemsize) + " bytes each",
           "Use an array of int64 or uint64 in native byte order, or memoryview(...).cast('q') on bytes");
  } else if (PyBuffer_IsContiguous(&view_, 'C') == 0) {
    refuse(object, "is not contiguous", "Fill a contiguous array and copy it");
  } else {
    return true;
  }
  return false;
}

IdArray::IdArray(std::size_t n, bool is_unsigned) {
  array_ =
      py::reinterpret_steal<py::object>(PySequence_Repeat(one_zero(is_unsigned).ptr(), static_cast<Py_ssize_t>(n)));
  if (!array_) throw py::error_already_set();
  if (!exported_.open(array_.ptr())) throw py::error_already_set();
}

py::object IdArray::take() {
  exported_.close();
  return std::move(array_);
}

}  // namespace idgen_python
