#include "idgen/config.hpp"

#include "border.hpp"
#include "idgen/admin.h"

using namespace idgen;
using namespace idgen::capi;

extern "C" {

idgen_status_t idgen_config_create(idgen_config_t** out, idgen_error_t* err) {
  return guard(err, [&] {
    require(out, "out");
    *out = new idgen_config;
  });
}

void idgen_config_destroy(idgen_config_t* config) {
  const NotCancellable here;
  if (config && config->is_intact()) delete config;
}

idgen_status_t idgen_config_set(idgen_config_t* config, const char* key, const char* value, idgen_error_t* err) {
  return guard(err, [&] { open_handle(config, "config").set(require(key, "key"), require(value, "value")); });
}

idgen_status_t idgen_config_get(const idgen_config_t* config, const char* key, char* buffer, size_t* size,
                                idgen_error_t* err) {
  return guard(err, [&] { write_text(open_handle(config, "config").get(require(key, "key")), buffer, size); });
}

idgen_status_t idgen_config_load(idgen_config_t* config, const char* toml_path, const char* name, idgen_error_t* err) {
  return guard_waiting(
      err, [&] { open_handle(config, "config").load(require(toml_path, "toml_path"), require(name, "name")); });
}

idgen_status_t idgen_config_load_environment(idgen_config_t* config, const char* name, idgen_error_t* err) {
  return guard(err, [&] { open_handle(config, "config").load_environment(require(name, "name")); });
}

idgen_status_t idgen_config_names(const char* toml_path, char* buffer, size_t* size, idgen_error_t* err) {
  return guard_waiting(err, [&] {
    std::string names;
    for (const ConfigTable& table : read_toml(require(toml_path, "toml_path"))) names += table.name + "\n";
    write_text(names, buffer, size);
  });
}

size_t idgen_property_count(void) { return properties().size(); }

idgen_status_t idgen_property_at(size_t index, idgen_property_t* out, idgen_error_t* err) {
  return guard(err, [&] {
    check_index(index, properties().size());
    const Property& property = properties()[index];
    write_struct(out,
                 idgen_property_t{0, 0, property.name, property_type_name(property.type), property.default_value,
                                  property.range, property.unit, property.help, property.since},
                 "out");
  });
}

}  // extern "C"
