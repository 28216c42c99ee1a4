/* Invalid input, with its status and a message that says what to do. */
#define _GNU_SOURCE
#include <idgen/admin.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static void refused(idgen_status_t want, const char *part, idgen_config_t *config, const char *file, int line) {
  idgen_t *g = NULL;
  check_status(idgen_create(config, &g, &err), want, &err, file, line, "idgen_create");
  check_contains(err.message, part, file, line);
  CHECK(g == NULL);
  idgen_config_destroy(config);
}
#define REFUSED(status, part, ...) refused(status, part, config_with(__VA_ARGS__, NULL), __FILE__, __LINE__)

static void keys_and_values(void) {
  static const char *const typos[][2] = {{"wroker", "'worker'"}, {"segment_step", "'segment.step'"}};
  idgen_config_t *config = config_with("worker", "3", NULL);
  char value[512];
  size_t size = 0;
  for (size_t i = 0; i < sizeof typos / sizeof *typos; ++i) {
    CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, typos[i][0], "1", &err));
    CHECK_SAYS(typos[i][0]);
    CHECK_SAYS(typos[i][1]);
    CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_config_get(config, typos[i][0], NULL, &size, &err));
  }
  CHECK_ERR(IDGEN_E_UNKNOWN_KEY, idgen_config_set(config, "", "1", &err));
  /* Every property with a range names it when it refuses. */
  static const char *const wrong[] = {"bogus", "-1", "1e99", "99999999999999999999999", "1 ", "nan", "10 parsecs"};
  for (size_t i = 0; i < idgen_property_count(); ++i) {
    idgen_property_t property = IDGEN_PROPERTY_INIT;
    CHECK_ERR(IDGEN_OK, idgen_property_at(i, &property, &err));
    if (strcmp(property.type, "text") == 0) continue;
    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; ++w) {
      if (strcmp(property.type, "instant") == 0 && strcmp(wrong[w], "-1") == 0) continue; /* a ms before 1970 */
      CHECK_ERR(IDGEN_E_VALUE, idgen_config_set(config, property.name, wrong[w], &err));
      CHECK_SAYS(property.name);
      CHECK_SAYS(wrong[w]);
      if (*property.range) CHECK_SAYS(property.range);
    }
  }
  size = sizeof value;
  CHECK_ERR(IDGEN_OK, idgen_config_get(config, "worker", value, &size, &err));
  CHECK(strcmp(value, "3") == 0); /* a failed set changes nothing */
  idgen_config_destroy(config);
}

void bad_configurations(void) {
  keys_and_values();
  /* These messages have the present time in them. tests/vectors/calls.tsv has the others. */
  REFUSED(IDGEN_E_LIFETIME, "in the future", "store", "memory", "worker", "1", "epoch", "2200-01-01T00:00:00Z");
  REFUSED(IDGEN_E_LIFETIME, "lifetime_min", "store", "memory", "worker", "1", "lifetime_min", "900y");
}

static void write_bytes(const char *path, long offset, const unsigned char *bytes, size_t count) {
  FILE *file = fopen(path, "r+b");
  CHECK(file && fseek(file, offset, SEEK_SET) == 0 && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static void make_store(const char *url) {
  idgen_config_t *config = config_with("kind", "segment", "store", url, "tag", "t", NULL);
  CHECK_ERR(IDGEN_OK, idgen_segment_create(config, &err));
  idgen_config_destroy(config);
}

/* As nobody in particular: root may write anything. */
static idgen_status_t open_as_nobody(void *url, idgen_error_t *err) {
  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(3);
  idgen_t *g = NULL;
  idgen_config_t *config = config_with("kind", "segment", "store", (const char *)url, "tag", "t", NULL);
  return idgen_create(config, &g, err);
}

/* The others that SQLite's file can lead to: tests/store/sqlite_file_test.cpp. */
void bad_stores(void) {
  REFUSED(IDGEN_E_STORE_MISSING, "store_create", "kind", "segment", "store", "sqlite:none.db", "tag", "t");
  make_store("sqlite:good.db");
  REFUSED(IDGEN_E_TAG_UNKNOWN, "idgen segment create", "kind", "segment", "store", "sqlite:good.db", "tag", "other");
  make_store("sqlite:newer.db");
  write_bytes("newer.db", 60, (const unsigned char[]){0, 0, 0, 99}, 4); /* user_version */
  REFUSED(IDGEN_E_STORE_VERSION, "newer idgen", "kind", "segment", "store", "sqlite:newer.db", "tag", "t");
  make_store("sqlite:wal.db");
  write_bytes("wal.db", 18, (const unsigned char[]){2, 2}, 2); /* journal mode */
  REFUSED(IDGEN_E_STORE_UNSAFE, "WAL", "kind", "segment", "store", "sqlite:wal.db", "tag", "t");
  CHECK(chmod(".", 0755) == 0 && chmod("good.db", geteuid() == 0 ? 0644 : 0444) == 0);
  CHECK_ERR(IDGEN_E_STORE_PERMISSION, in_child(open_as_nobody, "sqlite:good.db", &err));
  CHECK_SAYS("written");
}
