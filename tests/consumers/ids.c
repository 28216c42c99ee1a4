/* What a program does with idgen: makes ids, checks them, and proves that the store is in the library it was linked
 * with. */
#include <idgen/idgen.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 10000 };

static void must(idgen_status_t status, const idgen_error_t *err) {
  if (status == IDGEN_OK) return;
  fprintf(stderr, "%s: %s\n", idgen_status_name(status), err->message);
  exit(1);
}

static void make_ids(const char *properties[][2], const char *what) {
  static uint64_t ids[COUNT];
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_config_t *config = NULL;
  idgen_t *generator = NULL;
  size_t written = 0;

  must(idgen_config_create(&config, &err), &err);
  for (size_t i = 0; properties[i][0] != NULL; ++i) {
    must(idgen_config_set(config, properties[i][0], properties[i][1], &err), &err);
  }
  must(idgen_create(config, &generator, &err), &err);
  idgen_config_destroy(config);
  must(idgen_next_batch(generator, ids, COUNT, &written, &err), &err);
  if (written != COUNT) exit((fprintf(stderr, "%zu ids of %d\n", written, COUNT), 1));
  for (size_t i = 1; i < COUNT; ++i) {
    if (ids[i] <= ids[i - 1]) exit((fprintf(stderr, "%" PRIu64 " after %" PRIu64 "\n", ids[i], ids[i - 1]), 1));
  }
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  must(idgen_decode(generator, ids[0], &parts, &err), &err);
  if ((parts.fields & IDGEN_FIELD_WORKER) && parts.worker != 7) exit((fprintf(stderr, "not worker 7\n"), 1));
  must(idgen_close(generator, &err), &err);
  idgen_destroy(generator);
  printf("%d %s ids, first %" PRIu64 "\n", COUNT, what, ids[0]);
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: ids STORE\n"), 2;
  const char *snowflake[][2] = {
      {"kind", "snowflake"}, {"worker", "7"}, {"store", argv[1]}, {"store_create", "true"}, {NULL, NULL}};
  const char *segment[][2] = {
      {"kind", "segment"}, {"tag", "orders"}, {"store", argv[1]}, {"store_create", "true"}, {NULL, NULL}};
  make_ids(snowflake, "snowflake");
  make_ids(segment, "segment");
  return 0;
}
