/* Everything that can be listed: statuses, properties, presets, fields, versions. */
#include <idgen/admin.h>
#include <string.h>

#include "check.h"

static void versions(void) {
  CHECK(idgen_version() == IDGEN_VERSION);
  CHECK(strcmp(idgen_version_string(), IDGEN_VERSION_STRING) == 0);
  CHECK(idgen_abi_version() == IDGEN_ABI_VERSION);
  idgen_abi_1();
}

static void statuses(void) {
  static const idgen_status_t header[] = {IDGEN_OK,
                                          IDGEN_E_ARGUMENT,
                                          IDGEN_E_HANDLE,
                                          IDGEN_E_BUFFER,
                                          IDGEN_E_UNKNOWN_KEY,
                                          IDGEN_E_VALUE,
                                          IDGEN_E_LAYOUT,
                                          IDGEN_E_LIFETIME,
                                          IDGEN_E_CONFIG_FILE,
                                          IDGEN_E_TEXT,
                                          IDGEN_E_UNSUPPORTED,
                                          IDGEN_E_CLOSED,
                                          IDGEN_E_FORKED,
                                          IDGEN_E_WOULD_BLOCK,
                                          IDGEN_E_WORKER_BUSY,
                                          IDGEN_E_EXHAUSTED,
                                          IDGEN_E_CANCELLED,
                                          IDGEN_E_OVERLOADED,
                                          IDGEN_E_STALE,
                                          IDGEN_E_CLOCK_BACK,
                                          IDGEN_E_CLOCK_BEFORE_EPOCH,
                                          IDGEN_E_CLOCK_LEAP,
                                          IDGEN_E_STORE_UNAVAILABLE,
                                          IDGEN_E_STORE_MISSING,
                                          IDGEN_E_STORE_PERMISSION,
                                          IDGEN_E_STORE_FULL,
                                          IDGEN_E_STORE_DAMAGED,
                                          IDGEN_E_STORE_VERSION,
                                          IDGEN_E_TAG_UNKNOWN,
                                          IDGEN_E_TAG_EXISTS,
                                          IDGEN_E_STORE_REGRESSED,
                                          IDGEN_E_FORMAT_MISMATCH,
                                          IDGEN_E_STORE_UNSAFE,
                                          IDGEN_E_NO_MEMORY,
                                          IDGEN_E_INTERNAL};
  static const idgen_status_t retryable[] = {IDGEN_E_WOULD_BLOCK, IDGEN_E_WORKER_BUSY, IDGEN_E_OVERLOADED,
                                             IDGEN_E_CLOCK_BACK,  IDGEN_E_CLOCK_LEAP,  IDGEN_E_STORE_UNAVAILABLE,
                                             IDGEN_E_STORE_FULL};
  const size_t count = sizeof header / sizeof *header;
  CHECK(idgen_status_count() == count);
  for (size_t i = 0; i < count; ++i) {
    const idgen_status_t status = idgen_status_at(i);
    CHECK(status == header[i]);
    CHECK(*idgen_status_name(status) && strcmp(idgen_status_name(status), "UNKNOWN") != 0);
    CHECK(*idgen_status_message(status));
    int wanted = 0;
    for (size_t r = 0; r < sizeof retryable / sizeof *retryable; ++r) wanted |= status == retryable[r];
    CHECK(idgen_status_is_retryable(status) == wanted);
    for (size_t j = 0; j < i; ++j) CHECK(strcmp(idgen_status_name(status), idgen_status_name(header[j])) != 0);
  }
  CHECK(strcmp(idgen_status_name(IDGEN_E_CLOCK_BACK), "CLOCK_BACK") == 0);
  CHECK(idgen_status_at(count) == -1);
  CHECK(idgen_status_at((size_t)-1) == -1);
  static const idgen_status_t unknown[] = {-1, 11, 19, 28, 99, 999, INT32_MIN};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
    CHECK(strcmp(idgen_status_name(unknown[i]), "UNKNOWN") == 0);
    CHECK(*idgen_status_message(unknown[i]));
    CHECK(idgen_status_is_retryable(unknown[i]) == 0);
  }
  CHECK(strcmp(idgen_status_name(IDGEN_E_HOST), "HOST") == 0 && strcmp(idgen_status_name(INT32_MAX), "HOST") == 0);
}

