/* Threads of C that draw by the inline header. */
#include <idgen/idgen.h>
#include <idgen/view.h>
#include <pthread.h>
#include <stdio.h>

enum { MOST_THREADS = 8 };

struct part {
  pthread_t thread;
  idgen_t *generator;
  const idgen_view_t *view;
  uint64_t *ids;
  int count;
  idgen_status_t status;
  idgen_error_t err;
};

static void *draw(void *argument) {
  struct part *part = argument;
  for (int i = 0; i < part->count && part->status == IDGEN_OK; ++i)
    part->status = idgen_view_next(part->generator, part->view, &part->ids[i], &part->err);
  return NULL;
}

/* 0, and the reason on stderr: something failed. */
int draw_in_c(uint64_t *ids, int threads, int each) {
  idgen_t *generator = NULL;
  idgen_view_t view = IDGEN_VIEW_INIT;
  idgen_error_t err = IDGEN_ERROR_INIT;
  struct part parts[MOST_THREADS];
  int is_right = threads <= MOST_THREADS && idgen_open("idgen.toml", "events", &generator, &err) == IDGEN_OK &&
                 idgen_view(generator, &view, &err) == IDGEN_OK;
  int begun = 0;
  for (; is_right && begun < threads; ++begun) {
    struct part *part = &parts[begun];
    *part = (struct part){.generator = generator,
                          .view = &view,
                          .ids = ids + begun * each,
                          .count = each,
                          .status = IDGEN_OK,
                          .err = IDGEN_ERROR_INIT};
    is_right = pthread_create(&part->thread, NULL, draw, part) == 0;
    if (!is_right) break;
  }
  for (int i = 0; i < begun; ++i) {
    pthread_join(parts[i].thread, NULL);
    if (parts[i].status == IDGEN_OK) continue;
    is_right = 0;
    err = parts[i].err;
  }
  if (!is_right) fprintf(stderr, "%s\n", err.message);
  idgen_destroy(generator);
  return is_right;
}
