/* Invalid input, each with its status and a message that says what to do. And owners: of a worker, of a process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <idgen/admin.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static void refused(idgen_status_t want, const char *part, idgen_config_t *config, const char *file, int line) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_t *g = NULL;
  check_status(idgen_create(config, &g, &err), want, &err, file, line, "idgen_create");
  check_contains(err.message, part, file, line);
  CHECK(g == NULL);
  idgen_config_destroy(config);
}
#define REFUSED(status, part, ...) refused(status, part, config_with(__VA_ARGS__, NULL), __FILE__, __LINE__)

static void keys_and_values(void) {
  static const char *const typos[][2] = {{"wroker", "'worker'"},
                                         {"Worker", "'worker'"},
                                         {"segment_step", "'segment.step'"},
                                         {"on_clock_bck", "'on_clock_back'"},
                                         {"stroe", "'store'"},
                                         {"epcoh", "'epoch'"}};
  idgen_error_t err = IDGEN_ERROR_INIT;
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
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_config_t *config = config_with("kind", "segment", "store", url, "tag", "t", NULL);
  CHECK_ERR(IDGEN_OK, idgen_segment_create(config, &err));
  idgen_config_destroy(config);
}

/* As nobody in particular: root may write anything. */
static void become_nobody(void) {
  if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(3);
}

static idgen_status_t open_as_nobody(void *url, idgen_error_t *err) {
  become_nobody();
  idgen_t *g = NULL;
  idgen_config_t *config = config_with("kind", "segment", "store", (const char *)url, "tag", "t", NULL);
  return idgen_create(config, &g, err);
}

/* A limit on file sizes acts like a full disk; the fault tests fill a real one. */
static idgen_status_t open_without_room(void *url, idgen_error_t *err) {
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_FSIZE, &none) != 0) _exit(3);
  idgen_t *g = NULL;
  idgen_config_t *config =
      config_with("kind", "segment", "store", (const char *)url, "tag", "t", "wait_max", "50ms", NULL);
  return idgen_create(config, &g, err);
}

void bad_stores(void) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  REFUSED(IDGEN_E_STORE_MISSING, "store_create", "kind", "segment", "store", "sqlite:none.db", "tag", "t");
  REFUSED(IDGEN_E_STORE_MISSING, "folder", "kind", "segment", "store", "sqlite:/nonexistent/none.db", "tag", "t",
          "store_create", "true");
  REFUSED(IDGEN_E_STORE_MISSING, "none.db", "store", "sqlite:none.db", "worker", "1");
  CHECK(access("none.db", F_OK) != 0); /* asking has not made it */
  make_store("sqlite:good.db");
  REFUSED(IDGEN_E_TAG_UNKNOWN, "idgen segment create", "kind", "segment", "store", "sqlite:good.db", "tag", "other");
  REFUSED(IDGEN_E_TAG_UNKNOWN, "store_create", "kind", "segment", "store", "memory:tags", "tag", "other");

  FILE *file = fopen("text.db", "w");
  for (int i = 0; i < 1000; ++i) fputs("this is no database\n", file);
  CHECK(file && fclose(file) == 0);
  REFUSED(IDGEN_E_STORE_DAMAGED, "text.db", "kind", "segment", "store", "sqlite:text.db", "tag", "t");
  file = fopen("empty.db", "w");
  CHECK(file && fclose(file) == 0);
  REFUSED(IDGEN_E_STORE_DAMAGED, "empty", "kind", "segment", "store", "sqlite:empty.db", "tag", "t", "store_create",
          "true");
  CHECK(mkdir("folder.db", 0755) == 0);
  REFUSED(IDGEN_E_STORE_DAMAGED, "not a file", "kind", "segment", "store", "sqlite:folder.db", "tag", "t");
  make_store("sqlite:newer.db");
  write_bytes("newer.db", 60, (const unsigned char[]){0, 0, 0, 99}, 4); /* user_version */
  REFUSED(IDGEN_E_STORE_VERSION, "newer idgen", "kind", "segment", "store", "sqlite:newer.db", "tag", "t");
  make_store("sqlite:foreign.db");
  write_bytes("foreign.db", 68, (const unsigned char[]){1, 2, 3, 4}, 4); /* application_id */
  REFUSED(IDGEN_E_STORE_DAMAGED, "not one of idgen", "kind", "segment", "store", "sqlite:foreign.db", "tag", "t");
  make_store("sqlite:wal.db");
  write_bytes("wal.db", 18, (const unsigned char[]){2, 2}, 2); /* journal mode */
  REFUSED(IDGEN_E_STORE_UNSAFE, "WAL", "kind", "segment", "store", "sqlite:wal.db", "tag", "t");
  make_store("sqlite:linked.db");
  CHECK(link("linked.db", "second.db") == 0);
  REFUSED(IDGEN_E_STORE_UNSAFE, "hard links", "kind", "segment", "store", "sqlite:linked.db", "tag", "t");
  make_store("sqlite:torn.db");
  CHECK(truncate("torn.db", 700) == 0);
  REFUSED(IDGEN_E_STORE_DAMAGED, "torn.db", "kind", "segment", "store", "sqlite:torn.db", "tag", "t");

  /* As a user without permission to read, write, or make a journal. */
  CHECK(chmod(".", 0755) == 0 && chmod("good.db", 0600) == 0);
  if (geteuid() == 0) {
    CHECK_ERR(IDGEN_E_STORE_PERMISSION, in_child(open_as_nobody, "sqlite:good.db", &err));
    CHECK_SAYS("read");
  }
  if (geteuid() != 0) CHECK(chmod("good.db", 0444) == 0);
  if (geteuid() == 0) CHECK(chmod("good.db", 0644) == 0);
  CHECK_ERR(IDGEN_E_STORE_PERMISSION, in_child(open_as_nobody, "sqlite:good.db", &err));
  CHECK_SAYS("written");
  CHECK(mkdir("locked", 0755) == 0);
  make_store("sqlite:locked/good.db");
  CHECK(chmod("locked/good.db", 0666) == 0 && chmod("locked", 0555) == 0);
  CHECK_ERR(IDGEN_E_STORE_PERMISSION, in_child(open_as_nobody, "sqlite:locked/good.db", &err));
  CHECK_SAYS("folder");
  CHECK(chmod("locked", 0755) == 0 && chmod("good.db", 0644) == 0);
  CHECK_ERR(IDGEN_E_STORE_FULL, in_child(open_without_room, "sqlite:good.db", &err));
  CHECK_SAYS("nothing was granted");
}