static void properties_can_be_set_to_their_default(void) {
  static const char *const types[] = {"integer", "number", "boolean", "duration", "instant", "text", "choice"};
  idgen_config_t *config = config_with(NULL);
  const size_t count = idgen_property_count();
  CHECK(count >= 25);
  for (size_t i = 0; i < count; ++i) {
    idgen_property_t property = IDGEN_PROPERTY_INIT;
    if (!CHECK_CALL(IDGEN_OK, idgen_property_at(i, &property, NULL))) continue;
    CHECK(property.struct_size == sizeof property);
    CHECK(*property.name && property.default_value && property.range && property.unit && *property.help &&
          *property.since);
    int known = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; ++t) known |= strcmp(property.type, types[t]) == 0;
    CHECK(known);
    char value[512];
    size_t size = sizeof value;
    CHECK_ERR(IDGEN_OK, idgen_config_get(config, property.name, value, &size, &err));
    CHECK(strcmp(value, property.default_value) == 0);
    if (*property.default_value || strcmp(property.type, "choice") != 0) {
      CHECK_ERR(IDGEN_OK, idgen_config_set(config, property.name, property.default_value, &err));
    }
    for (size_t j = 0; j < i; ++j) {
      idgen_property_t other = IDGEN_PROPERTY_INIT;
      CHECK(idgen_property_at(j, &other, NULL) == IDGEN_OK && strcmp(other.name, property.name) != 0);
    }
  }
  idgen_property_t property = IDGEN_PROPERTY_INIT;
  CHECK_CALL(IDGEN_E_ARGUMENT, idgen_property_at(count, &property, NULL));
  CHECK(property.name == NULL);
  idgen_config_destroy(config);
}

static void presets_parse_and_list_their_fields(void) {
  const size_t count = idgen_layout_preset_count();
  CHECK(count >= 14);
  CHECK(strcmp(idgen_layout_preset_at(0), "default") == 0);
  CHECK(idgen_layout_preset_at(count) == NULL && idgen_layout_preset_at((size_t)-1) == NULL);
  for (size_t i = 0; i < count; ++i) {
    idgen_layout_t *layout = NULL;
    if (!CHECK_ERR(IDGEN_OK, idgen_layout_create(idgen_layout_preset_at(i), NULL, &layout, &err))) continue;
    idgen_layout_info_t info = {.struct_size = sizeof info};
    CHECK_ERR(IDGEN_OK, idgen_layout_info(layout, 1800000000000, &info, &err));
    CHECK(strcmp(info.preset, idgen_layout_preset_at(i)) == 0);
    uint32_t bits = 0, kinds = 0;
    for (size_t f = 0; f < info.field_count; ++f) {
      idgen_field_t field = IDGEN_FIELD_INIT;
      CHECK_CALL(IDGEN_OK, idgen_layout_field_at(layout, f, &field, NULL));
      bits += field.bits;
      kinds |= field.kind;
      CHECK(field.name && *field.name && strstr(info.text, field.name));
    }
    CHECK(bits == info.bits && kinds == info.fields);
    idgen_field_t field = IDGEN_FIELD_INIT;
    CHECK_CALL(IDGEN_E_ARGUMENT, idgen_layout_field_at(layout, info.field_count, &field, NULL));
    idgen_layout_destroy(layout);
  }
}

void enumerations(void) {
  versions();
  statuses();
  properties_can_be_set_to_their_default();
  presets_parse_and_list_their_fields();
}
