/* Generators for tests: where they begin, and that they fail as they are told. tests/vectors/kits.tsv says more. */
#include <idgen/testing.h>
#include <idgen/view.h>
#include <string.h>

#include "../draws.h"
#include "check.h"
#include "host.h"

static idgen_t *for_tests(idgen_config_t *config, int64_t start) {
  uint64_t first = 0;
  CHECK_ERR(IDGEN_OK, idgen_test_begin(config, start, 0, &first, &err));
  CHECK(first == UINT64_C(1767225600000));
  return GENERATOR(config);
}

static void next_is(idgen_t *generator, uint64_t wanted) {
  uint64_t id = 0;
  CHECK_ERR(IDGEN_OK, idgen_next(generator, &id, &err));
  CHECK(id == wanted);
}

static void each_begins_afresh_at_its_start(void) {
  for (int time = 0; time < 2; ++time) {
    idgen_t *g = for_tests(config_with("kind", "segment", "store", "postgres://db.invalid/ids", NULL), 1000);
    next_is(g, 1000);
    next_is(g, 1001);
    idgen_view_t view = IDGEN_VIEW_INIT;
    CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_view(g, &view, &err));
    CHECK(idgen_wait_max_ns(g) > 0);
    idgen_destroy(g);
  }
}

static void calls_fail_as_told_and_draw_nothing(void) {
  idgen_t *g = for_tests(config_with("kind", "segment", NULL), IDGEN_TEST_UNSET);
  uint64_t id = 0, ids[10] = {0};
  size_t written = 0, size = 100;
  char text[100];
  CHECK_ERR(IDGEN_OK, idgen_test_fail_next(g, 3, IDGEN_E_STORE_FULL, 4711, &err));
  CHECK_CALL(IDGEN_E_STORE_FULL, idgen_try_next(g, &id)); /* and does not count */
  CHECK_CALL(IDGEN_E_STORE_FULL, try_batch(g, ids, 2, &written));
  CHECK_ERR(IDGEN_E_STORE_FULL, idgen_next(g, &id, &err));
  CHECK(err.cause == 4711 && strcmp(err.message, idgen_status_message(IDGEN_E_STORE_FULL)) == 0);
  CHECK_ERR(IDGEN_E_STORE_FULL, idgen_next_text(g, text, &size, &err));
  CHECK_ERR(IDGEN_E_STORE_FULL, idgen_next_batch(g, ids, 10, &written, &err));
  CHECK(written == 0);
  CHECK_CALL(IDGEN_OK, idgen_try_next(g, &id));
  CHECK(id == 1);
  CHECK_ERR(IDGEN_OK, idgen_test_fail_after(g, 5, IDGEN_E_EXHAUSTED, 0, &err));
  next_is(g, 2);
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_next_for_int(g, 42, &id, &err)); /* draws nothing: it does not count */
  CHECK_ERR(IDGEN_E_EXHAUSTED, idgen_next_batch(g, ids, 10, &written, &err));
  CHECK(written == 4 && ids[0] == 3 && ids[3] == 6 && ids[4] == 0);
  CHECK_ERR(IDGEN_E_EXHAUSTED, draw_waited(g, 0, &id, NULL, NULL, &err));
  CHECK_ERR(IDGEN_OK, idgen_test_recover(g, &err));
  next_is(g, 7);
  idgen_draw_t block = IDGEN_DRAW_INIT;
  CHECK_ERR(IDGEN_OK, idgen_test_fail_after(g, 3, IDGEN_E_EXHAUSTED, 0, &err));
  CHECK_ERR(IDGEN_OK, draw_block(g, 10, &block, &err)); /* ends where the failure begins */
  CHECK(block.first == 8 && block.written == 3);
  CHECK_ERR(IDGEN_E_EXHAUSTED, draw_block(g, 10, &block, &err));
  CHECK_CALL(IDGEN_E_EXHAUSTED, try_block(g, 10, &block));
  CHECK_ERR(IDGEN_OK, idgen_close(g, &err));
  CHECK_ERR(IDGEN_OK, idgen_test_recover(g, &err));
  CHECK_ERR(IDGEN_E_CLOSED, idgen_next(g, &id, &err));
  idgen_destroy(g);
}

