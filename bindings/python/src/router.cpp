#include "router.hpp"

#include <idgen/route.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "buffers.hpp"
#include "config.hpp"
#include "gil.hpp"
#include "layout.hpp"
#include "self.hpp"

namespace idgen_python {
namespace {

// Owns an idgen_route_table_t. Immutable.
class RouteTable {
 public:
  explicit RouteTable(idgen_route_table_t* raw) : raw_(raw) {}
  ~RouteTable() { idgen_route_table_destroy(raw_); }
  RouteTable(const RouteTable&) = delete;
  RouteTable& operator=(const RouteTable&) = delete;
  const idgen_route_table_t* raw() const { return raw_; }

  idgen_route_table_info_t info() const {
    idgen_route_table_info_t info = IDGEN_ROUTE_TABLE_INFO_INIT;
    CallError error;
    check(idgen_route_table_info(raw_, &info, &error), error);
    return info;
  }
  std::string shard(std::size_t index) const {
    return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
      return idgen_route_table_shard_at(raw_, index, buffer, size, error);
    });
  }

 private:
  idgen_route_table_t* raw_;
};

// Owns an idgen_router_t, and the names of its shards as Python knows them: what is in the list never changes.
class Router {
 public:
  explicit Router(idgen_router_t* raw) : raw_(raw), route_type_(type_named("Route")) {}
  ~Router() { idgen_router_destroy(raw_); }
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  idgen_router_t* raw() const { return raw_; }

  idgen_router_stats_t stats() const {
    idgen_router_stats_t stats = IDGEN_ROUTER_STATS_INIT;
    CallError error;
    check(idgen_router_stats(raw_, &stats, &error), error);
    return stats;
  }
  // The name of a shard, or None.
  py::object name(std::uint32_t index) {
    if (index == IDGEN_NO_SHARD) return py::none();
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (index < names_.size()) return names_[index];
      }
      add_name();
    }
  }
  // An idgen.Route. Not through the class, whose __new__ is written in Python.
  py::object route(const py::tuple& members) const {
    const py::tuple arguments = py::make_tuple(members);
    PyObject* const made =
        PyTuple_Type.tp_new(reinterpret_cast<PyTypeObject*>(route_type_.ptr()), arguments.ptr(), nullptr);
    if (made == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
  }

 private:
  // Nothing of Python is made under the lock: the garbage collector could call back.
  void add_name() {
    std::size_t next = 0;
    {
      const std::lock_guard lock(mutex_);
      next = names_.size();
    }
    char name[129];
    std::size_t size = sizeof name;
    CallError error;
    check(idgen_router_shard_at(raw_, next, name, &size, &error), error);
    py::object object = text_object(name);
    const std::lock_guard lock(mutex_);
    if (names_.size() == next) names_.push_back(std::move(object));
  }

  idgen_router_t* raw_;
  const py::object route_type_;
  std::mutex mutex_;
  std::vector<py::object> names_;
};

std::uint32_t small_number(const py::object& number, const char* what) {
  const std::uint64_t value = id_bits(number);
  if (value > UINT32_MAX) throw_error(IDGEN_E_VALUE, std::string(what) + " " + std::to_string(value) + " is too large");
  return static_cast<std::uint32_t>(value);
}

std::string name_of(const py::object& shard) {
  if (!py::isinstance<py::str>(shard)) {
    throw py::type_error("a shard's name is a str, not " + std::string(Py_TYPE(shard.ptr())->tp_name));
  }
  std::string name = text_bytes(shard);
  if (name.find('\0') != std::string::npos) throw_error(IDGEN_E_VALUE, "the name of a shard has a NUL character");
  return name;
}

std::uint32_t index_of(const std::vector<std::string>& shards, const py::object& shard) {
  const std::string name = name_of(shard);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i] == name) return static_cast<std::uint32_t>(i);
  }
  throw_error(IDGEN_E_VALUE, "'" + name + "' is not one of the table's shards");
}

// A row of a list of tuples.
py::tuple row_of(const py::handle& row, std::size_t size, const char* what) {
  auto items = py::reinterpret_steal<py::tuple>(PySequence_Tuple(row.ptr()));
  if (!items) throw py::error_already_set();
  if (items.size() != size) throw py::type_error(std::string(what) + ", not " + std::string(py::repr(row)));
  return items;
}

