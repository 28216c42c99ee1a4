/* Ids as text by a pattern: of a layout, of a configuration, and as a generator makes them. */
#include <string.h>

#include "check.h"

static idgen_wide_id_t narrow(uint64_t value) {
  idgen_wide_id_t id = IDGEN_WIDE_ID_INIT;
  id.size = 8;
  for (int i = 0; i < 8; ++i) id.bytes[i] = (uint8_t)(value >> 8 * (7 - i));
  return id;
}

static void an_id_is_written_and_read_back(void) {
  idgen_pattern_t *pattern = NULL;
  CHECK_ERR(IDGEN_OK, idgen_pattern_create("ORD-{base62:11}-{check}", NULL, NULL, &pattern, &err));
  const idgen_wide_id_t id = narrow(9007199254740991u);
  char text[32];
  size_t size = sizeof text;
  CHECK_ERR(IDGEN_OK, idgen_pattern_format(pattern, &id, text, &size, &err));
  CHECK(strcmp(text, "ORD-00fFgnDxSe7-7") == 0 && size == 18);
  size = 17;
  CHECK_ERR(IDGEN_E_BUFFER, idgen_pattern_format(pattern, &id, text, &size, &err));
  CHECK(size == 18);
  idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_pattern_parse(pattern, "ORD-00fFgnDxSe7-7xyz", 17, &parts, &err));
  CHECK(parts.id.size == 8 && memcmp(parts.id.bytes, id.bytes, 8) == 0);
  CHECK(memcmp(&parts.number, &parts.id, sizeof parts.id) == 0);
  CHECK(parts.unit == IDGEN_UNIT_NONE && parts.year == 1970 && parts.month == 1 && parts.day == 1);
  CHECK_ERR(IDGEN_E_TEXT, idgen_pattern_parse(pattern, "ORD-00fFgnDxSe7-8", SIZE_MAX, &parts, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_pattern_parse(pattern, NULL, 0, &parts, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_pattern_format(pattern, NULL, text, &size, &err));
  parts.struct_size = 0;
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_pattern_parse(pattern, "ORD-00fFgnDxSe7-7", SIZE_MAX, &parts, &err));
  idgen_pattern_destroy(pattern);
  CHECK_ERR(IDGEN_E_HANDLE, idgen_pattern_format(NULL, &id, text, &size, &err));
  idgen_pattern_destroy(NULL);
}

