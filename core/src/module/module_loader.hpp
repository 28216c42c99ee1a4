// Loads a module, libidgen_NAME.so: what it exports is the function idgen_module_NAME, and what that returns begins
// with the version of its interface.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "idgen/status.hpp"

namespace idgen {

struct ModuleName {
  std::string what;          // that needs it, for messages: "store = \"redis://...\""
  std::string_view name;     // "redis"
  std::string_view package;  // the Debian package of its client library
  std::uint32_t abi;         // the version of its interface that this library knows
};

// The module is not there, or its client library is not. Nothing speaks against another way to do the same.
class ModuleAbsent : public Error {
 public:
  using Error::Error;
};

// `folder`: the property module.path, "" = beside this library; a relative one begins at `directory`. Throws
// Error{unsupported} if the module is missing (ModuleAbsent), is of another version, or may be under somebody else's
// control; none of its code has run in the latter case.
const void* load_module(const ModuleName& module, const std::string& folder, const std::string& directory);

}  // namespace idgen
