/* UUIDs, ULIDs and ObjectIds: made, read, written, taken apart. In children: tests/faults/fork_test.cpp. */
#include <idgen/standard.h>
#include <string.h>
#include <time.h>

#include "check.h"

static size_t bytes_of(int32_t standard) { return standard == IDGEN_STANDARD_OBJECT_ID ? 12 : 16; }

static void each_is_made_and_read_back(void) {
  static const struct {
    int32_t standard;
    uint32_t version, has_time;
    size_t length;
  } rows[] = {{IDGEN_STANDARD_UUID4, 4, 0, 36},
              {IDGEN_STANDARD_UUID7, 7, 1, 36},
              {IDGEN_STANDARD_ULID, 0, 1, 26},
              {IDGEN_STANDARD_OBJECT_ID, 0, 1, 24}};
  const int64_t began = time(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    const int32_t standard = rows[i].standard;
    uint8_t ids[3 * 16 + 1], back[16];
    memset(ids, 0xAA, sizeof ids);
    CHECK_ERR(IDGEN_OK, idgen_standard_make(standard, ids, 3, &err));
    CHECK(ids[3 * bytes_of(standard)] == 0xAA); /* no more than asked for */
    CHECK(memcmp(ids, ids + bytes_of(standard), bytes_of(standard)) < 0 || !rows[i].has_time);
    char text[40];
    size_t size = sizeof text;
    CHECK_ERR(IDGEN_OK, idgen_standard_format(standard, ids, text, &size, &err));
    CHECK(size == rows[i].length + 1 && strlen(text) == rows[i].length);
    int32_t read = -1;
    CHECK_ERR(IDGEN_OK, idgen_standard_parse(text, SIZE_MAX, &read, back, &err));
    CHECK(read == standard && memcmp(ids, back, bytes_of(standard)) == 0);
    CHECK_ERR(IDGEN_OK, idgen_standard_parse(text, rows[i].length, &read, back, &err));
    CHECK_ERR(IDGEN_E_TEXT, idgen_standard_parse(text, rows[i].length - 1, &read, back, &err));
    size = rows[i].length;
    CHECK_ERR(IDGEN_E_BUFFER, idgen_standard_format(standard, ids, text, &size, &err));
    CHECK(size == rows[i].length + 1);
    idgen_standard_parts_t parts = IDGEN_STANDARD_PARTS_INIT;
    CHECK_ERR(IDGEN_OK, idgen_standard_decode(standard, ids, &parts, &err));
    CHECK(parts.standard == standard && parts.version == rows[i].version && parts.is_rfc);
    CHECK(parts.has_time == rows[i].has_time);
    CHECK(!parts.has_time || (parts.unix_ms / 1000 - time(NULL) <= 1 && began - parts.unix_ms / 1000 <= 10));
    CHECK_ERR(IDGEN_OK, idgen_standard_make(standard, NULL, 0, &err));
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_make(standard, NULL, 1, &err));
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_format(standard, NULL, text, &size, &err));
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_decode(standard, NULL, &parts, &err));
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_decode(standard, ids, NULL, &err));
    parts.struct_size = 0;
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_decode(standard, ids, &parts, &err));
  }
}

static void what_is_none_is_refused(void) {
  static const int32_t unknown[] = {-1, 5, INT32_MAX, INT32_MIN};
  idgen_standard_parts_t parts = IDGEN_STANDARD_PARTS_INIT;
  uint8_t id[16] = {0};
  char text[40];
  size_t size = sizeof text;
  int32_t standard = 0;
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_make(unknown[i], id, 1, &err));
    CHECK_SAYS("not one of IDGEN_STANDARD_*");
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_format(unknown[i], id, text, &size, &err));
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_decode(unknown[i], id, &parts, &err));
  }
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_make(IDGEN_STANDARD_UUID, id, 1, &err));
  CHECK_SAYS("Versions 4 and 7 are made");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_parse(NULL, 1, &standard, id, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_parse("", 0, NULL, id, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_standard_parse("", 0, &standard, NULL, &err));
}

void standard_ids(void) {
  each_is_made_and_read_back();
  what_is_none_is_refused();
}
