#include "cipher.hpp"

#include <idgen/cipher.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "buffers.hpp"
#include "config.hpp"
#include "gil.hpp"
#include "layout.hpp"
#include "owners.hpp"
#include "self.hpp"

namespace idgen_python {
namespace {

// Up to this size a batch is done under the GIL. Above it, releasing the GIL pays off.
constexpr std::size_t kSmallCipherBatch = 256;

class IdCipher {
 public:
  IdCipher(idgen_cipher_t* raw, std::unique_ptr<Layout> layout, std::string layout_text, const Config& config)
      : raw_(raw),
        layout_(std::move(layout)),
        layout_text_(std::move(layout_text)),
        name_space_(config.get("namespace")),
        callables_(config.callables()) {}
  ~IdCipher() {
    const WithoutGil may_call_the_host;
    idgen_cipher_destroy(raw_);
  }
  IdCipher(const IdCipher&) = delete;
  IdCipher& operator=(const IdCipher&) = delete;

  idgen_cipher_t* raw() const { return raw_; }
  const Layout& layout() const { return *layout_; }
  const std::string& layout_text() const { return layout_text_; }
  const std::string& name_space() const { return name_space_; }
  bool is_wide() const { return layout_->info().bits > 64; }

  int traverse(visitproc visit, void* arg) const {
    for (const auto& callable : callables_) {
      if (const int stop = callable->traverse(visit, arg); stop != 0) return stop;
    }
    return 0;
  }
  void drop_callables() {
    for (const auto& callable : callables_) callable->drop();
  }

 private:
  idgen_cipher_t* raw_;
  std::unique_ptr<Layout> layout_;
  std::string layout_text_;
  std::string name_space_;
  Callables callables_;
};

// A failure of keys= is raised as it was, and not as the core's text about it.
void check_with_keys(idgen_status_t status, const CallError& error) {
  raise_from_keys(status != IDGEN_OK);
  check(status, error);
}

std::unique_ptr<Layout> layout_named(const std::string& text) {
  idgen_layout_t* raw = nullptr;
  CallError error;
  check(idgen_layout_create(text.c_str(), nullptr, &raw, &error), error);
  return std::make_unique<Layout>(raw);
}

std::unique_ptr<IdCipher> make_cipher(const Config& config) {
  std::string text = config.get("layout");
  if (text.empty()) {
    const std::string kind = config.get("kind");
    text = kind == "segment" ? "segment:63" : kind == "business" ? "business64" : "default";
  }
  auto layout = layout_named(text);
  CallError error;
  idgen_cipher_t* raw = nullptr;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = idgen_cipher_create(config.raw(), &raw, &error);
  }
  check_with_keys(status, error);
  return std::make_unique<IdCipher>(raw, std::move(layout), std::move(text), config);
}

std::unique_ptr<IdCipher> create_cipher(const py::kwargs& properties) {
  Config config;
  config.set(properties);
  return make_cipher(config);
}

std::unique_ptr<IdCipher> open_cipher(const py::object& toml_path, const py::str& name, const py::kwargs& overrides) {
  Config config;
  config.load(toml_path, text_bytes(name));
  config.set(overrides);
  return make_cipher(config);
}

// An int of up to 128 bits as 16 bytes, the most significant first; InvalidValueError for any other.
void to_bytes(const py::object& id, std::uint8_t (&bytes)[16]) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(id.ptr()));
  if (!number) throw py::error_already_set();
  try {
    const auto text = py::cast<std::string>(number.attr("to_bytes")(16, "big"));
    std::copy(text.begin(), text.end(), bytes);
  } catch (py::error_already_set& raised) {
    if (!raised.matches(PyExc_OverflowError)) throw;
    throw_error(IDGEN_E_VALUE, std::string(py::repr(number)) + " is out of range; allowed: 0 to 2^128 - 1");
  }
}

// In place, by one of the C functions for several ids.
template <class Id, class Function>
void apply_by(Function* function, const IdCipher& cipher, Id* ids, std::size_t count) {
  CallError error;
  std::optional<WithoutGil> released;
  if (count > kSmallCipherBatch) released.emplace();
  const idgen_status_t status = function(cipher.raw(), ids, ids, count, &error);
  released.reset();
  check(status, error);
}

void apply_wide(const IdCipher& cipher, std::vector<idgen_wide_id_t>& ids, bool reveals) {
  apply_by(reveals ? &idgen_cipher_reveal_wide_ids : &idgen_cipher_hide_wide_ids, cipher, ids.data(), ids.size());
}

