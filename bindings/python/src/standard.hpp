// UUIDs, ULIDs and ObjectIds: functions of the module.
#pragma once

#include "errors.hpp"

namespace idgen_python {

void bind_standard(py::module_& module);

}  // namespace idgen_python
