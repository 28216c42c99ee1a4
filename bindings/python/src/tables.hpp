// The functions of the module: texts of ids, tables of the core, segment tags in a store.
#pragma once

#include "errors.hpp"

namespace idgen_python {

void bind_tables(py::module_& module);

}  // namespace idgen_python
