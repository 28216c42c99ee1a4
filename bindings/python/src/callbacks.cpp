#include "callbacks.hpp"

#include <atomic>
#include <memory>
#include <string>

#include "gil.hpp"

namespace idgen_python {
namespace {

// The core has no way to hear of an exception. Ctrl-C must not get lost in it: it is raised again as soon as Python
// goes on.
void report(PyObject* callable) {
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    PyErr_Clear();
    PyErr_SetInterrupt();
  } else {
    PyErr_WriteUnraisable(callable);
  }
}

struct Clock {
  PyObject* now = nullptr;
  PyObject* sleep = nullptr;
  std::atomic<std::int64_t> last{0};  // given when Python cannot be asked
};

std::int64_t clock_now(void* context) {
  auto* clock = static_cast<Clock*>(context);
  const WithGil python;
  if (!python) return clock->last;
  PyObject* result = PyObject_CallNoArgs(clock->now);
  const long long ns = result != nullptr ? PyLong_AsLongLong(result) : -1;
  Py_XDECREF(result);
  if (ns == -1 && PyErr_Occurred() != nullptr) {
    report(clock->now);
    return clock->last;
  }
  clock->last = ns;
  return ns;
}

void clock_sleep(void* context, std::uint64_t ns) {
  auto* clock = static_cast<Clock*>(context);
  const WithGil python;
  if (!python) return;
  PyObject* result = PyObject_CallFunction(clock->sleep, "K", static_cast<unsigned long long>(ns));
  if (result == nullptr) report(clock->sleep);
  Py_XDECREF(result);
}

void clock_release(void* context) {
  auto* clock = static_cast<Clock*>(context);
  const WithGil python;
  if (!python) return;  // the interpreter takes its objects with it
  Py_XDECREF(clock->now);
  Py_XDECREF(clock->sleep);
  delete clock;
}

void log_line(void* context, std::int32_t level, const char* message) {
  const WithGil python;
  if (!python) return;
  auto* log = static_cast<PyObject*>(context);
  constexpr int kLoggingStep = 10;  // logging.INFO, WARNING, ERROR = 20, 30, 40
  PyObject* text =
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::char_traits<char>::length(message)), "replace");
  PyObject* result = text != nullptr ? PyObject_CallFunction(log, "iO", (level + 1) * kLoggingStep, text) : nullptr;
  if (result == nullptr) report(log);
  Py_XDECREF(text);
  Py_XDECREF(result);
}

void log_release(void* context) {
  const WithGil python;
  if (python) Py_DECREF(static_cast<PyObject*>(context));
}

}  // namespace

void set_clock(idgen_config_t* config, const py::object& clock) {
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
  auto context = std::make_unique<Clock>();
  context->last = ns;
  idgen_clock_t table{};
  table.struct_size = sizeof table;
  table.now_ns = clock_now;
  table.release = clock_release;
  const py::object sleep = py::getattr(clock, "sleep_ns", py::none());
  if (!sleep.is_none()) table.sleep_ns = clock_sleep;
  CallError error;
  check(idgen_config_set_clock(config, &table, context.get(), &error), error);
  context->now = clock.inc_ref().ptr();
  context->sleep = sleep.is_none() ? nullptr : sleep.inc_ref().ptr();
  static_cast<void>(context.release());  // the core's now
}

void set_log(idgen_config_t* config, const py::object& log) {
  if (PyCallable_Check(log.ptr()) == 0) {
    throw py::type_error("log: needs a callable(level, message), such as logging.getLogger(\"idgen\").log, not " +
                         std::string(Py_TYPE(log.ptr())->tp_name));
  }
  CallError error;
  check(idgen_config_set_log(config, log_line, log.ptr(), log_release, &error), error);
  log.inc_ref();
}

}  // namespace idgen_python
