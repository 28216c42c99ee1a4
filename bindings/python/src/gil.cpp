#include "gil.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace idgen_python {
namespace {

// A callback in Python may block for ever; the end of the process must not.
constexpr std::chrono::seconds kLongestGoodbye{1};

std::atomic<int> asking{0};
std::atomic<bool> detached{false};
std::atomic<std::thread::id> last_thread{};  // the thread that ends the interpreter: it alone continues

// True if this thread may ask for the GIL now; then asking -= 1 when it has it.
bool may_ask() {
  asking.fetch_add(1);
  if (!detached.load() || last_thread.load() == std::this_thread::get_id()) return true;
  asking.fetch_sub(1);
  return false;
}

void take_back(PyThreadState* python) {
  while (!may_ask()) pause();  // for ever: the process is ending
  PyEval_RestoreThread(python);
  asking.fetch_sub(1);
}

}  // namespace

WithoutGil::~WithoutGil() { take_back(python_); }

int WithoutGil::check_signals() {
  take_back(python_);
  const int raised = PyErr_CheckSignals();
  python_ = PyEval_SaveThread();
  return raised;
}

WithGil::WithGil() {
  // The last thread is refused too: its generators are destroyed while the interpreter is half gone.
  if (detached.load() || !may_ask()) return;
  state_ = PyGILState_Ensure();
  entered_ = true;
  PyErr_Fetch(&type_, &value_, &trace_);
}

WithGil::~WithGil() {
  if (!entered_) return;
  PyErr_Restore(type_, value_, trace_);
  PyGILState_Release(state_);
  asking.fetch_sub(1);
}

PyObject* call_or_stay(PyObject* callee, PyObject* arguments) {
  struct Stay {
    ~Stay() {
      while (!has_returned) pause();
    }
    bool has_returned = false;
  } stay;
  PyObject* const result = PyObject_CallObject(callee, arguments);
  stay.has_returned = true;
  return result;
}

void detach() {
  last_thread = std::this_thread::get_id();
  detached = true;
  const WithoutGil let_them_finish;
  const auto deadline = std::chrono::steady_clock::now() + kLongestGoodbye;
  while (asking > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void forget_other_threads() { asking = 0; }

}  // namespace idgen_python
