#pragma once

#include <string>

#include "idgen/config.hpp"

namespace idgen {

// What two snowflake generators must not share: store, namespace and node number. Throws if the configuration is wrong.
std::string snowflake_identity(const Config& config);

}  // namespace idgen
