// Releases the GIL and takes it back, safely even while the interpreter ends.
//
// Until Python 3.13, a thread that asks for the GIL of an interpreter that is being finalised is ended by pthread_exit,
// which must not unwind through C++ and leaves locks of the core behind. So threads that ask are counted; detach(),
// which runs at exit while Python still works, waits for them, up to a second, and refuses later ones.
#pragma once

#include <pybind11/pybind11.h>

namespace idgen_python {

// Without the GIL for the length of a scope: around every call that may wait. A daemon thread that comes back too late
// stays here.
class WithoutGil {
 public:
  WithoutGil() : python_(PyEval_SaveThread()) {}
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  // Takes the GIL for a moment, so that Python can run its signal handlers. Nonzero if one has raised.
  int check_signals();

 private:
  PyThreadState* python_;
};

// The GIL for the length of a callback, on any thread of the core. False if the interpreter is shutting down.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

  explicit operator bool() const { return entered_; }

 private:
  bool entered_ = false;
  PyGILState_STATE state_{};
  // A destructor can call back while an exception propagates through Python.
  PyObject* type_ = nullptr;
  PyObject* value_ = nullptr;
  PyObject* trace_ = nullptr;
};

// PyObject_CallObject, on a thread of the core. Where the callee comes back after the interpreter has ended, the thread
// stays here: Python would end it by pthread_exit, which unwinds through frames that need the GIL.
PyObject* call_or_stay(PyObject* callee, PyObject* arguments);

// The interpreter is about to end. Called once, at exit, with the GIL.
void detach();

// In a forked child: the threads that were counted do not exist here.
void forget_other_threads();

}  // namespace idgen_python
