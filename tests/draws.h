/* Draws by a request, in the words of one call each. C and C++. */
#ifndef IDGEN_TESTS_DRAWS_H
#define IDGEN_TESTS_DRAWS_H

#include <idgen/idgen.h>

static inline idgen_draw_t draw_of(uint32_t flags, size_t n, uint64_t *ids, idgen_cancelled_fn cancelled, void *ctx) {
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.flags = flags, draw.n = n, draw.ids = ids, draw.cancelled = cancelled, draw.ctx = ctx;
  return draw;
}

/* `written` may be NULL. */
static inline idgen_status_t draw_as(idgen_t *generator, idgen_draw_t draw, size_t *written, idgen_error_t *err) {
  const idgen_status_t status = idgen_draw(generator, &draw, err);
  if (written) *written = draw.written;
  return status;
}

static inline idgen_status_t draw_batch(idgen_t *generator, uint64_t *ids, size_t n, size_t *written,
                                        idgen_cancelled_fn cancelled, void *ctx, idgen_error_t *err) {
  return draw_as(generator, draw_of(0, n, ids, cancelled, ctx), written, err);
}

static inline idgen_status_t try_batch(idgen_t *generator, uint64_t *ids, size_t n, size_t *written) {
  return draw_as(generator, draw_of(IDGEN_DRAW_TRY, n, ids, NULL, NULL), written, NULL);
}

static inline idgen_status_t draw_waited(idgen_t *generator, uint64_t waited_ns, uint64_t *id,
                                         idgen_cancelled_fn cancelled, void *ctx, idgen_error_t *err) {
  idgen_draw_t draw = draw_of(0, 1, id, cancelled, ctx);
  draw.waited_ns = waited_ns;
  return draw_as(generator, draw, NULL, err);
}

static inline idgen_status_t draw_drawn(idgen_t *generator, uint32_t flags, uint64_t drawn, uint64_t *id,
                                        idgen_error_t *err) {
  idgen_draw_t draw = draw_of(IDGEN_DRAW_DRAWN | flags, 1, id, NULL, NULL);
  draw.drawn = drawn;
  return draw_as(generator, draw, NULL, err);
}

/* One of owners and int_owners, one of ids and wide_ids. */
static inline idgen_status_t draw_for(idgen_t *generator, const idgen_owner_t *owners, const int64_t *int_owners,
                                      size_t owner_count, uint64_t *ids, idgen_wide_id_t *wide_ids, size_t n,
                                      size_t *written, idgen_cancelled_fn cancelled, void *ctx, idgen_error_t *err) {
  idgen_draw_t draw = draw_of(0, n, ids, cancelled, ctx);
  draw.owners = owners, draw.int_owners = int_owners, draw.owner_count = owner_count, draw.wide_ids = wide_ids;
  return draw_as(generator, draw, written, err);
}

/* `block` is a request, of which n and flags are set here. */
static inline idgen_status_t draw_block(idgen_t *generator, uint64_t want, idgen_draw_t *block, idgen_error_t *err) {
  block->flags = IDGEN_DRAW_BLOCK, block->n = want;
  return idgen_draw(generator, block, err);
}

static inline idgen_status_t try_block(idgen_t *generator, uint64_t want, idgen_draw_t *block) {
  block->flags = IDGEN_DRAW_BLOCK | IDGEN_DRAW_TRY, block->n = want;
  return idgen_draw(generator, block, NULL);
}

#endif
