/* A macro is compiled into the caller, its function twin into the library; bindings rely on both being equal. */
#include <idgen/idgen.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char *what) {
  printf("%s - %s\n", holds ? "ok" : "not ok", what);
  failures += !holds;
}

static int known(idgen_status_t status) {
  for (size_t i = 0; i < idgen_status_count(); ++i) {
    if (idgen_status_at(i) == status) return 1;
  }
  return 0;
}

int main(void) {
  check(idgen_version() == IDGEN_VERSION, "idgen_version() is IDGEN_VERSION");
  check(strcmp(idgen_version_string(), IDGEN_VERSION_STRING) == 0, "idgen_version_string() is IDGEN_VERSION_STRING");
  check(idgen_abi_version() == IDGEN_ABI_VERSION, "idgen_abi_version() is IDGEN_ABI_VERSION");

  size_t statuses = 0;
#define TWIN(macro, name)                                                                       \
  check(strcmp(idgen_status_name(macro), name) == 0, "idgen_status_name(" #macro ") is " name); \
  check(macro >= IDGEN_E_HOST || known(macro), #macro " is among idgen_status_at()");           \
  statuses += macro < IDGEN_E_HOST;
#include "twins.inc" /* a TWIN for every status in status.h, written by tests/abi/check */
  check(idgen_status_count() == statuses, "idgen_status_count() is the number of statuses in status.h");
  return failures != 0;
}
