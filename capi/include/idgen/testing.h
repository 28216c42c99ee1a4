/*
 * Generators for the tests of programs that draw ids: real ones, over a store of their own in memory, that fail when a
 * test tells them to. What the kits of Python, Java and Go are made of (docs/testing.md).
 */
#ifndef IDGEN_TESTING_H
#define IDGEN_TESTING_H

#include "idgen.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDGEN_TEST_UNSET INT64_MIN

/* Makes the generators of this configuration ones for tests, after all its properties were set. Each begins afresh in a
 * store of its own; what reaches beyond the process (store, worker_source, witness, ...) is overridden. They have no
 * view.
 *   start           the first number, 1 to 2^62; of a serial, the first of each period. IDGEN_TEST_UNSET: 1
 *   sequence        of a snowflake's first id; those below are drawn and dropped
 *   first_unix_ms   where a clock is to stand that nobody tells another time: 2026-01-01, or the layout's epoch if that
 *                   is later. idgen_config_set_clock gives the generators a clock that stands still
 * Errors: IDGEN_E_ARGUMENT (out of range, or not for this kind), IDGEN_E_LAYOUT, any. Blocks: no. Threads: one. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_begin(idgen_config_t *config, int64_t start, int64_t sequence,
                                                          uint64_t *first_unix_ms, idgen_error_t *err);

/* The next `calls` calls that draw ids fail with `status`, its message, and this cause (idgen_error_t). They draw
 * nothing and wait for nothing. Replaces what the generator was told before. A call that never waits (idgen_try_next)
 * returns `status` too, but does not count: the call that may wait follows it and says why.
 * Errors: IDGEN_E_ARGUMENT (calls is below 1; no such status), IDGEN_E_UNSUPPORTED (a generator that is not for tests),
 * any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_fail_next(idgen_t *generator, int64_t calls, idgen_status_t status,
                                                              uint64_t cause, idgen_error_t *err);

/* As idgen_test_fail_next, but all calls fail once `ids` more ids were drawn, until idgen_test_recover. A batch that
 * needs more fails halfway. Only ids that a call has returned count.
 * Errors: as idgen_test_fail_next (ids is negative). Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_fail_after(idgen_t *generator, int64_t ids, idgen_status_t status,
                                                               uint64_t cause, idgen_error_t *err);

/* Ends what the two above have begun.
 * Errors: IDGEN_E_UNSUPPORTED (a generator that is not for tests), any. Blocks: no. Threads: any. */
IDGEN_API IDGEN_NODISCARD idgen_status_t idgen_test_recover(idgen_t *generator, idgen_error_t *err);

#ifdef __cplusplus
}
#endif

#endif