struct other {
  pid_t process;
  int told[2], tell[2];
};

/* A child that holds worker 1 of ids.db until it is told to go. */
static void start_owner(struct other *other) {
  char byte;
  CHECK(pipe(other->told) == 0 && pipe(other->tell) == 0);
  fflush(stdout);
  other->process = fork();
  if (other->process == 0) {
    alarm(60);
    idgen_t *g = NULL;
    idgen_error_t err = IDGEN_ERROR_INIT;
    idgen_config_t *config = config_with("store", "sqlite:ids.db", "store_create", "true", "worker", "1", NULL);
    if (idgen_create(config, &g, &err)) _exit(1);
    close(other->tell[1]);
    if (write(other->told[1], "1", 1) != 1) _exit(1);
    if (read(other->tell[0], &byte, 1) < 0) _exit(1);
    idgen_destroy(g);
    _exit(0);
  }
  close(other->tell[0]);
  CHECK(read(other->told[0], &byte, 1) == 1);
}

static void stop_owner(struct other *other) {
  int how = 0;
  close(other->tell[1]);
  CHECK(waitpid(other->process, &how, 0) == other->process && WIFEXITED(how) && WEXITSTATUS(how) == 0);
  close(other->told[0]);
  close(other->told[1]);
}

void second_owners(void) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  struct other other;
  char number[32];
  idgen_t *a = NULL, *b = NULL;
  start_owner(&other);
  snprintf(number, sizeof number, "process %d", (int)other.process);
  idgen_config_t *config = config_with("store", "sqlite:ids.db", "worker", "1", NULL);
  CHECK_ERR(IDGEN_E_WORKER_BUSY, idgen_create(config, &a, &err));
  CHECK_SAYS(number);
  CHECK_SAYS("another worker number");
  CHECK(a == NULL);
  stop_owner(&other);
  CHECK_ERR(IDGEN_OK, idgen_create(config, &a, &err)); /* at once */

  /* The same configuration in the same process: one state. */
  CHECK_ERR(IDGEN_OK, idgen_create(config, &b, &err));
  uint64_t id = 0, last = 0;
  for (int i = 0; i < 1000; ++i) {
    CHECK(idgen_next(i % 3 ? a : b, &id, &err) == IDGEN_OK);
    CHECK(id > last);
    last = id;
  }
  idgen_stats_t stats = IDGEN_STATS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_stats(a, &stats, &err));
  CHECK(stats.handles == 2);
  CHECK_ERR(IDGEN_OK, idgen_close(b, &err));
  CHECK_ERR(IDGEN_E_CLOSED, idgen_next(b, &id, &err));
  CHECK_ERR(IDGEN_OK, idgen_next(a, &id, &err));
  CHECK(id > last);
  CHECK_ERR(IDGEN_OK, idgen_stats(a, &stats, &err));
  CHECK(stats.handles == 1);
  idgen_config_destroy(config);
  /* Another configuration: refused, and the first still works. */
  REFUSED(IDGEN_E_WORKER_BUSY, "in this process", "store", "sqlite:ids.db", "worker", "1", "on_clock_back", "fail");
  REFUSED(IDGEN_E_FORMAT_MISMATCH, "another namespace", "store", "sqlite:ids.db", "worker", "2", "layout", "js53");
  CHECK_ERR(IDGEN_OK, idgen_next(a, &id, &err));
  idgen_destroy(a);
  idgen_destroy(b);
}

