// uuid4() and uuid7() do not go through pybind11's dispatcher, nor through uuid.UUID's constructor, which takes longer
// than all the rest: its object is made as it would make it.
#include "standard.hpp"

#include <idgen/standard.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "self.hpp"

namespace idgen_python {
namespace {

struct Name {
  const char* name;
  std::int32_t standard;
};
constexpr Name kNames[] = {
    {"uuid", IDGEN_STANDARD_UUID}, {"uuid4", IDGEN_STANDARD_UUID4},         {"uuid7", IDGEN_STANDARD_UUID7},
    {"ulid", IDGEN_STANDARD_ULID}, {"object_id", IDGEN_STANDARD_OBJECT_ID},
};
constexpr std::size_t kBytes = 16, kObjectIdBytes = 12;

std::size_t bytes_of(std::int32_t standard) { return standard == IDGEN_STANDARD_OBJECT_ID ? kObjectIdBytes : kBytes; }

std::int32_t standard_named(const std::string& wanted) {
  std::string names;
  for (const auto& [name, standard] : kNames) {
    if (wanted == name) return standard;
    names += names.empty() ? name : std::string(", ") + name;
  }
  throw_error(IDGEN_E_ARGUMENT, "no standard is named '" + wanted + "'; there are " + names);
}

const char* name_of(std::int32_t standard) { return kNames[standard].name; }

// --- uuid.UUID

// The class and its two slots, looked up once. Never freed: they live as long as the interpreter.
struct UuidClass {
  PyTypeObject* type;
  PyObject* set_int;
  PyObject* set_is_safe;
  PyObject* unknown;
};
std::atomic<const UuidClass*> uuid_class{nullptr};

const UuidClass* find_uuid_class() noexcept {
  if (const UuidClass* const found = uuid_class.load(std::memory_order_acquire)) return found;
  try {
    const py::module_ module = module_named("uuid");
    const py::object type = module.attr("UUID");
    auto made = std::make_unique<UuidClass>(UuidClass{
        .type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr()),
        .set_int = py::object(type.attr("int")).release().ptr(),
        .set_is_safe = py::object(type.attr("is_safe")).release().ptr(),
        .unknown = py::object(module.attr("SafeUUID").attr("unknown")).release().ptr(),
    });
    const UuidClass* seen = nullptr;
    if (uuid_class.compare_exchange_strong(seen, made.get(), std::memory_order_acq_rel)) return made.release();
    return seen;  // another thread was faster
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

PyObject* to_int(const std::uint8_t* id) noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return PyLong_FromUnsignedNativeBytes(id, kBytes, Py_ASNATIVEBYTES_BIG_ENDIAN);
#else
  return _PyLong_FromByteArray(id, kBytes, 0, 0);
#endif
}

// A new reference, or null with Python's error set.
PyObject* to_uuid(const std::uint8_t* id) noexcept {
  const UuidClass* const uuid = find_uuid_class();
  if (uuid == nullptr) return nullptr;
  PyObject* const number = to_int(id);
  if (number == nullptr) return nullptr;
  PyObject* made = uuid->type->tp_alloc(uuid->type, 0);
  const auto set = [&](PyObject* slot, PyObject* value) { return Py_TYPE(slot)->tp_descr_set(slot, made, value) == 0; };
  if (made != nullptr && !(set(uuid->set_int, number) && set(uuid->set_is_safe, uuid->unknown))) Py_CLEAR(made);
  Py_DECREF(number);
  return made;
}

template <std::int32_t standard>
PyObject* make_uuid(PyObject*, PyObject*) {
  std::uint8_t id[kBytes];
  CallError error;
  if (const idgen_status_t status = idgen_standard_make(standard, id, 1, &error); status != IDGEN_OK) [[unlikely]] {
    set_error(status, error);
    return nullptr;
  }
  return to_uuid(id);
}

template <std::int32_t standard>
PyObject* make_text(PyObject*, PyObject*) {
  std::uint8_t id[kBytes];
  char text[40];
  std::size_t size = sizeof text;
  CallError error;
  idgen_status_t status = idgen_standard_make(standard, id, 1, &error);
  if (status == IDGEN_OK) status = idgen_standard_format(standard, id, text, &size, &error);
  if (status == IDGEN_OK) [[likely]]
    return PyUnicode_FromString(text);
  set_error(status, error);
  return nullptr;
}

PyMethodDef hot_functions[] = {
    {"uuid4", make_uuid<IDGEN_STANDARD_UUID4>, METH_NOARGS,
     "uuid4()\n--\n\n"
     "A UUID of version 4: 122 random bits. Never blocks; any number of threads, and forked children, may call it."},
    {"uuid7", make_uuid<IDGEN_STANDARD_UUID7>, METH_NOARGS,
     "uuid7()\n--\n\n"
     "A UUID of version 7: Unix ms, a counter, 54 random bits. They rise within a process, whatever thread makes\n"
     "them, also when the clock is set back by up to 10 s. Never blocks."},
    {"ulid", make_text<IDGEN_STANDARD_ULID>, METH_NOARGS,
     "ulid()\n--\n\n"
     "A ULID, as its 26 characters: Unix ms, a counter, 60 random bits. They rise as uuid7 does. Never blocks."},
    {"object_id", make_text<IDGEN_STANDARD_OBJECT_ID>, METH_NOARGS,
     "object_id()\n--\n\n"
     "A MongoDB ObjectId, as its 24 hex digits: Unix seconds, 40 bits of the process, a counter. They rise as uuid7\n"
     "does. Never blocks."},
};

py::bytes standard_ids(const std::string& name, std::int64_t n) {
  const std::int32_t standard = standard_named(name);
  if (n < 0) throw_error(IDGEN_E_ARGUMENT, "n is " + std::to_string(n) + "; it must not be negative");
  if (n > PY_SSIZE_T_MAX / static_cast<std::int64_t>(bytes_of(standard))) throw std::bad_alloc();
  const py::ssize_t size = static_cast<py::ssize_t>(bytes_of(standard)) * n;
  py::bytes ids = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, size));
  if (!ids) throw py::error_already_set();
  CallError error;
  check(idgen_standard_make(standard, reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(ids.ptr())),
                            static_cast<std::size_t>(n), &error),
        error);
  return ids;
}

