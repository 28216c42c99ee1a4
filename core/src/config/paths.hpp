// Properties that are paths.
#pragma once

#include <string>
#include <string_view>

#include "idgen/config.hpp"

namespace idgen {

// The property's value, absolute: a relative one starts from `directory`, or from the working directory.
std::string path_of(const Config& config, std::string_view key);

}  // namespace idgen
