#include "tables.hpp"

#include <idgen/admin.h>

#include <new>
#include <string>
#include <vector>

#include "callbacks.hpp"
#include "config.hpp"
#include "gil.hpp"
#include "layout.hpp"
#include "owners.hpp"
#include "self.hpp"

namespace idgen_python {
namespace {

struct Encoding {
  const char* name;
  std::int32_t number;
};
constexpr Encoding kEncodings[] = {
    {"decimal", IDGEN_TEXT_DECIMAL}, {"hex", IDGEN_TEXT_HEX},       {"crockford", IDGEN_TEXT_CROCKFORD},
    {"base58", IDGEN_TEXT_BASE58},   {"base62", IDGEN_TEXT_BASE62},
};

std::int32_t encoding_number(const std::string& name) {
  std::string names;
  for (const Encoding& encoding : kEncodings) {
    if (name == encoding.name) return encoding.number;
    names += names.empty() ? encoding.name : std::string(", ") + encoding.name;
  }
  throw_error(IDGEN_E_ARGUMENT, "no encoding is named '" + name + "'; there are " + names);
}

std::string format_id(const py::object& id, const std::string& encoding) {
  char text[64];
  std::size_t size = sizeof text;
  CallError error;
  if (idgen_wide_id_t wide; wide_from(id, wide)) {
    check(idgen_format_wide(&wide, encoding_number(encoding), text, &size, &error), error);
    return text;
  }
  check(idgen_format(id_bits(id), encoding_number(encoding), text, &size, &error), error);
  return text;
}

std::uint64_t parse_id(const std::string& text, const std::string& encoding) {
  std::uint64_t id = 0;
  CallError error;
  check(idgen_parse(text.data(), text.size(), encoding_number(encoding), &id, &error), error);
  return id;
}

py::bytes parse_wide_id(const std::string& text, const std::string& encoding) {
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  CallError error;
  check(idgen_parse_wide(text.data(), text.size(), encoding_number(encoding), &id, &error), error);
  return wide_object(id);
}

py::tuple properties() {
  const py::object row = type_named("Property");
  py::tuple rows(idgen_property_count());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    idgen_property_t property = IDGEN_PROPERTY_INIT;
    CallError error;
    check(idgen_property_at(i, &property, &error), error);
    rows[i] = row(property.name, property.type, property.default_value, property.range, property.unit, property.help,
                  property.since);
  }
  return rows;
}

py::tuple statuses() {
  const py::object row = type_named("Status");
  py::tuple rows(idgen_status_count());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const idgen_status_t status = idgen_status_at(i);
    rows[i] =
        row(status, idgen_status_name(status), idgen_status_message(status), idgen_status_is_retryable(status) != 0);
  }
  return rows;
}

py::tuple config_names(const py::object& toml_path) {
  const std::string path = path_bytes(toml_path, "toml_path");
  const std::string lines = read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    return idgen_config_names(path.c_str(), buffer, size, error);
  });
  py::list names;
  for (std::size_t start = 0; start < lines.size();) {
    const std::size_t end = lines.find('\n', start);
    names.append(text_object(lines.substr(start, end - start)));
    start = end == std::string::npos ? lines.size() : end + 1;
  }
  return py::tuple(names);
}

py::object segment_info(const idgen_segment_info_t& info) {
  return type_named("SegmentInfo")(info.max_id, info.grants, info.updated_unix_ms, info.step, info.rate,
                                   text_object(info.holder));
}

void change_all(idgen_status_t (*change)(idgen_error_t*)) {
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_stores;
    status = change(&error);
  }
  check(status, error);
}

void quiesce() { change_all(idgen_quiesce); }
void reset() { change_all(idgen_reset); }

template <class Creation>
void create(const Creation& creation, const py::kwargs& properties) {
  Config config;
  config.set(properties);
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = creation(config.raw(), &error);
  }
  check(status, error);
}