py::object apply(const IdCipher& cipher, const py::object& id, bool reveals) {
  if (std::vector<idgen_wide_id_t> wide(1); wide_from(id, wide[0])) {
    apply_wide(cipher, wide, reveals);
    return wide_object(wide[0]);
  }
  CallError error;
  if (!cipher.is_wide()) {
    const std::uint64_t in = id_bits(id);
    std::uint64_t out = 0;
    check(reveals ? idgen_cipher_reveal(cipher.raw(), in, &out, &error)
                  : idgen_cipher_hide(cipher.raw(), in, &out, &error),
          error);
    return py::int_(out);
  }
  std::uint8_t bytes[16];
  to_bytes(id, bytes);
  check(reveals ? idgen_cipher_reveal_wide(cipher.raw(), bytes, bytes, 1, &error)
                : idgen_cipher_hide_wide(cipher.raw(), bytes, bytes, 1, &error),
        error);
  return py::module_::import("builtins")
      .attr("int")
      .attr("from_bytes")(py::bytes(reinterpret_cast<const char*>(bytes), sizeof bytes), "big");
}

py::list apply_each(const IdCipher& cipher, const py::iterable& objects, bool reveals) {
  std::vector<idgen_wide_id_t> ids;
  for (const py::handle object : objects) {
    if (!wide_from(py::reinterpret_borrow<py::object>(object), ids.emplace_back())) {
      throw py::type_error(std::string(reveals ? "reveal_each" : "hide_each") + " takes ids as bytes, and item " +
                           std::to_string(ids.size() - 1) + " is of the type " + Py_TYPE(object.ptr())->tp_name +
                           "; use " + (reveals ? "reveal_array" : "hide_array") + " for integers");
    }
  }
  apply_wide(cipher, ids, reveals);
  py::list made;
  for (const idgen_wide_id_t& id : ids) made.append(wide_object(id));
  return made;
}

py::list hide_each(const IdCipher& cipher, const py::iterable& ids) { return apply_each(cipher, ids, false); }
py::list reveal_each(const IdCipher& cipher, const py::iterable& hidden) { return apply_each(cipher, hidden, true); }
py::object hide_one(const IdCipher& cipher, const py::object& id) { return apply(cipher, id, false); }
py::object reveal_one(const IdCipher& cipher, const py::object& hidden) { return apply(cipher, hidden, true); }

// In place.
void apply_to_buffer(const IdCipher& cipher, const py::object& ids, bool reveals) {
  IdBuffer buffer;
  if (!buffer.open(ids.ptr())) throw py::error_already_set();
  apply_by(reveals ? &idgen_cipher_reveal_batch : &idgen_cipher_hide_batch, cipher, buffer.ids(), buffer.size());
}

void reload_keys(const IdCipher& cipher) {
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = idgen_cipher_reload(cipher.raw(), &error);
  }
  check_with_keys(status, error);
}

py::str describe_cipher(const IdCipher& cipher) {
  return text_object(read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_cipher_describe(cipher.raw(), buffer, size, error);
  }));
}

py::str check_keys(const py::kwargs& properties) {
  Config config;
  config.set(properties);
  return text_object(read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    idgen_status_t status = IDGEN_OK;
    {
      const WithoutGil may_wait_for_the_store;
      status = idgen_cipher_check(config.raw(), buffer, size, error);
    }
    raise_from_keys(status != IDGEN_OK && status != IDGEN_E_BUFFER);
    return status;
  }));
}

std::string represent_cipher(const IdCipher& cipher) {
  return "<idgen.IdCipher of namespace " + std::string(py::repr(text_object(cipher.name_space()))) + ", " +
         cipher.layout().info().text + ">";
}

py::object refuse_cipher_pickle(const py::object&, const py::args&) {
  throw py::type_error("an IdCipher cannot be pickled or copied: it holds keys. Make one in each process");
}

int traverse_cipher(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const auto* const cipher = value_of<IdCipher>(self);
  return cipher != nullptr ? cipher->traverse(visit, arg) : 0;
}
int clear_cipher(PyObject* self) {
  if (auto* const cipher = value_of<IdCipher>(self)) cipher->drop_callables();
  return 0;
}

}  // namespace

