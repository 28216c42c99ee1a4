// Replaces toml_file.cpp if there is no toml++ to compile against.
#include "config/toml.hpp"
#include "idgen/status.hpp"

namespace idgen {

TomlValue parse_toml(const std::string& path) {
  throw Error(Status::unsupported,
              path + ": this build of idgen reads no TOML files itself; the language package reads them");
}

}  // namespace idgen