static void the_date_is_that_of_the_id(void) {
  idgen_layout_t *layout = NULL;
  idgen_pattern_t *pattern = NULL;
  CHECK_ERR(IDGEN_OK, idgen_layout_create("twitter", NULL, &layout, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_pattern_create("{yyyyMMdd}-{decimal}", NULL, NULL, &pattern, &err));
  CHECK_ERR(IDGEN_OK, idgen_pattern_create("{yyyyMMdd HH}-{decimal}", "+09:30", layout, &pattern, &err));
  idgen_layout_destroy(layout);                            /* it was copied */
  const idgen_wide_id_t id = narrow(1541815603606036480u); /* 2022-06-28T16:07:40.105Z */
  char text[64];
  size_t size = sizeof text;
  CHECK_ERR(IDGEN_OK, idgen_pattern_format(pattern, &id, text, &size, &err));
  CHECK(strcmp(text, "20220629 01-1541815603606036480") == 0);
  idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_pattern_parse(pattern, text, SIZE_MAX, &parts, &err));
  CHECK(parts.unit == IDGEN_UNIT_HOUR && parts.year == 2022 && parts.month == 6 && parts.day == 29 && parts.hour == 1);
  CHECK(parts.minute == 0 && parts.second == 0);
  idgen_pattern_destroy(pattern);
  CHECK_ERR(IDGEN_E_VALUE, idgen_pattern_create("ORD-", NULL, NULL, &pattern, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_pattern_create(NULL, NULL, NULL, &pattern, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_pattern_create("{hex}", NULL, NULL, NULL, &err));
}

static void a_generator_writes_its_ids_by_its_pattern(void) {
  idgen_config_t *config = NULL;
  idgen_t *generator = NULL;
  CHECK_ERR(IDGEN_OK, idgen_config_create(&config, &err));
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "kind", "segment", &err));
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "store", "memory", &err));
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "store_create", "true", &err));
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "tag", "patterns", &err));
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "pattern", "NO-{0}", &err));
  CHECK_ERR(IDGEN_OK, idgen_create(config, &generator, &err));
  char text[8];
  size_t size = 4; /* one less than the longest has, with its NUL */
  CHECK_ERR(IDGEN_E_BUFFER, idgen_next_text(generator, text, &size, &err));
  CHECK(size == 5);
  size = 0;
  CHECK_ERR(IDGEN_E_BUFFER, idgen_next_text(generator, NULL, &size, &err));
  CHECK(size == 5);
  for (char digit = '1'; digit <= '9'; ++digit) { /* none was lost */
    const char wanted[] = {'N', 'O', '-', digit, 0};
    size = sizeof text;
    CHECK_ERR(IDGEN_OK, idgen_next_text(generator, text, &size, &err));
    CHECK(strcmp(text, wanted) == 0 && size == 5);
  }
  size = sizeof text;
  CHECK_ERR(IDGEN_E_EXHAUSTED, idgen_next_text(generator, text, &size, &err));
  CHECK(strstr(err.message, "10 has 2 digits, and the pattern 'NO-{0}' holds 1") != NULL);
  idgen_destroy(generator);

  idgen_pattern_t *pattern = NULL;
  CHECK_ERR(IDGEN_OK, idgen_pattern_of(config, &pattern, &err));
  idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_pattern_parse(pattern, "NO-7", SIZE_MAX, &parts, &err));
  CHECK(parts.id.bytes[7] == 7);
  idgen_pattern_destroy(pattern);
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "pattern", "NO", &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_create(config, &generator, &err));
  CHECK_ERR(IDGEN_E_VALUE, idgen_pattern_of(config, &pattern, &err));
  CHECK_ERR(IDGEN_OK, idgen_config_set(config, "pattern", "", &err));
  CHECK_ERR(IDGEN_OK, idgen_create(config, &generator, &err));
  char decimal[64];
  size = sizeof decimal;
  CHECK_ERR(IDGEN_OK, idgen_next_text(generator, decimal, &size, &err));
  CHECK(size == strlen(decimal) + 1 && strspn(decimal, "0123456789") == strlen(decimal));
  idgen_destroy(generator);
  idgen_config_destroy(config);
}

static void a_text_has_the_date_of_its_id_and_no_owner(void) {
  idgen_config_t *config = config_with("worker", "1", "store", "memory", "namespace", "dated", "pattern",
                                       "{yyyy-MM-dd}/{decimal}", "zone", "+05:30", NULL);
  idgen_t *generator = NULL;
  idgen_pattern_t *pattern = NULL;
  CHECK_ERR(IDGEN_OK, idgen_create(config, &generator, &err));
  CHECK_ERR(IDGEN_OK, idgen_pattern_of(config, &pattern, &err));
  char text[64];
  size_t size = sizeof text;
  idgen_text_parts_t parts = IDGEN_TEXT_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_next_text(generator, text, &size, &err));
  CHECK_ERR(IDGEN_OK, idgen_pattern_parse(pattern, text, SIZE_MAX, &parts, &err)); /* refuses the date of another id */
  CHECK(parts.unit == IDGEN_UNIT_DAY);
  idgen_pattern_destroy(pattern);
  idgen_destroy(generator);
  idgen_config_destroy(config);
  generator =
      GENERATOR(config_with("kind", "business", "store", "memory", "store_create", "true", "tag", "texts", NULL));
  size = sizeof text;
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_next_text(generator, text, &size, &err));
  idgen_destroy(generator);
}

void patterns(void) {
  an_id_is_written_and_read_back();
  the_date_is_that_of_the_id();
  a_generator_writes_its_ids_by_its_pattern();
  a_text_has_the_date_of_its_id_and_no_owner();
}
