#include "callbacks.hpp"

#include <idgen/host.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "config.hpp"
#include "gil.hpp"
#include "idgen/sql.h"
#include "self.hpp"

namespace idgen_python {
namespace {

// The core cannot learn of an exception. Ctrl-C must not get lost: it is raised again as soon as Python continues.
void report(const py::object& callable) {
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    PyErr_Clear();
    PyErr_SetInterrupt();
  } else {
    PyErr_WriteUnraisable(callable.ptr());
  }
}

// What callbacks call, they call so: the callee may wait, and the interpreter may end meanwhile.
template <typename... Arguments>
py::object called(const py::handle& object, const char* name, const Arguments&... arguments) {
  const py::object callee = object.attr(name);
  const py::tuple given = py::make_tuple(arguments...);
  PyObject* const result = call_or_stay(callee.ptr(), given.ptr());
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

struct Clock {
  std::shared_ptr<Callable> now;
  std::shared_ptr<Callable> sleep;    // null: there is none
  std::atomic<std::int64_t> last{0};  // used when Python cannot be asked
};

std::int64_t clock_now(void* context) {
  auto* clock = static_cast<Clock*>(context);
  const WithGil python;
  if (!python) return clock->last;
  const py::object now = clock->now->get();
  if (now.is_none()) return clock->last;
  PyObject* result = call_or_stay(now.ptr(), nullptr);
  const long long ns = result != nullptr ? PyLong_AsLongLong(result) : -1;
  Py_XDECREF(result);
  if (ns == -1 && PyErr_Occurred() != nullptr) {
    report(now);
    return clock->last;
  }
  clock->last = ns;
  return ns;
}

void clock_sleep(void* context, std::uint64_t ns) {
  auto* clock = static_cast<Clock*>(context);
  const WithGil python;
  if (!python) return;
  const py::object sleep = clock->sleep->get();
  if (sleep.is_none()) return;
  PyObject* given = Py_BuildValue("(K)", static_cast<unsigned long long>(ns));
  PyObject* result = given != nullptr ? call_or_stay(sleep.ptr(), given) : nullptr;
  if (result == nullptr) report(sleep);
  Py_XDECREF(given);
  Py_XDECREF(result);
}

void clock_release(void* context) {
  const std::unique_ptr<Clock> clock(static_cast<Clock*>(context));
  const WithGil python;
  if (!python) return;  // the interpreter takes its objects with it
  clock->now->drop();
  if (clock->sleep) clock->sleep->drop();
}

// Cut at a character if it is longer.
void copy_text(const std::string& text, char* out, std::size_t size) {
  std::size_t length = std::min(text.size(), size - 1);
  if (length < text.size())
    while (length > 0 && (text[length] & 0xC0) == 0x80) --length;
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

template <typename Error>
void say(Error* error, const std::string& message) {
  copy_text(message, error->message, sizeof error->message);
}

template <typename Error>
idgen_status_t nobody_to_ask(Error* error) {
  say(error, "the store is reached through Python, which is ending; nothing was asked of it");
  return IDGEN_E_STORE_UNAVAILABLE;
}

// What a store has raised, in the core's terms. The sink decides, and limits the text.
idgen_status_t failure_of(const py::object& sink, py::error_already_set& raised, idgen_error_t* error) {
  if (raised.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();  // the store was asked by the main thread
  try {
    const auto [status, message, retry_after_ns, cause] =
        py::cast<std::tuple<std::int32_t, std::string, std::uint64_t, std::uint64_t>>(
            called(sink, "failure", raised.value()));
    say(error, message);
    error->retry_after_ns = retry_after_ns;
    error->cause = cause;
    return status;
  } catch (const std::exception&) {
    say(error, "the store raised an exception that has no text");
    return IDGEN_E_HOST;
  }
}

// The same of what a driver or a pool has raised: the core knows what its number or its SQLSTATE means.
idgen_status_t failure_of(const py::object& sink, py::error_already_set& raised, idgen_sql_error_t* error) {
  if (raised.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  try {
    const auto [status, code, sqlstate, message, retry_after_ns, cause] =
        py::cast<std::tuple<std::int32_t, std::uint32_t, std::string, std::string, std::uint64_t, std::uint64_t>>(
            called(sink, "sql_failure", raised.value()));
    say(error, message);
    copy_text(sqlstate, error->sqlstate, sizeof error->sqlstate);
    error->code = code;
    error->retry_after_ns = retry_after_ns;
    error->cause = cause;
    return status;
  } catch (const std::exception&) {
    say(error, "the driver raised an exception that has no text");
    return IDGEN_E_HOST;
  }
}

// Runs use(store), and turns what it raises into a status.
template <typename Error, typename Use>
idgen_status_t ask_store(void* context, Error* error, Use&& use) {
  const WithGil python;
  if (!python) return nobody_to_ask(error);
  const py::object sink = (*static_cast<std::shared_ptr<Callable>*>(context))->get();
  if (sink.is_none()) return nobody_to_ask(error);
  try {
    use(sink);
    return IDGEN_OK;
  } catch (py::error_already_set& raised) {
    return failure_of(sink, raised, error);
  } catch (const std::exception& failure) {
    say(error, failure.what());
    return IDGEN_E_HOST;
  }
}

idgen_status_t store_take(void* context, const idgen_segment_request_t* request, idgen_segment_t* segment,
                          idgen_error_t* error) {
  return ask_store(context, error, [&](const py::object& store) {
    const py::object granted = called(store, "segment_take", text_object(request->name_space),
                                      text_object(request->tag), request->count, request->above);
    if (PyLong_Check(granted.ptr()) == 0) {
      throw py::type_error("segment_take returned " + std::string(py::repr(granted)) +
                           "; it must return an int, the first number of the grant");
    }
    segment->first = PyLong_AsUnsignedLongLong(granted.ptr());
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  });
}

idgen_status_t store_return(void* context, const char* name_space, const char* tag, std::uint64_t last,
                            std::uint64_t unused, idgen_error_t* error) {
  return ask_store(context, error, [&](const py::object& store) {
    called(store, "segment_return", text_object(name_space), text_object(tag), last, unused);
  });
}

idgen_status_t store_format(void* context, const char* name_space, const char* format, char* found, std::size_t size,
                            idgen_error_t* error) {
  return ask_store(context, error, [&](const py::object& store) {
    copy_text(text_bytes(called(store, "namespace_format", text_object(name_space), text_object(format))), found, size);
  });
}

// A WorkerRow, whose types the sink has checked.
idgen_worker_row_t worker_row_of(const py::handle& found) {
  idgen_worker_row_t row{};
  row.struct_size = sizeof row;
  row.worker = py::cast<std::uint64_t>(found.attr("worker"));
  row.fence = py::cast<std::uint64_t>(found.attr("fence"));
  row.hw_ms = py::cast<std::int64_t>(found.attr("hw_ms"));
  row.lease_left_ms = py::cast<std::int64_t>(found.attr("lease_left_ms"));
  row.clock_ahead_ms = py::cast<std::int64_t>(found.attr("clock_ahead_ms"));
  row.store_now_ms = py::cast<std::int64_t>(found.attr("store_now_ms"));
  copy_text(text_bytes(found.attr("owner")), row.owner, sizeof row.owner);
  copy_text(text_bytes(found.attr("holder")), row.holder, sizeof row.holder);
  return row;
}

idgen_status_t worker_read(void* context, const char* name_space, std::uint64_t worker, idgen_worker_row_t* row,
                           idgen_error_t* error) {
  return ask_store(context, error, [&](const py::object& store) {
    *row = worker_row_of(called(store, "worker_read", text_object(name_space), worker));
  });
}

idgen_status_t worker_list(void* context, const char* name_space, idgen_worker_row_fn each, void* rows,
                           idgen_error_t* error) {
  return ask_store(context, error, [&](const py::object& store) {
    for (const py::handle found : called(store, "worker_list", text_object(name_space))) {
      const idgen_worker_row_t row = worker_row_of(found);
      each(rows, &row);
    }
  });
}

idgen_status_t worker_replace(void* context, const idgen_worker_change_t* change, std::uint32_t* changed,
                              idgen_error_t* error) {
  return ask_store(context, error, [&](const py::object& store) {
    *changed = py::cast<bool>(
        called(store, "worker_replace", text_object(change->name_space), change->worker, change->seen_fence,
               text_object(change->seen_owner), change->seen_hw_ms, change->fence, text_object(change->owner),
               change->hw_ms, text_object(change->holder), change->lease_ms, change->now_ms, change->max_lead_ms));
  });
}

idgen_status_t with_connection(void* context, idgen_sql_work_fn function, void* work, idgen_sql_error_t* error) {
  return ask_store(context, error, [&](const py::object& store) {
    called(store, "with_connection", py::cpp_function([=](const py::object& connection, std::int32_t dialect) {
             const WithoutGil may_wait_for_the_database;
             return function(work, connection.ptr(), dialect);
           }));
  });
}

// Of the connection that was passed to `function` above, whose caller keeps it.
py::object connection_of(void* connection) {
  return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(connection));
}

idgen_status_t sql_inside(void* context, void* connection, std::int32_t* inside, idgen_sql_error_t* error) {
  return ask_store(context, error, [&](const py::object&) {
    *inside = py::cast<std::int32_t>(called(connection_of(connection), "inside"));
  });
}

py::object sql_value(const idgen_sql_value_t& value) {
  const auto size = static_cast<Py_ssize_t>(value.size);
  if (value.kind == IDGEN_SQL_INTEGER) return py::int_(value.number);
  if (value.kind == IDGEN_SQL_BYTES) return py::bytes(value.text, static_cast<std::size_t>(size));
  return text_object(std::string(value.text, value.size));
}

// None, an int that fits, or bytes: as _drivers.cell() gives it.
void add_sql_row(const idgen_sql_statement_t* statement, const py::handle& cells) {
  std::vector<idgen_sql_value_t> values;
  for (const py::handle cell : cells) {
    idgen_sql_value_t& value = values.emplace_back();
    if (PyLong_Check(cell.ptr()) != 0) {
      value.kind = IDGEN_SQL_INTEGER;
      value.number = py::cast<std::int64_t>(cell);
    } else if (!cell.is_none()) {
      char* text = nullptr;
      Py_ssize_t size = 0;
      if (PyBytes_AsStringAndSize(cell.ptr(), &text, &size) != 0) throw py::error_already_set();
      value.kind = IDGEN_SQL_TEXT;
      value.text = text;
      value.size = static_cast<std::size_t>(size);
    }
  }
  statement->each(statement->rows, values.data(), values.size());
}

idgen_status_t sql_execute(void* context, void* connection, const idgen_sql_statement_t* statement,
                           idgen_sql_outcome_t* outcome, idgen_sql_error_t* error) {
  return ask_store(context, error, [&](const py::object&) {
    py::list values;
    for (std::size_t i = 0; i < statement->count; ++i) values.append(sql_value(statement->values[i]));
    const py::tuple answer = called(connection_of(connection), "execute", statement->sql, values,
                                    statement->each != nullptr, statement->is_alone != 0);
    if (statement->each != nullptr) {
      for (const py::handle row : answer[2]) add_sql_row(statement, row);
      return;
    }
    outcome->changed = py::cast<std::uint64_t>(answer[0]);
    outcome->last_insert_id = py::cast<std::uint64_t>(answer[1]);
  });
}

idgen_status_t sql_begin(void* context, void* connection, idgen_sql_error_t* error) {
  return ask_store(context, error, [&](const py::object&) { called(connection_of(connection), "begin"); });
}

idgen_status_t sql_commit(void* context, void* connection, idgen_sql_error_t* error) {
  return ask_store(context, error, [&](const py::object&) { called(connection_of(connection), "commit"); });
}

void sql_rollback(void* context, void* connection) {
  idgen_sql_error_t nobody_reads_it{};
  (void)ask_store(context, &nobody_reads_it, [&](const py::object&) { called(connection_of(connection), "rollback"); });
}

idgen_status_t driver_connect(void* context, const idgen_sql_address_t* address, void** connection,
                              idgen_sql_error_t* error) {
  return ask_store(context, error, [&](const py::object& drivers) {
    *connection =
        called(drivers, "connect", address->dialect, text_object(address->host), address->port,
               text_object(address->socket), text_object(address->user), text_object(address->password),
               text_object(address->database), address->tls, text_object(address->tls_ca), address->timeout_ms)
            .release()
            .ptr();
  });
}

void driver_close(void* context, void* connection) {
  idgen_sql_error_t nobody_reads_it{};
  (void)ask_store(context, &nobody_reads_it, [&](const py::object&) {
    called(py::reinterpret_steal<py::object>(static_cast<PyObject*>(connection)), "close");
  });
}

void log_line(void* context, std::int32_t level, const char* message) {
  const WithGil python;
  if (!python) return;
  const py::object log = (*static_cast<std::shared_ptr<Callable>*>(context))->get();
  if (log.is_none()) return;
  constexpr int kLoggingStep = 10;  // logging.INFO, WARNING, ERROR = 20, 30, 40
  PyObject* text =
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::char_traits<char>::length(message)), "replace");
  PyObject* given = text != nullptr ? Py_BuildValue("(iN)", (level + 1) * kLoggingStep, text) : nullptr;
  PyObject* result = given != nullptr ? call_or_stay(log.ptr(), given) : nullptr;
  if (result == nullptr) report(log);
  Py_XDECREF(given);
  Py_XDECREF(result);
}

// What keys= raised. The core asks for keys on the thread that makes or reloads a cipher, so it is found again there.
thread_local std::optional<py::error_already_set> raised_by_keys;

std::uint32_t key_version(const py::handle& number) {
  const unsigned long long version = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return static_cast<std::uint32_t>(std::min<unsigned long long>(version, UINT32_MAX));  // which the core refuses
}

idgen_status_t read_keys(void* context, idgen_key_fn each, void* keys, idgen_error_t* error) {
  const WithGil python;
  if (!python) return nobody_to_ask(error);
  const py::object callable = (*static_cast<std::shared_ptr<Callable>*>(context))->get();
  if (callable.is_none()) return nobody_to_ask(error);
  try {
    for (const py::handle row : callable()) {
      const py::sequence columns = py::reinterpret_borrow<py::sequence>(row);
      if (PySequence_Check(row.ptr()) == 0 || (columns.size() != 2 && columns.size() != 3))
        throw py::type_error("keys: needs (version, key) or (version, key, retired) for each key version");
      const py::object key = columns[1];
      Py_buffer view{};
      if (PyObject_GetBuffer(key.ptr(), &view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
      each(keys, key_version(py::object(columns[0])), static_cast<const std::uint8_t*>(view.buf),
           static_cast<std::size_t>(view.len), columns.size() == 3 && py::cast<bool>(columns[2]) ? 1 : 0);
      PyBuffer_Release(&view);
    }
    return IDGEN_OK;
  } catch (py::error_already_set& raised) {
    raised_by_keys.emplace(raised);
  } catch (const py::builtin_exception& failure) {
    failure.set_error();
    raised_by_keys.emplace();
  }
  say(error, "keys raised an exception");
  return IDGEN_E_HOST;
}

// Of a store, keys or a log.
void callable_release(void* context) {
  const std::unique_ptr<std::shared_ptr<Callable>> callable(static_cast<std::shared_ptr<Callable>*>(context));
  const WithGil python;
  if (python) (*callable)->drop();
}

}  // namespace

py::object Callable::get() const {
  const idgen::MutexLock lock(mutex_);
  return callable_ != nullptr ? py::reinterpret_borrow<py::object>(callable_) : py::none();
}

void Callable::drop() {
  PyObject* callable = nullptr;
  {
    const idgen::MutexLock lock(mutex_);
    std::swap(callable, callable_);
  }
  Py_XDECREF(callable);  // runs Python: not under the lock
}

void set_clock(idgen_config_t* config, const py::object& clock, Callables* callables) {
  if (PyCallable_Check(clock.ptr()) == 0) {
    throw py::type_error("clock: needs a callable that returns ns since 1970-01-01 UTC, such as time.time_ns, not " +
                         std::string(Py_TYPE(clock.ptr())->tp_name));
  }
  const py::object now = clock();
  const long long ns = PyLong_Check(now.ptr()) != 0 ? PyLong_AsLongLong(now.ptr()) : 0;
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (PyLong_Check(now.ptr()) == 0) {
    throw py::type_error("clock: returned " + std::string(py::repr(now)) +
                         "; it must return an int, ns since 1970-01-01 UTC, as time.time_ns does");
  }
  const py::object sleep = optional_attribute(clock, "sleep_ns");
  auto* const context = new Clock;
  context->now = std::make_shared<Callable>(clock);
  context->last = ns;
  idgen_clock_t table{};
  table.struct_size = sizeof table;
  table.now_ns = clock_now;
  table.release = clock_release;
  if (!sleep.is_none()) {
    table.sleep_ns = clock_sleep;
    context->sleep = std::make_shared<Callable>(sleep);
  }
  Callables mine{context->now};
  if (context->sleep) mine.push_back(context->sleep);
  CallError error;
  const idgen_status_t status = idgen_config_set_clock(config, &table, context, &error);
  if (status != IDGEN_OK) clock_release(context);
  check(status, error);
  callables->insert(callables->end(), mine.begin(), mine.end());
}

bool has_connections(const py::object& store) { return !optional_attribute(store, "_with_connection").is_none(); }

bool is_store(const py::object& value) {
  const auto has = [&](const char* name) { return !optional_attribute(value, name).is_none(); };
  return has_connections(value) || has("segment_take") || has("worker_read");
}

void set_store(idgen_config_t* config, const py::object& store, Callables* callables) {
  const auto mine = std::make_shared<Callable>(module_named("idgen._store").attr("Sink")(store));
  const auto has = [&](const char* name) { return !optional_attribute(store, name).is_none(); };
  idgen_store_t table{};
  table.struct_size = sizeof table;
  if (has("segment_take")) table.segment_take = store_take;
  if (has("segment_return")) table.segment_return = store_return;
  if (has("namespace_format")) table.namespace_format = store_format;
  if (has("worker_read")) table.worker_read = worker_read;
  if (has("worker_list")) table.worker_list = worker_list;
  if (has("worker_replace")) table.worker_replace = worker_replace;
  table.release = callable_release;
  auto* const context = new std::shared_ptr<Callable>(mine);
  CallError error;
  const idgen_status_t status = idgen_config_set_store(config, &table, context, &error);
  if (status != IDGEN_OK) callable_release(context);
  check(status, error);
  callables->push_back(mine);
}

void set_sql_store(idgen_config_t* config, const py::object& store, Callables* callables) {
  const auto mine = std::make_shared<Callable>(module_named("idgen._store").attr("Sink")(store));
  idgen_sql_connections_t table{};
  table.struct_size = sizeof table;
  table.with_connection = with_connection;
  table.in_transaction = sql_inside;
  table.execute = sql_execute;
  table.begin = sql_begin;
  table.commit = sql_commit;
  table.rollback = sql_rollback;
  table.release = callable_release;
  auto* const context = new std::shared_ptr<Callable>(mine);
  CallError error;
  const idgen_status_t status = idgen_config_set_sql_store(config, &table, context, &error);
  if (status != IDGEN_OK) callable_release(context);
  check(status, error);
  callables->push_back(mine);
}

void set_sql_driver(const py::object& drivers) {
  auto* const context = new std::shared_ptr<Callable>(std::make_shared<Callable>(drivers));
  idgen_sql_driver_t table{};
  table.struct_size = sizeof table;
  table.flags = IDGEN_SQL_DRIVER_FORKS;
  table.connect = driver_connect;
  table.close = driver_close;
  table.execute = sql_execute;
  table.begin = sql_begin;
  table.commit = sql_commit;
  table.rollback = sql_rollback;
  table.release = callable_release;
  CallError error;
  const idgen_status_t status = idgen_set_sql_driver(&table, context, &error);
  if (status != IDGEN_OK) callable_release(context);
  check(status, error);
}

void set_keys(idgen_config_t* config, const py::object& keys, Callables* callables) {
  if (PyCallable_Check(keys.ptr()) == 0) {
    throw py::type_error("keys: needs a callable that returns (version, key) for each key version, not " +
                         std::string(Py_TYPE(keys.ptr())->tp_name));
  }
  const auto mine = std::make_shared<Callable>(keys);
  auto* const context = new std::shared_ptr<Callable>(mine);
  idgen_keys_t table{};
  table.struct_size = sizeof table;
  table.read = read_keys;
  table.release = callable_release;
  CallError error;
  const idgen_status_t status = idgen_config_set_keys(config, &table, context, &error);
  if (status != IDGEN_OK) callable_release(context);
  check(status, error);
  callables->push_back(mine);
}

void raise_from_keys(bool failed) {
  if (!raised_by_keys) return;
  py::error_already_set raised = *raised_by_keys;
  raised_by_keys.reset();
  if (failed) throw raised;
}

void set_log(idgen_config_t* config, const py::object& log, Callables* callables) {
  if (PyCallable_Check(log.ptr()) == 0) {
    throw py::type_error("log: needs a callable(level, message), such as logging.getLogger(\"idgen\").log, not " +
                         std::string(Py_TYPE(log.ptr())->tp_name));
  }
  const auto mine = std::make_shared<Callable>(log);
  auto* const context = new std::shared_ptr<Callable>(mine);
  idgen_log_t table{};
  table.struct_size = sizeof table;
  table.write = log_line;
  table.release = callable_release;
  CallError error;
  const idgen_status_t status = idgen_config_set_log(config, &table, context, &error);
  if (status != IDGEN_OK) callable_release(context);
  check(status, error);
  callables->push_back(mine);
}

}  // namespace idgen_python