// --- what they say

struct Given {
  std::int32_t standard = IDGEN_STANDARD_UUID;
  std::uint8_t id[kBytes] = {};
};

Given given(const py::object& object, const py::object& name) {
  Given result;
  CallError error;
  if (py::isinstance<py::str>(object)) {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (text == nullptr) throw py::error_already_set();  // a lone surrogate
    check(idgen_standard_parse(text, static_cast<std::size_t>(size), &result.standard, result.id, &error), error);
    return result;
  }
  if (!name.is_none() && !py::isinstance<py::str>(name))
    throw py::type_error("standard is a str, not " + std::string(Py_TYPE(name.ptr())->tp_name));
  const bool is_bytes = py::isinstance<py::bytes>(object);
  const UuidClass* const uuid = find_uuid_class();
  if (uuid == nullptr) throw py::error_already_set();
  const int is_uuid = is_bytes ? 0 : PyObject_IsInstance(object.ptr(), reinterpret_cast<PyObject*>(uuid->type));
  if (is_uuid < 0) throw py::error_already_set();
  if (!is_bytes && is_uuid == 0)
    throw py::type_error("a standard id is a uuid.UUID, a str or bytes, not " +
                         std::string(Py_TYPE(object.ptr())->tp_name));
  const py::bytes bytes = is_bytes ? object : py::object(object.attr("bytes"));
  const std::string_view view = bytes;
  result.standard = !name.is_none()                 ? standard_named(name.cast<std::string>())
                    : view.size() == kObjectIdBytes ? IDGEN_STANDARD_OBJECT_ID
                                                    : IDGEN_STANDARD_UUID;
  if (view.size() != bytes_of(result.standard))
    throw_error(IDGEN_E_VALUE, std::string(name_of(result.standard)) + " has " +
                                   std::to_string(bytes_of(result.standard)) + " bytes; these are " +
                                   std::to_string(view.size()));
  view.copy(reinterpret_cast<char*>(result.id), view.size());
  return result;
}

std::string format_standard(const py::object& id, const py::object& name) {
  const Given standard = given(id, name);
  char text[40];
  std::size_t size = sizeof text;
  CallError error;
  check(idgen_standard_format(standard.standard, standard.id, text, &size, &error), error);
  return text;
}

py::bytes parse_standard(const std::string& text) {
  const Given standard = given(py::str(text), py::none());
  return py::bytes(reinterpret_cast<const char*>(standard.id), bytes_of(standard.standard));
}

py::object decode_standard(const py::object& id, const py::object& name) {
  const Given standard = given(id, name);
  idgen_standard_parts_t parts = IDGEN_STANDARD_PARTS_INIT;
  CallError error;
  check(idgen_standard_decode(standard.standard, standard.id, &parts, &error), error);
  const bool is_uuid = parts.standard <= IDGEN_STANDARD_UUID7,
             is_object_id = !is_uuid && parts.standard != IDGEN_STANDARD_ULID;
  const auto if_so = [](bool is_so, auto value) {
    return is_so ? py::object(py::int_(value)) : py::object(py::none());
  };
  return type_named("StandardParts")(name_of(parts.standard), if_so(is_uuid, parts.version), parts.is_rfc != 0,
                                     if_so(parts.has_time != 0, parts.unix_ms), if_so(is_object_id, parts.process),
                                     if_so(is_object_id, parts.counter));
}

}  // namespace

void bind_standard(py::module_& module) {
  const py::object module_name = module.attr("__name__");
  for (PyMethodDef& function : hot_functions) {
    PyObject* const made = PyCFunction_NewEx(&function, nullptr, module_name.ptr());
    if (made == nullptr) throw py::error_already_set();
    module.attr(function.ml_name) = py::reinterpret_steal<py::object>(made);
  }
  module.def("standard_ids", &standard_ids, py::arg("standard"), py::arg("n"),
             "standard_ids(standard, n) -> bytes\n\n"
             "n ids, one after the other, each of 16 bytes, or 12: 'uuid4', 'uuid7', 'ulid' or 'object_id'. Never "
             "blocks.\n\n"
             "Raises ArgumentError for another standard or a negative n.");
  module.def("format_standard", &format_standard, py::arg("id"), py::arg("standard") = py::none(),
             "format_standard(id, standard=None) -> str\n\n"
             "The text of a uuid.UUID, or of bytes: 12 are an ObjectId, 16 a UUID unless standard='ulid'.\n\n"
             "Raises InvalidValueError for another length, ArgumentError for an unknown standard.");
  module.def("parse_standard", &parse_standard, py::arg("text"),
             "parse_standard(text) -> bytes\n\n"
             "The 16 or 12 bytes of a UUID (36 characters, or 32 without hyphens), a ULID (26) or an ObjectId (24), in "
             "either case.\n\n"
             "Raises TextError, with the position, for a foreign digit or a wrong length.");
  module.def("decode_standard", &decode_standard, py::arg("id"), py::arg("standard") = py::none(),
             "decode_standard(id, standard=None) -> StandardParts\n\n"
             "What a UUID of any version, a ULID or an ObjectId says: a uuid.UUID, its text, or bytes as "
             "format_standard takes them.\n\n"
             "Raises as parse_standard and format_standard.");
}

}  // namespace idgen_python
