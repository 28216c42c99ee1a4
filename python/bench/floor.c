/* The floor of a Python call: a method of a C type that returns an int of 61 bits from memory, and nothing else;
 * without an argument, and with one that is not looked at. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
  PyObject_HEAD unsigned long long value;
} Floor;

static PyObject *floor_next(PyObject *self, PyObject *unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(++((Floor *)self)->value);
}

static PyObject *floor_iternext(PyObject *self) { return floor_next(self, NULL); }

static int floor_init(PyObject *self, PyObject *args, PyObject *keywords) {
  (void)args;
  (void)keywords;
  ((Floor *)self)->value = 1ull << 60;
  return 0;
}

static PyMethodDef methods[] = {
    {"next", floor_next, METH_NOARGS, "next"}, {"take", floor_next, METH_O, "take"}, {NULL, NULL, 0, NULL}};

static PyTypeObject floor_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "floor.Floor",
    .tp_basicsize = sizeof(Floor),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = floor_init,
    .tp_methods = methods,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = floor_iternext,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "floor", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_floor(void) {
  if (PyType_Ready(&floor_type) < 0) return NULL;
  PyObject *self = PyModule_Create(&module);
  if (self != NULL && PyModule_AddObjectRef(self, "Floor", (PyObject *)&floor_type) < 0) Py_CLEAR(self);
  return self;
}
