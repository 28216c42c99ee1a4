// The extension module idgen._core: gives Python access to the C ABI, and uses nothing else of the core but mutex.hpp.
#include "callbacks.hpp"
#include "cipher.hpp"
#include "generator.hpp"
#include "gil.hpp"
#include "layout.hpp"
#include "pattern.hpp"
#include "router.hpp"
#include "standard.hpp"
#include "tables.hpp"

// Free-threaded builds: the core is atomic and its handles are safe for any number of threads, so no GIL is needed. One
// interpreter per process: callbacks come from threads of the core, which cannot know an interpreter.
PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used(), pybind11::multiple_interpreters::not_supported()) {
  namespace py = pybind11;
  if (idgen_abi_version() != IDGEN_ABI_VERSION) {
    throw py::import_error("idgen._core was built for another ABI of the core; reinstall the package");
  }
  // The docstrings begin with a readable signature.
  py::options options;
  options.disable_function_signatures();
  module.doc() = "The compiled part of idgen. Import idgen instead.";
  idgen_python::bind_layout(module);
  idgen_python::bind_pattern(module);
  idgen_python::bind_generator(module);
  idgen_python::bind_cipher(module);
  idgen_python::bind_tables(module);
  idgen_python::bind_router(module);
  idgen_python::bind_standard(module);
  module.def("_set_sql_driver", &idgen_python::set_sql_driver, "What opens stores without their modules. Internal.");
  module.def("_detach", &idgen_python::detach, "Before the interpreter goes. Internal.");
  module.def("_forget_other_threads", &idgen_python::forget_other_threads, "In a forked child. Internal.");
}