std::unique_ptr<RouteTable> make_table(const py::object& version, const py::object& bits, const py::iterable& shards,
                                       const py::iterable& ranges, const py::iterable& moves) {
  std::vector<std::string> names;
  for (const py::handle shard : shards) names.push_back(name_of(py::reinterpret_borrow<py::object>(shard)));
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  std::vector<std::uint32_t> upto, owner, first, last, to, share;
  for (const py::handle range : ranges) {
    const py::tuple row = row_of(range, 2, "a range is (upto, shard)");
    upto.push_back(small_number(row[0], "upto"));
    owner.push_back(index_of(names, row[1]));
  }
  for (const py::handle move : moves) {
    const py::tuple row = row_of(move, 4, "a move is (first, last, to, share)");
    first.push_back(small_number(row[0], "first"));
    last.push_back(small_number(row[1], "last"));
    to.push_back(index_of(names, row[2]));
    share.push_back(small_number(row[3], "share"));
  }
  idgen_route_data_t data = IDGEN_ROUTE_DATA_INIT;
  data.version = id_bits(version);
  data.bits = small_number(bits, "bits");
  data.shards = pointers.data();
  data.shard_count = pointers.size();
  data.range_upto = upto.data();
  data.range_shard = owner.data();
  data.range_count = upto.size();
  data.move_first = first.data();
  data.move_last = last.data();
  data.move_to = to.data();
  data.move_share = share.data();
  data.move_count = first.size();
  idgen_route_table_t* raw = nullptr;
  CallError error;
  check(idgen_route_table_create(&data, &raw, &error), error);
  return std::make_unique<RouteTable>(raw);
}

std::unique_ptr<RouteTable> read_table(const py::object& toml_path) {
  const std::string path = path_bytes(toml_path, "toml_path");
  idgen_route_table_t* raw = nullptr;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_disk;
    status = idgen_route_table_read(path.c_str(), &raw, &error);
  }
  check(status, error);
  return std::make_unique<RouteTable>(raw);
}

void write_table(const RouteTable& table, const py::object& toml_path, const py::object& expected_version) {
  const std::string path = path_bytes(toml_path, "toml_path");
  const std::uint64_t expected = id_bits(expected_version);
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_disk;
    status = idgen_route_table_write(table.raw(), path.c_str(), expected, &error);
  }
  check(status, error);
}

std::string table_text(const RouteTable& table) {
  return read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_route_table_text(table.raw(), buffer, size, error);
  });
}

py::tuple shards_of(const RouteTable& table) {
  py::tuple names(table.info().shard_count);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = text_object(table.shard(i));
  return names;
}

py::tuple ranges_of(const RouteTable& table) {
  const py::object row = type_named("RouteRange");
  const py::tuple names = shards_of(table);
  py::tuple ranges(table.info().range_count);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    idgen_route_range_t range = IDGEN_ROUTE_RANGE_INIT;
    CallError error;
    check(idgen_route_table_range_at(table.raw(), i, &range, &error), error);
    ranges[i] = row(range.upto, names[range.shard]);
  }
  return ranges;
}

py::tuple moves_of(const RouteTable& table) {
  const py::object row = type_named("RouteMove");
  const py::tuple names = shards_of(table);
  py::tuple moves(table.info().move_count);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    idgen_route_move_t move = IDGEN_ROUTE_MOVE_INIT;
    CallError error;
    check(idgen_route_table_move_at(table.raw(), i, &move, &error), error);
    moves[i] = row(move.first, move.last, names[move.to], move.share);
  }
  return moves;
}

