#include "owners.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace idgen_python {
namespace {

// The number of an int, if it fits. False: it does not, or an exception is set.
bool to_int64(PyObject* number, std::int64_t& value) noexcept {
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number, &overflow);
  return overflow == 0 && (value != -1 || PyErr_Occurred() == nullptr);
}

}  // namespace

bool Owner::assign(PyObject* object) noexcept {
  try {
    if (PyUnicode_Check(object)) {
      Py_ssize_t size = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
      if (text == nullptr) return false;
      view_ = {text, static_cast<std::size_t>(size)};
      return true;
    }
    if (PyBytes_Check(object)) {
      view_ = {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
      return true;
    }
    if (!PyBool_Check(object) && PyIndex_Check(object)) {
      const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object));
      if (!number) return false;
      std::int64_t value = 0;
      if (to_int64(number.ptr(), value)) {
        char digits[20];
        digits_.assign(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
      } else {
        if (PyErr_Occurred() != nullptr) return false;
        digits_ = py::cast<std::string>(py::str(number));
      }
      view_ = digits_;
      return true;
    }
    PyErr_Format(PyExc_TypeError, "an owner is an int, a str or bytes, not %s", Py_TYPE(object)->tp_name);
  } catch (py::error_already_set& failure) {
    failure.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return false;
}

Owners::Owners(const py::object& iterable) {
  if (PyUnicode_Check(iterable.ptr()) || PyBytes_Check(iterable.ptr()))
    throw py::type_error("needs several owners, such as a list; for one owner use next_batch_for");
  const py::object tolist = optional_attribute(iterable, "tolist");
  const py::object several = tolist.is_none() ? iterable : tolist();
  const auto items =
      py::reinterpret_steal<py::object>(PySequence_Fast(several.ptr(), "owners are an iterable of int, str or bytes"));
  if (!items) throw py::error_already_set();
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = PySequence_Fast_GET_ITEM(items.ptr(), i);
    std::int64_t value = 0;
    if (is_integers_ && PyLong_CheckExact(item) && to_int64(item, value)) {
      integers_.push_back(value);
      continue;
    }
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    Owner owner;
    if (is_integers_) {  // not all are: those so far become text
      is_integers_ = false;
      for (const std::int64_t earlier : integers_) {
        bytes_ += std::to_string(earlier);
        ends_.push_back(bytes_.size());
      }
    }
    if (!owner.assign(item)) throw py::error_already_set();
    add(owner);
  }
}

void Owners::add(const Owner& owner) {
  bytes_.append(static_cast<const char*>(owner.data()), owner.size());
  ends_.push_back(bytes_.size());
}

std::vector<idgen_owner_t> Owners::raw() const {
  std::vector<idgen_owner_t> owners;
  owners.reserve(ends_.size());
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    owners.push_back({bytes_.data() + begin, end - begin});
    begin = end;
  }
  return owners;
}

bool wide_from(const py::object& object, idgen_wide_id_t& id) {
  if (!PyBytes_Check(object.ptr())) return false;
  id = IDGEN_WIDE_ID_INIT;
  const auto size = static_cast<std::size_t>(PyBytes_GET_SIZE(object.ptr()));
  id.size = static_cast<std::uint32_t>(std::min<std::size_t>(size, UINT32_MAX));
  std::memcpy(id.bytes, PyBytes_AS_STRING(object.ptr()), std::min(size, sizeof id.bytes));
  return true;
}

}  // namespace idgen_python
