/* smoke LIBRARY FOLDER: loads libidgen.so while it runs, draws from memory and from SQLite, and
 * forks. */
#include <dlfcn.h>
#include <idgen/idgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTIONS(F)     \
  F(idgen_config_create) \
  F(idgen_config_set)    \
  F(idgen_config_destroy) F(idgen_create) F(idgen_next) F(idgen_decode) F(idgen_destroy) F(idgen_version_string)
#define MEMBER(name) __typeof__(name) *name;
static struct { FUNCTIONS(MEMBER) } api;

static void must(int holds, const char *what, const char *why) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  must(library != NULL, path, library ? "" : dlerror());
#define LOAD(name)                                        \
  api.name = (__typeof__(api.name))dlsym(library, #name); \
  must(api.name != NULL, #name, "is not exported");
  FUNCTIONS(LOAD)
}

static idgen_t *open_generator(const char *kind, const char *store) {
  const int is_segment = strcmp(kind, "segment") == 0;
  const char *properties[][2] = {{"kind", kind},
                                 {"store", store},
                                 {"store_create", "true"},
                                 {is_segment ? "tag" : "worker", is_segment ? "orders" : "7"}};
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_config_t *config = NULL;
  idgen_t *generator = NULL;
  must(!api.idgen_config_create(&config, &err), "idgen_config_create", err.message);
  for (int i = 0; i < 4; ++i) {
    must(!api.idgen_config_set(config, properties[i][0], properties[i][1], &err), properties[i][0], err.message);
  }
  must(!api.idgen_create(config, &generator, &err), store, err.message);
  api.idgen_config_destroy(config);
  return generator;
}

static uint64_t next(idgen_t *generator, const char *who) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  uint64_t id = 0;
  must(!api.idgen_next(generator, &id, &err), who, err.message);
  return id;
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: smoke LIBRARY FOLDER\n"), 2;
  load(argv[1]);
  char sqlite[1000];
  snprintf(sqlite, sizeof sqlite, "sqlite:%s/ids.db", argv[2]);
  for (int kind = 0; kind < 2; ++kind) {
    const char *name = kind ? "snowflake" : "segment";
    idgen_t *memory = open_generator(name, "memory");
    idgen_t *file = open_generator(name, sqlite);
    uint64_t first = next(memory, name), second = next(memory, name);
    must(first < second, name, "two ids are in order");
    uint64_t id = next(file, name);
    if (kind) {
      idgen_error_t err = IDGEN_ERROR_INIT;
      idgen_parts_t parts = IDGEN_PARTS_INIT;
      must(!api.idgen_decode(file, id, &parts, &err), "idgen_decode", err.message);
      must(parts.worker == 7, "idgen_decode", "the worker is 7");
    } else { /* a fixed worker belongs to the parent alone; of a segment, the child draws its own */
      int ends[2];
      must(!pipe(ends), "pipe", "failed");
      pid_t child = fork();
      must(child >= 0, "fork", "failed");
      if (!child) {
        id = next(file, "the child");
        _exit(write(ends[1], &id, sizeof id) != sizeof id);
      }
      uint64_t of_parent = next(file, "the parent");
      must(read(ends[0], &id, sizeof id) == sizeof id, "the child", "draws an id");
      must(waitpid(child, NULL, 0) == child && id != of_parent, "fork", "parent and child never have the same id");
    }
    api.idgen_destroy(memory);
    api.idgen_destroy(file);
  }
  printf("idgen %s: memory, SQLite, segment, snowflake, fork\n", api.idgen_version_string());
  return 0;
}