py::object tables_equal(const RouteTable& a, const py::object& other) {
  if (!py::isinstance<RouteTable>(other)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  return py::bool_(table_text(a) == table_text(checked<RouteTable>(other)));
}
py::ssize_t table_hash(const RouteTable& table) { return py::hash(py::str(table_text(table))); }
std::string table_shown(const RouteTable& table) {
  const idgen_route_table_info_t info = table.info();
  return "<idgen.RouteTable version " + std::to_string(info.version) + ", 2^" + std::to_string(info.bits) + " nodes, " +
         std::to_string(info.shard_count) + " shards>";
}
std::uint64_t table_version(const RouteTable& table) { return table.info().version; }
std::uint32_t table_bits(const RouteTable& table) { return table.info().bits; }

// ------------------------------------------------------------------------------------------------------------- routers

// The options of a router, with what they point to.
struct Options {
  idgen_router_options_t raw = IDGEN_ROUTER_OPTIONS_INIT;
  py::object layout, wide_layout;  // idgen.Layout objects, or None

  Options(const py::object& layout, const py::object& wide_layout, const std::string& gene)
      : layout(as_layout(layout)), wide_layout(as_layout(wide_layout)) {
    if (!this->layout.is_none()) raw.layout = checked<Layout>(this->layout).raw();
    if (!this->wide_layout.is_none()) raw.wide_layout = checked<Layout>(this->wide_layout).raw();
    raw.gene_rule = gene == "auto" ? IDGEN_GENE_AUTO : gene == "hash" ? IDGEN_GENE_HASH : IDGEN_GENE_MOD;
    if (gene != "auto" && gene != "hash" && gene != "mod") {
      throw_error(IDGEN_E_ARGUMENT, "gene is '" + gene + "'; allowed are auto, hash and mod");
    }
  }

 private:
  static py::object as_layout(const py::object& given) {
    if (given.is_none() || py::isinstance<Layout>(given)) return given;
    return py::type::of<Layout>()(given);
  }
};

std::unique_ptr<Router> make_router(const py::object& table, const py::object& layout, const py::object& wide_layout,
                                    const std::string& gene) {
  const Options options(layout, wide_layout, gene);
  idgen_router_t* raw = nullptr;
  CallError error;
  check(idgen_router_create(checked<RouteTable>(table).raw(), &options.raw, &raw, &error), error);
  return std::make_unique<Router>(raw);
}

std::unique_ptr<Router> open_router(const py::object& toml_path, const py::object& layout,
                                    const py::object& wide_layout, const std::string& gene, double reload_seconds) {
  Options options(layout, wide_layout, gene);
  const std::string path = path_bytes(toml_path, "toml_path");
  if (!(reload_seconds >= 0 && reload_seconds <= 366 * 86'400.0)) {
    throw_error(IDGEN_E_ARGUMENT, "reload_seconds is out of range; allowed: 0 (never) to a year");
  }
  options.raw.reload_ms = static_cast<std::uint64_t>(std::ceil(reload_seconds * 1000));
  idgen_router_t* raw = nullptr;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_disk;
    status = idgen_router_open(path.c_str(), &options.raw, &raw, &error);
  }
  check(status, error);
  return std::make_unique<Router>(raw);
}

const char* state_name(std::uint32_t state) {
  switch (state) {
    case IDGEN_ROUTE_OLD_FIRST:
      return "old_first";
    case IDGEN_ROUTE_NEW_FIRST:
      return "new_first";
    case IDGEN_ROUTE_ID_DECIDES:
      return "id_decides";
    default:
      return "settled";
  }
}

py::object shown(Router& router, const idgen_route_t& route) {
  return router.route(py::make_tuple(router.name(route.shard), router.name(route.second), state_name(route.state),
                                     route.node, route.version));
}

// The bytes of a bytes-like object.
class Bytes {
 public:
  explicit Bytes(const py::object& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  const char* data() const { return static_cast<const char*>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

py::object route_id(Router& router, const py::object& id) {
  idgen_route_t result = IDGEN_ROUTE_INIT;
  CallError error;
  if (PyObject_CheckBuffer(id.ptr()) != 0) {
    const Bytes bytes(id);
    idgen_wide_id_t wide = IDGEN_WIDE_ID_INIT;
    if (bytes.size() != 8 && bytes.size() != 16) {
      throw_error(IDGEN_E_VALUE, "an id in bytes has 8 or 16 of them, not " + std::to_string(bytes.size()));
    }
    wide.size = static_cast<std::uint32_t>(bytes.size());
    std::copy(bytes.data(), bytes.data() + bytes.size(), reinterpret_cast<char*>(wide.bytes));
    check(idgen_router_route_wide(router.raw(), &wide, &result, &error), error);
  } else {
    check(idgen_router_route(router.raw(), id_bits(id), &result, &error), error);
  }
  return shown(router, result);
}

py::object route_node(Router& router, const py::object& node) {
  idgen_route_t result = IDGEN_ROUTE_INIT;
  CallError error;
  check(idgen_router_route_node(router.raw(), small_number(node, "node"), &result, &error), error);
  return shown(router, result);
}

py::object route_owner(Router& router, const py::object& owner) {
  idgen_route_t result = IDGEN_ROUTE_INIT;
  CallError error;
  const auto ask = [&](const char* data, std::size_t size) {
    check(idgen_router_route_owner(router.raw(), data, size, &result, &error), error);
  };
  if (py::isinstance<py::str>(owner)) {
    const std::string utf8 = text_bytes(owner);
    ask(utf8.data(), utf8.size());
  } else if (PyObject_CheckBuffer(owner.ptr()) != 0) {
    const Bytes bytes(owner);
    ask(bytes.size() == 0 ? "" : bytes.data(), bytes.size());
  } else {
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(owner.ptr()));
    if (!number) throw py::error_already_set();
    const auto digits = py::cast<std::string>(py::str(number));
    ask(digits.data(), digits.size());
  }
  return shown(router, result);
}

// Writable memory of 4-byte integers, as many as wanted.
std::uint32_t* numbers_in(const Py_buffer& view, std::size_t wanted) {
  if (view.itemsize != sizeof(std::uint32_t) || static_cast<std::size_t>(view.len) != wanted * sizeof(std::uint32_t)) {
    throw py::type_error("results need arrays of 4-byte integers, as many as there are ids");
  }
  return static_cast<std::uint32_t*>(view.buf);
}

struct View {
  Py_buffer raw{};
  View(const py::object& object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &raw, flags) != 0) throw py::error_already_set();
  }
  ~View() { PyBuffer_Release(&raw); }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
};

// ids: 8 bytes each; nodes: 4.
void route_into(Router& router, const py::object& from, const py::object& shards, const py::object& seconds,
                bool are_nodes) {
  const View source(from, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT), first(shards, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE),
      second(seconds, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  const Py_ssize_t wanted = are_nodes ? 4 : 8;
  if (source.raw.itemsize != wanted) {
    throw py::type_error(std::string(are_nodes ? "nodes" : "ids") + " need " + std::to_string(wanted) + " bytes each");
  }
  const auto count = static_cast<std::size_t>(source.raw.len / wanted);
  std::uint32_t* const one = numbers_in(first.raw, count);
  std::uint32_t* const two = numbers_in(second.raw, count);
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_take_long;
    status = are_nodes ? idgen_router_route_node_batch(router.raw(), static_cast<const std::uint32_t*>(source.raw.buf),
                                                       count, one, two, &error)
                       : idgen_router_route_batch(router.raw(), static_cast<const std::uint64_t*>(source.raw.buf),
                                                  count, one, two, &error);
  }
  check(status, error);
}

py::tuple shards(Router& router) {
  py::tuple names(router.stats().shard_count);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = router.name(static_cast<std::uint32_t>(i));
  return names;
}

py::object router_stats(Router& router) {
  const idgen_router_stats_t now = router.stats();
  const auto when =
      now.last_failure_unix_ms == 0 ? py::object(py::none()) : py::object(py::int_(now.last_failure_unix_ms));
  const auto error = now.last_error[0] == '\0' ? py::object(py::none()) : py::object(text_object(now.last_error));
  return type_named("RouterStats")(now.version, now.bits, now.swaps, now.failures, when,
                                   idgen_status_name(now.last_status), error);
}

std::uint64_t version_in_force(Router& router) { return router.stats().version; }
std::uint32_t ring_bits(Router& router) { return router.stats().bits; }

std::unique_ptr<RouteTable> table(Router& router) {
  idgen_route_table_t* raw = nullptr;
  CallError error;
  check(idgen_router_table(router.raw(), &raw, &error), error);
  return std::make_unique<RouteTable>(raw);
}

void swap_table(Router& router, const py::object& next, const py::object& expected_version) {
  const std::uint64_t expected = id_bits(expected_version);
  CallError error;
  check(idgen_router_swap(router.raw(), checked<RouteTable>(next).raw(), expected, &error), error);
}

void reload(Router& router) {
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_disk;
    status = idgen_router_reload(router.raw(), &error);
  }
  check(status, error);
}