void bind_cipher(py::module_& module) {
  py::class_<IdCipher> type(
      module, "IdCipher", py::is_final(), py::custom_type_setup([](PyHeapTypeObject* heap_type) {
        PyTypeObject& made = heap_type->ht_type;
        made.tp_flags |= Py_TPFLAGS_HAVE_GC;
        made.tp_traverse = traverse_cipher;
        made.tp_clear = clear_cipher;
      }),
      "IdCipher(**properties)\n\n"
      "Gives ids a form that shows neither how many there are nor when they were made: for URLs and order numbers. "
      "The plain id\n"
      "stays the key in the database. A hidden id is no permission: check who asks. Reads layout, namespace, store and "
      "cipher_*\n"
      "of the properties; see docs/hidden-ids.md.\n"
      "keys: in place of cipher_key, a callable that returns (version, key) or (version, key, retired) for each key "
      "version; key is\n"
      "bytes, 16 to 64 of them.\n\n"
      "Reads the keys and compares them with the store; may block. Any number of threads may use a cipher, and so may "
      "a forked\n"
      "child.\n\n"
      "Raises InvalidValueError, ConfigFileError (the keys), FormatMismatchError (another key than the namespace began "
      "with),\n"
      "LayoutError, UnsupportedError (the module is missing), StoreError.");
  type.attr("__module__") = "idgen";
  type.def(py::init(&create_cipher))
      .def_static("open", &open_cipher, py::arg("toml_path"), py::arg("name"), py::pos_only(),
                  "open(toml_path, name, /, **overrides) -> IdCipher\n\n"
                  "A cipher from the table [name] of a TOML file; keywords override it. Raises as IdCipher.")
      .def_static("check", &check_keys,
                  "check(**properties) -> str\n\n"
                  "What describe() of such a cipher would say. Compares the keys with the store, and writes nothing.")
      .def("hide", method(&hide_one), py::arg("id"), py::pos_only(),
           "hide(id) -> int or bytes\n\nThe hidden form of an id, which is an int, or bytes as next_wide_for makes "
           "them: the form then has as\nmany bytes, and with on_full='widen' those of 16 bytes are hidden as well. "
           "Raises "
           "InvalidValueError:\nbits outside the layout, bytes of another length, hidden already, or all key versions "
           "are retired.")
      .def("reveal", method(&reveal_one), py::arg("hidden"), py::pos_only(),
           "reveal(hidden) -> int or bytes\n\nThe id of a hidden form, as hide. Raises InvalidValueError: bits outside "
           "the layout, bytes of another\nlength, not hidden, or an unknown key version.")
      .def("hide_each", method(&hide_each), py::arg("ids"), py::pos_only(),
           "hide_each(ids) -> list[bytes]\n\nThe hidden forms of several ids of bytes, as next_wide_for_each makes "
           "them. "
           "Raises as hide, TypeError\nfor anything but bytes.")
      .def("reveal_each", method(&reveal_each), py::arg("hidden"), py::pos_only(),
           "reveal_each(hidden) -> list[bytes]\n\nThe ids of several hidden forms, as hide_each. Raises as reveal.")
      .def(
          "hide_array",
          [](const py::object& self, const py::object& ids) {
            checked<IdCipher>(self);
            return module_named("idgen._arrays").attr("apply_cipher")(self, ids, false);
          },
          py::arg("ids"), py::pos_only(),
          "hide_array(ids) -> numpy.ndarray\n\n"
          "The hidden forms of a column of ids (numpy, pandas, array.array, list): a new int64 array, uint64 for an "
          "unsigned\n"
          "layout. Far faster than one by one. Needs numpy (ImportError). Raises as hide, TypeError for anything but "
          "integers.")
      .def(
          "reveal_array",
          [](const py::object& self, const py::object& hidden) {
            checked<IdCipher>(self);
            return module_named("idgen._arrays").attr("apply_cipher")(self, hidden, true);
          },
          py::arg("hidden"), py::pos_only(),
          "reveal_array(hidden) -> numpy.ndarray\n\nThe ids of a column of hidden forms, as hide_array. Raises as "
          "reveal.")
      .def("_apply", method(&apply_to_buffer), py::arg("ids"), py::arg("reveals"), py::pos_only(),
           "On a buffer of 8-byte integers, in place. Internal.")
      .def("reload", method(&reload_keys),
           "reload() -> None\n\nReads the keys again, for a new key version or one that was retired. Other threads go "
           "on meanwhile.\n"
           "After an error the cipher has the keys that it had, except archived ones. May block. Raises as IdCipher.")
      .def("describe", method(&describe_cipher),
           "describe() -> str\n\nHow ids are hidden, which key versions there are, and what is not protected, one item "
           "per line.")
      .def_property_readonly(
          "layout", [](const py::object& self) { return layout_named(checked<IdCipher>(self).layout_text()); },
          "The Layout of the ids.")
      .def("__repr__", method(&represent_cipher))
      .def("__reduce__", &refuse_cipher_pickle)
      .def("__reduce_ex__", &refuse_cipher_pickle);
}

}  // namespace idgen_python
