/* two_sqlites FILE: two processes draw from one tag of a store in FILE, through the SQLite inside libidgen.so, while a
 * thread of each opens, reads and closes FILE through the system's SQLite. The locks of POSIX, which SQLite uses, fall
 * when any descriptor of the file is closed by the process; no id may come twice all the same. */
#include <idgen/idgen.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 2, IDS = 10000 };

static const char *path;
static atomic_int is_over;

static void *open_and_close(void *opened) {
  while (!is_over) {
    sqlite3 *db = NULL;
    if (!sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL)) {
      *(long *)opened += !sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    }
    sqlite3_close(db);
  }
  return NULL;
}

static int order(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static int draw(const idgen_config_t *config, uint64_t *ids) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_t *generator = NULL;
  pthread_t thread;
  long opened = 0;
  if (pthread_create(&thread, NULL, open_and_close, &opened)) return 1;
  if (idgen_create(config, &generator, &err)) return fprintf(stderr, "%s\n", err.message), 1;
  for (int i = 0; i < IDS; ++i) {
    if (idgen_next(generator, &ids[i], &err)) return fprintf(stderr, "%s\n", err.message), 1;
  }
  is_over = 1;
  pthread_join(thread, NULL);
  if (!opened) return fprintf(stderr, "the file was never opened by the other SQLite\n"), 1;
  idgen_destroy(generator);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "usage: two_sqlites FILE\n"), 2;
  path = argv[1];
  char url[1000];
  snprintf(url, sizeof url, "sqlite:%s", path);
  const char *properties[][2] = {{"kind", "segment"},      {"tag", "orders"},      {"store", url},
                                 {"store_create", "true"}, {"segment.step", "10"}, {"segment.runway", "0"}};
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_config_t *config = NULL;
  if (idgen_config_create(&config, &err)) return 1;
  for (size_t i = 0; i < sizeof properties / sizeof *properties; ++i) {
    if (idgen_config_set(config, properties[i][0], properties[i][1], &err)) {
      return fprintf(stderr, "%s\n", err.message), 1;
    }
  }
  uint64_t *ids = mmap(NULL, PROCESSES * IDS * sizeof *ids, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (ids == MAP_FAILED) return 1;
  for (int i = 0; i < PROCESSES; ++i) {
    const pid_t child = fork();
    if (child < 0) return 1;
    if (!child) _exit(draw(config, ids + i * IDS));
  }
  int failed = 0;
  for (int i = 0, status = 0; i < PROCESSES; ++i) failed |= wait(&status) < 0 || status;
  if (failed) return 1;
  qsort(ids, PROCESSES * IDS, sizeof *ids, order);
  for (int i = 1; i < PROCESSES * IDS; ++i) {
    if (ids[i] == ids[i - 1]) return fprintf(stderr, "the id %llu came twice\n", (unsigned long long)ids[i]), 1;
  }
  printf("%d ids, all different\n", PROCESSES * IDS);
  return 0;
}