auto in_arrays(const char* function) {
  return [function](const py::object& self, const py::object& values) {
    return module_named("idgen._routing").attr(function)(self, values);
  };
}

void bind_table(py::module_& module) {
  py::class_<RouteTable> type(
      module, "RouteTable", py::is_final(),
      "RouteTable(version, bits, shards, ranges, moves=())\n\n"
      "Which shard has which nodes of a ring of 2**bits. shards: names. ranges: (upto, shard), ascending; the last "
      "upto\n"
      "is 2**bits - 1. moves: (first, last, to, share) for nodes in cut-over, share in ten-thousandths. Immutable.\n\n"
      "Raises InvalidValueError for a gap, a wrong order, overlapping moves and the like.");
  type.attr("__module__") = "idgen";
  type.def(py::init(&make_table), py::arg("version"), py::arg("bits"), py::arg("shards"), py::arg("ranges"),
           py::arg("moves") = py::tuple())
      .def_static("read", &read_table, py::arg("toml_path"),
                  "read(toml_path) -> RouteTable\n\nFrom a TOML file. Raises ConfigFileError.")
      .def("write", method(&write_table), py::arg("toml_path"), py::arg("expected_version"),
           "write(toml_path, expected_version) -> None\n\n"
           "Replaces the file if the table in it has this version; 0: there must be no file yet. Raises StaleError if "
           "somebody\nelse was faster.")
      .def_property_readonly("version", method(&table_version))
      .def_property_readonly("bits", method(&table_bits))
      .def_property_readonly("shards", method(&shards_of), "tuple[str, ...]")
      .def_property_readonly("ranges", method(&ranges_of), "tuple[RouteRange, ...], in the order of the nodes.")
      .def_property_readonly("moves", method(&moves_of), "tuple[RouteMove, ...], in the order of the nodes.")
      .def("__str__", method(&table_text), "The content of its file.")
      .def("__repr__", method(&table_shown))
      .def("__eq__", method(&tables_equal))
      .def("__hash__", method(&table_hash));
}

}  // namespace

