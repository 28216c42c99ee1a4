/* Draws ids that have an owner: draw.py says how. */
#include <idgen/idgen.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 4096 };

int main(int argc, char **argv) {
  if (argc != 6) return fprintf(stderr, "usage: draw TOML NAME COUNT SEED FILE\n"), 2;
  const long count = atol(argv[3]), seed = atol(argv[4]);
  FILE *out = fopen(argv[5], "wb");
  idgen_error_t err = IDGEN_ERROR_INIT;
  idgen_t *generator = NULL;
  static int64_t owners[BATCH];
  static uint64_t ids[BATCH];
  idgen_draw_t draw = IDGEN_DRAW_INIT;
  draw.n = draw.owner_count = BATCH, draw.ids = ids, draw.int_owners = owners;
  if (!out || idgen_open(argv[1], argv[2], &generator, &err)) return fprintf(stderr, "%s\n", err.message), 1;
  for (long done = 0; done < count; done += BATCH) {
    for (long i = 0; i < BATCH; ++i) owners[i] = (seed + done + i) % 1000003;
    if (idgen_draw(generator, &draw, &err)) return fprintf(stderr, "%s\n", err.message), 1;
    if (fwrite(ids, sizeof *ids, BATCH, out) != BATCH) return perror(argv[5]), 1;
  }
  idgen_destroy(generator);
  return fclose(out) == 0 ? 0 : 1;
}
