/*
 * Generators for the tests of programs that draw ids. They are real generators, each over its own store in memory, and
 * fail when a test tells them to. The testing kits of Python, Java and Go use these functions (docs/testing.md).
 */
#ifndef IDGEN_TESTING_H
#define IDGEN_TESTING_H

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDGEN_TEST_UNSET INT64_MIN

/* Makes every generator of this configuration one for tests. Call it after all properties are set. Each generator
 * starts with its own empty store. Properties that reach beyond the process (store, worker_source, witness, ...) are
 * overridden. The generators have no view.
 *   start           the first number, 1 to 2^62; of a serial, the first of each period. IDGEN_TEST_UNSET: 1
 *   sequence        of a snowflake's first id; those below are drawn and dropped
 *   first_unix_ms   set to the time at which a manual clock starts by default: 2026-01-01, or the layout's epoch if
 *                   that is later. Pass such a clock to idgen_config_set_clock
 * Errors: IDGEN_E_ARGUMENT (out of range, or not for this kind), IDGEN_E_LAYOUT, any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_begin(idgen_config_t *config, int64_t start, int64_t sequence,
                                                          uint64_t *first_unix_ms, idgen_error_t *err);

/* The next `calls` calls that draw ids fail with `status`, its message, and this cause (idgen_error_t). They draw
 * nothing and do not wait. Replaces what an earlier call of these functions asked for. A call that never waits
 * (idgen_try_next) returns `status` too, but does not count: the call that may wait follows it and says why.
 * Errors: IDGEN_E_ARGUMENT (calls is below 1; no such status), IDGEN_E_UNSUPPORTED (a generator that is not for tests),
 * any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_fail_next(idgen_t *generator, int64_t calls, idgen_status_t status,
                                                              uint64_t cause, idgen_error_t *err);

/* As idgen_test_fail_next, but all calls fail once `ids` more ids were drawn, until idgen_test_recover. A batch that
 * needs more fails halfway. Only ids that a call has returned count.
 * Errors: as idgen_test_fail_next (ids is negative). Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_fail_after(idgen_t *generator, int64_t ids, idgen_status_t status,
                                                               uint64_t cause, idgen_error_t *err);

/* Makes calls succeed again.
 * Errors: IDGEN_E_UNSUPPORTED (a generator that is not for tests), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_recover(idgen_t *generator, idgen_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
