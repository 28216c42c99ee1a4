// idgen.Generator: the class with the hot path.
#pragma once

#include "layout.hpp"

namespace idgen_python {

void bind_generator(py::module_& module);

}  // namespace idgen_python
