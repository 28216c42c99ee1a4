// Replaces toml_file.cpp if there is no toml++ to compile against.
#include "idgen/config.hpp"
#include "idgen/router.hpp"

namespace idgen {

std::vector<ConfigTable> read_toml(const std::string& path) {
  throw Error(
      Status::unsupported,
      path +
          ": this build of idgen reads no TOML files itself; the language package reads them and sets each property");
}

RouteTable read_route_table(const std::string& path) {
  throw Error(Status::unsupported,
              path + ": this build of idgen reads no TOML files itself; the language package reads them");
}

}  // namespace idgen
