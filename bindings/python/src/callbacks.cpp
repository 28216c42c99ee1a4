#include "callbacks.hpp"

#include <atomic>
#include <memory>
#include <string>

#include "gil.hpp"

namespace idgen_python {
namespace {

// The core has no way to hear of an exception. Ctrl-C must not get lost in it: it is raised again as soon as Python
// goes on.
void report(const py::object& callable) {
  if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    PyErr_Clear();
    PyErr_SetInterrupt();
  } else {
    PyErr_WriteUnraisable(callable.ptr());
  }
}

struct Clock {
  std::shared_ptr<Callable> now;
  std::shared_ptr<Callable> sleep;    // null: there is none
  std::atomic<std::int64_t> last{0};  // given when Python cannot be asked
};

std::int64_t clock_now(void* context) {
  auto* clock = static_cast<Clock*>(context);
  const WithGil python;
  if (!python) return clock->last;
  const py::object now = clock->now->get();
  if (now.is_none()) return clock->last;
  PyObject* result = PyObject_CallNoArgs(now.ptr());
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
  PyObject* result = PyObject_CallFunction(sleep.ptr(), "K", static_cast<unsigned long long>(ns));
  if (result == nullptr) report(sleep);
  Py_XDECREF(result);
}

void clock_release(void* context) {
  const std::unique_ptr<Clock> clock(static_cast<Clock*>(context));
  const WithGil python;
  if (!python) return;  // the interpreter takes its objects with it
  clock->now->drop();
  if (clock->sleep) clock->sleep->drop();
}

void log_line(void* context, std::int32_t level, const char* message) {
  const WithGil python;
  if (!python) return;
  const py::object log = (*static_cast<std::shared_ptr<Callable>*>(context))->get();
  if (log.is_none()) return;
  constexpr int kLoggingStep = 10;  // logging.INFO, WARNING, ERROR = 20, 30, 40
  PyObject* text =
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(std::char_traits<char>::length(message)), "replace");
  PyObject* result =
      text != nullptr ? PyObject_CallFunction(log.ptr(), "iO", (level + 1) * kLoggingStep, text) : nullptr;
  if (result == nullptr) report(log);
  Py_XDECREF(text);
  Py_XDECREF(result);
}

void log_release(void* context) {
  const std::unique_ptr<std::shared_ptr<Callable>> log(static_cast<std::shared_ptr<Callable>*>(context));
  const WithGil python;
  if (python) (*log)->drop();
}

}  // namespace

py::object Callable::get() const {
  const std::lock_guard lock(mutex_);
  return callable_ != nullptr ? py::reinterpret_borrow<py::object>(callable_) : py::none();
}

void Callable::drop() {
  PyObject* callable = nullptr;
  {
    const std::lock_guard lock(mutex_);
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
  const py::object sleep = py::getattr(clock, "sleep_ns", py::none());
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

void set_log(idgen_config_t* config, const py::object& log, Callables* callables) {
  if (PyCallable_Check(log.ptr()) == 0) {
    throw py::type_error("log: needs a callable(level, message), such as logging.getLogger(\"idgen\").log, not " +
                         std::string(Py_TYPE(log.ptr())->tp_name));
  }
  const auto mine = std::make_shared<Callable>(log);
  auto* const context = new std::shared_ptr<Callable>(mine);
  CallError error;
  const idgen_status_t status = idgen_config_set_log(config, log_line, context, log_release, &error);
  if (status != IDGEN_OK) log_release(context);
  check(status, error);
  callables->push_back(mine);
}

}  // namespace idgen_python
