// Stands in for toml_file.cpp where toml++ is not there to compile against.
#include "idgen/config.hpp"

namespace idgen {

std::vector<ConfigTable> read_toml(const std::string& path) {
  throw Error(
      Status::unsupported,
      path +
          ": this build of idgen reads no TOML files itself; the language package reads them and sets each property");
}

}  // namespace idgen
