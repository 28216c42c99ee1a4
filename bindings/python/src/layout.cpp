#include "layout.hpp"

#include <memory>
#include <string>

#include "config.hpp"
#include "owners.hpp"
#include "self.hpp"

namespace idgen_python {
namespace {

// The member of idgen_parts_t that belongs to a field.
std::uint64_t* member(idgen_parts_t& parts, std::uint32_t kind) {
  switch (kind) {
    case IDGEN_FIELD_TIME:
      return &parts.time;
    case IDGEN_FIELD_DATACENTER:
      return &parts.datacenter;
    case IDGEN_FIELD_WORKER:
      return &parts.worker;
    case IDGEN_FIELD_PROCESS:
      return &parts.process;
    case IDGEN_FIELD_SHARD:
      return &parts.shard;
    case IDGEN_FIELD_SEQUENCE:
      return &parts.sequence;
    case IDGEN_FIELD_GENE:
      return &parts.gene;
    case IDGEN_FIELD_VERSION:
      return &parts.version;
    case IDGEN_FIELD_SEGMENT:
      return &parts.segment;
    case IDGEN_FIELD_FIXED:
      return &parts.fixed;
    default:
      return nullptr;
  }
}

// `time` is a datetime in Python; the raw number has another name.
const char* python_name(const idgen_field_t& field) { return field.kind == IDGEN_FIELD_TIME ? "ticks" : field.name; }

py::module_ values_module() { return module_named("idgen._values"); }
std::unique_ptr<Layout> parse(const std::string& text, const py::object& epoch) {
  if (text.find('\0') != std::string::npos) throw_error(IDGEN_E_ARGUMENT, "a layout has no NUL characters");
  std::string epoch_text;
  if (!epoch.is_none()) epoch_text = text_bytes(values_module().attr("to_text")("epoch", epoch));
  idgen_layout_t* raw = nullptr;
  CallError error;
  check(idgen_layout_create(text.c_str(), epoch_text.c_str(), &raw, &error), error);
  return std::make_unique<Layout>(raw);
}

py::object decode_with(const Layout& layout, const py::object& id) {
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CallError error;
  if (idgen_wide_id_t wide; wide_from(id, wide)) {
    check(idgen_layout_decode_wide(layout.raw(), &wide, &parts, &error), error);
    return layout.parts_object(id, parts);
  }
  const std::uint64_t bits = id_bits(id);
  check(idgen_layout_decode(layout.raw(), bits, &parts, &error), error);
  return layout.parts_object(py::int_(bits), parts);
}

std::uint64_t gene(const Layout& layout, const py::object& object, const std::string& rule) {
  const std::int32_t number = rule == "auto"   ? IDGEN_GENE_AUTO
                              : rule == "hash" ? IDGEN_GENE_HASH
                              : rule == "mod"  ? IDGEN_GENE_MOD
                                               : -1;
  if (number < 0)
    throw_error(IDGEN_E_ARGUMENT,
                "rule " + std::string(py::repr(py::str(rule))) + " is not one of 'auto', 'hash' and 'mod'");
  Owner owner;
  if (!owner.assign(object.ptr())) throw py::error_already_set();
  std::uint64_t found = 0;
  CallError error;
  check(idgen_layout_gene(layout.raw(), number, owner.data(), owner.size(), &found, &error), error);
  return found;
}

std::string field_list(const Layout& layout) {
  std::string list;
  for (const idgen_field_t& field : layout.fields()) {
    if (!list.empty()) list += ", ";
    list += field.kind == IDGEN_FIELD_TIME ? "time (or unix_ms, or ticks)" : field.name;
  }
  return list;
}

// Ticks of a moment, rounded down: what a query "ids since" wants.
std::uint64_t ticks_of(const Layout& layout, std::int64_t unix_ms) {
  const std::int64_t epoch = layout.info().epoch_unix_ms;
  if (unix_ms < epoch) {
    throw_error(IDGEN_E_VALUE,
                "unix_ms " + std::to_string(unix_ms) + " is before the layout's epoch, " + std::to_string(epoch));
  }
  // Unsigned: the difference need not fit 63 bits.
  const std::uint64_t since = static_cast<std::uint64_t>(unix_ms) - static_cast<std::uint64_t>(epoch);
  return since / static_cast<std::uint64_t>(layout.info().tick_ms);
}

std::int64_t unix_ms_of(const py::object& moment) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(moment.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const long long unix_ms = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) {
    throw_error(IDGEN_E_VALUE, "unix_ms " + std::string(py::repr(number)) +
                                   " is out of range; allowed: -9223372036854775808 to 9223372036854775807");
  }
  return unix_ms;
}

py::object encode(const Layout& layout, const py::kwargs& values) {
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  bool time_given = false;
  for (const auto& [key, value] : values) {
    const std::string name = text_bytes(py::reinterpret_borrow<py::object>(key));
    const auto object = py::reinterpret_borrow<py::object>(value);
    if (name == "time" || name == "unix_ms" || name == "ticks") {
      if (!layout.has(IDGEN_FIELD_TIME)) {
        throw_error(IDGEN_E_ARGUMENT, "this layout has no time; it has " + field_list(layout));
      }
      if (time_given) throw_error(IDGEN_E_ARGUMENT, "give one of time, unix_ms and ticks, not several");
      time_given = true;
      if (name == "ticks") {
        parts.time = id_bits(object);
      } else if (name == "unix_ms") {
        parts.time = ticks_of(layout, unix_ms_of(object));
      } else {
        parts.time = ticks_of(layout, unix_ms_of(values_module().attr("moment_unix_ms")(object)));
      }
      continue;
    }
    const idgen_field_t* found = nullptr;
    for (const idgen_field_t& field : layout.fields()) {
      if (field.kind != IDGEN_FIELD_TIME && name == field.name) found = &field;
    }
    if (found == nullptr) {
      throw_error(IDGEN_E_ARGUMENT, "this layout has no field '" + name + "'; it has " + field_list(layout));
    }
    if (found->bits > 64) {
      const py::int_ bits(64);
      parts.segment_high = id_bits(object >> bits);
      parts.segment = id_bits(object & ((py::int_(1) << bits) - py::int_(1)));
    } else {
      *member(parts, found->kind) = id_bits(object);
    }
  }
  CallError error;
  if (layout.info().bits > 64) {
    idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
    check(idgen_layout_encode_wide(layout.raw(), &parts, &id, &error), error);
    return wide_object(id);
  }
  std::uint64_t id = 0;
  check(idgen_layout_encode(layout.raw(), &parts, &id, &error), error);
  return py::int_(id);
}

py::object info(const Layout& layout, const py::object& now) {
  const std::int64_t now_ms = now.is_none() ? INT64_MIN : unix_ms_of(values_module().attr("moment_unix_ms")(now));
  idgen_layout_info_t facts{};
  facts.struct_size = sizeof facts;
  CallError error;
  check(idgen_layout_info(layout.raw(), now_ms, &facts, &error), error);
  const auto last = facts.last_unix_ms == INT64_MAX ? py::object(py::none()) : py::object(py::int_(facts.last_unix_ms));
  const auto preset = facts.preset[0] == '\0' ? py::object(py::none()) : py::object(py::str(facts.preset));
  return type_named("LayoutInfo")(facts.text, preset, facts.bits, facts.is_unsigned != 0, facts.is_js_safe != 0,
                                  facts.epoch_unix_ms, facts.tick_ms, facts.first_unix_ms, last, facts.years_left,
                                  facts.ids_per_tick, facts.ids_per_second, facts.workers);
}

py::tuple fields(const Layout& layout) {
  const py::object field_type = type_named("Field");
  py::tuple result(layout.fields().size());
  for (std::size_t i = 0; i < layout.fields().size(); ++i) {
    const idgen_field_t& field = layout.fields()[i];
    result[i] = field_type(field.name, field.bits, field.shift);
  }
  return result;
}

py::tuple presets() {
  py::tuple names(idgen_layout_preset_count());
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = idgen_layout_preset_at(i);
  return names;
}

std::string text(const Layout& layout) { return layout.info().text; }
std::int64_t epoch_unix_ms(const Layout& layout) { return layout.info().epoch_unix_ms; }
std::uint32_t bits(const Layout& layout) { return layout.info().bits; }
bool is_unsigned(const Layout& layout) { return layout.info().is_unsigned != 0; }

py::object preset(const Layout& layout) {
  if (layout.info().preset[0] == '\0') return py::none();
  return py::str(layout.info().preset);
}

py::object equal(const Layout& a, const py::object& other) {
  if (!py::isinstance<Layout>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const Layout& b = checked<Layout>(other);
  return py::bool_(text(a) == text(b) && epoch_unix_ms(a) == epoch_unix_ms(b));
}

py::ssize_t hash(const Layout& layout) { return py::hash(py::make_tuple(text(layout), epoch_unix_ms(layout))); }

std::string represent_layout(const Layout& layout) {
  return "Layout(" + std::string(py::repr(py::str(text(layout)))) + ", epoch=" + std::to_string(epoch_unix_ms(layout)) +
         ")";
}

py::tuple reduce(const Layout& layout) {
  return py::make_tuple(py::type::of<Layout>(), py::make_tuple(text(layout), epoch_unix_ms(layout)));
}

}  // namespace

Layout::Layout(idgen_layout_t* raw) : raw_(raw) {
  info_.struct_size = sizeof info_;
  CallError error;
  idgen_status_t status = idgen_layout_info(raw_, INT64_MIN, &info_, &error);
  for (std::uint32_t i = 0; status == IDGEN_OK && i < info_.field_count; ++i) {
    idgen_field_t field = IDGEN_FIELD_INIT;
    status = idgen_layout_field_at(raw_, i, &field, &error);
    fields_.push_back(field);
  }
  if (status != IDGEN_OK) {
    idgen_layout_destroy(raw_);
    throw_error(status, error);
  }
}

py::object Layout::parts_object(const py::object& id, const idgen_parts_t& parts) const {
  py::dict values;
  idgen_parts_t copy = parts;
  for (const idgen_field_t& field : fields_) values[python_name(field)] = *member(copy, field.kind);
  if (parts.segment_high != 0)
    values["segment"] = (py::int_(parts.segment_high) << py::int_(64)) | py::int_(parts.segment);
  const py::object unix_ms = has(IDGEN_FIELD_TIME) ? py::object(py::int_(parts.unix_ms)) : py::object(py::none());
  return module_named("idgen._parts").attr("Parts")(id, unix_ms, values);
}

std::uint64_t id_bits(const py::object& id) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(id.ptr()));
  if (!number) throw py::error_already_set();
  const unsigned long long bits = PyLong_AsUnsignedLongLong(number.ptr());
  if (bits == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw_error(IDGEN_E_VALUE, std::string(py::repr(number)) + " is out of range; allowed: 0 to 18446744073709551615");
  }
  return bits;
}

