#define _GNU_SOURCE
#include "check.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int passed, failed; /* host code of the tests runs in threads of the library, too */
static _Atomic unsigned char seen[256];
_Thread_local idgen_error_t err = IDGEN_ERROR_INIT;

int check_that(int ok, const char *file, int line, const char *what) {
  if (ok) {
    ++passed;
  } else {
    ++failed;
    printf("%s:%d: FAILED: %s\n", file, line, what);
    fflush(stdout);
  }
  return ok;
}

static int is_utf8(const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    const int more = *at < 0x80                  ? 0
                     : *at >= 0xC2 && *at < 0xE0 ? 1
                     : *at >= 0xE0 && *at < 0xF0 ? 2
                     : *at >= 0xF0 && *at < 0xF5 ? 3
                                                 : -1;
    if (more < 0) return 0;
    ++at;
    for (int i = 0; i < more; ++i, ++at) {
      if ((*at & 0xC0) != 0x80) return 0;
    }
  }
  return 1;
}

int check_status(idgen_status_t got, idgen_status_t want, const idgen_error_t *err, const char *file, int line,
                 const char *what) {
  char text[1024];
  if (got >= 0 && got < (int)sizeof seen) seen[got] = 1;
  snprintf(text, sizeof text, "%s: got %d %s, wanted %d %s%s%s", what, got, idgen_status_name(got), want,
           idgen_status_name(want), err && got ? ": " : "", err && got ? err->message : "");
  if (!check_that(got == want, file, line, text)) return 0;
  if (!err || got == IDGEN_OK) return 1;
  snprintf(text, sizeof text, "%s: err says %d '%s'", what, err->status, err->message);
  return check_that(err->status == got && *err->message && is_utf8(err->message), file, line, text);
}

int check_contains(const char *text, const char *part, const char *file, int line) {
  char what[1200];
  snprintf(what, sizeof what, "'%s' contains '%s'", text, part);
  return check_that(strstr(text, part) != NULL, file, line, what);
}

int was_seen(idgen_status_t status) { return status >= 0 && status < (int)sizeof seen && seen[status]; }

idgen_config_t *config_with(const char *first_key, ...) {
  idgen_config_t *config = NULL;
  va_list list;
  if (idgen_config_create(&config, NULL)) abort();
  va_start(list, first_key);
  for (const char *key = first_key; key; key = va_arg(list, const char *)) {
    if (idgen_config_set(config, key, va_arg(list, const char *), &err)) {
      printf("the test's own configuration is wrong: %s\n", err.message);
      abort();
    }
  }
  va_end(list);
  return config;
}

idgen_t *generator_from(idgen_config_t *config, const char *file, int line) {
  idgen_t *generator = NULL;
  check_status(idgen_create(config, &generator, &err), IDGEN_OK, &err, file, line, "idgen_create");
  idgen_config_destroy(config);
  return generator;
}

idgen_status_t in_child(idgen_status_t (*body)(void *argument, idgen_error_t *err), void *argument,
                        idgen_error_t *err) {
  struct result {
    idgen_error_t err;
    idgen_status_t status;
  } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) abort();
  const idgen_error_t empty = IDGEN_ERROR_INIT;
  shared->err = empty;
  shared->status = -1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    shared->status = body(argument, &shared->err);
    _exit(0);
  }
  int how = 0;
  CHECK(child > 0 && waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
  const idgen_status_t status = shared->status;
  if (err) *err = shared->err;
  munmap(shared, sizeof *shared);
  return status;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *ftw) {
  (void)info, (void)type, (void)ftw;
  return remove(path);
}

static void run(const char *name, void (*group)(void)) {
  const int before = failed, had = passed;
  const char *const top = getenv("TMPDIR");
  char folder[4096];
  snprintf(folder, sizeof folder, "%s/idgen-capi-XXXXXX", top ? top : "/tmp");
  if (!mkdtemp(folder) || chdir(folder)) abort();
  const char *const patience = getenv("IDGEN_PATIENCE");
  alarm((unsigned)(120 *
                   (patience ? atof(patience) : 1))); /* a call that hangs is a failure, not a build that never ends */
  group();
  alarm(0);
  if (chdir("/")) abort();
  nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  printf("%-28s %4d checks%s\n", name, passed - had + failed - before, failed > before ? "  FAILED" : "");
}

#define RUN(group) run(#group, group)

static void every_status_was_reached(void) {
  for (size_t i = 0; i < idgen_status_count(); ++i) {
    const idgen_status_t status = idgen_status_at(i);
    if (status == IDGEN_E_NO_MEMORY || status == IDGEN_E_INTERNAL) continue; /* oom_test.c; a defect of idgen */
    char what[80];
    snprintf(what, sizeof what, "some call has returned %s", idgen_status_name(status));
    check_that(was_seen(status), __FILE__, __LINE__, what);
  }
}

int main(void) {
  RUN(enumerations);
  RUN(null_and_wrong_handles);
  RUN(struct_sizes_and_buffers);
  RUN(texts_and_layouts);
  RUN(snowflakes);
  RUN(views);
  RUN(segments);
  RUN(configuration_files);
  RUN(host_clock);
  RUN(clock_set_back);
  RUN(host_store);
  RUN(host_rows);
#ifdef IDGEN_TEST_HAS_CIPHER
  RUN(hidden_ids);
#endif
  RUN(host_log);
  RUN(bad_configurations);
  RUN(bad_stores);
  RUN(routes);
  RUN(standard_ids);
  RUN(patterns);
  RUN(generators_for_tests);
  RUN(every_status_was_reached);
  printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