static idgen_status_t next_in_child(void *generator, idgen_error_t *err) {
  uint64_t id;
  const idgen_status_t tried = idgen_try_next(generator, &id);
  const idgen_status_t status = idgen_next(generator, &id, err);
  if (status == IDGEN_E_FORKED && tried != IDGEN_E_FORKED) _exit(4);
  idgen_destroy(generator);
  return status;
}

void forked_children(void) {
  idgen_error_t err = IDGEN_ERROR_INIT;
  uint64_t id;
  idgen_t *fixed = GENERATOR(config_with("store", "sqlite:ids.db", "store_create", "true", "worker", "1", NULL));
  CHECK_ERR(IDGEN_E_FORKED, in_child(next_in_child, fixed, &err));
  CHECK_SAYS("worker 1");
  CHECK_ERR(IDGEN_OK, idgen_next(fixed, &id, &err));
  idgen_destroy(fixed);
  idgen_t *memory =
      GENERATOR(config_with("kind", "segment", "store", "memory:f", "store_create", "true", "tag", "t", NULL));
  CHECK_ERR(IDGEN_E_FORKED, in_child(next_in_child, memory, &err));
  CHECK_SAYS("its store is the parent's");
  idgen_destroy(memory);
  idgen_t *error = GENERATOR(config_with("kind", "segment", "store", "sqlite:ids.db", "store_create", "true", "tag",
                                         "t", "on_fork", "error", NULL));
  CHECK_ERR(IDGEN_E_FORKED, in_child(next_in_child, error, &err));
  CHECK_SAYS("on_fork");
  idgen_destroy(error);
  idgen_t *again = GENERATOR(config_with("kind", "segment", "store", "sqlite:ids.db", "tag", "t", NULL));
  CHECK_ERR(IDGEN_OK, in_child(next_in_child, again, &err));
  idgen_destroy(again);

  /* STORE_UNAVAILABLE: nobody answers within store_timeout. */
  const int fd = open("ids.db", O_RDWR);
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0x40000000, .l_len = 512}; /* SQLite's lock bytes */
  CHECK(fd >= 0);
  const pid_t child = fork();
  if (child == 0) {
    if (fcntl(fd, F_SETLK, &lock) != 0) _exit(1);
    kill(getpid(), SIGSTOP);
    _exit(0);
  }
  int how = 0;
  CHECK(waitpid(child, &how, WUNTRACED) == child && WIFSTOPPED(how));
  REFUSED(IDGEN_E_STORE_UNAVAILABLE, "store_timeout", "kind", "segment", "store", "sqlite:ids.db", "tag", "t",
          "store_timeout", "50ms", "wait_max", "50ms");
  kill(child, SIGKILL);
  CHECK(waitpid(child, &how, 0) == child);
  close(fd);
  idgen_t *free_again = GENERATOR(config_with("kind", "segment", "store", "sqlite:ids.db", "tag", "t", NULL));
  idgen_destroy(free_again);
}
