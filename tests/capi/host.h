/* The host's own parts for tests: a clock that the test sets, a store in a struct, a log that counts. */
#ifndef IDGEN_TESTS_CAPI_HOST_H
#define IDGEN_TESTS_CAPI_HOST_H

#include <idgen/host.h>
#include <idgen/idgen.h>
#include <stdatomic.h>

#define EPOCH_MS INT64_C(1735689600000) /* of the default layout */
#define START_MS (EPOCH_MS + 1000000)
#define MS INT64_C(1000000)

/* How often a part of the host was given to the library, and released. First member of each. A call of the library's
 * own thread that is under way may outlive idgen_destroy, so a part is left only when it was released. */
struct uses {
  atomic_int given, released;
};
/* Waits for it, a minute at most, and checks it. Takes the part itself. */
void wait_until_released(const void *part);
#define RELEASED __attribute__((cleanup(wait_until_released)))

struct clock {
  struct uses uses;
  _Atomic int64_t now_ns;
  _Atomic int64_t slept_ns;
  atomic_int frozen; /* sleeping does not move it */
};
#define CLOCK_AT(unix_ms) \
  { .now_ns = (unix_ms)*MS }
/* Returns the configuration. */
idgen_config_t *use_clock(idgen_config_t *config, struct clock *clock);

/* A store as the header describes it, for one tag and one worker; single steps can be made to fail. */
struct store {
  struct uses uses;
  _Atomic uint64_t max_id;
  uint64_t fence;
  int64_t hw;
  unsigned char owner[16];
  atomic_int takes, returns;
  _Atomic idgen_status_t fail_takes, fail_returns; /* 0 = work */
  _Atomic uint64_t cause, retry_after_ns;          /* of a take that fails */
  uint64_t own_count;                              /* numbers per grant, whatever is requested; 0 = as requested */
  idgen_window_request_t last_request;             /* its strings are gone */
  idgen_segment_request_t last_segment_request;    /* with own_count only; its strings are gone */
  char holder[200], format[200];
  int64_t returned_to;
  uint64_t returned_unused;
};
idgen_config_t *use_store(idgen_config_t *config, struct store *store);

#endif