void bind_router(py::module_& module) {
  bind_table(module);
  py::class_<Router> type(
      module, "Router", py::is_final(),
      "Router(table, layout=None, wide_layout=None, gene='auto')\n\n"
      "The table of routes in force. layout: of ids up to 64 bits, wide_layout: of ids of 16 bytes; an idgen.Layout or "
      "its\ntext. gene: how an owner's gene is made, 'hash', 'mod' or 'auto': as for a generator with this layout. Any "
      "number of\nthreads may use a router. Router.open makes one of a file.\n\n"
      "Raises InvalidValueError for a layout without a gene, or with one that is narrower than the ring.");
  type.attr("__module__") = "idgen";
  type.def(py::init(&make_router), py::arg("table"), py::arg("layout") = py::none(),
           py::arg("wide_layout") = py::none(), py::arg("gene") = "auto")
      .def_static("open", &open_router, py::arg("toml_path"), py::arg("layout") = py::none(),
                  py::arg("wide_layout") = py::none(), py::arg("gene") = "auto", py::arg("reload_seconds") = 1.0,
                  "open(toml_path, layout=None, wide_layout=None, gene='auto', reload_seconds=1.0) -> Router\n\n"
                  "A router of a TOML file, which it looks at every reload_seconds (0: only on reload()). A file that "
                  "is missing,\nhalf written, malformed or older leaves the table in force: stats() says so. Raises "
                  "ConfigFileError.")
      .def(
          "route", method(&route_id), py::arg("id"), py::pos_only(),
          "route(id) -> Route\n\nWhere an id belongs: an int, or 8 or 16 bytes, big-endian. Write to .shard; read from "
          ".shard, and what is not\nfound there from .second, if that is not None. Raises InvalidValueError, "
          "UnsupportedError (no layout for such ids).")
      .def("route_node", method(&route_node), py::arg("node"), py::pos_only(),
           "route_node(node) -> Route\n\nBy a node: the low bits of a gene.")
      .def("route_owner", method(&route_owner), py::arg("owner"), py::pos_only(),
           "route_owner(owner) -> Route\n\nBy an owner, from whom ids have their gene: int, str or bytes; 42 and '42' "
           "are one.")
      .def("route_batch", in_arrays("route_batch"), py::arg("ids"), py::pos_only(),
           "route_batch(ids) -> tuple[array, array]\n\nThe shards of many ids, all by one table, and where to look "
           "next: two array('I') of indexes into .shards;\nNO_SHARD for none. ids: an array of 8-byte integers, or "
           "any iterable of ints.")
      .def("route_array", in_arrays("route_array"), py::arg("ids"), py::pos_only(),
           "route_array(ids) -> tuple[numpy.ndarray, numpy.ndarray]\n\nroute_batch for a column of ids (numpy, pandas, "
           "array.array, list), in uint32. Needs numpy (ImportError).")
      .def("route_nodes", in_arrays("route_nodes"), py::arg("nodes"), py::pos_only(),
           "route_nodes(nodes) -> tuple[array, array]\n\nroute_batch for nodes.")
      .def("_route_into", method(&route_into), "Internal.")
      .def("swap", method(&swap_table), py::arg("table"), py::arg("expected_version"),
           "swap(table, expected_version) -> None\n\nPuts a table into force if the one in force has this version. "
           "Raises StaleError naming both versions.")
      .def("reload", method(&reload),
           "reload() -> None\n\nLooks at the file now. Raises what is wrong with it; the table in force stays.")
      .def("stats", method(&router_stats),
           "stats() -> RouterStats\n\nWhat is in force, and how the latest look at the file went.")
      .def_property_readonly("version", method(&version_in_force), "Of the table in force.")
      .def_property_readonly("bits", method(&ring_bits), "The ring has 2**bits nodes.")
      .def_property_readonly("shards", method(&shards),
                             "tuple[str, ...]: all shards that the router has ever known. An index keeps its meaning.")
      .def_property_readonly("table", method(&table), "The RouteTable in force.");
  module.attr("NO_SHARD") = py::int_(IDGEN_NO_SHARD);
}

}  // namespace idgen_python
