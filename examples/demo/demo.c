/* The demo's process in C. demo.py says what the four do. */
#include <fcntl.h>
#include <idgen/idgen.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void die(const char *what, const char *why) {
  fprintf(stderr, "demo.c: %s: %s\n", what, why);
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static idgen_t *open_generator(const char *toml, const char *name, const char *worker) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_config_t *config = NULL;
  idgen_t *generator = NULL;
  if (idgen_config_create(&config, &err) != IDGEN_OK) die(name, err.message);
  if (idgen_config_load(config, toml, name, &err) != IDGEN_OK) die(name, err.message);
  if (idgen_config_set(config, "worker", worker, &err) != IDGEN_OK) die(name, err.message);
  if (idgen_create(config, &generator, &err) != IDGEN_OK) die(name, err.message);
  idgen_config_destroy(config);
  return generator;
}

static void say(const char *word, const char *rest) {
  printf("%s %s\n", word, rest);
  fflush(stdout);
}

/* One call for each id, straight into the mapped file. */
static void draw(idgen_t *generator, double seconds, size_t limit, const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, (off_t)(limit * 8)) != 0) die(path, "cannot be written");
  uint64_t *ids = mmap(NULL, limit * 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ids == MAP_FAILED) die(path, "cannot be mapped");

  idgen_error_t err = IDGEN_ERROR_INIT;
  const int64_t begin = now_ns();
  int64_t now = begin, report = begin;
  size_t count = 0;
  while (count < limit && now - begin < seconds * 1e9) {
    const size_t end = limit - count < 4096 ? limit : count + 4096;
    for (; count < end; ++count) {
      if (idgen_next(generator, &ids[count], &err) != IDGEN_OK) die("idgen_next", err.message);
    }
    now = now_ns();
    if (now >= report) {
      printf("count %zu\n", count);
      fflush(stdout);
      report = now + 100000000;
    }
  }
  munmap(ids, limit * 8);
  if (ftruncate(file, (off_t)(count * 8)) != 0 || close(file) != 0) die(path, "cannot be written");
  printf("done %zu %" PRId64 "\n", count, now - begin);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 7) die("usage", "demo TOML WORKER SECONDS LIMIT DIRECTORY NAME...");
  char line[64];
  idgen_t *first = NULL;
  for (int i = 6; i < argc; ++i) {
    idgen_t *generator = open_generator(argv[1], argv[i], argv[2]);
    char path[4096];
    snprintf(path, sizeof path, "%s/C.%s.ids", argv[5], argv[i]);
    say("ready", argv[i]);
    if (!fgets(line, sizeof line, stdin)) die("standard input", "closed too early");
    draw(generator, atof(argv[3]), strtoull(argv[4], NULL, 10), path);
    idgen_close(generator, NULL);
    if (first) {
      idgen_destroy(generator);
    } else {
      first = generator; /* decoding works on a closed handle */
    }
  }
  while (fgets(line, sizeof line, stdin)) {
    idgen_error_t err = IDGEN_ERROR_INIT;
    idgen_parts_t parts = IDGEN_PARTS_INIT;
    if (idgen_decode(first, strtoull(line, NULL, 10), &parts, &err) != IDGEN_OK) die("idgen_decode", err.message);
    printf("decoded %" PRId64 " %" PRIu64 " %" PRIu64 "\n", parts.unix_ms, parts.worker, parts.sequence);
    fflush(stdout);
  }
  idgen_destroy(first);
}
