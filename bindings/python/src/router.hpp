// idgen.RouteTable and idgen.Router: which shard an id belongs to.
#pragma once

#include <pybind11/pybind11.h>

namespace idgen_python {

void bind_router(pybind11::module_& module);

}  // namespace idgen_python
