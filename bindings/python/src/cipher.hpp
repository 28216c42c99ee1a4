// IdCipher: hidden ids.
#pragma once

#include <pybind11/pybind11.h>

namespace idgen_python {

void bind_cipher(pybind11::module_& module);

}  // namespace idgen_python