static void ids_with_an_owner_fail_too(void) {
  idgen_t *g = for_tests(config_with("kind", "business", NULL), 7);
  uint64_t id = 0, ids[3];
  const int64_t owners[] = {1, 2, 3};
  size_t written = 0;
  CHECK_ERR(IDGEN_OK, idgen_test_fail_after(g, 2, IDGEN_E_FORKED, 0, &err));
  CHECK_CALL(IDGEN_OK, idgen_try_next_for(g, "42", 2, &id));
  CHECK_ERR(IDGEN_E_FORKED, draw_for(g, NULL, owners, 3, ids, NULL, 3, &written, NULL, NULL, &err));
  CHECK(written == 1);
  CHECK_CALL(IDGEN_E_FORKED, idgen_try_next_for(g, "42", 2, &id));
  CHECK_ERR(IDGEN_E_FORKED, idgen_next_for_int(g, 42, &id, &err));
  idgen_wide_id_t wide[3];
  CHECK_ERR(IDGEN_OK, idgen_test_fail_after(g, 1, IDGEN_E_FORKED, 0, &err));
  CHECK_ERR(IDGEN_E_FORKED, draw_for(g, NULL, owners, 3, NULL, wide, 3, &written, NULL, NULL, &err));
  CHECK(written == 1 && wide[0].size == 8);
  idgen_destroy(g);
}

static void what_fails_by_itself_does_not_count(void) {
  RELEASED struct clock clock = CLOCK_AT(START_MS);
  idgen_config_t *config = config_with("worker", "1", "on_clock_back", "fail", NULL);
  uint64_t first = 0, id = 0, ids[2];
  size_t written = 0;
  CHECK_ERR(IDGEN_OK, idgen_test_begin(config, IDGEN_TEST_UNSET, 5, &first, &err));
  use_clock(config, &clock);
  idgen_t *g = GENERATOR(config);
  CHECK_ERR(IDGEN_OK, idgen_next(g, &id, &err));
  idgen_parts_t parts = IDGEN_PARTS_INIT;
  CHECK_ERR(IDGEN_OK, idgen_decode(g, id, &parts, &err));
  CHECK(parts.sequence == 5 && parts.unix_ms == START_MS);
  CHECK_ERR(IDGEN_OK, idgen_test_fail_after(g, 1, IDGEN_E_STORE_FULL, 0, &err));
  clock.now_ns -= 1000 * MS;
  CHECK_ERR(IDGEN_E_CLOCK_BACK, idgen_next(g, &id, &err));
  CHECK_CALL(IDGEN_E_WOULD_BLOCK, idgen_try_next(g, &id));
  clock.now_ns += 1000 * MS;
  CHECK_ERR(IDGEN_E_STORE_FULL, idgen_next_batch(g, ids, 2, &written, &err));
  CHECK(written == 1);
  idgen_destroy(g);
}

static void what_does_not_apply_is_refused(void) {
  uint64_t first = 0;
  const struct {
    const char *kind;
    int64_t start, sequence;
    const char *says;
  } rows[] = {{"segment", 0, 0, "start is 0; allowed: 1 to 4611686018427387904"},
              {"snowflake", 5, 0, "start is for numbers"},
              {"segment", 1, 5, "sequence is for snowflakes"},
              {"snowflake", IDGEN_TEST_UNSET, 4096, "sequence is 4096; allowed: 0 to 4095, with the layout"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    idgen_config_t *config = config_with("kind", rows[i].kind, NULL);
    CHECK_ERR(IDGEN_E_ARGUMENT, idgen_test_begin(config, rows[i].start, rows[i].sequence, &first, &err));
    CHECK_SAYS(rows[i].says);
    idgen_config_destroy(config);
  }
  idgen_t *real = GENERATOR(config_with("kind", "segment", "store", "memory:real", "store_create", "true", NULL));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_test_fail_next(real, 1, IDGEN_E_CLOSED, 0, &err));
  CHECK_ERR(IDGEN_E_UNSUPPORTED, idgen_test_recover(real, &err));
  CHECK_ERR(IDGEN_E_HANDLE, idgen_test_recover(NULL, &err));
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_test_fail_next(real, 0, IDGEN_E_CLOSED, 0, &err));
  CHECK_SAYS("is 0; allowed: 1 and above");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_test_fail_after(real, -1, IDGEN_E_CLOSED, 0, &err));
  CHECK_SAYS("is -1; allowed: 0 and above");
  CHECK_ERR(IDGEN_E_ARGUMENT, idgen_test_fail_next(real, 1, 19, 0, &err));
  CHECK_SAYS("19 is no status that a call can fail with");
  idgen_destroy(real);
}

void generators_for_tests(void) {
  each_begins_afresh_at_its_start();
  calls_fail_as_told_and_draw_nothing();
  ids_with_an_owner_fail_too();
  what_fails_by_itself_does_not_count();
  what_does_not_apply_is_refused();
}
