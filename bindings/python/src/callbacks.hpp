// Clocks, stores, logs and keys written in Python, called by the core from any of its threads.
#pragma once

#include <memory>
#include <vector>

#include "errors.hpp"
#include "idgen/mutex.hpp"

namespace idgen_python {

// A callable, or a store, held by both the core and the generator's object: the core calls it from any thread, the
// object shows it to Python's garbage collector. It owns one reference, which either side can end while the other
// continues.
class Callable {
 public:
  explicit Callable(const py::object& callable) : callable_(callable.inc_ref().ptr()) {}
  Callable(const Callable&) = delete;
  Callable& operator=(const Callable&) = delete;

  // With the GIL. None after drop().
  py::object get() const;
  void drop() IDGEN_RUNS_HOST_CODE;
  // tp_traverse's part. Without the lock: the collector runs while nothing else of Python does.
  int traverse(visitproc visit, void* arg) const IDGEN_UNCHECKED_LOCKS {
    Py_VISIT(callable_);
    return 0;
  }

 private:
  mutable idgen::Mutex mutex_;  // for builds without a GIL: taking a reference must not race with drop()
  PyObject* callable_ IDGEN_GUARDED_BY(mutex_);
};
using Callables = std::vector<std::shared_ptr<Callable>>;

// Hands a Python clock to the configuration: a callable without arguments that returns ns since 1970-01-01 UTC as an
// int; a method sleep_ns(ns) is used for waiting if there is one. Called once here, so that a broken clock fails at
// once. `callables` gets what the core now calls.
void set_clock(idgen_config_t* config, const py::object& clock, Callables* callables);

// Whether it is a store of the program's own; and of these, one over SQL connections.
bool is_store(const py::object& value);
bool has_connections(const py::object& store);

// Hands over a Python store: an object with some of the methods of idgen.Store and idgen.WorkerStore.
void set_store(idgen_config_t* config, const py::object& store, Callables* callables);

// Hands over Python's SQL connections: an idgen.sql.SqlStore.
void set_sql_store(idgen_config_t* config, const py::object& store, Callables* callables);

// Hands over what opens stores by URL over the program's drivers where their modules are absent: an object with
// connect() and sql_failure(). For the process.
void set_sql_driver(const py::object& drivers);

// Hands over Python's keys for hidden ids: a callable that returns (version, key) or (version, key, retired) for each
// key version, key as bytes.
void set_keys(idgen_config_t* config, const py::object& keys, Callables* callables);
// Throws what that callable has raised on this thread since the last call, if `failed`; forgets it otherwise.
void raise_from_keys(bool failed);

// Hands over a Python log: callable(level, message) with the levels of the logging module, so that Logger.log fits.
void set_log(idgen_config_t* config, const py::object& log, Callables* callables);

}  // namespace idgen_python
