// format() and parse() do not go through pybind11's dispatcher, as next() does not. They keep the GIL: neither waits.
#include "pattern.hpp"

#include <string>

#include "gil.hpp"
#include "layout.hpp"
#include "owners.hpp"
#include "self.hpp"

namespace idgen_python {
namespace {

constexpr const char* kUnits[] = {nullptr, "year", "month", "day", "hour", "minute", "second"};  // by IDGEN_UNIT_*

std::string without_nul(const char* what, const py::object& text) {
  if (!py::isinstance<py::str>(text))
    throw py::type_error(std::string(what) + " is a str, not " + std::string(Py_TYPE(text.ptr())->tp_name));
  std::string bytes = text_bytes(text);
  if (bytes.find('\0') != std::string::npos)
    throw_error(IDGEN_E_ARGUMENT, std::string("a ") + what + " has no NUL characters");
  return bytes;
}

std::shared_ptr<TextPattern> make_pattern(const py::object& pattern, const py::object& zone, const py::object& layout) {
  std::string text = without_nul("pattern", pattern);
  const std::string zone_text = zone.is_none() ? std::string() : without_nul("zone", zone);
  const idgen_layout_t* const known = layout.is_none() ? nullptr : checked<Layout>(layout).raw();
  idgen_pattern_t* raw = nullptr;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_read_files;
    status = idgen_pattern_create(text.c_str(), zone_text.c_str(), known, &raw, &error);
  }
  check(status, error);
  return std::make_shared<TextPattern>(raw, std::move(text), py::make_tuple(pattern, zone, layout));
}

std::shared_ptr<TextPattern> open_pattern(const py::object& toml_path, const py::str& name,
                                          const py::kwargs& overrides) {
  Config config;
  config.load(toml_path, text_bytes(name));
  config.set(overrides);
  return pattern_of(config);
}

const TextPattern& pattern_in(PyObject* self) {
  const auto* const pattern = value_of<TextPattern>(self);
  if (pattern == nullptr) throw_not_a<TextPattern>(py::reinterpret_borrow<py::object>(self));
  return *pattern;
}

PyObject* format_text(PyObject* self, PyObject* object) noexcept {
  return guarded([&]() -> PyObject* {
    const TextPattern& pattern = pattern_in(self);
    const auto id = py::reinterpret_borrow<py::object>(object);
    idgen_wide_id_t wide;
    if (!wide_from(id, wide)) wide = narrow_id(id_bits(id));
    char text[kMostTextBytes];
    std::size_t size = sizeof text;
    // Without an idgen_error_t, which takes longer to clear than the text to write.
    if (idgen_pattern_format(pattern.raw(), &wide, text, &size, nullptr) != IDGEN_OK) [[unlikely]] {
      CallError error;
      check(idgen_pattern_format(pattern.raw(), &wide, text, &size, &error), error);
    }
    return decoded_text(text, size);
  });
}

// An int for 8 bytes, bytes for 16, as decode takes them.
py::object id_object(const idgen_wide_id_t& id) {
  if (id.size != 8) return wide_object(id);
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number = number << 8 | id.bytes[i];
  return py::int_(number);
}

py::object number_object(const idgen_wide_id_t& number) {
  if (number.size == 8) return id_object(number);
  return py::module_::import("builtins").attr("int").attr("from_bytes")(wide_object(number), "big");
}

PyObject* parse_text(PyObject* self, PyObject* object) noexcept {
  return guarded([&]() -> PyObject* {
    const TextPattern& pattern = pattern_in(self);
    if (PyUnicode_Check(object) == 0)
      throw py::type_error("a text is a str, not " + std::string(Py_TYPE(object)->tp_name));
    const std::string text = text_bytes(py::reinterpret_borrow<py::object>(object));
    idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
    CallError error;
    check(idgen_pattern_parse(pattern.raw(), text.data(), text.size(), &parts, &error), error);
    const py::object unit = parts.unit == IDGEN_UNIT_NONE ? py::object(py::none()) : py::str(kUnits[parts.unit]);
    return type_named("TextParts")(id_object(parts.id), number_object(parts.number), unit, parts.year, parts.month,
                                   parts.day, parts.hour, parts.minute, parts.second)
        .release()
        .ptr();
  });
}

PyMethodDef hot_pattern_methods[] = {
    {"format", format_text, METH_O,
     "format($self, id, /)\n--\n\n"
     "The text of an id: an int, or bytes of 8 or 16. Never blocks.\n\n"
     "Raises InvalidValueError: more digits than the pattern holds, or no id of the layout."},
    {"parse", parse_text, METH_O,
     "parse($self, text, /)\n--\n\n"
     "Reads a text, as TextParts. Strict: what format writes, in either case where the encoding allows it, and O, I "
     "and L\n"
     "in crockford. Without a layout, a number from 2^64 on is an id of 16 bytes, given as bytes. Never blocks.\n\n"
     "Raises TextError, with the position; a check that is wrong is said to be that."},
};

std::string represent_pattern(const TextPattern& pattern) {
  return "<idgen.TextPattern " + std::string(py::repr(text_object(pattern.text()))) + ">";
}

py::tuple reduce_pattern(const TextPattern& pattern) {
  if (pattern.arguments().is_none())
    throw py::type_error(
        "a TextPattern of a configuration cannot be pickled or copied: open it in each process, or make "
        "idgen.TextPattern(pattern, zone=..., layout=...)");
  const py::tuple arguments = pattern.arguments();
  py::dict keywords;
  keywords["zone"] = arguments[1];
  keywords["layout"] = arguments[2];
  const py::object make = module_named("functools").attr("partial")(py::type::of<TextPattern>(), **keywords);
  return py::make_tuple(make, py::make_tuple(arguments[0]));
}

}  // namespace