void store_create(const py::kwargs& properties) { create(idgen_store_create, properties); }

void segment_create(const py::object& above, const py::kwargs& properties) {
  const std::uint64_t number = id_bits(above);
  create([&](const idgen_config_t* config,
             idgen_error_t* error) { return idgen_segment_create_above(config, number, error); },
         properties);
}

using SegmentCall = idgen_status_t (*)(const idgen_config_t*, idgen_segment_info_t*, idgen_error_t*);

py::object call_for_segment(SegmentCall call, const py::kwargs& properties) {
  Config config;
  config.set(properties);
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = call(config.raw(), &info, &error);
  }
  check(status, error);
  return segment_info(info);
}

py::object segment_show(const py::kwargs& properties) { return call_for_segment(idgen_segment_show, properties); }

py::object segment_retire(const py::kwargs& properties) { return call_for_segment(idgen_segment_retire, properties); }

using SegmentChange = idgen_status_t (*)(const idgen_config_t*, std::uint64_t, idgen_segment_info_t*, idgen_error_t*);

py::object change_segment(SegmentChange change, const py::object& number, const py::kwargs& properties) {
  Config config;
  config.set(properties);
  const std::uint64_t value = id_bits(number);
  idgen_segment_info_t info = IDGEN_SEGMENT_INFO_INIT;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = change(config.raw(), value, &info, &error);
  }
  check(status, error);
  return segment_info(info);
}

py::object segment_advance(const py::object& to, const py::kwargs& properties) {
  return change_segment(idgen_segment_advance, to, properties);
}

py::object segment_set_step(const py::object& step, const py::kwargs& properties) {
  return change_segment(idgen_segment_set_step, step, properties);
}

void refuse_nul(const char* what, const std::string& name) {
  if (name.find('\0') != std::string::npos) {
    throw_error(IDGEN_E_ARGUMENT, std::string(what) + ": the name has a NUL character");
  }
}

std::uint64_t segment_max_of(const std::string& table, const std::string& column, const py::kwargs& properties) {
  Config config;
  config.set(properties);
  refuse_nul("table", table);
  refuse_nul("column", column);
  std::uint64_t max_id = 0;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = idgen_segment_max_of(config.raw(), table.c_str(), column.c_str(), &max_id, &error);
  }
  check(status, error);
  return max_id;
}

py::str segment_statements(const py::kwargs& properties) {
  Config config;
  config.set(properties);
  return text_object(read_text([&](char* buffer, std::size_t* size, idgen_error_t* error) {
    const WithoutGil may_load_the_module_of_the_store;
    return idgen_segment_statements(config.raw(), buffer, size, error);
  }));
}

struct Row {
  std::string name_space;
  std::string tag;
  idgen_segment_info_t info;
};

struct Rows {
  std::vector<Row> rows;
  bool out_of_memory = false;  // an exception must not pass through the core
};

void add_row(void* context, const char* name_space, const char* tag, const idgen_segment_info_t* info) {
  auto* rows = static_cast<Rows*>(context);
  try {
    if (!rows->out_of_memory) rows->rows.push_back({name_space, tag, *info});
  } catch (const std::bad_alloc&) {
    rows->out_of_memory = true;
  }
}

py::list segment_list(const py::kwargs& properties) {
  Config config;
  config.set(properties);
  Rows found;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = idgen_segment_list(config.raw(), add_row, &found, &error);
  }
  check(status, error);
  if (found.out_of_memory) throw std::bad_alloc();
  const py::object type = type_named("SegmentRow");
  py::list rows;
  for (const Row& row : found.rows) {
    rows.append(type(text_object(row.name_space), text_object(row.tag), row.info.max_id, row.info.grants,
                     row.info.updated_unix_ms, row.info.step, row.info.rate, text_object(row.info.holder)));
  }
  return rows;
}

struct Workers {
  std::vector<idgen_worker_info_t> rows;
  bool out_of_memory = false;
};

