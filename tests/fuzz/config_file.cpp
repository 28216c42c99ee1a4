// Configuration files, and from there each property.
#include "idgen/config.hpp"
#include "temporary_file.hpp"

void idgen::fuzz::read(std::string_view input) {
  const TemporaryFile file(input);
  const auto tables = parsed([&] { return read_toml(file.path()); });
  if (!tables) return;
  for (const ConfigTable& table : *tables) {
    parsed([&] {
      Config config;
      config.load(file.path(), table.name);
      return config.store_options().directory.size();
    });
  }
}