std::shared_ptr<TextPattern> pattern_of(const Config& config) {
  std::string text = config.get("pattern");
  idgen_pattern_t* raw = nullptr;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_read_files;
    status = idgen_pattern_of(config.raw(), &raw, &error);
  }
  check(status, error);
  if (text.empty()) text = "{decimal}";
  return std::make_shared<TextPattern>(raw, std::move(text), py::none());
}

void bind_pattern(py::module_& module) {
  py::class_<TextPattern, std::shared_ptr<TextPattern>> type(
      module, "TextPattern", py::is_final(),
      "TextPattern(pattern, *, zone=None, layout=None)\n\n"
      "How ids are written as people read them: literals, a date, one number and a check, \"ORD-{base62:11}-{check}\" "
      "or\n"
      "\"{yyyyMMdd}-{decimal}\". A date is that of the id's time, so it needs the id's Layout, by the clocks of zone: "
      "'UTC' (also\n"
      "None), an offset such as '+08:00', or a name such as 'Europe/Berlin', which needs the module libidgen_zone.so. "
      "Immutable and\n"
      "thread-safe; can be pickled. A named zone reads files.\n\n"
      "Raises InvalidValueError (pattern, zone), UnsupportedError (a date, and no layout with time; the module), "
      "ArgumentError\n"
      "(a NUL character).");
  type.attr("__module__") = "idgen";
  for (PyMethodDef& method : hot_pattern_methods) {
    PyObject* const descriptor = PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &method);
    if (descriptor == nullptr) throw py::error_already_set();
    type.attr(method.ml_name) = py::reinterpret_steal<py::object>(descriptor);
  }
  type.def(py::init(&make_pattern), py::arg("pattern"), py::kw_only(), py::arg("zone") = py::none(),
           py::arg("layout") = py::none())
      .def_static("open", &open_pattern, py::arg("toml_path"), py::arg("name"), py::pos_only(),
                  "open(toml_path, name, /, **overrides) -> TextPattern\n\n"
                  "The pattern of the table [name] of a TOML file, as a generator of it has it; keywords override the "
                  "file. Opens no store.\n"
                  "Raises ConfigFileError, and as TextPattern.")
      .def("__repr__", method(&represent_pattern))
      .def("__reduce__", method(&reduce_pattern));
}

}  // namespace idgen_python