void add_worker(void* context, const idgen_worker_info_t* info) {
  auto* workers = static_cast<Workers*>(context);
  try {
    if (!workers->out_of_memory) workers->rows.push_back(*info);
  } catch (const std::bad_alloc&) {
    workers->out_of_memory = true;
  }
}

py::list list_workers(const py::kwargs& properties) {
  Config config;
  config.set(properties);
  Workers found;
  CallError error;
  idgen_status_t status = IDGEN_OK;
  {
    const WithoutGil may_wait_for_the_store;
    status = idgen_worker_list(config.raw(), add_worker, &found, &error);
  }
  check(status, error);
  if (found.out_of_memory) throw std::bad_alloc();
  const py::object type = type_named("WorkerInfo");
  py::list rows;
  for (const idgen_worker_info_t& row : found.rows) {
    const py::object ahead = row.clock_ahead_ms == INT64_MIN ? py::object(py::none()) : py::int_(row.clock_ahead_ms);
    rows.append(type(row.worker, row.fence, row.hw_unix_ms, ahead, row.is_live != 0, text_object(row.holder)));
  }
  return rows;
}

}  // namespace

void bind_tables(py::module_& module) {
  module.def(
      "version", [] { return std::string(idgen_version_string()); }, "version() -> str\n\nOf the core.");
  module.def("format_id", &format_id, py::arg("id"), py::arg("encoding"),
             "format_id(id, encoding) -> str\n\n"
             "The id as text: 'decimal', 'hex' (16 digits), 'crockford' (13), 'base58' (11) or 'base62' (11). All\n"
             "but 'decimal' have a fixed width and sort like the ids. Decimal texts of different lengths do not.\n"
             "bytes of 16: 39, 32, 26, 22 and 22 digits.");
  module.def("parse_wide_id", &parse_wide_id, py::arg("text"), py::arg("encoding"),
             "parse_wide_id(text, encoding) -> bytes\n\n"
             "The id, 8 or 16 bytes: the length of the text says which. Raises as parse_id.");
  module.def("parse_id", &parse_id, py::arg("text"), py::arg("encoding"),
             "parse_id(text, encoding) -> int\n\n"
             "The inverse of format_id. Raises TextError, with the position, for a foreign digit, an overflow or a "
             "wrong length.");
  module.def("properties", &properties,
             "properties() -> tuple[Property, ...]\n\nAll properties that Generator and TOML files take.");
  module.def("statuses", &statuses, "statuses() -> tuple[Status, ...]\n\nAll statuses that Error.status can have.");
  module.def("config_names", &config_names, py::arg("toml_path"),
             "config_names(toml_path) -> tuple[str, ...]\n\nThe generators in a TOML file, in its order. Raises "
             "ConfigFileError.");
  module.def("_is_store", &is_store, py::arg("value"), py::pos_only(),
             "_is_store(value, /) -> bool\n\nWhether the property store takes it as a store of the program's own.");
  module.def("store_create", &store_create,
             "store_create(**properties) -> None\n\n"
             "Makes the store if it is missing, without a tag: all that snowflakes need. An existing store is left\n"
             "as it is. On a server it makes the tables of segments and workers. Call it once, at setup,\n"
             "and leave the property store_create off: a lost store is then an error. Reads store, directory and\n"
             "store_timeout. May block.\n\n"
             "Raises StoreMissingError (the store is lost: its lock file exists without the database),\n"
             "StoreRegressedError (an older copy replaced it), UnsupportedError (a buffer, which is made with its\n"
             "first tag; a store of the program's own), StoreError.");
  module.def("quiesce", &quiesce,
             "quiesce() -> None\n\n"
             "Prepares this process for being copied: by a checkpoint, a snapshot of its machine, or a clone. All\n"
             "generators give back what they have reserved, and their workers, and close their connections. Until\n"
             "reset(), calls for ids wait, up to wait_max, and raise StoreUnavailableError. Other threads should draw\n"
             "no ids meanwhile: one that was drawn before and not yet returned is returned in each copy. A store that\n"
             "is copied too, such as a SQLite file on the machine's disk, grants the same numbers again in each copy:\n"
             "use one outside. May block on the stores.");
  module.def(
      "reset", &reset,
      "reset() -> None\n\n"
      "To be called in each copy, and in the original: nothing that was reserved before is issued any more, and\n"
      "each generator starts over with its next call, as another owner. In a copy that was made without\n"
      "quiesce() nothing is given back, because it is also the original's, and a fixed worker is refused\n"
      "(WorkerBusyError) while the original lives. May block on the stores.");
  module.def("segment_create", &segment_create, py::kw_only(), py::arg("above") = 0,
             "segment_create(*, above=0, **properties) -> None\n\n"
             "Makes the tag, and the store if it is missing. The first id is above `above`, in one step: a tag that\n"
             "takes over ids which are in use can at no moment issue a lower one. Reads store, namespace, tag and\n"
             "directory. May block. Raises TagExistsError, StoreError, ConfigError above 2**63 - 1.");
  module.def("segment_show", &segment_show,
             "segment_show(**properties) -> SegmentInfo\n"
             "\n"
             "The state of a tag. May block. Raises TagUnknownError, StoreError.");
  module.def("segment_list", &segment_list,
             "segment_list(**properties) -> list[SegmentRow]\n\nAll tags of all namespaces of a store, in the order of "
             "their names. Reads store and directory. May block. Raises\nStoreError.");
  module.def("worker_list", &list_workers,
             "worker_list(**properties) -> list[WorkerInfo]\n\nAll workers of a namespace that anybody has had, by "
             "number. Reads store, directory and namespace. May block. Raises\nStoreError.");
  module.def("segment_advance", &segment_advance, py::arg("to"),
             "segment_advance(to, **properties) -> SegmentInfo\n\n"
             "Moves a tag up to at least `to`, so that the next id is above it; never lowers it. May block. Raises\n"
             "as segment_show.");
  module.def("segment_retire", &segment_retire,
             "segment_retire(**properties) -> SegmentInfo\n\n"
             "Ends a tag: takes all numbers that are left, so that nobody draws from it again. Returns the state\n"
             "before: what goes on elsewhere begins above its max_id. Running generators still issue what they hold.\n"
             "Cannot be undone. May block, and tries for wait_max while others draw. Raises as segment_show,\n"
             "ExhaustedError if none is left, and StoreUnavailableError if others drew without a pause.");
  module.def("segment_set_step", &segment_set_step, py::arg("step"),
             "segment_set_step(step, **properties) -> SegmentInfo\n\n"
             "Sets how many numbers all generators of a tag reserve at once, from their next range on; 0 leaves it\n"
             "to each generator's segment_step. May block. Raises as segment_show, and ConfigError above 1000000000.");
  module.def("segment_max_of", &segment_max_of, py::arg("table"), py::arg("column"),
             "segment_max_of(table, column, **properties) -> int\n\n"
             "The largest number that may be in use of a column of any table in the store's database, 0 to 2**63 - 1:\n"
             "in a row, or issued by its AUTO_INCREMENT or sequence to rows that are deleted. A tag that takes over\n"
             "from there begins above it. The table may be\n"
             "SCHEMA.TABLE. Reads store and module_path. May block. Raises UnsupportedError (no SQL server),\n"
             "InvalidValueError (no such table or column, or its largest number is out of range), StoreError.");
  module.def("segment_statements", &segment_statements,
             "segment_statements(**properties) -> str\n\n"
             "What segment_create would run, the table's statements included, as SQL or commands for a migration; ''\n"
             "if there is nothing to run. Reads what segment_create reads. Connects to no server, changes nothing,\n"
             "does not block. Raises UnsupportedError (a store of the program's own; the module is missing),\n"
             "InvalidValueError.");
}

}  // namespace idgen_python