void bind_layout(py::module_& module) {
  py::class_<Layout> type(
      module, "Layout", py::is_final(),
      "Layout(text='default', epoch=None)\n\n"
      "The bit fields of an id: a preset's name or fields in full, most significant first, such as\n"
      "\"time:41ms worker:10 sequence:12\". epoch: datetime, RFC 3339 text or Unix ms; default: the preset's, else\n"
      "2025-01-01 UTC. Layouts whose time is over can be parsed and decoded too. Immutable and thread-safe.\n\n"
      "Raises LayoutError, InvalidValueError (epoch).");
  type.attr("__module__") = "idgen";
  type.def(py::init(&parse), py::arg("text") = "default", py::arg("epoch") = py::none())
      .def_static("parse", &parse, py::arg("text"), py::arg("epoch") = py::none(),
                  "parse(text, epoch=None) -> Layout\n\nThe same as Layout(text, epoch).")
      .def_static("presets", &presets, "presets() -> tuple[str, ...]\n\nNames of the known layouts.")
      .def("decode", method(&decode_with), py::arg("id"), py::pos_only(),
           "decode(id) -> Parts\n\nSplits an id: an int, or bytes of 8 or 16, as long as the layout's ids are. Raises "
           "InvalidValueError for an id of another layout (another length, bits outside it, another constant), "
           "UnsupportedError for an int with a layout of more than 64 bits.")
      .def("gene", method(&gene), py::arg("owner"), py::arg("rule") = "auto",
           "gene(owner, rule='auto') -> int\n\n"
           "The gene that ids of an owner (int, str or bytes) have. rule: 'hash', 'mod', or 'auto', which is 'mod' if\n"
           "time is above and the gene is the lowest field, as in the layout 'order', else 'hash'. Raises\n"
           "InvalidValueError for an empty owner, UnsupportedError if the layout has no gene.")
      .def(
          "decode_array",
          [](const py::object& self, const py::object& ids) {
            return module_named("idgen._arrays").attr("decode_array")(self, ids);
          },
          py::arg("ids"), py::pos_only(),
          "decode_array(ids) -> dict[str, numpy.ndarray]\n\n"
          "Splits a column of ids (numpy, pandas, array.array, list) into one array per field, named as in the layout, "
          "int64\n"
          "each; with a time field 'time' is datetime64[ms] in UTC and 'ticks' the raw number. pandas.DataFrame takes "
          "the result\n"
          "as it is. int64 input of an unsigned layout is read as the same 64 bits. Needs numpy (ImportError).\n\n"
          "Raises TypeError for anything but integers, InvalidValueError for an id of another layout.")
      .def("encode", method(&encode),
           "encode(**fields) -> int (bytes for a layout of more than 64 bits)\n\n"
           "The inverse of decode, from fields by name; time as one of time (datetime, rounded down to a tick), "
           "unix_ms and ticks.\n"
           "A field that is left out is 0, or the layout's constant. The id is not unique: for tests and for range "
           "queries by time.\n\n"
           "Raises ArgumentError (no such field), InvalidValueError (too large for its field, another "
           "constant).")
      .def("info", method(&info), py::arg("now") = py::none(),
           "info(now=None) -> LayoutInfo\n\nWhat the layout can do. now: datetime from which years_left counts; "
           "default: the present.")
      .def_property_readonly("fields", method(&fields), "tuple[Field, ...], most significant first.")
      .def_property_readonly("text", method(&text), "Canonical text; Layout(text, epoch_unix_ms) is the same layout.")
      .def_property_readonly("preset", method(&preset), "Name of the preset with these fields and this epoch, or None.")
      .def_property_readonly("epoch_unix_ms", method(&epoch_unix_ms), "What time 0 means, ms since 1970-01-01 UTC.")
      .def_property_readonly("bits", method(&bits), "Bits of all fields together.")
      .def_property_readonly("is_unsigned", method(&is_unsigned), "True if the top bit of 64 belongs to a field.")
      .def("__eq__", method(&equal))
      .def("__hash__", method(&hash))
      .def("__repr__", method(&represent_layout))
      .def("__reduce__", method(&reduce));
}

}  // namespace idgen_python
